import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothHost

extension HostHarness {
  /// Returns a host whose controller has extended and periodic advertising.
  static func periodic() -> HostHarness {
    let commands: [HCI.Opcode] = [
      .leRemoveAdvertisingSet, .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData,
      .leSetPeriodicAdvertisingEnable, .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel,
      .lePeriodicAdvertisingTerminateSync,
    ]
    var bench = extended()
    bench.facts.leFeatures.insert(.periodicAdvertising)
    bench.facts.supportedCommands = HCI.SupportedCommands(servedCommands + newerCommands + commands)
    bench.answers[.lePeriodicAdvertisingCreateSync] = .status(.success)
    bench.perform { host, now in host.setPower(false, at: now) }
    bench.powerOn()
    return bench
  }

  mutating func start(_ advertising: HostAdvertising, on set: HCI.AdvertisingHandle) {
    perform { host, now in host.startAdvertising(advertising, on: set, at: now) }
  }

  /// The answers to the starts of further sets.
  var setAnswers: [HCI.AdvertisingHandle: [HostError?]] {
    var result: [HCI.AdvertisingHandle: [HostError?]] = [:]
    for case .advertisingSetStarted(let set, let error) in events { result[set, default: []].append(error) }
    return result
  }

  var endedSets: [HCI.AdvertisingHandle] {
    events.compactMap { if case .advertisingSetEnded(let set) = $0 { set } else { nil } }
  }
}

@Suite("Further advertising sets")
struct FurtherSetTests {
  private let one = HCI.AdvertisingHandle(rawValue: 1)
  private let two = HCI.AdvertisingHandle(rawValue: 2)

  private func broadcast(_ data: ByteSlice = [2, 1, 6], sid: UInt8 = 1) -> HostAdvertising {
    var result = HostAdvertising(data: data, scanResponse: [])
    result.shape.type = .nonConnectableUndirected
    var extended = HostAdvertising.ExtendedPDUs()
    extended.advertisingSID = sid
    result.shape.extended = extended
    return result
  }

  private func withTrain(_ data: ByteSlice, interval: UInt16 = 80) -> HostAdvertising {
    var result = broadcast()
    result.train = HostAdvertising.PeriodicTrain(interval: interval, includesTransmitPower: true, data: data)
    return result
  }

  /// The handle of the set that a command is for; nil: it is for none.
  private func set(of command: HCI.Command) -> HCI.AdvertisingHandle? {
    switch command {
    case .leSetExtendedAdvertisingParameters(let parameters): parameters.handle
    case .leSetAdvertisingSetRandomAddress(let set, _), .leSetExtendedAdvertisingData(let set, _),
      .leRemoveAdvertisingSet(let set), .leSetPeriodicAdvertisingData(let set, _),
      .leSetPeriodicAdvertisingEnable(_, let set):
      set
    case .leSetPeriodicAdvertisingParameters(let parameters): parameters.handle
    case .leSetExtendedAdvertisingEnable(_, let sets): sets.first { _ in true }?.handle
    default: nil
    }
  }

