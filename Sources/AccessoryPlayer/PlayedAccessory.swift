import BluetoothHost
import BluetoothLab
import BluetoothProfiles
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// An accessory of `BluetoothLab` that an adapter plays: a real controller, an adapter of a server, or a device of a
/// world.
///
/// ```swift
/// let strap = PlayedAccessory(HeartRateSensor(), by: LocalPeripheral(adapter: "hci:0"))
/// try await strap.run()
/// ```
///
/// It is an app: the system chooses the device's name, appearance, address and advertising channels. Without effect are
/// the property `broadcast`, reliable writes, the Characteristic Aggregate Format, writable descriptions,
/// `Accessory.firstHandle`, properties that differ from the operations, permissions with authentication or authorization,
/// writable descriptors, and `AccessoryContext.disconnect()`; directed advertising is undirected. A fixed handle that the
/// adapter can't give ends `run()` with `CBError.invalidHandle`. A central counts as connected from its first
/// request or subscription on. `Accessory.valueSent(of:in:)` is called when a notification waits to be sent. For
/// characteristics that have indications and no notifications, such as control points, it is called when the client has
/// confirmed the value.
public final class PlayedAccessory<A: Accessory>: Sendable {
  /// A task for the adapter. `sendOutputs` performs the tasks in their order.
  private enum Output: Sendable {
    /// Send a value to subscribers; nil: to all.
    case value(Data, of: Int, to: RemoteCentral?)
    case request(PreferredConnectionParameters, of: RemoteCentral)
    case setService(Int, isPresent: Bool)
  }

  /// An indication that a central has not confirmed yet.
  struct Indication: Equatable {
    let index: Int
    let central: RemoteCentral
  }

  struct State {
    var accessory: A
    /// The advertising while no central is connected; nil: none.
    var advertising: Advertising?
    /// Called when the advertising must be looked at again.
    var advertisingChanged: AsyncStream<Void>.Continuation?
    /// The attributes, whose handles are the indices of `characteristics` plus 1.
    var attributes = AccessoryAttributes<A>()
    /// The connected centrals, with the numbers by which the accessory knows them.
    var centrals: [RemoteCentral: HCI.ConnectionHandle] = [:]
    /// The centrals to whose servers the accessory has written, as peripherals of `central`.
    var servers: [RemoteCentral: Peripheral] = [:]
    var lastNumber: UInt16 = 0
    /// The time at which the accessory's `timeReached` is due; nil: none.
    var wakeTime: Duration?
    /// Called when `wakeTime` has changed.
    var wakeTimeChanged: AsyncStream<Void>.Continuation?
    /// The number of values that wait in `outputs`.
    var waitingValues = 0
    /// The indications that wait for their confirmation, in the order in which they were sent.
    var unconfirmed: [Indication] = []
    /// The published services, by their indices.
    var published: [Int: LocalService] = [:]
  }

  /// The maximum number of waiting values; further notifications to all subscribers are left out.
  private static var maximumWaitingValues: Int { 256 }

  let peripheral: LocalPeripheral
  /// The central role of the adapter, for writes to the servers of centrals; nil: none.
  let central: Central?
  let state: NIOLockedValueBox<State>
  /// The services, each with the indices of its characteristics.
  private let services: [(service: AccessoryService<A>, characteristics: Range<Int>)]
  let characteristics: [LocalCharacteristic]
  let writes = AsyncStream.makeStream(of: Write.self)
  private let outputs = AsyncStream.makeStream(of: Output.self)
  private let arrivals = AsyncStream.makeStream(of: RemoteCentral.self)
  let elapsed: @Sendable () -> Duration
  let pause: @Sendable (Duration) async throws -> Void
  let observer: (@Sendable (PlayedEvent) throws -> Void)?

