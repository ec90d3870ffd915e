import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

extension ControllerHarness {
  /// Returns true if the device still works after an attack: it advertises, accepts the connection of a lateJoiner,
  /// answers an ATT Read Request on it, and accepts the disconnection. The device must not be advertising, and forgets
  /// this connection afterwards.
  ///
  /// - Parameter isExtended: True to use the commands of extended advertising.
  func servesLateJoiner(isExtended: Bool = false) -> Bool {
    guard let air else { return false }
    let lateJoiner = Self.lateJoiner(on: air)
    if isExtended {
      #expect(send(.leSetExtendedAdvertisingParameters(.every100ms(Self.lateJoinersSet, .connectable))) == .success)
      #expect(enable(Self.lateJoinersSet) == .success)
      lateJoiner.connectExtended(to: self)
    } else {
      advertise()
      lateJoiner.connect(to: self)
    }
    let peer = HCI.PeerAddress(lateJoiner.address)
    air.run(
      until: { lateJoiner.connectionCompletes.count == 1 && connectionCompletes.contains { $0.peer == peer } },
      limit: .seconds(2))
    guard let theirs = lateJoiner.connectionCompletes.first, theirs.status == .success,
      let ours = connectionCompletes.first(where: { $0.peer == peer }), ours.status == .success
    else { return false }

    serveAttributes(on: ours)
    lateJoiner.send(AttributeServer.readRequest(AttributeServer.deviceNameHandle), on: theirs.handle)
    air.run(until: { !lateJoiner.data.isEmpty }, limit: .seconds(1))
    let expected = AttributeServer.readResponse([UInt8](AttributeServer.deviceName.utf8))
    let isAnswered = lateJoiner.data.map(\.payload) == [ByteSlice(expected)]

    lateJoiner.send(.disconnect(theirs.handle, reason: .remoteUserTerminatedConnection))
    air.run(
      until: { controller.connections.index(of: ours.handle) == nil && !lateJoiner.disconnections.isEmpty },
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

  private static let lateJoinersSet: HCI.AdvertisingHandle = 0x0E

  /// Returns the lateJoiner, without any state from before.
  private static func lateJoiner(on air: PerfectAir) -> ControllerHarness {
    let address = DeviceAddress(0x5555_5555_5555, .public)
    let lateJoiner: ControllerHarness
    if let known = air.devices.first(where: { $0.address == address }) {
      lateJoiner = known
    } else {
      lateJoiner = ControllerHarness("newcomer", address: 0x5555_5555_5555)
      air.add(lateJoiner)
    }
    lateJoiner.start()
    return lateJoiner
  }
}
