import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

extension TestDevice {
  /// Returns true if the device still works after an attack: it advertises, accepts the connection of a newcomer,
  /// answers an ATT Read Request on it, and accepts the disconnection. The device must not be advertising, and forgets
  /// this connection afterwards.
  ///
  /// - Parameter isExtended: True to use the commands of extended advertising.
  func servesNewcomer(isExtended: Bool = false) -> Bool {
    guard let air else { return false }
    let newcomer = Self.newcomer(on: air)
    if isExtended {
      #expect(send(.leSetExtendedAdvertisingParameters(.every100ms(Self.newcomersSet, .connectable))) == .success)
      #expect(enable(Self.newcomersSet) == .success)
      newcomer.connectExtended(to: self)
    } else {
      advertise()
      newcomer.connect(to: self)
    }
    let peer = HCI.PeerAddress(newcomer.address)
    air.run(
      until: { newcomer.connectionCompletes.count == 1 && connectionCompletes.contains { $0.peer == peer } },
      limit: .seconds(2))
    guard let theirs = newcomer.connectionCompletes.first, theirs.status == .success,
      let ours = connectionCompletes.first(where: { $0.peer == peer }), ours.status == .success
    else { return false }

    serveAttributes(on: ours)
    newcomer.send(AttributeServer.readRequest(AttributeServer.deviceNameHandle), on: theirs.handle)
    air.run(until: { !newcomer.data.isEmpty }, limit: .seconds(1))
    let expected = AttributeServer.readResponse([UInt8](AttributeServer.deviceName.utf8))
    let isAnswered = newcomer.data.map(\.payload) == [ByteSlice(expected)]

    newcomer.send(.disconnect(theirs.handle, reason: .remoteUserTerminatedConnection))
    air.run(
      until: { controller.connections.index(of: ours.handle) == nil && !newcomer.disconnections.isEmpty },
      limit: .seconds(1))
    let hasGone = controller.connections.index(of: ours.handle) == nil
    forget(ours)
    return isAnswered && hasGone
  }

  /// Stops all activities of the device and ends its connections, by the commands of a host that does not know the
  /// state.
  func stopEverything(isExtended: Bool = false) {
    if isExtended {
      send(.leSetExtendedAdvertisingEnable(false, HCI.AdvertisingSetEnables([], in: pool)))
      for set in UInt8(0)...0x0F { send(.leSetPeriodicAdvertisingEnable([], HCI.AdvertisingHandle(rawValue: set))) }
      send(.leClearAdvertisingSets)
      send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    } else {
      send(.leSetAdvertisingEnable(false))
      send(.leSetScanEnable(false, filterDuplicates: false))
    }
    send(.leCreateConnectionCancel)
    for handle in controller.connections.map(\.handle) {
      send(.disconnect(handle, reason: .remoteUserTerminatedConnection))
    }
  }

  private static let newcomersSet: HCI.AdvertisingHandle = 0x0E

  /// Returns the newcomer, without any state from before.
  private static func newcomer(on air: TestAir) -> TestDevice {
    let address = DeviceAddress(0x5555_5555_5555, .public)
    let newcomer: TestDevice
    if let known = air.devices.first(where: { $0.address == address }) {
      newcomer = known
    } else {
      newcomer = TestDevice("newcomer", address: 0x5555_5555_5555)
      air.add(newcomer)
    }
    newcomer.start()
    return newcomer
  }
}
