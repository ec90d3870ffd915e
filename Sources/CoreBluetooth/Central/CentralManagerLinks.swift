import BluetoothDaemon
import Foundation

// Events for the central manager's delegate, on its queue.
extension CentralManagerCore {
  func changeState(to new: CBManagerState, of manager: CBCentralManager) {
    let peripherals = with { state -> [CBPeripheral] in
      state.managerState = new
      guard new != .poweredOn else { return [] }
      state.role.isScanning = false
      state.role.attempts = ConnectionAttemptTable()
      let peripherals = state.role.peripherals.values.compactMap(\.peripheral)
      // The array retains them.
      state.role.ending = [:]
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
    // An attempt that the app has cancelled may have succeeded meanwhile. Any other connection is wanted: a `connect`
    // that crosses the report of a failure is one of the daemon's attempts, although the report has ended it here.
    guard with({ $0.role.attempts.connected(peer) }) else { return }
    // The app has released the peripheral after such a report, when no attempt was known.
    guard let peripheral = peripheral(peer) else { return cancelSilently(peer) }
    let credits = with { $0.session }?.writeCredits(for: peer)
    peripheral.linkIsUp(maximumWriteLength: maximumWriteLength, credits: credits)
    delegate?.centralManager(manager, didConnect: peripheral)
  }

  func connectionFailed(_ peer: PeerHandle, _ error: SessionError, _ manager: CBCentralManager) {
    guard let (peripheral, _) = endLink(peer) else { return }
    delegate?.centralManager(
      manager, didFailToConnect: peripheral, error: error.appError(linkError: .connectionFailed))
  }

  func disconnected(
    _ peer: PeerHandle, _ error: SessionError?, isReconnecting: Bool, at time: CFAbsoluteTime,
    _ manager: CBCentralManager
  ) {
    // The app has cancelled the link, whose loss the daemon reports before it gets the cancellation: its end follows.
    if with({ $0.role.attempts.awaitsEnd(of: peer, isReconnecting: isReconnecting) }) { return }
    guard let (peripheral, discoveries) = endLink(peer, isReconnecting: isReconnecting) else { return }
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
      cancelSilently(peer)
    }
  }

  /// Ends a link or an attempt, and connects again if the app has requested that since it cancelled the former one.
  /// Returns the peripheral if its end must be reported, with what the app has discovered.
  ///
  /// - Parameter isReconnecting: true if the daemon re-establishes the link.
  private func endLink(_ peer: PeerHandle, isReconnecting: Bool = false) -> (CBPeripheral, CBPeripheral.Discoveries)? {
    let (isReported, next) = with { $0.role.attempts.ended(peer, isReconnecting: isReconnecting) }
    guard let peripheral = peripheral(peer) else { return nil }
    let isReleased = with { $0.role.ending.removeValue(forKey: peer) } != nil
    let discoveries = peripheral.discoveries
    let isEnd = peripheral.endLink()
    if !next.isEmpty {
      peripheral.willConnect()
      if with({ $0.role.attempts.mayBegin(peer, next) }) { for command in next { send(command) } }
    }
    // A peripheral that the app has found and connected again since its release is in a new attempt.
    return isEnd && isReported && !(isReleased && !next.isEmpty) ? (peripheral, discoveries) : nil
  }
}
