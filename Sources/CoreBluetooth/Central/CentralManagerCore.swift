import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The implementation of a `CBCentralManager`: its session with the daemon, and its peripherals.
typealias CentralManagerCore = ManagerCore<CentralRole>

extension CentralRole: ManagerRole {
  struct State {
    weak var delegate: (any CBCentralManagerDelegate)?
    var isScanning = false
    var hasAskedForPower = false
    var peripherals: [PeerHandle: Entry] = [:]
    /// The peripherals that the app has released before the ends of their connections were reported.
    var ending: [PeerHandle: CBPeripheral] = [:]
    var attempts = ConnectionAttemptTable()
    /// The receiver of packets; see `CBCentralManager+Packets.swift`.
    var packetObserver: (@Sendable (SightedPacket) -> Void)?
    /// The receiver of events of periodic trains; see `CBCentralManager+Packets.swift`.
    var trainObserver: (@Sendable (TrainEvent) -> Void)?
  }

  /// A weak reference to a peripheral, because the manager does not retain its peripherals.
  final class Entry {
    private(set) weak var peripheral: CBPeripheral?
    let identity: ObjectIdentifier

    init(_ peripheral: CBPeripheral) {
      self.peripheral = peripheral
      identity = ObjectIdentifier(peripheral)
    }
  }

  static func makeState() -> State { State() }

  static func openSession(of core: CentralManagerCore, on adapter: any DaemonAdapter) -> CentralSession {
    adapter.openCentralSession(for: core, owner: core.owner)
  }

  static func sendBarrier(_ number: UInt32, on session: CentralSession) { session.send(.barrier(number)) }

  static var noCopies: CentralEventCopies { CentralEventCopies() }

  static func copies(of event: CentralEvent, for core: CentralManagerCore) -> CentralEventCopies {
    core.copies(of: event)
  }

  static func handle(
    _ event: CentralEvent, _ copies: CentralEventCopies, _ core: CentralManagerCore, _ manager: CBCentralManager
  ) {
    core.handle(event, copies, manager)
  }
}

extension CentralEvent: ManagerEvent {
  var isStateChange: Bool {
    if case .stateChanged = self { true } else { false }
  }
}

extension CentralManagerCore: CentralClient {
  /// Ends the scan, all links and all callbacks. Called when the manager is released.
  func close() {
    let before = reset()
    before.session?.close()
    let links = before.role.peripherals.values.count { $0.peripheral?.endLink(keepsObject: false) == true }
    if before.role.isScanning || links > 0 {
      Log.note(
        "a CBCentralManager was released while in use: its scan was stopped and \(links) connections were cancelled")
    }
  }

  // MARK: State for apps

  var isScanning: Bool { with { $0.role.isScanning } }
  var delegate: (any CBCentralManagerDelegate)? {
    get { with { $0.role.delegate } }
    set { with { $0.role.delegate = newValue } }
  }

  // MARK: Commands

  func send(_ command: CentralCommand) { with { $0.session }?.send(command) }

  func scan(_ request: ScanRequest) {
    with { $0.role.isScanning = true }
    send(.scan(request))
  }

  /// Handles a scan that can't start: asks the user to turn Bluetooth on if it is off.
  func wantsToScan() {
    if managerState == .poweredOff { askForPower() }
  }

  /// Asks the user to turn Bluetooth on if it is off, once for each manager.
  func askForPower() {
    let asks = with { state in
      defer { state.role.hasAskedForPower = true }
      return !state.role.hasAskedForPower
    }
    if asks { send(.askForPower) }
  }

  func stopScan() {
    with { $0.role.isScanning = false }
    send(.stopScan)
  }

  func connect(
    _ peripheral: CBPeripheral, delay: TimeSpan, reconnects: Bool, requiresNotifications: Bool, alerts: AlertKinds
  ) {
    let handle = peripheral.handle
    var commands = [CentralCommand.connect(handle, delay: delay, reconnects: reconnects)]
    if requiresNotifications { commands.append(.requireNotifications(handle)) }
    if !alerts.isEmpty { commands.append(.requestAlerts(handle, alerts)) }
    peripheral.willConnect()
    if with({ $0.role.attempts.mayBegin(handle, commands) }) {
      for command in commands { send(command) }
    }
  }

