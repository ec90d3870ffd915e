import BluetoothDaemon
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The implementation of a `CBPeripheralManager`; see `CentralManagerCore`.
final class PeripheralManagerCore: ManagerCore, PeripheralClient {
  struct State {
    weak var manager: CBPeripheralManager?
    weak var delegate: (any CBPeripheralManagerDelegate)?
    var session: PeripheralSession?
    var managerState = CBManagerState.unknown
    var advertising = Advertising()
    var database = LocalDatabase()
    /// The connected centrals.
    var centrals: [PeerHandle: CBCentral] = [:]
    var openRequests: [CentralRequestID: PendingAnswer] = [:]
    var replies = OrderedReplies()
  }

  /// The advertising state, according to the app's calls and the daemon's replies.
  struct Advertising {
    var isOn = false
    /// The calls of `start` without a reply, in order: true if advertising was stopped after the call.
    private var starts: [Bool] = []

    mutating func start() { starts.append(false) }

    mutating func stop() {
      isOn = false
      starts = starts.map { _ in true }
    }

    mutating func answered(_ error: SessionError?) {
      let wasStopped = starts.isEmpty ? true : starts.removeFirst()
      if error == nil, !wasStopped { isOn = true }
    }
  }

  let identity = ManagerIdentity()
  private let adapter: (any Adapter)?
  let callbacks: CallbackQueue
  private let state = NIOLockedValueBox(AppBox(value: State()))

