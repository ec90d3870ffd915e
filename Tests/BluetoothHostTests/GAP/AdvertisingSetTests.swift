import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Advertising sets")
struct AdvertisingSetTests {
  private static let creation: [HCI.Opcode] = [
    .leSetExtendedAdvertisingParameters, .leSetAdvertisingSetRandomAddress,
  ]
  private static let filling: [HCI.Opcode] = [.leSetExtendedAdvertisingData, .leSetExtendedScanResponseData]

  private func start(_ bench: inout HostHarness, _ advertising: HostAdvertising) {
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
  }

  private func advertising(
    _ type: HCI.AdvertisingType, _ data: ByteSlice = [], isExtended: Bool = false
  ) -> HostAdvertising {
    var result = HostAdvertising(data: data, scanResponse: [])
    result.shape.type = type
    if isExtended { result.shape.extended = HostAdvertising.ExtendedPDUs() }
    if type == .connectableDirectedHighDutyCycle || type == .connectableDirectedLowDutyCycle {
      result.shape.target = HostHarness.peer
    }
    return result
  }

  private func hasEnded(_ bench: HostHarness) -> Bool {
    bench.events.contains { if case .advertisingEnded = $0 { true } else { false } }
  }

  @Test("The set is removed before a change of PDU type, and the new set gets all parameters and data")
  func otherPDUs() {
    var bench = HostHarness.extended()
    start(&bench, advertising(.nonConnectableUndirected, ByteSlice(pattern(600).bytes), isExtended: true))
    bench.forget()
    start(&bench, advertising(.connectableScannableUndirected, [2, 1, 6]))
    #expect(
      bench.commands.map(\.opcode) == [.leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet] + Self.creation
        + Self.filling + [.leSetExtendedAdvertisingEnable])
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test(
    "A change to PDUs without data removes the data; a change of interval keeps them",
    arguments: [true, false])
  func withoutData(isDirected: Bool) {
    var bench = HostHarness.extended()
    var first = advertising(.connectableScannableUndirected, [2, 1, 6])
    start(&bench, first)
    bench.forget()
    first.shape.interval = 400
    start(&bench, first)
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedAdvertisingEnable, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingEnable,
      ])
    bench.forget()
    var second = advertising(isDirected ? .connectableDirectedLowDutyCycle : .scannableUndirected)
    if !isDirected { second = advertising(.scannableUndirected, isExtended: true) }
    second.scanResponse = [2, 10, 4]
    start(&bench, second)
    #expect(
      bench.commands.map(\.opcode) == [.leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet] + Self.creation
        + (isDirected ? [] : [.leSetExtendedScanResponseData]) + [.leSetExtendedAdvertisingEnable])
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("A controller that does not remove sets still gets the new PDU type")
  func notRemoved() {
    var bench = HostHarness.extended()
    start(&bench, advertising(.nonConnectableUndirected, [2, 1, 6]))
    bench.answers[.leRemoveAdvertisingSet] = .status(.unknownHCICommand)
    bench.forget()
    start(&bench, advertising(.connectableScannableUndirected, [2, 1, 6]))
    #expect(bench.commands.last?.opcode == .leSetExtendedAdvertisingEnable)
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("After a fragment of other data the previous data are sent again")
  func partOfOthers() {
    var bench = HostHarness.extended()
    let before = advertising(.nonConnectableUndirected, [2, 1, 6], isExtended: true)
    start(&bench, before)
    bench.answers[.leSetExtendedAdvertisingData] = .noAnswer
    bench.forget()
    start(&bench, advertising(.nonConnectableUndirected, ByteSlice(pattern(600).bytes), isExtended: true))
    start(&bench, before)
    bench.answers = [:]
    bench.receive(.commandComplete(credits: 1, .leSetExtendedAdvertisingData, .status(.success)))
    let parts = bench.commands.compactMap {
      if case .leSetExtendedAdvertisingData(_, let part) = $0 { part } else { nil }
    }
    #expect(parts.map(\.operation) == [.first, .complete])
    #expect(parts.last?.data == [2, 1, 6])
    #expect(bench.commands.last?.opcode == .leSetExtendedAdvertisingEnable)
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("Directed advertising at the high duty cycle is enabled for 1.28 s, all other advertising without a limit")
  func duration() {
    var bench = HostHarness.extended()
    for (type, duration) in [
      (HCI.AdvertisingType.connectableDirectedHighDutyCycle, 128), (.connectableDirectedLowDutyCycle, 0),
    ] as [(HCI.AdvertisingType, UInt16)] {
      bench.forget()
      start(&bench, advertising(type))
      guard case .leSetExtendedAdvertisingEnable(true, let sets)? = bench.commands.last else {
        Issue.record("not switched on")
        return
      }
      #expect(sets.map(\.duration) == [duration])
      #expect(bench.advertisingAnswers == [nil])
    }
  }

  @Test("With legacy commands its timeout arrives as a failed connection, and no connection attempt ends with it")
  func legacyTimeout() {
    var bench = HostHarness()
    bench.powerOn()
    start(&bench, advertising(.connectableDirectedHighDutyCycle))
    let other = DeviceAddress(0xC0_00_00_00_00_03, .random)
    bench.perform { host, now in host.connect(to: other, at: now) }
    bench.forget()
    bench.receive(
      .leConnectionComplete(
        HCI.ConnectionComplete(
          status: .advertisingTimeout, handle: HCI.ConnectionHandle(rawValue: 0), role: 0,
          peer: HCI.PeerAddress(HostHarness.peer),
          values: HCI.ConnectionValues(interval: 0, latency: 0, supervisionTimeout: 0), centralClockAccuracy: 0)))
    #expect(hasEnded(bench))
    #expect(bench.failures.isEmpty)
    #expect(bench.commands.isEmpty)
    start(&bench, advertising(.connectableDirectedHighDutyCycle))
    #expect(bench.commands == [.leSetAdvertisingEnable(true)])
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("A controller that no longer knows a set that it has accepted is reset, and the set is created again")
  func lostSet() {
    var bench = HostHarness.extended()
    start(&bench, advertising(.connectableScannableUndirected, [2, 1, 6]))
    let unknown = ScriptedController.Answer.complete(.status(.unknownAdvertisingIdentifier))
    bench.answers[.leSetExtendedAdvertisingEnable] = unknown
    bench.forget()
    bench.link(.peripheral)
    #expect(bench.commands.prefix(2).map(\.opcode) == [.leSetExtendedAdvertisingEnable, .reset])
    #expect(bench.disconnections.count == 1)
    let lost = HostDiagnostic.lostAdvertisingSet(.main)
    #expect(bench.troubles.prefix(2) == [lost, .resetting(attempt: 1, of: 5, after: .zero)])
    #expect(bench.powerChanges.suffix(2) == [.starting, .on])
    bench.answers = [:]
    bench.forget()
    start(&bench, advertising(.connectableScannableUndirected, [2, 1, 6]))
    #expect(bench.commands.map(\.opcode) == Self.creation + Self.filling + [.leSetExtendedAdvertisingEnable])
    // A set that is to be removed may be gone.
    bench.answers[.leRemoveAdvertisingSet] = unknown
    bench.forget()
    start(&bench, advertising(.nonConnectableUndirected))
    #expect(!bench.commands.contains(.reset) && bench.troubles.isEmpty)
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("A timeout event that overtakes the next start does not stop the new advertising")
  func timeoutBesideStart() {
    var bench = HostHarness.extended()
    start(&bench, advertising(.connectableDirectedHighDutyCycle))
    bench.answers[.leSetExtendedAdvertisingEnable] = .noAnswer
    bench.forget()
    start(&bench, advertising(.connectableScannableUndirected, [2, 1, 6]))
    bench.receive(
      .leAdvertisingSetTerminated(
        .advertisingTimeout, HCI.AdvertisingHandle(rawValue: 0), HCI.ConnectionHandle(rawValue: 0), completedEvents: 0))
    bench.answers = [:]
    bench.receive(.commandComplete(credits: 1, .leSetExtendedAdvertisingEnable, .status(.success)))
    #expect(!hasEnded(bench))
    #expect(bench.advertisingAnswers == [nil])
    #expect(bench.commands.last?.opcode == .leSetExtendedAdvertisingEnable)
  }
}
