import BluetoothDaemon
import CoreBluetooth
import DequeModule
import NIOConcurrencyHelpers

/// The peripheral role of this device, for Swift concurrency: it advertises, offers services and L2CAP channels, and
/// notifies subscribers.
///
/// ```swift
/// let device = LocalPeripheral()
/// try await device.waitUntilPoweredOn()
/// let level = LocalCharacteristic(CBUUID(string: "FFE1"), [.read, .notify], read: { _ in Data([80]) })
/// try await device.add(LocalService(CBUUID(string: "FFE0"), [level]))
/// try await device.advertise(localName: "Cup", services: [CBUUID(string: "FFE0")])
/// ```
///
/// All methods can be called from any task. Each asynchronous method returns or throws exactly once, as those of
/// `Central` do. If Bluetooth is turned off, services, advertising and channels are gone: publish them again.
///
/// The app must retain the object: advertising ends and services disappear with its last reference, or with `close`.
public final class LocalPeripheral: Sendable {
  struct State {
    var manager: CBPeripheralManager?
    /// The delegate, which the manager holds weakly.
    var delegate: LocalPeripheralDelegate?
    /// The calls that wait for the result of publishing a service, in the order of the calls.
    var additions: [ObjectIdentifier: Deque<Addition>] = [:]
    /// The characteristics of published services.
    var characteristics: [ObjectIdentifier: LocalCharacteristic] = [:]
    /// The starts of advertising without an answer, in the order of the calls.
    var starts: Deque<PendingOperation<Void>> = []
    /// The end of the advertising in progress; nil: none.
    var advertising: PendingOperation<Void>?
    /// The advertising sets in progress.
    var sets: [LocalSetID: SetEntry] = [:]
    var setCount: UInt32 = 0
    /// The links to centrals that calls or iterations are for.
    var links: [ObjectIdentifier: CentralLink] = [:]
    /// The calls that wait for the end of all links.
    var disconnections: [PendingOperation<Void>] = []
    /// The values that wait for room.
    var updates: Deque<Update> = []
    /// The calls that wait for a PSM, in their order.
    var publications: Deque<PendingOperation<L2CAPListener>> = []
    var listeners: [CBL2CAPPSM: Listener] = [:]
    var listenerCount = 0
  }

  /// A call that waits for the result of publishing a service.
  struct Addition {
    let service: LocalService
    let operation: PendingOperation<Void>
  }

  /// A published channel.
  struct Listener {
    let number: Int
    let queue: ChannelQueue
  }

  private let content = NIOLockedValueBox(Unchecked(State()))
  private let power = PowerWatch()
  private let requestEvents = Broadcast<AttributeRequest>()
  /// A function for events of subscribers.
  package typealias SubscriberHandler = @Sendable (SubscriberEvent, RemoteCentral, LocalCharacteristic) -> Void
  /// The function for events of subscribers; nil: none. See `setSubscriberHandler`.
  let subscriberHandler = NIOLockedValueBox<SubscriberHandler?>(nil)

  /// Creates a peripheral.
  ///
  /// - Parameters:
  ///   - adapter: the adapter, as for `Central.init(adapter:options:)`.
  ///   - options: further options of `CBPeripheralManager`.
  public init(adapter: Any? = nil, options: [String: Any] = [:]) {
    var options = options
    if let adapter { options[CBManagerOptionAdapterKey] = Adapter.option(adapter) }
    let delegate = LocalPeripheralDelegate(self)
    let manager = CBPeripheralManager(
      delegate: delegate, queue: DispatchQueue(label: "CoreBluetoothExtras.LocalPeripheral"), options: options)
    manager.dropLateCommandsSilently()
    manager.setObserver { [weak self] event in self?.observed(event) }
    let box = Unchecked((manager, delegate))
    with { state in (state.manager, state.delegate) = box.value }
  }