  func cancel(_ peripheral: CBPeripheral) {
    let handle = peripheral.handle
    peripheral.willCancel()
    if with({ $0.role.attempts.mustCancel(handle, isReported: true) }) { send(.cancelConnection(handle)) }
  }

  /// Cancels a connection or attempt without a callback, because its end has been reported.
  func cancelSilently(_ handle: PeerHandle) {
    if with({ $0.role.attempts.mustCancel(handle, isReported: false) }) { send(.cancelConnection(handle)) }
  }

  /// Cancels the connection or attempt of a released object, and keeps its successor until the end is reported.
  private func cancel(keeping successor: CBPeripheral, as state: CBPeripheralState) {
    let handle = successor.handle
    successor.willEnd(as: state)
    let (mustCancel, endFollows) = with { state in
      let mustCancel = state.role.attempts.mustCancel(handle, isReported: true)
      let endFollows = state.role.attempts.contains(handle)
      if endFollows { state.role.ending[handle] = successor }
      return (mustCancel, endFollows)
    }
    if !endFollows { successor.endLink() }
    if mustCancel { send(.cancelConnection(handle)) }
  }

  // MARK: Peripherals

  func knownPeripherals(_ identifiers: [UUID]) -> [CBPeripheral] {
    let identifiers = adapterIdentifiers(identifiers)
    return adapter?.directory.peers(identifiers).map { peripheral(for: $0) } ?? []
  }

  func connectedPeripherals(_ services: [BluetoothUUID]) -> [CBPeripheral] {
    adapter?.directory.connectedPeers(offering: services).map { peripheral(for: $0) } ?? []
  }

  /// Returns the single object for a peer, which exists as long as the app retains it.
  func peripheral(for info: PeerInfo) -> CBPeripheral {
    if let known = peripheral(info.handle) { return known }
    let new = CBPeripheral(info, core: self)
    // Another thread may have created an object meanwhile.
    let (winner, isOrphaned) = with { state -> (CBPeripheral, Bool) in
      let entry = state.role.peripherals[info.handle]
      if let known = entry?.peripheral { return (known, false) }
      state.role.peripherals[info.handle] = CentralRole.Entry(new)
      return (new, entry != nil)
    }
    // The previous object is being deallocated. Its entry has been replaced, so `released` will not cancel its
    // connection.
    if isOrphaned { cancel(keeping: winner, as: .disconnecting) }
    return winner
  }

  /// Returns the object for a peer; nil if the app has none.
  func peripheral(_ handle: PeerHandle) -> CBPeripheral? { with { $0.role.peripherals[handle]?.peripheral } }

  /// Removes a peripheral whose last reference has been released, and cancels its connection.
  ///
  /// - Parameters:
  ///   - state: the state of the connection.
  ///   - successor: the object that represents the peripheral until the end of its connection is reported; nil: there
  ///     is no connection.
  func released(
    _ handle: PeerHandle, identity: ObjectIdentifier, in state: CBPeripheralState, successor: CBPeripheral?
  ) {
    let entry = successor.map { CentralRole.Entry($0) }
    let isPresent = with { core in
      guard core.role.peripherals[handle]?.identity == identity else { return false }
      core.role.peripherals[handle] = entry
      return true
    }
    guard isPresent else { return }
    guard let successor else { return cancelSilently(handle) }
    // An attempt is reported as such until its end, as after `cancelPeripheralConnection`.
    cancel(keeping: successor, as: state == .connecting ? .connecting : .disconnecting)
  }

  // MARK: Events

  func receive(_ event: CentralEvent) { take(event) }

  /// Reads the parts of an event that must be read when it arrives.
  fileprivate func copies(of event: CentralEvent) -> CentralEventCopies {
    var copies = CentralEventCopies()
    switch event {
    case .discovered(let discovery): copies.advertisement = AppBox(value: discovery.advertisementData)
    case .packetReceived(let packet):
      copies.octets = Data(packet.report.data)
      copies.time = adapter?.absoluteTime() ?? CFAbsoluteTimeGetCurrent()
    case .synchronization(_, .report(let report), _):
      copies.octets = Data(report.data)
      copies.time = adapter?.absoluteTime() ?? CFAbsoluteTimeGetCurrent()
    case .disconnected: copies.time = adapter?.absoluteTime() ?? CFAbsoluteTimeGetCurrent()
    case .valueRead(_, _, .success(let value)), .valueChanged(_, _, let value): copies.octets = Data(value)
    case .channelOpened(_, .success(let info)): copies.channel = with { $0.session }?.takeChannel(info)
    case .restored, .stateChanged, .synchronization, .connected, .connectionFailed, .connectionEvent,
      .maximumWriteLengthChanged,
      .nameChanged,
      .link, .rssiRead,
      .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
      .valueRead(_, _, .failure), .valueLimitReached, .written, .notifyStateChanged, .readyToWriteWithoutResponse,
      .notificationSharingChanged, .channelOpened(_, .failure), .servicesModified, .barrierReached:
      break
    }
    return copies
  }