  init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, adapter: (any Adapter)?) {
    self.adapter = adapter
    callbacks = CallbackQueue(queue, inVirtualTime: adapter?.deliversInPlace ?? false)
    with { $0.delegate = delegate }
  }

  func with<R>(_ body: (inout State) -> R) -> R { state.withLockedValue { body(&$0.value) } }

  /// Opens the session and starts to receive events.
  func open(for manager: CBPeripheralManager) {
    with { state in
      state.manager = manager
      state.session = adapter?.openPeripheralSession(for: self)
    }
    // Without an adapter there is no session to report the state.
    if adapter == nil {
      let event = PeripheralEvent.stateChanged(.unsupported)
      callbacks.enqueue { self.handle(event, PeripheralEventCopies()) }
    }
  }

  /// Ends advertising, all services and all callbacks. Called when the manager is released.
  func close() {
    let before = with { state in
      let before = state
      state = State()
      return before
    }
    before.session?.close()
    before.database.releaseObjects()
    if before.advertising.isOn || !before.database.isEmpty {
      Log.note(
        "a CBPeripheralManager was released while in use: its advertising was stopped and its services were removed")
    }
  }

  // MARK: State for apps

  var managerState: CBManagerState { with { $0.managerState } }
  var access: AppAccess { adapter?.directory.access ?? .allowed }
  var isAdvertising: Bool { with { $0.advertising.isOn } }
  var delegate: (any CBPeripheralManagerDelegate)? {
    get { with { $0.delegate } }
    set { with { $0.delegate = newValue } }
  }

  /// Returns true if commands are accepted now. Otherwise the command is logged and dropped.
  func accepts(from manager: CBPeripheralManager) -> Bool {
    callbacks.noteCaller(of: manager)
    if managerState == .poweredOn { return true }
    Log.misuse("\(manager) can only accept this command while in the powered on state")
    return false
  }

  // MARK: Commands

  func send(_ command: PeripheralCommand) { with { $0.session }?.send(command) }

  /// Reports an error to the delegate, after the answers to all earlier calls.
  func refuse(
    _ code: CBError.Code,
    _ call: @escaping (CBPeripheralManager, any CBPeripheralManagerDelegate, any Error) -> Void
  ) {
    let error = CBError(code, userInfo: [NSLocalizedDescriptionKey: code.text])
    let (session, number) = with { state in
      let number = state.replies.add { [weak self] in
        guard let self, let manager = with({ $0.manager }), let delegate else { return }
        call(manager, delegate, error)
      }
      return (state.session, number)
    }
    session?.send(.barrier(number))
  }

  func startAdvertising(localName: String?, services: [BluetoothUUID]) {
    with { $0.advertising.start() }
    send(.startAdvertising(localName: localName, services: services))
  }

  func stopAdvertising() {
    with { $0.advertising.stop() }
    send(.stopAdvertising)
  }

  func add(_ service: CBMutableService) {
    switch with({ $0.database.add(service, for: identity) }) {
    case .success(let definition): send(.addService(definition))
    case .failure(let refusal):
      if refusal == .publishedElsewhere {
        Log.misuse("\(service), or one of its characteristics, is published by another manager: not added")
      }
      refuse(.invalidParameters) { $1.peripheralManager($0, didAdd: service, error: $2) }
    }
  }

  func remove(_ service: CBMutableService) {
    if let id = with({ $0.database.remove(service) }) { return send(.removeService(id)) }
    if service.content.withLockedValue({ $0.publisher }) == nil {
      Log.warning("\(service) is not published: not removed")
    } else {
      Log.misuse("\(service) is published by another manager: not removed")
    }
  }

  func removeAllServices() {
    let services = with { $0.database.removeAll() }
    send(.removeAllServices)
    withExtendedLifetime(services) {}
  }

  func respond(to request: CBATTRequest, with result: CBATTError.Code) {
    guard request.answer.owner === identity else {
      return Log.misuse("\(request) was received by another manager: not answered")
    }
    switch request.answer.give() {
    case .open(let id):
      with { $0.openRequests[id] = nil }
      let error = result == .success ? nil : ATT.ErrorCode(rawValue: UInt8(clamping: result.rawValue))
      send(.respond(id, error, value: ByteSlice(request.value ?? Data())))
    case .notNeeded: break
    case .given: Log.misuse("\(request) was answered before")
    case .void: Log.warning("\(request) belongs to a link that has ended: not answered")
    }
  }

  func setLatency(_ latency: ConnectionLatency, of central: CBCentral) {
    guard central.owner === identity else { return Log.misuse("\(central) is a central of another manager") }
    guard with({ $0.centrals[central.handle] }) === central else {
      return Log.warning("\(central) belongs to a link that has ended: latency not changed")
    }
    send(.setConnectionLatency(latency, central.handle))
  }

  /// Sends a value to subscribers; returns false if there is no room.
  func update(_ value: Data, of characteristic: CBMutableCharacteristic, for centrals: [CBCentral]?) -> Bool {
    let (session, id) = with { ($0.session, $0.database.id(of: characteristic)) }
    let (subscribed, publisher) = characteristic.content.withLockedValue { ($0.subscribedCentrals, $0.publisher) }
    guard publisher == nil || publisher === identity else {
      Log.misuse("\(characteristic) is published by another manager: not updated")
      return true
    }
    if let foreign = centrals?.first(where: { $0.owner !== identity }) {
      Log.misuse("\(foreign) is a central of another manager: not updated")
    }
    let receivers = centrals?.filter { central in subscribed.contains { $0 === central } }
    guard let session, let id, !subscribed.isEmpty, receivers?.isEmpty != true else { return true }
    guard session.updateCredits.take() else { return false }
    session.send(.update(id, ByteSlice(value), receivers?.map(\.handle)))
    return true
  }

  // MARK: Events

  var queuesEvents: Bool { !callbacks.isInVirtualTime }

  func receive(_ event: PeripheralEvent) {
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
  private func copies(of event: PeripheralEvent) -> PeripheralEventCopies {
    var copies = PeripheralEventCopies()
    switch event {
    case .writeRequested(_, _, let writes):
      copies.parts = writes.map {
        PeripheralEventCopies.WrittenPart(characteristic: $0.characteristic, offset: $0.offset, value: Data($0.value))
      }
    case .channelOpened(_, let info): copies.channel = with { $0.session }?.takeChannel(info)
    case .stateChanged, .advertisingStarted, .serviceAdded, .subscribed, .unsubscribed, .maximumUpdateLengthChanged,
      .readRequested, .centralDisconnected, .channelPublished, .channelUnpublished, .readyToUpdate, .barrierReached:
      break
    }
    return copies
  }

  /// Handles an event on the app's queue; see `CentralManagerCore.handle`.
  private func handle(_ event: PeripheralEvent, _ copies: PeripheralEventCopies) {
    guard let manager = with({ $0.manager }) else { return }
    switch event {
    case .stateChanged(let state): changeState(to: CBManagerState(state), of: manager)
    case .advertisingStarted(let error):
      with { $0.advertising.answered(error) }
      delegate?.peripheralManagerDidStartAdvertising(manager, error: error?.appError())
    case .serviceAdded(let id, let error): serviceAdded(id, error, manager)
    case .subscribed(let central, let id): subscribed(central, id, manager)
    case .unsubscribed(let central, let id): unsubscribed(central, id, manager)
    case .maximumUpdateLengthChanged(let info):
      with { $0.centrals[info.handle] }?.setMaximumUpdateLength(info.maximumUpdateLength)
    case .readRequested(let request, let central, let id, let offset):
      readRequested(request, central, id, offset: offset, manager)
    case .centralDisconnected(let central): disconnected(central, manager)
    case .channelPublished(let psm, let error):
      delegate?.peripheralManager(manager, didPublishL2CAPChannel: psm, error: error?.appError())
    case .channelUnpublished(let psm, let error):
      delegate?.peripheralManager(manager, didUnpublishL2CAPChannel: psm, error: error?.appError())
    case .writeRequested(let request, let central, _): writeRequested(request, central, copies.parts, manager)
    case .channelOpened(let central, _):
      if let channel = copies.channel { channelOpened(channel, by: central, manager) }
    case .readyToUpdate: delegate?.peripheralManagerIsReady(toUpdateSubscribers: manager)
    case .barrierReached(let number): with { $0.replies.take(number) }?()
    }
  }
}
