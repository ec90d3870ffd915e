import BluetoothDaemon
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The implementation of a `CBCentralManager`: its session with the daemon, and its peripherals.
///
/// Events arrive on the adapter's executor and are handled on the app's queue; commands come from any thread. The lock
/// is never held while the app's code runs. The app's objects are never released while the lock is held, because the
/// deinit of a peripheral takes the lock.
final class CentralManagerCore: ManagerCore, CentralClient {
  struct State {
    weak var manager: CBCentralManager?
    weak var delegate: (any CBCentralManagerDelegate)?
    var session: CentralSession?
    var managerState = CBManagerState.unknown
    var isScanning = false
    var hasAskedForPower = false
    var peripherals: [PeerHandle: Entry] = [:]
    var replies = OrderedReplies()
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

  let adapter: (any Adapter)?
  let callbacks: CallbackQueue
  private let state = NIOLockedValueBox(AppBox(value: State()))

  init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, adapter: (any Adapter)?) {
    self.adapter = adapter
    callbacks = CallbackQueue(queue, inVirtualTime: adapter?.deliversInPlace ?? false)
    with { $0.delegate = delegate }
  }

  func with<R>(_ body: (inout State) -> R) -> R { state.withLockedValue { body(&$0.value) } }

  /// Opens the session and starts to receive events.
  func open(for manager: CBCentralManager) {
    with { state in
      state.manager = manager
      state.session = adapter?.openCentralSession(for: self)
    }
    // Without an adapter there is no session to report the state.
    if adapter == nil {
      let event = CentralEvent.stateChanged(.unsupported)
      callbacks.enqueue { self.handle(event, CentralEventCopies()) }
    }
  }

  /// Ends the scan, all links and all callbacks. Called when the manager is released.
  func close() {
    let (before, peripherals) = with { state in
      let before = state
      state = State()
      return (before, before.peripherals.values.compactMap(\.peripheral))
    }
    before.session?.close()
    let links = peripherals.filter { $0.endLink(keepsObject: false) }.count
    if before.isScanning || links > 0 {
      Log.note(
        "a CBCentralManager was released while in use: its scan was stopped and \(links) connections were cancelled")
    }
  }

  // MARK: State for apps

  var managerState: CBManagerState { with { $0.managerState } }
  var access: AppAccess { adapter?.directory.access ?? .allowed }
  var isScanning: Bool { with { $0.isScanning } }
  var delegate: (any CBCentralManagerDelegate)? {
    get { with { $0.delegate } }
    set { with { $0.delegate = newValue } }
  }

  /// Returns true if commands are accepted now. Otherwise the command is logged and dropped.
  func accepts(from manager: CBCentralManager) -> Bool {
    callbacks.noteCaller(of: manager)
    if managerState == .poweredOn { return true }
    Log.misuse("\(manager) can only accept this command while in the powered on state")
    return false
  }

  // MARK: Commands

  func send(_ command: CentralCommand) { with { $0.session }?.send(command) }

  /// Runs `answer` on the app's queue, after the answers to all earlier calls.
  func answerInTurn(_ answer: @escaping () -> Void) {
    let (session, number) = with { ($0.session, $0.replies.add(answer)) }
    session?.send(.barrier(number))
  }

  func scan(_ request: ScanRequest) {
    with { $0.isScanning = true }
    send(.scan(request))
  }

  /// Handles a scan that can't start: asks the user to turn Bluetooth on if it is off.
  func wantsToScan() {
    if managerState == .poweredOff { askForPower() }
  }

  /// Asks the user to turn Bluetooth on if it is off, once for each manager.
  func askForPower() {
    let asks = with { state in
      defer { state.hasAskedForPower = true }
      return !state.hasAskedForPower
    }
    if asks { send(.askForPower) }
  }

  func stopScan() {
    with { $0.isScanning = false }
    send(.stopScan)
  }

  func connect(_ peripheral: CBPeripheral, delay: TimeSpan, reconnects: Bool) {
    peripheral.willConnect()
    send(.connect(peripheral.handle, delay: delay, reconnects: reconnects))
  }

  func cancel(_ peripheral: CBPeripheral) {
    if peripheral.willCancel() { send(.cancelConnection(peripheral.handle)) }
  }

  // MARK: Peripherals