  @Test("Several sets advertise beside the main one, each with its own parameters, data and answer")
  func several() {
    var bench = HostHarness.periodic()
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.start(broadcast([2, 1, 6], sid: 3), on: one)
    bench.start(broadcast([3, 9, 65, 66], sid: 4), on: two)
    #expect(bench.advertisingAnswers == [nil] && bench.setAnswers == [one: [nil], two: [nil]])
    for (handle, sid, count) in [(one, 3, 3), (two, 4, 4)] {
      let commands = bench.commands.filter { set(of: $0) == handle }
      #expect(
        commands.map(\.opcode) == [
          .leSetExtendedAdvertisingParameters, .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingData,
          .leSetExtendedAdvertisingEnable,
        ])
      guard case .leSetExtendedAdvertisingParameters(let parameters)? = commands.first,
        case .leSetExtendedAdvertisingData(_, let data) = commands[2]
      else {
        Issue.record("other commands")
        continue
      }
      #expect(parameters.advertisingSID == sid && data.data.count == count)
    }
    bench.forget()
    // The other sets go on; the controller does not keep the stopped one.
    bench.perform { host, now in host.stopAdvertising(on: one, at: now) }
    #expect(bench.commands.map(\.opcode) == [.leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet])
    #expect(bench.commands.allSatisfy { set(of: $0) == one })
    #expect(bench.host.gap.advertisers.handles == [HCI.AdvertisingHandle.main, two])
    bench.forget()
    bench.perform { host, now in host.stopAdvertising(at: now) }
    #expect(bench.commands.map(\.opcode) == [.leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet])
    #expect(bench.commands.allSatisfy { set(of: $0) == HCI.AdvertisingHandle.main })
  }

  @Test("A set that the controller has no room for is refused, and forgotten")
  func noRoom() {
    var bench = HostHarness.periodic()
    bench.answers[.leSetExtendedAdvertisingParameters] = .status(.memoryCapacityExceeded)
    bench.start(broadcast(), on: one)
    #expect(bench.setAnswers == [one: [.controller(.memoryCapacityExceeded)]])
    #expect(bench.host.gap.advertisers.handles == [HCI.AdvertisingHandle.main])
    bench.answers[.leSetExtendedAdvertisingParameters] = nil
    bench.start(broadcast(), on: one)
    #expect(bench.setAnswers[one]?.last == .some(nil))
  }

  @Test("A new set waits until the controller has removed the sets that have been stopped")
  func order() {
    var bench = HostHarness.periodic()
    bench.start(broadcast(), on: one)
    bench.forget()
    bench.answers[.leSetExtendedAdvertisingEnable] = .noAnswer
    bench.perform { host, now in host.stopAdvertising(on: one, at: now) }
    bench.answers[.leSetExtendedAdvertisingEnable] = nil
    bench.start(broadcast(), on: two)
    #expect(bench.commands.map(\.opcode) == [.leSetExtendedAdvertisingEnable])
    bench.receive(.commandComplete(credits: 1, .leSetExtendedAdvertisingEnable, .status(.success)))
    #expect(bench.commands.dropFirst().prefix(2).map { set(of: $0) } == [one, two])
    #expect(bench.commands[1] == .leRemoveAdvertisingSet(one) && bench.setAnswers == [two: [nil]])
  }

  @Test("Without extended commands, a further set is refused; without periodic advertising, a train")
  func unsupported() {
    var bench = HostHarness()
    bench.powerOn()
    bench.start(broadcast(), on: one)
    #expect(bench.setAnswers == [one: [.controller(.unsupportedFeatureOrParameterValue)]])
    #expect(bench.commands.isEmpty)
    var extended = HostHarness.extended()
    extended.start(withTrain([1]), on: one)
    #expect(extended.setAnswers == [one: [.controller(.unsupportedFeatureOrParameterValue)]])
    #expect(extended.commands.isEmpty)
  }

  @Test("A train needs extended PDUs that are neither connectable nor anonymous, an interval, and data that fit")
  func trainLimits() {
    var bench = HostHarness.periodic()
    func refused(_ change: (inout HostAdvertising) -> Void) -> HostError? {
      var advertising = withTrain([1])
      change(&advertising)
      bench.forget()
      bench.start(advertising, on: one)
      return bench.setAnswers[one]?.first ?? nil
    }
    let invalid = HostError.controller(.invalidHCICommandParameters)
    #expect(refused { $0.shape.extended = nil } == invalid)
    #expect(refused { $0.shape.extended?.isAnonymous = true } == invalid)
    #expect(refused { $0.shape.type = .connectableScannableUndirected } == invalid)
    #expect(refused { $0.shape.type = .scannableUndirected } == invalid)
    #expect(refused { $0.train?.shape.interval = 5 } == invalid)
    #expect(refused { $0.train?.data = ByteSlice(pattern(1_651).bytes) } == .outOfSpace)
    #expect(bench.commands.isEmpty)
    #expect(refused { _ in } == nil)
  }

  @Test("A train is enabled before its set, so that the first packets announce it, and ends with the request")
  func train() {
    var bench = HostHarness.periodic()
    bench.start(withTrain([2, 1, 6]), on: one)
    #expect(bench.setAnswers == [one: [nil]])
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedAdvertisingParameters, .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingData,
        .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
        .leSetExtendedAdvertisingEnable,
      ])
    #expect(
      bench.commands.contains(
        .leSetPeriodicAdvertisingParameters(
          HCI.PeriodicAdvertisingParameters(
            handle: one, minimumInterval: 80, maximumInterval: 80, properties: .includesTransmitPower))))
    bench.forget()
    bench.perform { host, now in host.stopAdvertising(on: one, at: now) }
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedAdvertisingEnable, .leSetPeriodicAdvertisingEnable, .leRemoveAdvertisingSet,
      ])
    #expect(bench.commands.contains(.leSetPeriodicAdvertisingEnable([], one)))
  }

  @Test("New data of a train take one command; a new interval, and data in fragments, interrupt the train")
  func changes() {
    var bench = HostHarness.periodic()
    bench.start(withTrain([1]), on: one)
    bench.forget()
    bench.start(withTrain([2, 2]), on: one)
    #expect(
      bench.commands == [.leSetPeriodicAdvertisingData(one, HCI.AdvertisingDataFragment(.complete, [2, 2]))])
    #expect(bench.setAnswers == [one: [nil]])
    bench.forget()
    bench.start(withTrain([2, 2], interval: 160), on: one)
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetPeriodicAdvertisingEnable, .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingEnable,
      ])
    bench.forget()
    bench.start(withTrain(ByteSlice(pattern(600).bytes), interval: 160), on: one)
    let parts = bench.commands.compactMap { command in
      if case .leSetPeriodicAdvertisingData(_, let part) = command { part } else { nil }
    }
    #expect(parts.map(\.operation) == [.first, .intermediate, .last])
    #expect(parts.map(\.data.count) == [252, 252, 96] && parts.flatMap(\.data.bytes) == pattern(600).bytes)
    #expect(bench.commands.first == .leSetPeriodicAdvertisingEnable([], one))
    #expect(bench.commands.last == .leSetPeriodicAdvertisingEnable(.enabled, one))
    bench.forget()
    // Without a train, the set goes on.
    bench.start(broadcast(), on: one)
    #expect(bench.commands == [.leSetPeriodicAdvertisingEnable([], one)])
    #expect(bench.setAnswers == [one: [nil]])
  }

  @Test("A refused train ends its set with the controller's error")
  func refusedTrain() {
    var bench = HostHarness.periodic()
    bench.answers[.leSetPeriodicAdvertisingEnable] = .complete(.status(.packetTooLong))
    bench.start(withTrain([1]), on: one)
    #expect(bench.setAnswers == [one: [.controller(.packetTooLong)]])
    #expect(bench.commands.last == .leRemoveAdvertisingSet(one))
  }

  @Test("A change that the host refuses ends its set, and no other one")
  func refusedChange() {
    var bench = HostHarness.periodic()
    bench.start(broadcast(), on: one)
    bench.start(broadcast(), on: two)
    bench.forget()
    bench.start(broadcast(ByteSlice(pattern(1_651).bytes)), on: one)
    #expect(bench.setAnswers == [one: [.outOfSpace]])
    #expect(bench.commands.map(\.opcode) == [.leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet])
    #expect(bench.commands.allSatisfy { set(of: $0) == one })
    #expect(bench.host.gap.advertisers.handles == [HCI.AdvertisingHandle.main, two])
  }

  @Test("With several connectable sets, LE Advertising Set Terminated names the one that a central has answered")
  func terminated() {
    var bench = HostHarness.periodic()
    var connectable = broadcast()
    connectable.shape.type = .connectableScannableUndirected
    bench.start(connectable, on: one)
    bench.start(connectable, on: two)
    bench.start(broadcast(), on: HCI.AdvertisingHandle(rawValue: 3))
    bench.forget()
    let handle = bench.link(.peripheral)
    #expect(bench.commands.isEmpty)
    bench.receive(.leAdvertisingSetTerminated(.success, two, handle, completedEvents: 0))
    #expect(
      bench.commands.map { set(of: $0) } == [two] && bench.commands.first?.opcode == .leSetExtendedAdvertisingEnable)
    bench.forget()
    bench.receive(.leAdvertisingSetTerminated(.advertisingTimeout, one, handle, completedEvents: 0))
    #expect(bench.endedSets == [one])
    #expect(bench.commands.map(\.opcode) == [.leRemoveAdvertisingSet])
    // An unknown set changes nothing.
    bench.forget()
    bench.receive(
      .leAdvertisingSetTerminated(.success, HCI.AdvertisingHandle(rawValue: 9), handle, completedEvents: 0))
    #expect(bench.commands.isEmpty && bench.endedSets.isEmpty)
  }

  @Test("The fallback to legacy commands ends further sets and synchronizations; a failure of the controller, too")
  func fallback() {
    var bench = HostHarness.periodic()
    bench.answers[.leSetExtendedAdvertisingParameters] = .status(.unknownHCICommand)
    bench.start(broadcast(), on: one)
    #expect(bench.setAnswers == [one: [.controller(.unsupportedFeatureOrParameterValue)]])
    #expect(bench.host.gap.advertisers.handles == [HCI.AdvertisingHandle.main])
    var failing = HostHarness.periodic()
    failing.answers[.leSetExtendedAdvertisingEnable] = .noAnswer
    failing.start(broadcast(), on: one)
    failing.receive(.hardwareError(1))
    #expect(failing.setAnswers == [one: [.commandTimeout]])
  }
}