  /// Creates an accessory that `run` plays.
  ///
  /// - Parameters:
  ///   - accessory: the accessory in its first state.
  ///   - peripheral: the adapter, which no other accessory uses.
  ///   - central: the central role of the same adapter, with which the accessory writes to the servers of its centrals
  ///     (`AccessoryContext.writeToCentrals(_:of:)`); nil: these writes end with `CentralWriteError.notSupported`.
  ///   - clock: the clock of the accessory; `AccessoryContext.now` is the time since this call. In a world, this is
  ///     `World.clock`.
  public convenience init<C: Clock>(
    _ accessory: A, by peripheral: LocalPeripheral, central: Central? = nil, clock: C = ContinuousClock()
  ) where C.Duration == Duration {
    let start = clock.now
    // The pauses are those of the accessory's own timers and of its advertising, so they take the time of its clock.
    self.init(
      accessory, by: peripheral, central: central, elapsed: { start.duration(to: clock.now) },
      pause: { try await Task.sleep(for: $0, clock: clock) }, observer: nil)
  }

  /// Creates an accessory with functions for the time.
  ///
  /// - Parameters:
  ///   - central: the central role of the same adapter; nil: none.
  ///   - elapsed: returns the time since the start of the accessory.
  ///   - pause: waits for this time.
  ///   - observer: takes what centrals do; nil: none.
  package init(
    _ accessory: A, by peripheral: LocalPeripheral, central: Central? = nil,
    elapsed: @escaping @Sendable () -> Duration, pause: @escaping @Sendable (Duration) async throws -> Void,
    observer: (@Sendable (PlayedEvent) throws -> Void)?
  ) {
    (self.peripheral, self.central) = (peripheral, central)
    (self.elapsed, self.pause, self.observer) = (elapsed, pause, observer)
    var state = State(accessory: accessory, advertising: accessory.advertising)
    var services: [(service: AccessoryService<A>, characteristics: Range<Int>)] = []
    var characteristics: [LocalCharacteristic] = []
    for (index, service) in accessory.services.enumerated() {
      let locals = service.characteristics.map { characteristic in
        PublishedForm.characteristic(
          characteristic.uuid, characteristic.properties, characteristic.protection, characteristic.descriptors,
          handle: characteristic.handle)
      }
      let first = AttributeHandle(characteristics.count + 1)
      let handles = locals.indices.map { first + AttributeHandle($0) }
      state.attributes.add(
        service, index: index,
        at: GATTServicePlacement(range: first...(first + AttributeHandle(locals.count)), values: handles))
      services.append((service, characteristics.count..<characteristics.count + locals.count))
      characteristics += locals
    }
    (self.services, self.characteristics) = (services, characteristics)
    self.state = NIOLockedValueBox(state)
  }

  /// The present state of the accessory.
  public var accessory: A { state.withLockedValue { $0.accessory } }

  /// Changes the accessory's state, as its user would. Subscribers of each characteristic whose value changes are
  /// notified. `body` must not use this object.
  public func update(_ body: (inout A) -> Void) {
    act { accessory, _ in body(&accessory) }
  }

  /// Changes the accessory's state and gives it a context, for example to notify a value that has not changed. `body`
  /// must not use this object.
  public func act(_ body: (inout A, inout AccessoryContext) -> Void) {
    state.withLockedValue { state in
      let before = state.attributes.observed.map { ($0, $0.read(state.accessory)) }
      var context = context(state, for: nil)
      body(&state.accessory, &context)
      state.accessory.updated(in: &context)
      perform(context, &state)
      for (characteristic, value) in before where characteristic.read(state.accessory) != value {
        if !context.notifies(characteristic.path) { notify(characteristic.path, &state) }
      }
    }
  }

  // MARK: Running

