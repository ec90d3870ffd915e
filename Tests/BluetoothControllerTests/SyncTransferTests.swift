import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Periodic Advertising Sync Transfer · Vol 6, Part B, 5.1.13; Vol 4, Part E, 7.8.89 to 7.8.92.
@Suite("Periodic Advertising Sync Transfer")
struct SyncTransferTests {
  private let link: LinkHarness
  private let advertiser = ControllerHarness("advertiser", address: 0x3333_3333_3333) { $0.sleepClockDrift = -40_000 }
  private var air: PerfectAir { link.air }
  private var central: ControllerHarness { link.central }
  private var peripheral: ControllerHarness { link.peripheral }

  init() throws {
    link = try LinkHarness(
      isExtended: true, central: { $0.sleepClockDrift = 40_000 }, peripheral: { $0.sleepClockDrift = -40_000 })
    link.air.add(advertiser)
    advertiser.start()
    // The peer's features must be known.
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    link.peripheral.send(.leReadRemoteFeatures(link.peripheralHandle))
    link.air.run(for: .seconds(1))
    link.central.clear()
    link.peripheral.clear()
  }

  private func advertise(on device: ControllerHarness, interval: UInt16 = 40) {
    #expect(
      device.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.advertisingSID = 3 })) == .success)
    let parameters = HCI.PeriodicAdvertisingParameters(
      handle: 1, minimumInterval: interval, maximumInterval: interval)
    #expect(device.send(.leSetPeriodicAdvertisingParameters(parameters)) == .success)
    #expect(device.setPeriodicData([7]) == .success)
    #expect(device.send(.leSetPeriodicAdvertisingEnable(.enabled, 1)) == .success)
    #expect(device.enable(1) == .success)
  }

  private func expectTransfers(
    _ device: ControllerHarness, _ mode: HCI.SyncTransferParameters.Mode = .reporting, timeout: UInt16 = 200
  ) {
    let parameters = HCI.SyncTransferParameters(mode: mode, keeping: HCI.SyncKeeping(timeout: timeout))
    let handle = device === central ? link.centralHandle : link.peripheralHandle
    #expect(device.send(.leSetPeriodicAdvertisingSyncTransferParameters(handle, parameters)) == .success)
  }

  @Test(
    "The set of an advertiser is transferred in either direction, at any intervals",
    arguments: [(true, UInt16(40)), (false, 40), (true, 1_000), (false, 9), (true, 7)])
  func setInfo(fromCentral: Bool, interval: UInt16) throws {
    let (sender, recipient) = fromCentral ? (central, peripheral) : (peripheral, central)
    let (handle, other) =
      fromCentral ? (link.centralHandle, link.peripheralHandle) : (link.peripheralHandle, link.centralHandle)
    advertise(on: sender, interval: interval)
    expectTransfers(recipient)
    air.run(for: .seconds(1))
    #expect(sender.send(.lePeriodicAdvertisingSetInfoTransfer(handle, serviceData: 0xABCD, 1)) == .success)
    air.run(for: .seconds(9))
    let (status, connection, data, sync) = try #require(recipient.syncTransfers.first)
    #expect(status == .success && connection == other && data == 0xABCD)
    #expect(sync.advertiser == HCI.PeriodicAdvertiser(HCI.PeerAddress(sender.address), advertisingSID: 3))
    #expect(sync.interval == interval && sync.advertiserPHY == 1)
    #expect(!recipient.periodicReports.isEmpty && recipient.periodicReports.allSatisfy { $0.data == [7] })
    #expect(recipient.lostSyncs.isEmpty && recipient.disconnections.isEmpty)
  }

  /// Synchronizes the central with the advertiser's train, and returns its handle.
  private func receivedTrain(timeout: UInt16 = 200, within limit: TimeSpan = .seconds(10)) throws -> HCI.SyncHandle {
    central.scanExtended()
    central.send(
      .lePeriodicAdvertisingCreateSync(
        HCI.PeriodicAdvertisingCreateSync(advertiser: identity, keeping: HCI.SyncKeeping(timeout: timeout))))
    air.run(until: { !central.syncs.isEmpty }, limit: limit)
    central.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    let (status, sync) = try #require(central.syncs.first)
    #expect(status == .success)
    return sync.handle
  }

  private var identity: HCI.PeriodicAdvertiser {
    HCI.PeriodicAdvertiser(HCI.PeerAddress(advertiser.address), advertisingSID: 3)
  }

  /// 1.25 s, 10 s and 81.9 s: the last two exceed the range of an offset.
  private static let longIntervals = [UInt16(1_000), 8_000, 65_520]
  private static let longestTimeout: UInt16 = 0x4000

  @Test(
    "A set is transferred even if its next event is seconds or minutes away", arguments: longIntervals,
    [true, false])
  func farSet(interval: UInt16, fromCentral: Bool) throws {
    let (sender, recipient) = fromCentral ? (central, peripheral) : (peripheral, central)
    advertise(on: sender, interval: interval)
    expectTransfers(recipient, timeout: Self.longestTimeout)
    air.run(for: .seconds(1))
    let handle = fromCentral ? link.centralHandle : link.peripheralHandle
    #expect(sender.send(.lePeriodicAdvertisingSetInfoTransfer(handle, serviceData: 0, 1)) == .success)
    let limit = LL.SyncInfo.intervalUnit * Int64(interval) * 3
    air.run(until: { !recipient.periodicReports.isEmpty }, limit: limit)
    #expect(recipient.syncTransfers.map(\.0) == [.success] && !recipient.periodicReports.isEmpty)
  }

  @Test(
    "A received train is transferred even if its next event is seconds or minutes away", arguments: longIntervals
  )
  func farTrain(interval: UInt16) throws {
    let span = LL.SyncInfo.intervalUnit * Int64(interval)
    advertise(on: advertiser, interval: interval)
    let train = try receivedTrain(timeout: Self.longestTimeout, within: .seconds(10) + span * 2)
    expectTransfers(peripheral, timeout: Self.longestTimeout)
    air.run(for: .milliseconds(500))
    #expect(central.send(.lePeriodicAdvertisingSyncTransfer(link.centralHandle, serviceData: 0, train)) == .success)
    air.run(until: { !peripheral.periodicReports.isEmpty }, limit: span * 3)
    #expect(peripheral.syncTransfers.map(\.0) == [.success] && !peripheral.periodicReports.isEmpty)
  }

  @Test(
    "Transfers are refused with 0x3A while too many are unacknowledged", arguments: [true, false])
  func manyTransfers(isOwn: Bool) throws {
    advertise(on: isOwn ? central : advertiser)
    let train = isOwn ? HCI.SyncHandle(rawValue: 0) : try receivedTrain()
    expectTransfers(peripheral)
    air.run(for: .milliseconds(200))
    air.outcome = { [peripheral] in $0.device == peripheral.number ? .lost : .arrives }
    let command: HCI.Command =
      isOwn
      ? .lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 0, 1)
      : .lePeriodicAdvertisingSyncTransfer(link.centralHandle, serviceData: 0, train)
    let statuses = (0..<40).map { _ in central.send(command) }
    let taken = statuses.count { $0 == .success }
    #expect((1...20).contains(taken) && statuses[taken...].allSatisfy { $0 == .controllerBusy })
    #expect(central.controller.connections[0].flow.waitingControl <= 1)
    air.run(for: .milliseconds(200))
    air.outcome = { _ in .arrives }
    air.run(for: .seconds(3))
    #expect(central.send(command) == .success && central.controller.connections[0].procedures.isIdle == false)
    air.run(for: .seconds(1))
    #expect(central.controller.connections[0].procedures.isIdle && peripheral.syncTransfers.map(\.0) == [.success])
  }

  @Test(
    "Transfers are sent to a peer with unknown features, and refused with 0x1A if the peer is known to lack them",
    arguments: [true, false])
  func features(isKnown: Bool) throws {
    let link = try LinkHarness(
      isExtended: true, peripheral: { $0.features.remove(.periodicAdvertisingSyncTransferRecipient) })
    advertise(on: link.central)
    advertise(on: link.peripheral)
    link.central.scanExtended()
    let identity = HCI.PeriodicAdvertiser(HCI.PeerAddress(link.peripheral.address), advertisingSID: 3)
    link.central.send(
      .lePeriodicAdvertisingCreateSync(
        HCI.PeriodicAdvertisingCreateSync(advertiser: identity, keeping: HCI.SyncKeeping(timeout: 200))))
    link.air.run(until: { !link.central.syncs.isEmpty })
    let train = try #require(link.central.syncs.first).1.handle
    if isKnown { link.central.send(.leReadRemoteFeatures(link.centralHandle)) }
    link.air.run(for: .seconds(1))
    let expected: HCI.ErrorCode = isKnown ? .unsupportedRemoteFeature : .success
    link.air.clearLog()
    for command in [
      .lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 0, 1),
      .lePeriodicAdvertisingSyncTransfer(link.centralHandle, serviceData: 0, train),
    ] as [HCI.Command] {
      #expect(link.central.send(command) == expected)
    }
    link.air.run(for: .seconds(1))
    let refusals = link.air.log.count { $0.controlPDU == .unknownRsp(LL.ControlOpcode.periodicSyncInd.rawValue) }
    #expect(refusals == (isKnown ? 0 : 2) && link.isAlive())
  }

  @Test("A received train is transferred to a peer that never scans")
  func sync() throws {
    advertise(on: advertiser)
    let train = try receivedTrain()
    expectTransfers(peripheral)
    air.run(for: .seconds(1))
    #expect(
      central.send(.lePeriodicAdvertisingSyncTransfer(link.centralHandle, serviceData: 1, train)) == .success)
    air.run(for: .seconds(5))
    let received = try #require(peripheral.syncTransfers.first)
    #expect(received.0 == .success && received.3.advertiser == identity)
    #expect(peripheral.periodicReports.count > 80)
  }

  /// Connects, with default parameters sent before, and transfers the central's set. `change` runs before the transfer.
  private func transferToLaterConnection(
    default mode: HCI.SyncTransferParameters.Mode, change: (LinkHarness) -> Void
  ) throws -> ControllerHarness {
    let parameters = HCI.SyncTransferParameters(mode: mode, keeping: HCI.SyncKeeping(timeout: 200))
    let link = try LinkHarness(
      isExtended: true,
      prepare: { _, peripheral in
        #expect(peripheral.send(.leSetDefaultPeriodicAdvertisingSyncTransferParameters(parameters)) == .success)
      })
    advertise(on: link.central)
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    change(link)
    link.air.run(for: .seconds(1))
    link.central.send(.lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 0, 1))
    link.air.run(for: .seconds(2))
    return link.peripheral
  }

  @Test("The parameters of one connection override the default parameters", arguments: [0, 1, 2] as [UInt8])
  func modes(mode: UInt8) throws {
    let mode = try #require(HCI.SyncTransferParameters.Mode(rawValue: mode))
    let peripheral = try transferToLaterConnection(default: mode == .ignored ? .reporting : .ignored) { link in
      let parameters = HCI.SyncTransferParameters(mode: mode, keeping: HCI.SyncKeeping(timeout: 200))
      #expect(
        link.peripheral.send(.leSetPeriodicAdvertisingSyncTransferParameters(link.peripheralHandle, parameters))
          == .success)
    }
    #expect(peripheral.syncTransfers.count == (mode == .ignored ? 0 : 1))
    #expect(peripheral.periodicReports.isEmpty == (mode != .reporting))
  }

  @Test("Default parameters apply to connections that are created later, not to existing ones")
  func defaults() throws {
    #expect(try transferToLaterConnection(default: .reporting) { _ in }.syncTransfers.count == 1)
    let peripheral = try transferToLaterConnection(default: .ignored) { link in
      let parameters = HCI.SyncTransferParameters(mode: .reporting, keeping: HCI.SyncKeeping(timeout: 200))
      #expect(
        link.peripheral.send(.leSetDefaultPeriodicAdvertisingSyncTransferParameters(parameters)) == .success)
    }
    #expect(peripheral.syncTransfers.isEmpty)
  }

  @Test("A transferred train that is not received fails with 0x3E")
  func neverHeard() {
    advertise(on: central)
    expectTransfers(peripheral)
    air.run(for: .seconds(1))
    let connection = air.log.last { $0.device == peripheral.number && !$0.isAdvertising }?.packet.accessAddress
    #expect(connection != nil)
    air.outcome = { $0.isAdvertising || $0.packet.accessAddress == connection ? .arrives : .lost }
    central.send(.lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 0, 1))
    air.run(for: .seconds(2))
    #expect(peripheral.syncTransfers.map(\.0) == [.connectionFailedToBeEstablished])
  }

  @Test("A train beyond the capacity is not followed: the host gets 0x07, and its other trains continue")
  func noRoom() throws {
    for sid in UInt8(0)..<16 {
      let handle = HCI.AdvertisingHandle(rawValue: sid)
      advertiser.send(
        .leSetExtendedAdvertisingParameters(
          .every100ms(handle) {
            $0.advertisingSID = sid
            ($0.minimumInterval, $0.maximumInterval) = (800, 800)
          }))
      advertiser.send(
        .leSetPeriodicAdvertisingParameters(
          HCI.PeriodicAdvertisingParameters(handle: handle, minimumInterval: 320, maximumInterval: 320)))
      advertiser.send(.leSetPeriodicAdvertisingEnable(.enabled, handle))
      advertiser.enable(handle)
      peripheral.send(
        .leAddDeviceToPeriodicAdvertiserList(
          HCI.PeriodicAdvertiser(HCI.PeerAddress(advertiser.address), advertisingSID: sid)))
    }
    peripheral.scanExtended()
    for count in 1...16 {
      peripheral.send(
        .lePeriodicAdvertisingCreateSync(
          HCI.PeriodicAdvertisingCreateSync(
            options: [.usesAdvertiserList, .reportingDisabled],
            advertiser: HCI.PeriodicAdvertiser(HCI.PeerAddress(advertiser.address), advertisingSID: 0),
            keeping: HCI.SyncKeeping(timeout: 1_000))))
      #expect(air.run(until: { peripheral.syncs.count == count }))
    }
    #expect(peripheral.syncs.allSatisfy { $0.0 == .success })
    peripheral.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    advertise(on: central)
    expectTransfers(peripheral)
    air.run(for: .seconds(1))
    central.send(.lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 9, 1))
    air.run(for: .seconds(2))
    #expect(peripheral.syncTransfers.map(\.0) == [.memoryCapacityExceeded])
    #expect(peripheral.syncTransfers.map(\.2) == [9] && peripheral.lostSyncs.isEmpty)
    let first = try #require(peripheral.syncs.first).1.handle
    #expect(peripheral.send(.lePeriodicAdvertisingTerminateSync(first)) == .success)
    central.send(.lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 10, 1))
    air.run(for: .seconds(2))
    #expect(peripheral.syncTransfers.map(\.0) == [.memoryCapacityExceeded, .success])
  }

  @Test("Unknown handles, trains that are not enabled and invalid parameters are refused")
  func errors() {
    let nobody = HCI.ConnectionHandle(rawValue: 0x0ABC)
    let handle = link.centralHandle
    let train = HCI.SyncHandle(rawValue: 0)
    #expect(
      central.send(.lePeriodicAdvertisingSyncTransfer(nobody, serviceData: 0, train)) == .unknownConnectionIdentifier)
    #expect(
      central.send(.lePeriodicAdvertisingSyncTransfer(handle, serviceData: 0, train)) == .unknownAdvertisingIdentifier)
    #expect(
      central.send(.lePeriodicAdvertisingSetInfoTransfer(handle, serviceData: 0, 1)) == .unknownAdvertisingIdentifier)
    central.send(.leSetExtendedAdvertisingParameters(.every100ms()))
    #expect(central.send(.lePeriodicAdvertisingSetInfoTransfer(handle, serviceData: 0, 1)) == .commandDisallowed)
    let wrong = HCI.SyncTransferParameters(mode: .reporting, keeping: HCI.SyncKeeping(timeout: 9))
    #expect(
      central.send(.leSetPeriodicAdvertisingSyncTransferParameters(handle, wrong)) == .invalidHCICommandParameters)
    #expect(
      central.send(.leSetPeriodicAdvertisingSyncTransferParameters(nobody, wrong)) == .unknownConnectionIdentifier)
  }

  @Test("S24: an invalid transfer is ignored, and the connection continues")
  func nonsense() throws {
    let secondLink = try SecondLink(of: peripheral, on: air, isExtended: true)
    expectTransfers(peripheral)
    var transfer = LL.PeriodicSyncTransfer(
      serviceData: 0, syncInfo: .example, connectionEventCount: 0x8000, lastPeriodicEventCounter: 1,
      advertisingSID: 1, advertiser: DeviceAddress(1, .public), sleepClockAccuracy: .upTo500, phy: .le1M,
      syncConnectionEventCount: 0)
    var payloads: [[UInt8]] = []
    for change in 0..<5 {
      switch change {
      case 1: transfer.phy = [.le1M, .le2M]
      case 2: (transfer.phy, transfer.syncInfo.interval) = (.le1M, 1)
      case 3:
        transfer.syncInfo = .example
        transfer.syncInfo.channelMap = ChannelMap(bits: 0)
      case 4:
        transfer.syncInfo = .example
        (transfer.syncInfo.interval, transfer.connectionEventCount) = (0xFFFF, 0x7FFF)
      default: break
      }
      payloads.append(LL.ControlPDU.periodicSyncInd(transfer).payload(in: central.pool).bytes)
    }
    for payload in payloads { _ = link.injectFromCentral(payload) }
    air.run(for: .seconds(2))
    #expect(peripheral.periodicReports.isEmpty && link.isAlive() && secondLink.isUnharmed())
  }
}

extension ControllerHarness {
  var syncTransfers: [(HCI.ErrorCode, HCI.ConnectionHandle, UInt16, HCI.PeriodicSync)] {
    events.compactMap {
      guard case .lePeriodicAdvertisingSyncTransferReceived(let status, let connection, let data, let sync) = $0 else {
        return nil
      }
      return (status, connection, data, sync)
    }
  }
}