  /// Handles an event on the app's queue.
  ///
  /// - Parameter copies: the parts of the event that were read when it arrived. The octets in `event` are no longer
  ///   valid.
  fileprivate func handle(_ event: CentralEvent, _ copies: CentralEventCopies, _ manager: CBCentralManager) {
    switch event {
    case .restored(let restored): restore(restored, manager)
    case .stateChanged(let state): changeState(to: CBManagerState(state), of: manager)
    case .barrierReached(let number): with { $0.replies.take(number) }?()
    case .discovered(let discovery):
      discovered(discovery.peer, copies.advertisement?.value ?? [:], rssi: discovery.rssi, manager)
    case .packetReceived(let packet): packetReceived(packet, copies)
    case .synchronization(let number, let event, let time):
      with { $0.role.trainObserver }?(
        TrainEvent(
          number: number, event: event, octets: copies.octets, time: time.sinceZero.duration,
          absoluteTime: copies.time))
    case .connected(let peer, let length): connected(peer, maximumWriteLength: length, manager)
    case .connectionFailed(let peer, let error): connectionFailed(peer, error, manager)
    case .disconnected(let peer, let error, let isReconnecting):
      disconnected(peer, error, isReconnecting: isReconnecting, at: copies.time, manager)
    case .connectionEvent(let peer, let isConnected):
      delegate?.centralManager(
        manager, connectionEventDidOccur: isConnected ? .peerConnected : .peerDisconnected, for: peripheral(for: peer))
    case .maximumWriteLengthChanged(let peer, let length): peripheral(peer)?.setMaximumWriteLength(length)
    case .link(let peer, let report): peripheral(peer)?.linkReported(report)
    case .nameChanged(let peer, let name): peripheral(peer)?.nameChanged(name)
    case .rssiRead(let peer, let result): peripheral(peer)?.rssiRead(result)
    case .servicesDiscovered(let peer, let result): peripheral(peer)?.servicesDiscovered(result)
    case .includedServicesDiscovered(let peer, let id, let result):
      peripheral(peer)?.includedServicesDiscovered(id, result)
    case .characteristicsDiscovered(let peer, let id, let result):
      peripheral(peer)?.characteristicsDiscovered(id, result)
    case .descriptorsDiscovered(let peer, let id, let result): peripheral(peer)?.descriptorsDiscovered(id, result)
    case .valueRead(let peer, let id, let result): peripheral(peer)?.valueRead(id, result.map { _ in copies.octets })
    case .valueChanged(let peer, let id, _): peripheral(peer)?.valueChanged(id, copies.octets)
    case .valueLimitReached(let peer, let id, let isExceeded):
      peripheral(peer)?.valueLimitReached(id, isExceeded: isExceeded)
    case .written(let peer, let id, let error): peripheral(peer)?.written(id, error)
    case .notifyStateChanged(let peer, let id, let isNotifying, let error):
      peripheral(peer)?.notifyStateChanged(id, isNotifying, error)
    case .notificationSharingChanged(let peer):
      if let peripheral = peripheral(peer) {
        delegate?.centralManager(manager, didUpdateANCSAuthorizationFor: peripheral)
      }
    case .readyToWriteWithoutResponse(let peer): peripheral(peer)?.readyToWrite()
    case .servicesModified(let peer, let ids): peripheral(peer)?.servicesModified(ids)
    case .channelOpened(let peer, let result): peripheral(peer)?.channelOpened(result.map { _ in copies.channel })
    }
  }
}

extension CBManagerState {
  init(_ state: AdapterState) {
    switch state {
    case .unknown: self = .unknown
    case .resetting: self = .resetting
    case .unsupported: self = .unsupported
    case .unauthorized: self = .unauthorized
    case .poweredOff: self = .poweredOff
    case .poweredOn: self = .poweredOn
    }
  }
}
