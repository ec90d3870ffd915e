import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothHost

extension HostHarness {
  static let train = SyncRequest(advertiser: peer, advertisingSID: 3, timeout: 100)

  mutating func synchronize(_ number: UInt32, _ request: SyncRequest = HostHarness.train) {
    perform { host, now in host.synchronize(SyncID(rawValue: number), with: request, at: now) }
  }

  mutating func establish(_ handle: UInt16, _ request: SyncRequest = HostHarness.train) {
    let sync = HCI.PeriodicSync(
      handle: HCI.SyncHandle(rawValue: handle),
      advertiser: HCI.PeriodicAdvertiser(
        HCI.PeerAddress(request.advertiser), advertisingSID: request.advertisingSID),
      advertiserPHY: 2, interval: 80, clockAccuracy: 0)
    receive(.lePeriodicAdvertisingSyncEstablished(.success, sync))
  }

  mutating func report(
    _ handle: UInt16, _ data: [UInt8], _ status: HCI.PeriodicAdvertisingReport.DataStatus = .complete
  ) {
    receive(
      .lePeriodicAdvertisingReport(
        HCI.PeriodicAdvertisingReport(
          handle: HCI.SyncHandle(rawValue: handle), transmitPower: 127, rssi: -50, status: status,
          data: ByteSlice(data))))
  }

  /// The events of synchronizations as text, with the number of each.
  var syncEvents: [String] {
    events.compactMap { event in
      guard case .synchronization(let id, let event) = event else { return nil }
      switch event {
      case .established(let properties): return "\(id.rawValue) every \(properties.interval) on \(properties.phy)"
      case .report(let report): return "\(id.rawValue) \(report.data.count)\(report.isTruncated ? " truncated" : "")"
      case .ended(.lost): return "\(id.rawValue) lost"
      case .ended(.refused(let error)): return "\(id.rawValue) refused(\(error))"
      }
    }
  }
}

@Suite("Synchronization to periodic trains")
struct SynchronizerTests {
  private let cancelled = HCI.Event.lePeriodicAdvertisingSyncEstablished(.operationCancelledByHost, .none)

  private func creations(_ bench: HostHarness) -> [HCI.PeriodicAdvertisingCreateSync] {
    bench.commands.compactMap { if case .lePeriodicAdvertisingCreateSync(let value) = $0 { value } else { nil } }
  }

