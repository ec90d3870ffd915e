import BluetoothDaemon
import Foundation

// Events for the central manager's delegate, on its queue.
extension CentralManagerCore {
  func changeState(to new: CBManagerState, of manager: CBCentralManager) {
    let peripherals = with { state -> [CBPeripheral] in
      state.managerState = new
      guard new != .poweredOn else { return [] }
      state.role.isScanning = false
      let peripherals = state.role.peripherals.values.compactMap(\.peripheral)
      // In states below poweredOff, the daemon has forgotten all peers.
      if new.rawValue < CBManagerState.poweredOff.rawValue { state.role.peripherals = [:] }
      return peripherals
    }
    // The state change implies all disconnections, so they are not reported.
    for peripheral in peripherals { peripheral.endLink(keepsObject: new == .poweredOff) }
    delegate?.centralManagerDidUpdateState(manager)
  }

  func discovered(_ peer: PeerInfo, _ advertisement: [String: Any], rssi: Int8, _ manager: CBCentralManager) {
    // The app may have stopped the scan since the packet was received.
    guard isScanning else { return }
    let peripheral = peripheral(for: peer)
    peripheral.learnName(peer.name)
    delegate?.centralManager(
      manager, didDiscover: peripheral, advertisementData: advertisement, rssi: NSNumber(value: rssi))
  }

  func connected(_ peer: PeerHandle, maximumWriteLength: Int, _ manager: CBCentralManager) {
    guard let peripheral = peripheral(peer) else { return }
    let credits = with { $0.session }?.writeCredits(for: peer)
    guard peripheral.linkIsUp(maximumWriteLength: maximumWriteLength, credits: credits) else { return }
    delegate?.centralManager(manager, didConnect: peripheral)
  }

  func connectionFailed(_ peer: PeerHandle, _ error: SessionError, _ manager: CBCentralManager) {
    guard let peripheral = peripheral(peer), peripheral.endLink() else { return }
    delegate?.centralManager(
      manager, didFailToConnect: peripheral, error: error.appError(linkError: .connectionFailed))
  }

  func disconnected(
    _ peer: PeerHandle, _ error: SessionError?, isReconnecting: Bool, at time: CFAbsoluteTime,
    _ manager: CBCentralManager
  ) {
    guard let peripheral = peripheral(peer) else { return }
    let isWantedAgain = peripheral.isWantedAgain
    let discoveries = isReconnecting ? peripheral.discoveries : nil
    guard peripheral.endLink() else { return }
    if isWantedAgain { peripheral.willConnect() }
    let appError = error?.appError()
    guard let delegate else {
      if isReconnecting { peripheral.willReconnect(with: discoveries) }
      return
    }
    let isOldMethodMissing = DisconnectionProbe.isMethodMissing(in: delegate, manager: manager) {
      delegate.centralManager(manager, didDisconnectPeripheral: peripheral, error: appError)
    }
    if isOldMethodMissing {
      if isReconnecting { peripheral.willReconnect(with: discoveries) }
      delegate.centralManager(
        manager, didDisconnectPeripheral: peripheral, timestamp: time, isReconnecting: isReconnecting, error: appError)
    } else if isReconnecting, peripheral.linkState == .disconnected {
      // A delegate with the older method can't know of the automatic reconnection, so it is cancelled unless the app
      // has just called `connect` again.
      send(.cancelConnection(peer))
    }
  }
}