  /// Waits until Bluetooth is on, publishes the services, advertises, and serves until the task is cancelled or Bluetooth
  /// is turned off. The services are then removed. It can be called once.
  ///
  /// - Throws: always: `CancellationError` after a cancellation; a `CBError` if Bluetooth is off, or if the services
  ///   can't be published.
  public func run() async throws {
    try await peripheral.waitUntilPoweredOn()
    let order = AccessoryService.orderOfInclusion(services.map(\.service))
    peripheral.setSubscriberHandler { [weak self] in self?.handle($0, of: $1, on: $2) }
    defer {
      peripheral.setSubscriberHandler(nil)
      let published = state.withLockedValue { $0.published }
      for service in order.reversed().compactMap({ published[$0] }) { peripheral.remove(service) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Requests are lost before the iteration has begun.
      let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
      group.addTask { [self] in try await answerRequests { isReady.finish() } }
      for await _ in ready {}
      // Before a central can use the services.
      callback { accessory, context in accessory.started(in: &context) }
      for index in order where services[index].service.isPresentAtStart { try await publish(index) }
      group.addTask { [self] in try await watchPower() }
      group.addTask { [self] in try await sendOutputs() }
      group.addTask { [self] in try await performWrites() }
      group.addTask { [self] in try await watchTime() }
      group.addTask { [self] in try await watchLinks() }
      for index in characteristics.indices { group.addTask { [self] in try await watchSubscriptions(of: index) } }
      group.addTask { [self] in try await advertise() }
      defer { group.cancelAll() }
      // The first error ends the others.
      while try await group.next() != nil {}
    }
  }

  /// Publishes a service, which includes those of its included services that are published.
  private func publish(_ index: Int) async throws {
    let (service, members) = services[index]
    let included = AccessoryService.servicesIncluded(by: index, in: services.map(\.service))
    let local = state.withLockedValue { state in
      let local = LocalService(
        PublishedForm.serviceUUID(service.uuid), isPrimary: service.isPrimary,
        includes: included.compactMap { state.published[$0] }, Array(characteristics[members]), handle: service.handle)
      state.published[index] = local
      return local
    }
    try await peripheral.add(local)
  }

  private func withdraw(_ index: Int) {
    if let local = state.withLockedValue({ $0.published.removeValue(forKey: index) }) { peripheral.remove(local) }
  }

  /// Throws when Bluetooth is turned off: the services are then gone.
  private func watchPower() async throws {
    for await state in peripheral.states where state != .poweredOn && state != .unknown {
      throw CBError(.operationCancelled)
    }
    try Task.checkCancellation()
  }

  // MARK: Callbacks of the accessory

  private func callback(_ body: (inout A, inout AccessoryContext) -> Void) {
    state.withLockedValue { state in
      var context = context(state, for: nil)
      body(&state.accessory, &context)
      perform(context, &state)
    }
  }

  func context(_ state: State, for link: HCI.ConnectionHandle?) -> AccessoryContext {
    let central = link.flatMap { link in state.centrals.first { $0.value == link }?.key }
    return AccessoryContext(
      now: elapsed(), connections: state.centrals.count, subscriptions: state.attributes.subscriptions,
      client: link.map { AccessoryClient(link: $0) },
      maximumValueLength: central?.maximumUpdateLength ?? ATT.defaultMTU - 3)
  }

  /// Puts the effects of a callback in the order in which they take place.
  func perform(_ context: AccessoryContext, _ state: inout State) {
    for effect in context.effects {
      switch effect {
      case .notify(let path): notify(path, &state)
      case .send(let octets, let path, let client):
        guard let handle = state.attributes.characteristic(path)?.handle,
          let central = state.centrals.first(where: { $0.value == client.link })?.key
        else { break }
        enqueue(Data(octets), of: Int(handle) - 1, to: central, &state)
      case .wake(let time):
        let wakeTime = time.map { context.now + $0 }
        guard wakeTime != state.wakeTime else { break }
        state.wakeTime = wakeTime
        state.wakeTimeChanged?.yield()
      case .update(let preferred):
        for (central, _) in inOrder(state.centrals) { outputs.continuation.yield(.request(preferred, of: central)) }
      case .setService(let index, let isPresent):
        outputs.continuation.yield(.setService(index, isPresent: isPresent))
      case .writeToCentrals(let octets, let path):
        for (remote, link) in inOrder(state.centrals) {
          writes.continuation.yield(Write(octets: octets, path: path, remote: remote, link: link))
        }
      case .disconnect: break
      case .advertise(let advertising):
        state.advertising = advertising
        state.advertisingChanged?.yield()
      }
    }
  }

  private func notify(_ path: CharacteristicPath, _ state: inout State) {
    guard let (handle, characteristic) = state.attributes.characteristic(path),
      state.attributes.subscriptions.contains(where: { $0.handle == handle }),
      state.waitingValues < Self.maximumWaitingValues
    else { return }
    enqueue(Data(characteristic.value(of: state.accessory, at: elapsed())), of: Int(handle) - 1, to: nil, &state)
  }

  private func enqueue(_ value: Data, of index: Int, to central: RemoteCentral?, _ state: inout State) {
    state.waitingValues += 1
    outputs.continuation.yield(.value(value, of: index, to: central))
  }

  private func sendOutputs() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for await output in outputs.stream {
        switch output {
        case .value(let value, let index, let central):
          state.withLockedValue { $0.waitingValues -= 1 }
          let local = characteristics[index]
          let receivers = local.subscribers.filter { central == nil || $0 == central }
          let isIndicated = state.withLockedValue { state in
            let isIndicated = state.attributes.characteristic(at: AttributeHandle(index + 1))?.isOnlyIndicated ?? false
            // A confirmation may arrive before `update` has returned.
            if isIndicated { state.unconfirmed += receivers.map { Indication(index: index, central: $0) } }
            return isIndicated
          }
          try await peripheral.update(local, to: value, for: central.map { [$0] })
          guard !isIndicated else { break }
          state.withLockedValue { state in for receiver in receivers { sent(index, to: receiver, &state) } }
        case .request(let wanted, let central):
          // Values do not wait for the answer, and a central may refuse.
          group.addTask { [self] in
            try? await peripheral.requestConnectionParameters(
              of: central, interval: wanted.interval...wanted.interval, latency: wanted.latency,
              supervisionTimeout: wanted.supervisionTimeout)
          }
        case .setService(let index, let isPresent):
          guard services.indices.contains(index) else { break }
          let isPublished = state.withLockedValue { $0.published[index] != nil }
          if isPresent, !isPublished { try await publish(index) }
          if !isPresent { withdraw(index) }
        }
      }
    }
    try Task.checkCancellation()
  }

  private func sent(_ index: Int, to central: RemoteCentral, _ state: inout State) {
    guard let link = state.centrals[central],
      let characteristic = state.attributes.characteristic(at: AttributeHandle(index + 1))
    else { return }
    var context = context(state, for: link)
    characteristic.clientEvent?(&state.accessory, .sent, AccessoryClient(link: link), &context)
    state.accessory.valueSent(of: characteristic.path, in: &context)
    perform(context, &state)
  }

  private func handle(_ event: SubscriberEvent, of central: RemoteCentral, on characteristic: LocalCharacteristic) {
    guard let index = index(of: characteristic) else { return }
    state.withLockedValue { state in
      switch event {
      case .confirmed: _ = endIndication(index, to: central, &state)
      case .subscribedAgain: subscribedAgain(central, to: index, &state)
      }
    }
  }

  private func subscribedAgain(_ central: RemoteCentral, to index: Int, _ state: inout State) {
    let handle = AttributeHandle(index + 1)
    // A subscription that has not been reported yet is a new one for the accessory.
    guard let link = state.centrals[central], let characteristic = state.attributes.characteristic(at: handle),
      state.attributes.subscriptions.contains(where: { $0.link == link && $0.handle == handle })
    else { return }
    var context = context(state, for: link)
    characteristic.clientEvent?(&state.accessory, .subscribedAgain, AccessoryClient(link: link), &context)
    perform(context, &state)
  }

  /// Notes that the oldest indication of a characteristic to a central has ended. Returns false if there is none.
  private func endIndication(_ index: Int, to central: RemoteCentral, _ state: inout State) -> Bool {
    guard let place = state.unconfirmed.firstIndex(of: Indication(index: index, central: central)) else { return false }
    state.unconfirmed.remove(at: place)
    sent(index, to: central, &state)
    return true
  }

  // MARK: Centrals

  /// Notes a central that has made a request or a subscription. The request of a central that has disconnected since
  /// does not connect it again.
  func met(_ central: RemoteCentral) {
    guard peripheral.isConnected(central) else { return }
    let isNew = state.withLockedValue { state in
      guard state.centrals[central] == nil else { return false }
      state.lastNumber &+= 1
      let link = HCI.ConnectionHandle(rawValue: state.lastNumber)
      state.centrals[central] = link
      state.advertisingChanged?.yield()
      var context = context(state, for: link)
      state.accessory.connected(in: &context)
      perform(context, &state)
      return true
    }
    if isNew { arrivals.continuation.yield(central) }
  }

  private func watchLinks() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for await central in arrivals.stream {
        group.addTask { [self] in
          let reason = try await peripheral.end(of: central)
          left(central, because: reason)
        }
      }
    }
    try Task.checkCancellation()
  }

  private func left(_ central: RemoteCentral, because reason: HCIErrorCode) {
    let server = state.withLockedValue { state -> Peripheral? in
      guard let link = state.centrals.removeValue(forKey: central) else { return nil }
      let client = AccessoryClient(link: link)
      state.attributes.forget(link)
      state.unconfirmed.removeAll { $0.central == central }
      if state.centrals.isEmpty { state.advertising = state.accessory.advertising }
      var context = context(state, for: link)
      for characteristic in state.attributes.controlPoints {
        characteristic.clientEvent?(&state.accessory, .unsubscribed, client, &context)
      }
      // Runs before advertising restarts, so that the accessory can change its advertising.
      state.accessory.disconnected(because: reason, in: &context)
      perform(context, &state)
      if state.centrals.isEmpty { state.advertisingChanged?.yield() }
      return state.servers.removeValue(forKey: central)
    }
    // The peripheral is released without the lock, because its deinitializer ends calls.
    withExtendedLifetime(server) {}
  }

  /// Returns the centrals in the order in which they have connected, so that each run of a world is the same.
  private func inOrder(
    _ centrals: [RemoteCentral: HCI.ConnectionHandle]
  ) -> [(key: RemoteCentral, value: HCI.ConnectionHandle)] {
    centrals.sorted { $0.value.rawValue < $1.value.rawValue }
  }

  private func watchSubscriptions(of index: Int) async throws {
    for await _ in characteristics[index].subscriptions { try refreshSubscriptions(of: index) }
    try Task.checkCancellation()
  }

  /// Reports the subscriptions that have begun or ended. Also called before each write, because a central may subscribe
  /// to a control point and write a command at once.
  func refreshSubscriptions(of index: Int) throws {
    let handle = AttributeHandle(index + 1)
    let subscribers = characteristics[index].subscribers
    for central in subscribers { met(central) }
    let changes = state.withLockedValue { state in
      guard let characteristic = state.attributes.characteristic(at: handle) else { return [] as [PlayedEvent] }
      var changes: [PlayedEvent] = []
      for (central, link) in inOrder(state.centrals) {
        let isOn = subscribers.contains(central)
        let wasOn = state.attributes.subscriptions.contains { $0.link == link && $0.handle == handle }
        guard isOn != wasOn else { continue }
        state.attributes.setSubscription(of: link, to: handle, isOn)
        var context = context(state, for: link)
        if !isOn {
          characteristic.clientEvent?(&state.accessory, .unsubscribed, AccessoryClient(link: link), &context)
        }
        state.accessory.subscriptionChanged(of: characteristic.path, isOn: isOn, in: &context)
        perform(context, &state)
        // The central confirms no further indication.
        if !isOn { while endIndication(index, to: central, &state) {} }
        changes.append(PlayedEvent(isOn ? .subscribed : .unsubscribed, characteristic.path, by: central))
      }
      return changes
    }
    for change in changes { try observer?(change) }
  }
}

extension AccessoryCharacteristic {
  /// True if clients confirm each value.
  fileprivate var isOnlyIndicated: Bool { properties.contains(.indicate) && !properties.contains(.notify) }
}
