import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The implementation of a `CBPeripheralManager`: its session with the daemon, its services and the connected centrals.
typealias PeripheralManagerCore = ManagerCore<PeripheralRole>

extension PeripheralRole: ManagerRole {
  struct State {
    weak var delegate: (any CBPeripheralManagerDelegate)?
    var advertising = Advertising()
    var database = ManagerDatabase()
    /// The connected centrals.
    var centrals: [PeerHandle: CBCentral] = [:]
    var openRequests: [CentralRequestID: PendingAnswer] = [:]
    /// The properties of the links, if the manager observes them.
    var links: [PeerHandle: LinkInfo] = [:]
    /// The receiver of events that Apple's API does not have; see `CBPeripheralManager+Advertising.swift`.
    var observer: (@Sendable (PeripheralObservation) -> Void)?
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

    /// Advertising that the system has continued without the app.
    static var restored: Advertising {
      var advertising = Advertising()
      advertising.isOn = true
      return advertising
    }

    mutating func answered(_ error: SessionError?) {
      let wasStopped = starts.isEmpty ? true : starts.removeFirst()
      if error == nil, !wasStopped { isOn = true }
    }
  }

  static func makeState() -> State { State() }

  static func openSession(of core: PeripheralManagerCore, on adapter: any DaemonAdapter) -> PeripheralSession {
    adapter.openPeripheralSession(for: core, owner: core.owner)
  }

  static func sendBarrier(_ number: UInt32, on session: PeripheralSession) { session.send(.barrier(number)) }

  static var noCopies: PeripheralEventCopies { PeripheralEventCopies() }

  static func copies(of event: PeripheralEvent, for core: PeripheralManagerCore) -> PeripheralEventCopies {
    core.copies(of: event)
  }

  static func handle(
    _ event: PeripheralEvent, _ copies: PeripheralEventCopies, _ core: PeripheralManagerCore,
    _ manager: CBPeripheralManager
  ) {
    core.handle(event, copies, manager)
  }
}

extension PeripheralEvent: ManagerEvent {
  var isStateChange: Bool {
    if case .stateChanged = self { true } else { false }
  }
}

extension PeripheralManagerCore: PeripheralClient {
  /// Ends advertising, all services and all callbacks. Called when the manager is released.
  func close() {
    let before = reset()
    before.session?.close()
    before.role.database.releaseObjects()
    if before.role.advertising.isOn || !before.role.database.isEmpty {
      Log.note(
        "a CBPeripheralManager was released while in use: its advertising was stopped and its services were removed")
    }
  }

  // MARK: State for apps

  var isAdvertising: Bool { with { $0.role.advertising.isOn } }
  var delegate: (any CBPeripheralManagerDelegate)? {
    get { with { $0.role.delegate } }
    set { with { $0.role.delegate = newValue } }
  }

  // MARK: Commands

  func send(_ command: PeripheralCommand) { with { $0.session }?.send(command) }

  /// Reports an error to the delegate, after the answers to all earlier calls.
  func refuse(
    _ code: CBError.Code,
    _ call: @escaping (CBPeripheralManager, any CBPeripheralManagerDelegate, any Error) -> Void
  ) {
    let error = CBError(code, userInfo: [NSLocalizedDescriptionKey: code.text])
    answerInTurn { [weak self] in
      guard let self, let manager = with({ $0.manager }), let delegate else { return }
      call(manager, delegate, error)
    }
  }

  func startAdvertising(localName: String?, services: [BluetoothUUID]) {
    with { $0.role.advertising.start() }
    send(.startAdvertising(localName: localName, services: services))
  }

  func advertise(_ advertising: HostAdvertising) {
    with { $0.role.advertising.start() }
    send(.advertise(advertising))
  }

  func stopAdvertising() {
    with { $0.role.advertising.stop() }
    send(.stopAdvertising)
  }

  func add(_ service: CBMutableService) {
    switch with({ $0.role.database.add(service, for: identity) }) {
    case .success(let definition):
      send(definition.hasFixedHandles ? .addServiceAt(definition) : .addService(definition))
    case .failure(let refusal):
      if refusal == .publishedElsewhere {
        Log.misuse("\(service), or one of its characteristics, is published by another manager: not added")
      }
      refuse(.invalidParameters) { $1.peripheralManager($0, didAdd: service, error: $2) }
    }
  }

