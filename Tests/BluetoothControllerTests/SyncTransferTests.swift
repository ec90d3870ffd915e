import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Periodic Advertising Sync Transfer · Vol 6, Part B, 5.1.13; Vol 4, Part E, 7.8.89 to 7.8.92.
@Suite("Periodic Advertising Sync Transfer")
struct SyncTransferTests {
  private let link: TestLink
  private let advertiser = TestDevice("advertiser", address: 0x3333_3333_3333) { $0.sleepClockDrift = -40_000 }
  private var air: TestAir { link.air }
  private var central: TestDevice { link.central }
  private var peripheral: TestDevice { link.peripheral }

  init() throws {
    link = try TestLink(
      isExtended: true, central: { $0.sleepClockDrift = 40_000 }, peripheral: { $0.sleepClockDrift = -40_000 })
    link.air.add(advertiser)
    advertiser.start()
    // What the peer can do has to be known.
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    link.peripheral.send(.leReadRemoteFeatures(link.peripheralHandle))
    link.air.run(for: .seconds(1))
    link.central.clear()
    link.peripheral.clear()
  }

  private func advertise(on device: TestDevice, interval: UInt16 = 40) {
    #expect(
      device.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.advertisingSID = 3 })) == .success)
    let parameters = HCI.PeriodicAdvertisingParameters(
      handle: 1, minimumInterval: interval, maximumInterval: interval)
    #expect(device.send(.leSetPeriodicAdvertisingParameters(parameters)) == .success)
    #expect(device.setPeriodicData([7]) == .success)
    #expect(device.send(.leSetPeriodicAdvertisingEnable(.enabled, 1)) == .success)
    #expect(device.enable(1) == .success)
  }

  private func expectTransfers(_ device: TestDevice, _ mode: HCI.SyncTransferParameters.Mode = .reporting) {
    let parameters = HCI.SyncTransferParameters(mode: mode, keeping: HCI.SyncKeeping(timeout: 200))
    #expect(device.send(.leSetDefaultPeriodicAdvertisingSyncTransferParameters(parameters)) == .success)
  }

  @Test(
    "The set of an advertiser is transferred in either direction, whatever the intervals",
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

  @Test("A train that is received is transferred to a peer that never scans")
  func sync() throws {
    advertise(on: advertiser)
    let identity = HCI.PeriodicAdvertiser(HCI.PeerAddress(advertiser.address), advertisingSID: 3)
    central.scanExtended()
    central.send(
      .lePeriodicAdvertisingCreateSync(
        HCI.PeriodicAdvertisingCreateSync(advertiser: identity, keeping: HCI.SyncKeeping(timeout: 200))))
    air.run(until: { !central.syncs.isEmpty })
    central.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    expectTransfers(peripheral)
    air.run(for: .seconds(1))
    let train = try #require(central.syncs.first).1.handle
    #expect(
      central.send(.lePeriodicAdvertisingSyncTransfer(link.centralHandle, serviceData: 1, train)) == .success)
    air.run(for: .seconds(5))
    let received = try #require(peripheral.syncTransfers.first)
    #expect(received.0 == .success && received.3.advertiser == identity)
    #expect(peripheral.periodicReports.count > 80)
  }

  @Test("What was asked for one connection goes before what holds for all", arguments: [0, 1, 2] as [UInt8])
  func modes(mode: UInt8) throws {
    let mode = try #require(HCI.SyncTransferParameters.Mode(rawValue: mode))
    advertise(on: central)
    expectTransfers(peripheral, mode == .ignored ? .reporting : .ignored)
    let parameters = HCI.SyncTransferParameters(mode: mode, keeping: HCI.SyncKeeping(timeout: 200))
    #expect(
      peripheral.send(.leSetPeriodicAdvertisingSyncTransferParameters(link.peripheralHandle, parameters)) == .success)
    air.run(for: .seconds(1))
    central.send(.lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 0, 1))
    air.run(for: .seconds(2))
    #expect(peripheral.syncTransfers.count == (mode == .ignored ? 0 : 1))
    #expect(peripheral.periodicReports.isEmpty == (mode != .reporting))
  }

  @Test("A transferred train that is not heard is given up with 0x3E")
  func neverHeard() {
    advertise(on: central)
    expectTransfers(peripheral)
    air.run(for: .seconds(1))
    let connection = air.log.last { $0.device == peripheral.number && !$0.isAdvertising }?.packet.accessAddress
    #expect(connection != nil)
    air.fate = { $0.isAdvertising || $0.packet.accessAddress == connection ? .arrives : .lost }
    central.send(.lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 0, 1))
    air.run(for: .seconds(2))
    #expect(peripheral.syncTransfers.map(\.0) == [.connectionFailedToBeEstablished])
  }

  @Test("A train that there is no room for is not followed: the host is told with 0x07, and keeps those that it has")
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

  @Test("Unknown handles, trains that do not run and peers that can't are refused")
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

  @Test("S24: a transfer of nonsense is ignored, and the connection goes on")
  func nonsense() {
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
    #expect(peripheral.periodicReports.isEmpty && link.isAlive())
  }
}

extension TestDevice {
  var syncTransfers: [(HCI.ErrorCode, HCI.ConnectionHandle, UInt16, HCI.PeriodicSync)] {
    events.compactMap {
      guard case .lePeriodicAdvertisingSyncTransferReceived(let status, let connection, let data, let sync) = $0 else {
        return nil
      }
      return (status, connection, data, sync)
    }
  }
}