  func knownPeripherals(_ identifiers: [UUID]) -> [CBPeripheral] {
    let identifiers = identifiers.map { PeerIdentifier(high: $0.halves.high, low: $0.halves.low) }
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
    let (winner, isOrphaned, session) = with { state -> (CBPeripheral, Bool, CentralSession?) in
      let entry = state.peripherals[info.handle]
      if let known = entry?.peripheral { return (known, false, nil) }
      state.peripherals[info.handle] = Entry(new)
      return (new, entry != nil, state.session)
    }
    // The previous object is being deallocated. Its entry has been replaced, so `released` will not cancel its
    // connection.
    if isOrphaned { session?.send(.cancelConnection(info.handle)) }
    return winner
  }

  /// Returns the object for a peer; nil if the app has none.
  func peripheral(_ handle: PeerHandle) -> CBPeripheral? { with { $0.peripherals[handle]?.peripheral } }

  /// Removes a peripheral whose last reference has been released, and cancels its connection.
  func released(_ handle: PeerHandle, identity: ObjectIdentifier, requestedLink: Bool) {
    let session = with { state -> CentralSession? in
      guard state.peripherals[handle]?.identity == identity else { return nil }
      state.peripherals[handle] = nil
      return state.session
    }
    guard requestedLink, let session else { return }
    session.send(.cancelConnection(handle))
  }

  // MARK: Events

  var queuesEvents: Bool { !callbacks.isInVirtualTime }

  func receive(_ event: CentralEvent) {
    let copies = copies(of: event)
    if callbacks.isInVirtualTime {
      callbacks.perform { handle(event, copies) }
    } else {
      let session = with { $0.session }
      session?.eventQueued()
      let event = event.withoutOctets
      callbacks.enqueue {
        if case .stateChanged = event { session?.noteStateSeen() }
        self.handle(event, copies)
        session?.eventHandled()
      }
    }
  }

  /// Reads the parts of an event that must be read when it arrives.
  private func copies(of event: CentralEvent) -> CentralEventCopies {
    var copies = CentralEventCopies()
    switch event {
    case .discovered(let discovery): copies.advertisement = AppBox(value: discovery.advertisementData)
    case .disconnected: copies.time = adapter?.absoluteTime() ?? CFAbsoluteTimeGetCurrent()
    case .valueRead(_, _, .success(let value)), .valueChanged(_, _, let value): copies.octets = Data(value)
    case .channelOpened(_, .success(let info)): copies.channel = with { $0.session }?.takeChannel(info)
    case .stateChanged, .connected, .connectionFailed, .connectionEvent, .maximumWriteLengthChanged, .nameChanged,
      .rssiRead,
      .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
      .valueRead(_, _, .failure), .written, .notifyStateChanged, .readyToWriteWithoutResponse,
      .channelOpened(_, .failure), .servicesModified, .barrierReached:
      break
    }
    return copies
  }

  /// Handles an event on the app's queue.
  ///
  /// - Parameter copies: the parts of the event that were read when it arrived. The octets in `event` are no longer
  ///   valid.
  private func handle(_ event: CentralEvent, _ copies: CentralEventCopies) {
    guard let manager = with({ $0.manager }) else { return }
    switch event {
    case .stateChanged(let state): changeState(to: CBManagerState(state), of: manager)
    case .barrierReached(let number): with { $0.replies.take(number) }?()
    case .discovered(let discovery):
      discovered(discovery.peer, copies.advertisement?.value ?? [:], rssi: discovery.rssi, manager)
    case .connected(let peer, let length): connected(peer, maximumWriteLength: length, manager)
    case .connectionFailed(let peer, let error): connectionFailed(peer, error, manager)
    case .disconnected(let peer, let error, let isReconnecting):
      disconnected(peer, error, isReconnecting: isReconnecting, at: copies.time, manager)
    case .connectionEvent(let peer, let isConnected):
      delegate?.centralManager(
        manager, connectionEventDidOccur: isConnected ? .peerConnected : .peerDisconnected, for: peripheral(for: peer))
    case .maximumWriteLengthChanged(let peer, let length): peripheral(peer)?.setMaximumWriteLength(length)
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
    case .written(let peer, let id, let error): peripheral(peer)?.written(id, error)
    case .notifyStateChanged(let peer, let id, let isNotifying, let error):
      peripheral(peer)?.notifyStateChanged(id, isNotifying, error)
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
