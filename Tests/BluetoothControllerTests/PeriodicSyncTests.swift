import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Receiving periodic advertising · Vol 6, Part B, 4.4.5; Vol 4, Part E, 7.8.67 to 7.8.73, 7.8.88.
@Suite("Periodic advertising synchronization")
struct PeriodicSyncTests {
  private let air: PerfectAir
  private let scanner, advertiser: ControllerHarness

  init() { (air, scanner, advertiser) = PerfectAir.pair("scanner", "advertiser", drift: 40_000) }

  private var identity: HCI.PeriodicAdvertiser {
    HCI.PeriodicAdvertiser(HCI.PeerAddress(advertiser.address), advertisingSID: 3)
  }

  /// Starts a train every 50 ms.
  private func advertise(
    _ data: [UInt8] = [1, 2], _ enable: HCI.PeriodicAdvertisingEnable = .enabled, phy: RadioPHY = .le1M
  ) {
    #expect(
      advertiser.send(
        .leSetExtendedAdvertisingParameters(
          .every100ms {
            $0.advertisingSID = 3
            $0.secondaryPHY = phy
          })) == .success)
    let parameters = HCI.PeriodicAdvertisingParameters(handle: 1, minimumInterval: 40, maximumInterval: 40)
    #expect(advertiser.send(.leSetPeriodicAdvertisingParameters(parameters)) == .success)
    #expect(advertiser.setPeriodicData(data) == .success)
    #expect(advertiser.send(.leSetPeriodicAdvertisingEnable(enable, 1)) == .success)
    #expect(advertiser.enable(1) == .success)
  }

  private func synchronize(
    _ options: HCI.PeriodicAdvertisingCreateSync.Options = [], skip: UInt16 = 0, timeout: UInt16 = 100,
    with advertiser: HCI.PeriodicAdvertiser? = nil
  ) -> HCI.ErrorCode? {
    scanner.send(
      .lePeriodicAdvertisingCreateSync(
        HCI.PeriodicAdvertisingCreateSync(
          options: options, advertiser: advertiser ?? identity,
          keeping: HCI.SyncKeeping(skip: skip, timeout: timeout))))
  }

  /// Advertises, scans and synchronizes, and returns the train's handle.
  private func established(
    _ data: [UInt8] = [1, 2], _ enable: HCI.PeriodicAdvertisingEnable = .enabled, phy: RadioPHY = .le1M,
    _ options: HCI.PeriodicAdvertisingCreateSync.Options = [], skip: UInt16 = 0
  ) throws -> HCI.SyncHandle {
    advertise(data, enable, phy: phy)
    scanner.scanExtended()
    #expect(synchronize(options, skip: skip) == .success)
    air.run(until: { !scanner.syncs.isEmpty })
    let (status, sync) = try #require(scanner.syncs.first)
    #expect(status == .success && sync.advertiser == identity && sync.interval == 40)
    #expect(sync.advertiserPHY == phy.rawValue && sync.clockAccuracy == 5)
    scanner.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    scanner.clear()
    return sync.handle
  }

  @Test(
    "The train of an advertiser and a SID is found, kept and reported", arguments: [RadioPHY.le1M, .le2M, .leCoded])
  func created(phy: RadioPHY) throws {
    let handle = try established(phy: phy)
    air.run(for: .seconds(10))
    #expect((195...201).contains(scanner.periodicReports.count))
    #expect(scanner.periodicReports.allSatisfy { $0.data == [1, 2] && $0.status == .complete && $0.handle == handle })
    #expect(scanner.periodicReports.allSatisfy { $0.rssi == -50 && $0.transmitPower == 127 && $0.cteType == 0xFF })
    #expect(scanner.lostSyncs.isEmpty)
  }

  @Test("With the Periodic Advertiser List the scanner synchronizes with the first train on the list")
  func advertiserList() {
    #expect(scanner.complete(.leReadPeriodicAdvertiserListSize) == .lePeriodicAdvertiserListSize(16))
    #expect(scanner.send(.leAddDeviceToPeriodicAdvertiserList(identity)) == .success)
    #expect(scanner.send(.leAddDeviceToPeriodicAdvertiserList(identity)) == .invalidHCICommandParameters)
    let other = HCI.PeriodicAdvertiser(identity.address, advertisingSID: 4)
    #expect(scanner.send(.leRemoveDeviceFromPeriodicAdvertiserList(other)) == .unknownAdvertisingIdentifier)
    #expect(synchronize(.usesAdvertiserList, with: other) == .success)
    #expect(scanner.send(.leAddDeviceToPeriodicAdvertiserList(other)) == .commandDisallowed)
    #expect(scanner.send(.leClearPeriodicAdvertiserList) == .commandDisallowed)
    advertise()
    scanner.scanExtended()
    air.run(for: .seconds(1))
    #expect(scanner.syncs.map(\.1.advertiser) == [identity])
    #expect(scanner.send(.leClearPeriodicAdvertiserList) == .success)
  }

  @Test("The Periodic Advertiser List can't be changed during any pending Create Sync: 0x0C")
  func listWhilePending() {
    let other = HCI.PeriodicAdvertiser(identity.address, advertisingSID: 4)
    #expect(scanner.send(.leAddDeviceToPeriodicAdvertiserList(other)) == .success)
    #expect(synchronize() == .success)
    #expect(scanner.send(.leAddDeviceToPeriodicAdvertiserList(identity)) == .commandDisallowed)
    #expect(scanner.send(.leRemoveDeviceFromPeriodicAdvertiserList(other)) == .commandDisallowed)
    #expect(scanner.send(.leClearPeriodicAdvertiserList) == .commandDisallowed)
    #expect(scanner.send(.lePeriodicAdvertisingCreateSyncCancel) == .success)
    #expect(scanner.send(.leRemoveDeviceFromPeriodicAdvertiserList(other)) == .success)
  }

  @Test("Other sets and advertisers are ignored, and no train is found while the host does not scan")
  func others() {
    advertise()
    #expect(synchronize(with: HCI.PeriodicAdvertiser(identity.address, advertisingSID: 4)) == .success)
    scanner.scanExtended()
    air.run(for: .seconds(1))
    #expect(scanner.syncs.isEmpty)
    #expect(scanner.send(.lePeriodicAdvertisingCreateSyncCancel) == .success)
    scanner.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    scanner.clear()
    #expect(synchronize() == .success)
    air.run(for: .seconds(1))
    #expect(scanner.syncs.isEmpty)
  }

  @Test("A pending Create Sync can be cancelled, and Sync Established reports 0x44")
  func cancel() {
    #expect(scanner.send(.lePeriodicAdvertisingCreateSyncCancel) == .commandDisallowed)
    #expect(synchronize() == .success)
    #expect(synchronize() == .commandDisallowed)
    #expect(scanner.send(.lePeriodicAdvertisingCreateSyncCancel) == .success)
    #expect(scanner.syncs.map(\.0) == [.operationCancelledByHost])
    advertise()
    scanner.scanExtended()
    air.run(for: .seconds(1))
    #expect(scanner.syncs.count == 1)
  }

  @Test("A train that is not received in six events is not established, with 0x3E")
  func neverHeard() {
    air.outcome = { $0.train == nil ? .arrives : .lost }
    advertise()
    scanner.scanExtended()
    #expect(synchronize() == .success)
    air.run(for: .seconds(1))
    #expect(scanner.syncs.map(\.0) == [.connectionFailedToBeEstablished])
    #expect(scanner.periodicReports.isEmpty)
  }

  @Test("A train that is not received for Sync_Timeout is lost")
  func lost() throws {
    let handle = try established()
    air.run(for: .seconds(1))
    advertiser.send(.leSetPeriodicAdvertisingEnable([], 1))
    let silence = air.now
    air.run(until: { !scanner.lostSyncs.isEmpty })
    #expect(scanner.lostSyncs == [handle])
    #expect((TimeSpan.milliseconds(950)...(.milliseconds(1_000))).contains(air.now - silence))
    #expect(scanner.controller.deadline == nil)
    #expect(scanner.send(.lePeriodicAdvertisingTerminateSync(handle)) == .unknownAdvertisingIdentifier)
  }

  @Test("A terminated train is no longer received, without an event")
  func terminate() throws {
    let handle = try established()
    air.run(for: .milliseconds(500))
    #expect(scanner.send(.lePeriodicAdvertisingTerminateSync(handle)) == .success)
    scanner.clear()
    air.run(for: .seconds(2))
    #expect(scanner.events.isEmpty && scanner.controller.deadline == nil)
  }

  @Test("A second Create Sync for the same train is refused")
  func again() throws {
    _ = try established()
    #expect(synchronize() == .connectionAlreadyExists)
  }

  @Test("Skip skips events after a received event, and none after a missed event")
  func skip() throws {
    _ = try established(skip: 4)
    air.run(for: .seconds(10))
    #expect((38...42).contains(scanner.periodicReports.count))
    let interval = TimeSpan.milliseconds(50)
    func untilNextReport() -> TimeSpan {
      let start = air.now
      scanner.clear()
      air.run(until: { !scanner.periodicReports.isEmpty })
      return air.now - start
    }
    func isClose(_ span: TimeSpan, to events: Int64) -> Bool {
      (interval * events - .milliseconds(1)...interval * events + .milliseconds(1)).contains(span)
    }
    _ = untilNextReport()
    #expect(isClose(untilNextReport(), to: 5))
    var count = 0
    air.outcome = { sent in
      guard sent.train != nil else { return .arrives }
      count += 1
      return count <= 7 ? .lost : .arrives
    }
    // The fifth event is attended and lost, and so are the sixth and seventh.
    #expect(isClose(untilNextReport(), to: 8))
    #expect(isClose(untilNextReport(), to: 5))
  }

  @Test("A chain is reported in parts, which together have all data")
  func chain() throws {
    let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
    _ = try established(data)
    scanner.clear()
    air.run(for: .milliseconds(500))
    let reports = scanner.periodicReports
    #expect(reports.count { $0.status == .complete } >= 9 && !reports.contains { $0.status == .truncated })
    let first = try #require(reports.firstIndex { $0.status == .complete })
    let second = try #require(reports[(first + 1)...].firstIndex { $0.status == .complete })
    #expect(reports[(first + 1)...second].flatMap(\.data.bytes) == data)
  }

  @Test("A chain that breaks off is reported as truncated, and the next event is still received")
  func truncated() throws {
    let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
    _ = try established(data)
    var isSecond = false
    air.outcome = { sent in
      guard sent.train != nil else { return .arrives }
      defer { isSecond = sent.train?.auxiliary != nil && !isSecond }
      return isSecond ? .corrupt : .arrives
    }
    air.run(for: .milliseconds(60))
    scanner.clear()
    air.run(for: .milliseconds(500))
    #expect(scanner.periodicReports.count { $0.status == .truncated } >= 8)
    #expect(scanner.lostSyncs.isEmpty)
  }

  @Test("Reports can be disabled and enabled while the train is kept")
  func receiveEnable() throws {
    let handle = try established(.init([1, 2]), .enabled, .reportingDisabled)
    air.run(for: .seconds(3))
    #expect(scanner.periodicReports.isEmpty && scanner.lostSyncs.isEmpty)
    #expect(scanner.send(.leSetPeriodicAdvertisingReceiveEnable(handle, .reporting)) == .success)
    air.run(for: .seconds(1))
    #expect((18...21).contains(scanner.periodicReports.count))
    scanner.send(.leSetPeriodicAdvertisingReceiveEnable(handle, []))
    scanner.clear()
    air.run(for: .seconds(1))
    #expect(scanner.periodicReports.isEmpty)
    let unknown = HCI.SyncHandle(rawValue: 0x0ABC)
    #expect(
      scanner.send(.leSetPeriodicAdvertisingReceiveEnable(unknown, .reporting)) == .unknownAdvertisingIdentifier)
  }

  @Test("The duplicate filter reports each version of the data once, by ADI")
  func duplicates() throws {
    _ = try established([1], [.enabled, .includesADI], .filtersDuplicates)
    air.run(for: .seconds(1))
    // The first report came with the establishment.
    #expect(scanner.periodicReports.isEmpty)
    advertiser.setPeriodicData([2])
    air.run(for: .seconds(1))
    #expect(scanner.periodicReports.map(\.data) == [[2]])
  }

  @Test("A train's new channel map takes effect at its instant")
  func channelMapUpdate() {
    let scripted = ScriptedAdvertiser(air: air)
    var info = LL.SyncInfo.example
    info.span = .milliseconds(20)
    scripted.announce(at: .zero + .milliseconds(10), to: .milliseconds(2))
    scripted.send(
      LL.ExtendedAdvertisingPayload(advertiser: scripted.address, dataInfo: scripted.dataInfo, syncInfo: info),
      at: .zero + .milliseconds(12))
    let update: [UInt8] = [8, 0x28, 0b11, 0, 0, 0, 0, 10, 0]
    let selection = LL.ChannelSelection.algorithm2(accessAddress: info.accessAddress)
    for event in 0..<20 {
      let map = event < 10 ? ChannelMap.all : ChannelMap(bits: 0b11)
      let payload = LL.ExtendedAdvertisingPayload(
        additionalData: event == 3 ? ByteSlice(update) : ByteSlice(), data: [UInt8(event)])
      air.play(
        LL.AdvertisingPDU.extended(payload).packet(
          in: scripted.pool, accessAddress: info.accessAddress, crcInit: info.crcInit),
        at: .zero + .milliseconds(Int64(32 + 100 * event)), on: selection.channel(event: event, map: map))
    }
    scanner.scanExtended()
    let wanted = HCI.PeriodicAdvertiser(HCI.PeerAddress(scripted.address), advertisingSID: scripted.sid)
    #expect(synchronize(with: wanted) == .success)
    air.run(for: .seconds(2))
    #expect(scanner.periodicReports.flatMap(\.data.bytes) == (0..<20).map { UInt8($0) })
  }

  @Test("Parameters of Create Sync outside their ranges are refused")
  func errors() {
    #expect(synchronize(skip: 0x01F4) == .invalidHCICommandParameters)
    #expect(synchronize(timeout: 9) == .invalidHCICommandParameters)
    #expect(synchronize(timeout: 0x4001) == .invalidHCICommandParameters)
  }

  // MARK: S24

  @Test("S24: an invalid SyncInfo is not followed")
  func nonsense() throws {
    let scripted = ScriptedAdvertiser(air: air)
    // Its events avoid the packets with an invalid SyncInfo.
    let secondLink = try SecondLink(of: scanner, on: air, interval: 400, isExtended: true)
    let wrong: [(inout LL.SyncInfo) -> Void] = [
      { $0.interval = 5 }, { $0.interval = 0 }, { $0.channelMap = ChannelMap(bits: 1) }, { $0.accessAddress = 0 },
      { $0.accessAddress = LL.advertisingAccessAddress }, { $0.offset = .none },
    ]
    for (index, change) in wrong.enumerated() {
      var info = LL.SyncInfo.example
      change(&info)
      let start = air.now + .milliseconds(Int64(10 + 20 * index))
      scripted.announce(at: start, to: .milliseconds(2))
      scripted.send(
        LL.ExtendedAdvertisingPayload(advertiser: scripted.address, dataInfo: scripted.dataInfo, syncInfo: info),
        at: start + .milliseconds(2))
    }
    scanner.scanExtended()
    let wanted = HCI.PeriodicAdvertiser(HCI.PeerAddress(scripted.address), advertisingSID: scripted.sid)
    #expect(synchronize(with: wanted) == .success)
    air.run(for: .seconds(3))
    #expect(scanner.syncs.isEmpty && scanner.extendedReports.count == wrong.count)
    #expect(secondLink.isUnharmed())
  }
}

extension ControllerHarness {
  var syncs: [(HCI.ErrorCode, HCI.PeriodicSync)] {
    events.compactMap {
      if case .lePeriodicAdvertisingSyncEstablished(let status, let sync) = $0 { (status, sync) } else { nil }
    }
  }

  var lostSyncs: [HCI.SyncHandle] {
    events.compactMap { if case .lePeriodicAdvertisingSyncLost(let handle) = $0 { handle } else { nil } }
  }

  var periodicReports: [HCI.PeriodicAdvertisingReport] {
    events.compactMap { if case .lePeriodicAdvertisingReport(let report) = $0 { report } else { nil } }
  }
}