  @Test("The host scans until the controller has found the train, then reports its data, and its loss at the end")
  func life() {
    var bench = HostHarness.periodic()
    bench.synchronize(1, SyncRequest(advertiser: HostHarness.peer, advertisingSID: 3, skip: 2, timeout: 100))
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedScanParameters, .lePeriodicAdvertisingCreateSync, .leSetExtendedScanEnable,
      ])
    let expected = HCI.PeriodicAdvertisingCreateSync(
      advertiser: HCI.PeriodicAdvertiser(HCI.PeerAddress(HostHarness.peer), advertisingSID: 3),
      keeping: HCI.SyncKeeping(skip: 2, timeout: 100))
    #expect(creations(bench) == [expected])
    // The host does not report the packets of the scan that it has started for itself.
    bench.hearPart([2, 1, 6])
    bench.forget()
    bench.establish(5)
    #expect(bench.commands == [.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false))])
    bench.report(5, [1, 2, 3])
    bench.report(6, [9])
    bench.receive(.lePeriodicAdvertisingSyncLost(HCI.SyncHandle(rawValue: 6)))
    bench.receive(.lePeriodicAdvertisingSyncLost(HCI.SyncHandle(rawValue: 5)))
    bench.report(5, [4])
    #expect(bench.syncEvents == ["1 every 80 on 2", "1 3", "1 lost"])
    #expect(!bench.events.contains { if case .advertisingReport = $0 { true } else { false } })
    #expect(bench.host.gap.synchronizer.count == 0)
  }

  @Test("Data in several reports are reported once, with at most 1,650 octets")
  func fragments() {
    var bench = HostHarness.periodic()
    bench.synchronize(1)
    bench.establish(5)
    bench.forget()
    bench.report(5, pattern(247).bytes, .moreToCome)
    bench.report(5, pattern(100).bytes)
    bench.report(5, pattern(247).bytes, .moreToCome)
    bench.report(5, [], .truncated)
    for _ in 0..<7 { bench.report(5, pattern(247).bytes, .moreToCome) }
    bench.report(5, [1])
    bench.report(5, [1, 2], .truncated)
    bench.report(5, [1])
    #expect(bench.syncEvents == ["1 347", "1 247 truncated", "1 1650 truncated", "1 2 truncated", "1 1"])
  }

  @Test("A withdrawn request is cancelled; an established one is terminated")
  func stopping() {
    var bench = HostHarness.periodic()
    bench.synchronize(1)
    bench.forget()
    bench.perform { host, now in host.endSynchronization(SyncID(rawValue: 1), at: now) }
    #expect(
      bench.commands.map(\.opcode) == [.leSetExtendedScanEnable, .lePeriodicAdvertisingCreateSyncCancel])
    bench.receive(cancelled)
    #expect(bench.syncEvents.isEmpty && bench.host.gap.synchronizer.isQuiet)
    bench.synchronize(2)
    bench.establish(7)
    bench.forget()
    bench.perform { host, now in host.endSynchronization(SyncID(rawValue: 2), at: now) }
    #expect(bench.commands == [.lePeriodicAdvertisingTerminateSync(HCI.SyncHandle(rawValue: 7))])
    bench.report(7, [1])
    #expect(bench.syncEvents.isEmpty)
  }

  @Test("A synchronization that is established while it is being cancelled is terminated")
  func establishedTooLate() {
    var bench = HostHarness.periodic()
    bench.synchronize(1)
    bench.answers[.lePeriodicAdvertisingCreateSyncCancel] = .noAnswer
    bench.perform { host, now in host.endSynchronization(SyncID(rawValue: 1), at: now) }
    bench.establish(7)
    bench.forget()
    bench.receive(
      .commandComplete(
        credits: 1, .lePeriodicAdvertisingCreateSyncCancel, .status(.commandDisallowed)))
    #expect(bench.commands == [.lePeriodicAdvertisingTerminateSync(HCI.SyncHandle(rawValue: 7))])
    #expect(bench.syncEvents.isEmpty)
    bench.synchronize(2)
    #expect(creations(bench).count == 1)
  }

  @Test("The host looks for several trains in turn, so that an absent one keeps it from no other")
  func turns() {
    var bench = HostHarness.periodic()
    let other = SyncRequest(advertiser: HostHarness.peer, advertisingSID: 4, timeout: 100)
    bench.synchronize(1)
    bench.synchronize(2, other)
    #expect(creations(bench).map(\.advertiser.advertisingSID) == [3])
    let start = bench.now
    bench.passToDeadline()
    #expect(bench.now == start + Synchronizer.turn)
    #expect(bench.commands.last == .lePeriodicAdvertisingCreateSyncCancel)
    bench.receive(cancelled)
    #expect(creations(bench).map(\.advertiser.advertisingSID) == [3, 4])
    bench.establish(1, other)
    // The remaining train has no turns.
    #expect(creations(bench).map(\.advertiser.advertisingSID) == [3, 4, 3])
    #expect(bench.host.deadline == nil)
    // A train that was lost before the synchronization was established is looked for again.
    bench.receive(.lePeriodicAdvertisingSyncEstablished(.connectionFailedToBeEstablished, .none))
    #expect(creations(bench).map(\.advertiser.advertisingSID) == [3, 4, 3, 3])
    #expect(bench.syncEvents == ["2 every 80 on 2"])
  }

  @Test("The same train twice, a refusal of the controller, and a controller without the commands: an error")
  func refusals() {
    var bench = HostHarness.periodic()
    bench.synchronize(1)
    bench.synchronize(2)
    #expect(bench.syncEvents == ["2 refused(\(HostError.controller(.connectionAlreadyExists)))"])
    bench.forget()
    bench.perform { host, now in host.endSynchronization(SyncID(rawValue: 1), at: now) }
    bench.receive(cancelled)
    bench.answers[.lePeriodicAdvertisingCreateSync] = .status(.memoryCapacityExceeded)
    bench.synchronize(3)
    #expect(bench.syncEvents == ["3 refused(\(HostError.controller(.memoryCapacityExceeded)))"])
    var old = HostHarness.extended()
    old.synchronize(4)
    #expect(old.syncEvents == ["4 refused(\(HostError.controller(.unsupportedFeatureOrParameterValue)))"])
    #expect(old.commands.isEmpty)
    var off = HostHarness()
    off.synchronize(5)
    #expect(off.syncEvents == ["5 refused(\(HostError.controller(.commandDisallowed)))"])
  }

  @Test("A controller that does not know Create Sync keeps the extended commands")
  func unknownCommand() {
    var bench = HostHarness.periodic()
    bench.answers[.lePeriodicAdvertisingCreateSync] = .status(.unknownHCICommand)
    bench.synchronize(1)
    #expect(bench.syncEvents == ["1 refused(\(HostError.controller(.unknownHCICommand)))"])
    bench.forget()
    bench.scan()
    #expect(bench.commands.map(\.opcode) == [.leSetExtendedScanParameters, .leSetExtendedScanEnable])
  }

  @Test("Scanning on LE Coded is added for a train that is announced there")
  func coded() {
    var bench = HostHarness.periodic()
    var request = HostHarness.train
    request.includesLECoded = true
    bench.synchronize(1, request)
    guard case .leSetExtendedScanParameters(let parameters)? = bench.commands.first else {
      Issue.record("no parameters")
      return
    }
    #expect(parameters.leCoded != nil && parameters.le1M?.isActive == false)
  }

  @Test("The search pauses while the resolving list changes, and goes on afterwards")
  func addressChange() {
    var bench = HostHarness.periodic()
    bench.synchronize(1)
    bench.forget()
    let identity = HostIdentity(
      address: HostHarness.peer, peerKey: 7, localKey: 0)
    bench.perform { host, now in host.setIdentities([identity], at: now) }
    #expect(bench.commands.contains(.lePeriodicAdvertisingCreateSyncCancel))
    #expect(!bench.commands.contains { $0.opcode == .leAddDeviceToResolvingList })
    bench.receive(cancelled)
    let opcodes = bench.commands.map(\.opcode)
    #expect(opcodes.contains(.leAddDeviceToResolvingList))
    #expect(opcodes.suffix(2) == [.leSetExtendedScanEnable, .lePeriodicAdvertisingCreateSync])
    #expect(creations(bench).count == 1)
  }
}
