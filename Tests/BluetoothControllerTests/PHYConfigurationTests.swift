import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Controllers that support LE 2M without LE Coded, or LE Coded without LE 2M.
@Suite("Controllers without a PHY")
struct PHYConfigurationTests {
  private static let lacking: [RadioPHY] = [.le2M, .leCoded]

  private static func remove(_ phy: RadioPHY, _ configuration: inout ControllerConfiguration) {
    configuration.features.remove(phy == .le2M ? .le2MPHY : .leCodedPHY)
  }

  private static func other(than phy: RadioPHY) -> RadioPHY { phy == .le2M ? .leCoded : .le2M }

  private let air = PerfectAir()

  private func device(without phy: RadioPHY, address: UInt64 = 0x1111_1111_1111) -> ControllerHarness {
    let device = ControllerHarness("device", address: address) { Self.remove(phy, &$0) }
    air.start(device)
    return device
  }

  @Test(
    "Advertising, scanning, initiating and preferences for an unsupported PHY are refused with 0x11",
    arguments: lacking)
  func commands(phy: RadioPHY) throws {
    let device = device(without: phy)
    let link = try LinkHarness(central: { Self.remove(phy, &$0) })
    for one in [phy, Self.other(than: phy)] {
      let expected: HCI.ErrorCode = one == phy ? .unsupportedFeatureOrParameterValue : .success
      let phys = HCI.PHYs(one)
      #expect(device.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.secondaryPHY = one })) == expected)
      for preference in [(phys, nil), (nil, phys), (phys, phys)] as [(HCI.PHYs?, HCI.PHYs?)] {
        let preference = HCI.PHYPreference(transmit: preference.0, receive: preference.1)
        #expect(device.send(.leSetDefaultPHY(preference)) == expected)
        #expect(link.central.send(.leSetPHY(link.centralHandle, preference, options: 0)) == expected)
      }
      var request = HCI.ExtendedCreateConnection.extended(to: link.peripheral)
      if one == .le2M { request.le2M = request.le1M } else { request.leCoded = request.le1M }
      #expect(device.send(.leExtendedCreateConnection(request)) == expected)
      if expected == .success { #expect(device.send(.leCreateConnectionCancel) == .success) }
    }
    let hasCoded = phy == .le2M
    let expected: HCI.ErrorCode = hasCoded ? .success : .unsupportedFeatureOrParameterValue
    #expect(device.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.primaryPHY = .leCoded })) == expected)
    let scan = HCI.ExtendedScanParameters.Scan(isActive: false, interval: 48, window: 24)
    for plain in [nil, scan] {
      let parameters = HCI.ExtendedScanParameters(ownAddressType: .public, le1M: plain, leCoded: scan)
      #expect(device.send(.leSetExtendedScanParameters(parameters)) == expected)
    }
  }

  @Test("LL_PHY_REQ and LL_PHY_RSP name only supported PHYs, and no other PHY is agreed on", arguments: lacking)
  func procedure(phy: RadioPHY) throws {
    for isCentral in [true, false] {
      let link = try LinkHarness(peripheral: { Self.remove(phy, &$0) })
      let (device, handle) = link.side(isCentral)
      let all: HCI.PHYs = isCentral ? [.le1M, HCI.PHYs(phy)] : [.le1M, HCI.PHYs(Self.other(than: phy))]
      link.air.clearLog()
      #expect(device.send(.leSetPHY(handle, HCI.PHYPreference(transmit: all, receive: all), options: 0)) == .success)
      link.runEvents(20)
      let preferences = link.air.log.filter { $0.device == 1 }.compactMap { sent -> LL.PHYPreferences? in
        switch sent.controlPDU {
        case .phyReq(let preferences), .phyRsp(let preferences): preferences
        default: nil
        }
      }
      #expect(!preferences.isEmpty)
      #expect(preferences.allSatisfy { $0.transmit.union($0.receive).isDisjoint(with: HCI.PHYs(phy)) })
      let result = try #require(
        device.events.lazy.compactMap { event -> UInt8? in
          if case .lePHYUpdateComplete(.success, handle, let transmit, let receive) = event, transmit == receive {
            transmit
          } else {
            nil
          }
        }.first)
      // The controller prefers LE 2M to LE 1M, and LE 1M to LE Coded.
      #expect(result == (isCentral || phy == .le2M ? 1 : 2))
      #expect(link.isAlive())
    }
  }

  @Test("LL_PHY_UPDATE_IND for an unsupported PHY ends the connection with 0x1E", arguments: lacking)
  func impossibleUpdate(phy: RadioPHY) throws {
    let link = try LinkHarness(peripheral: { Self.remove(phy, &$0) })
    let bits = HCI.PHYs(phy).rawValue
    let instant = UInt8(try #require(link.peripheral.controller.connections.first).schedule.next + 30)
    _ = link.injectFromCentral([0x18, bits, bits, instant, 0], events: 10)
    #expect(link.peripheral.disconnections == [.invalidLLParameters])
    #expect(link.central.disconnections == [.invalidLLParameters])
  }

  @Test("Auxiliary packets on an unsupported PHY are ignored, and those on other PHYs are received")
  func announced() {
    let scanner = device(without: .le2M)
    let advertiser = ControllerHarness("advertiser", address: 0x2222_2222_2222)
    air.start(advertiser)
    for (handle, phy) in [(1, RadioPHY.le2M), (2, .leCoded), (3, .le1M)] as [(HCI.AdvertisingHandle, RadioPHY)] {
      advertiser.send(
        .leSetExtendedAdvertisingParameters(
          .every100ms(handle) { ($0.secondaryPHY, $0.advertisingSID) = (phy, handle.rawValue) }))
      advertiser.setData([handle.rawValue], of: handle)
    }
    advertiser.enable(1, 2, 3)
    scanner.scanExtended()
    air.run(for: .seconds(3))
    #expect(Set(scanner.extendedReports.map(\.advertisingSID)) == [2, 3])
  }

  @Test("A train on an unsupported PHY is not followed when a peer transfers it", arguments: [RadioPHY.le1M, .le2M])
  func transferred(phy: RadioPHY) throws {
    let link = try LinkHarness(isExtended: true, peripheral: { Self.remove(.le2M, &$0) })
    let (central, peripheral) = (link.central, link.peripheral)
    central.send(.leReadRemoteFeatures(link.centralHandle))
    central.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.secondaryPHY = phy }))
    central.send(
      .leSetPeriodicAdvertisingParameters(
        HCI.PeriodicAdvertisingParameters(handle: 1, minimumInterval: 40, maximumInterval: 40)))
    central.send(.leSetPeriodicAdvertisingEnable(.enabled, 1))
    central.enable(1)
    peripheral.send(
      .leSetPeriodicAdvertisingSyncTransferParameters(
        link.peripheralHandle,
        HCI.SyncTransferParameters(mode: .reporting, keeping: HCI.SyncKeeping(timeout: 200))))
    link.air.run(for: .seconds(1))
    #expect(
      central.send(.lePeriodicAdvertisingSetInfoTransfer(link.centralHandle, serviceData: 0, 1)) == .success)
    link.air.run(for: .seconds(2))
    #expect(peripheral.syncTransfers.map(\.0) == (phy == .le1M ? [.success] : []))
    #expect(peripheral.periodicReports.isEmpty == (phy == .le2M) && link.isAlive())
  }
}