  func remove(_ service: CBMutableService) {
    if let id = with({ $0.role.database.remove(service) }) { return send(.removeService(id)) }
    if service.content.withLockedValue({ $0.publisher }) == nil {
      Log.warning("\(service) is not published: not removed")
    } else {
      Log.misuse("\(service) is published by another manager: not removed")
    }
  }

  func removeAllServices() {
    let services = with { $0.role.database.removeAll() }
    send(.removeAllServices)
    withExtendedLifetime(services) {}
  }

  func respond(to request: CBATTRequest, with result: CBATTError.Code) {
    guard request.answer.owner === identity else {
      return Log.misuse("\(request) was received by another manager: not answered")
    }
    switch request.answer.give() {
    case .open(let id):
      with { $0.role.openRequests[id] = nil }
      let error = result == .success ? nil : ATT.ErrorCode(rawValue: UInt8(clamping: result.rawValue))
      send(.respond(id, error, value: ByteSlice(request.value ?? Data())))
    case .notNeeded: break
    case .given: Log.misuse("\(request) was answered before")
    case .void: Log.warning("\(request) belongs to a link that has ended: not answered")
    }
  }

  func setLatency(_ latency: ConnectionLatency, of central: CBCentral) {
    guard central.owner === identity else { return Log.misuse("\(central) is a central of another manager") }
    guard with({ $0.role.centrals[central.handle] }) === central else {
      return Log.warning("\(central) belongs to a link that has ended: latency not changed")
    }
    send(.setConnectionLatency(latency, central.handle))
  }

  /// Sends a value to subscribers; returns false if there is no room.
  func update(_ value: Data, of characteristic: CBMutableCharacteristic, for centrals: [CBCentral]?) -> Bool {
    let (session, id) = with { ($0.session, $0.role.database.id(of: characteristic)) }
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

  func receive(_ event: PeripheralEvent) { take(event) }

  /// Reads the parts of an event that must be read when it arrives.
  fileprivate func copies(of event: PeripheralEvent) -> PeripheralEventCopies {
    var copies = PeripheralEventCopies()
    switch event {
    case .writeRequested(_, _, let writes):
      copies.parts = writes.map {
        PeripheralEventCopies.WrittenPart(characteristic: $0.characteristic, offset: $0.offset, value: Data($0.value))
      }
    case .channelOpened(_, let info): copies.channel = with { $0.session }?.takeChannel(info)
    case .restored, .stateChanged, .advertisingStarted, .advertisingSetStarted, .advertisingSetEnded, .link,
      .serviceAdded,
      .subscribed, .unsubscribed, .maximumUpdateLengthChanged,
      .readRequested, .centralDisconnected, .channelPublished, .channelUnpublished, .readyToUpdate,
      .indicationConfirmed, .barrierReached:
      break
    }
    return copies
  }

  /// Handles an event on the app's queue; see `CentralManagerCore.handle`.
  fileprivate func handle(
    _ event: PeripheralEvent, _ copies: PeripheralEventCopies, _ manager: CBPeripheralManager
  ) {
    switch event {
    case .restored(let restored): restore(restored, manager)
    case .stateChanged(let state): changeState(to: CBManagerState(state), of: manager)
    case .advertisingStarted(let error):
      with { $0.role.advertising.answered(error) }
      delegate?.peripheralManagerDidStartAdvertising(manager, error: error?.appError())
    case .advertisingSetStarted(let set, let error): with { $0.role.observer }?(.setStarted(set, error))
    case .advertisingSetEnded(let set): with { $0.role.observer }?(.setEnded(set))
    case .link(let central, let event): linkReported(central, event)
    case .serviceAdded(let id, let error): serviceAdded(id, error, manager)
    case .subscribed(let central, let id): subscribed(central, id, manager)
    case .unsubscribed(let central, let id): unsubscribed(central, id, manager)
    case .maximumUpdateLengthChanged(let info):
      with { $0.role.centrals[info.handle] }?.setMaximumUpdateLength(info.maximumUpdateLength)
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
    case .indicationConfirmed(let central, let id): indicationConfirmed(central, id)
    case .readyToUpdate: delegate?.peripheralManagerIsReady(toUpdateSubscribers: manager)
    case .barrierReached(let number): with { $0.replies.take(number) }?()
    }
  }
}