  /// Lock order: this lock is taken first. No lock is held while tasks are resumed.
  func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try content.withLockedValue { try body(&$0.value) }
  }

  /// Returns the manager while Bluetooth is on.
  func manager(_ state: State) throws -> CBPeripheralManager {
    guard let manager = state.manager else { throw Self.closed }
    let power = manager.state
    guard power == .poweredOn else { throw CBError.unavailable(power) }
    return manager
  }

  // MARK: State

  /// The state of Bluetooth. Everything else is possible only in `poweredOn`.
  public var state: CBManagerState { with { $0.manager?.state ?? .unsupported } }

  /// The states of Bluetooth: the present one, and then each change. The state is `unknown` for a moment after `init`.
  /// An iteration that begins after `close` gets `unsupported` and ends.
  public var states: EventSequence<CBManagerState> {
    EventSequence(owner: self) { [power] in power.subscribe() }
  }

  /// Waits until Bluetooth is on. Returns at once if it is.
  ///
  /// - Throws: `CBError.operationNotSupported` if there is no usable adapter, or the app may not use Bluetooth.
  public func waitUntilPoweredOn(within limit: TimeLimit? = nil) async throws {
    try await power.wait(within: limit) { [self] in
      guard let power = with({ $0.manager?.state }) else { throw Self.closed }
      return power
    }
  }

  private func observed(_ event: PeripheralObservation) {
    switch event {
    case .setStarted(let id, let error): setStarted(id, error)
    case .setEnded(let id): setEnded(id)
    case .link(let central, let event): linkReported(central, event)
    case .linkEnded(let central): linkEnded(central)
    case .linksEnded: linksEnded()
    case .indicationConfirmed(let central, let characteristic): tell(.confirmed, by: central, of: characteristic)
    case .subscribedAgain(let central, let characteristic): tell(.subscribedAgain, by: central, of: characteristic)
    }
  }

  func stateChanged(to new: CBManagerState) {
    if new != .poweredOn { end(because: CBError.unavailable(new)) }
    power.report(new)
  }

  /// Ends advertising, removes all services and channels, and releases the manager. Pending operations throw
  /// `CBError.operationCancelled`, and all sequences end. The peripheral can't be used again: later calls throw
  /// `CBError.operationCancelled`, and `state` is `unsupported`.
  public func close() {
    // Released outside the lock.
    let parts = with { state in
      defer { (state.manager, state.delegate) = (nil, nil) }
      return Unchecked((state.manager, state.delegate))
    }
    guard parts.value.0 != nil else { return }
    withExtendedLifetime(parts) {}
    end(because: Self.closed)
    requestEvents.finish()
    power.close(because: Self.closed)
  }

  private static var closed: CBError { CBError.cancelled("The peripheral was closed.") }

  /// Ends everything that needs Bluetooth to be on.
  private func end(because error: CBError) {
    let before = with { state in
      let before = Unchecked(state)
      for set in state.sets.values { set.noteEnd(error) }
      // The numbers of sets and listeners go on, so that one of before does not end one of later.
      state = State(
        manager: state.manager, delegate: state.delegate, setCount: state.setCount, listenerCount: state.listenerCount)
      return before
    }.value
    for addition in before.additions.values.flatMap({ $0 }) { addition.operation.fail(error) }
    for start in before.starts { start.fail(error) }
    before.advertising?.fail(error)
    for set in before.sets.values { set.finish(error) }
    for link in before.links.values {
      for request in link.requests { request.fail(error) }
      for end in link.ends { end.finish(.success(.connectionTerminatedByLocalHost)) }
      link.changes.finish()
    }
    for disconnection in before.disconnections { disconnection.finish(.success(())) }
    for update in before.updates { update.operation.fail(error) }
    for publication in before.publications { publication.fail(error) }
    for listener in before.listeners.values { listener.queue.finish(throwing: error) }
    for characteristic in before.characteristics.values { characteristic.subscriberChanges.sendIfChanged([]) }
  }

  /// The number of calls that wait; for tests.
  package var pendingCount: Int {
    with { state in
      let additions = state.additions.values.reduce(0) { $0 + $1.count }
      let sets = state.sets.values.reduce(0) { $0 + $1.starts.count + $1.waiters.count }
      let requests = state.links.values.reduce(0) { $0 + $1.requests.count + $1.ends.count }
      let links = requests + state.disconnections.count
      return additions + sets + links + state.starts.count + state.updates.count + state.publications.count
        + (state.advertising == nil ? 0 : 1) + state.listeners.count
    } + power.count
  }

  // MARK: Services

  /// Publishes a service, so that centrals can use it.
  ///
  /// - Throws: `CBError.invalidParameters` if the service, or one that it includes, can't be published;
  ///   `CBError.uuidNotAllowed` if the system itself has the service, such as the Battery service; the errors of every
  ///   call.
  public func add(_ service: LocalService, within limit: TimeLimit? = nil) async throws {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<Void>()
      let id = ObjectIdentifier(service.box.value)
      try with { state in
        let manager = try manager(state)
        state.additions[id, default: []].append(Addition(service: service, operation: operation))
        manager.add(service.box.value)
      }
      // The answer arrives later, and then removes the service.
      try await operation.value(onCancel: {})
    }
  }

  func added(_ service: CBService, _ error: (any Error)?) {
    let id = ObjectIdentifier(service)
    let addition = with { state in
      let addition = state.additions[id]?.popFirst()
      if state.additions[id]?.isEmpty == true { state.additions[id] = nil }
      guard error == nil else { return addition }
      for characteristic in addition?.service.characteristics ?? [] {
        state.characteristics[ObjectIdentifier(characteristic.box.value)] = characteristic
      }
      return addition
    }
    guard let addition, !addition.operation.finish(result((), error)), error == nil else { return }
    // The call was cancelled.
    remove(addition.service)
  }

  /// Removes a published service.
  public func remove(_ service: LocalService) {
    let removed = with { state in
      guard let manager = try? manager(state) else { return [] as [LocalCharacteristic] }
      manager.remove(service.box.value)
      return service.characteristics.compactMap {
        state.characteristics.removeValue(forKey: ObjectIdentifier($0.box.value))
      }
    }
    for characteristic in removed { characteristic.subscriberChanges.sendIfChanged([]) }
  }

  /// Requests another connection latency of the link to a central, which may reject it. Use
  /// `requestConnectionParameters` to get the answer of the central.
  public func requestConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, of central: RemoteCentral) {
    with { state in
      if let manager = try? manager(state) { manager.setDesiredConnectionLatency(latency, for: central.box.value) }
    }
  }

  // MARK: Requests

  /// The requests for characteristics without a handler, from the beginning of the iteration on. Each is answered by
  /// its first answer. If there is no iteration, requests are rejected with `unlikelyError`.
  public var requests: EventSequence<AttributeRequest> {
    EventSequence(owner: self) { [requestEvents] in requestEvents.subscribe() }
  }

  private func local(_ characteristic: CBCharacteristic) -> LocalCharacteristic? {
    with { $0.characteristics[ObjectIdentifier(characteristic)] }
  }

  func received(read: CBATTRequest, _ manager: CBPeripheralManager) {
    guard let characteristic = local(read.characteristic) else {
      return manager.respond(to: read, withResult: .attributeNotFound)
    }
    let request = ReadRequest(read, characteristic, of: manager)
    guard let handler = characteristic.read else { return requestEvents.send(.read(request)) }
    do {
      request.respond(with: try handler(request.central))
    } catch {
      request.reject((error as? CBATTError)?.code ?? .unlikelyError)
    }
  }

  func received(writes: [CBATTRequest], _ manager: CBPeripheralManager) {
    guard let first = writes.first else { return }
    let parts = writes.compactMap { write in
      local(write.characteristic).map {
        WriteRequest.Part(characteristic: $0, offset: write.offset, octets: write.value ?? Data())
      }
    }
    guard parts.count == writes.count else { return manager.respond(to: first, withResult: .attributeNotFound) }
    let request = WriteRequest(first, parts, of: manager)
    guard let handler = request.characteristic.write else { return requestEvents.send(.write(request)) }
    do {
      try handler(request)
      request.accept()
    } catch {
      request.reject((error as? CBATTError)?.code ?? .unlikelyError)
    }
  }

  func subscribersChanged(of characteristic: CBCharacteristic) {
    guard let local = local(characteristic) else { return }
    local.subscriberChanges.sendIfChanged(local.subscribers)
  }
}
