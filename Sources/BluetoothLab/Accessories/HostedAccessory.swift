import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// An accessory whose services a host serves. It passes the events of the host to the accessory, answers the requests
/// of clients, and sends the values. The subclasses differ in what else they own: `SimulatedAccessory` is a whole
/// device, and `AccessoryServer` serves on the host of another device. The host is therefore a parameter of each
/// method. Confined to the world's executor.
class HostedAccessory<A: Accessory> {
  final private(set) var accessory: A
  final private(set) var attributes = AccessoryAttributes<A>()
  /// The links of the host, in the order in which they began.
  final private(set) var connections: [HCI.ConnectionHandle] = []
  /// The name of the device, for the log.
  final let name: String
  private var centralWrites = CentralWrites()
  // Unchecked: the property is confined to the world, and no access overlaps another call. The accessory is checked,
  // because code outside this package changes it.
  /// The time at which the accessory's `timeReached` is due.
  @exclusivity(unchecked) final var wakeTime: Instant?

  init(_ accessory: A, name: String) { (self.accessory, self.name) = (accessory, name) }

  /// Adds the services that are there at the start to the database of the host, each after those that it includes.
  final func addServices(to host: inout Host, at now: Instant) {
    let services = accessory.services
    for index in AccessoryService.orderOfInclusion(services) where services[index].isPresentAtStart {
      publish(services[index], index: index, on: &host, at: now)
    }
  }

  /// Adds a service of the accessory, and handles the error of the database.
  func publish(_ service: AccessoryService<A>, index: Int, on host: inout Host, at now: Instant) {}

  /// Adds the service with this index to the database of the host.
  final func add(
    _ service: AccessoryService<A>, index: Int, to host: inout Host, at now: Instant
  ) throws(GATTDatabaseError) {
    let includes = attributes.includes(of: service, in: accessory.services)
    switch host.addService(service.definition(includes: includes), at: now) {
    case .success(let placement): attributes.add(service, index: index, at: placement)
    case .failure(let error): throw error
    }
  }

  /// Adds or removes the service with this index, if it is not there or there.
  private func setService(_ index: Int, _ isPresent: Bool, _ host: inout Host, at now: Instant) {
    let services = accessory.services
    guard services.indices.contains(index) else { return }
    switch (attributes.declaration(ofServiceAt: index), isPresent) {
    case (nil, true): publish(services[index], index: index, on: &host, at: now)
    case (let declaration?, false):
      host.removeService(declaration: declaration, at: now)
      attributes.removeService(at: index)
    case (nil, false), (_?, true): break
    }
  }

  // MARK: The accessory

  /// Runs `body` on the accessory and notifies the subscribers of each characteristic whose value changed.
  final func act(_ host: inout Host, at now: Instant, _ body: (inout A, inout AccessoryContext) -> Void) {
    let before = attributes.observed.map { ($0, $0.read(accessory)) }
    var context = context(at: now)
    body(&accessory, &context)
    accessory.updated(in: &context)
    performEffects(of: context, &host, at: now)
    for (characteristic, value) in before where characteristic.read(accessory) != value {
      if !context.notifies(characteristic.path) { perform(.notify(characteristic.path), &host, at: now) }
    }
  }

  /// Runs a callback of the accessory and performs the effects that it requests.
  final func withAccessory(
    _ host: inout Host, at now: Instant, for link: HCI.ConnectionHandle? = nil,
    _ body: (inout A, inout AccessoryContext) -> Void
  ) {
    var context = context(at: now, for: link, mtu: link.map { host.mtu(of: $0) } ?? ATT.defaultMTU)
    body(&accessory, &context)
    performEffects(of: context, &host, at: now)
  }

  private func context(
    at now: Instant, for link: HCI.ConnectionHandle? = nil, mtu: Int = ATT.defaultMTU
  ) -> AccessoryContext {
    AccessoryContext(
      now: now.sinceZero.duration, connections: connections.count, subscriptions: attributes.subscriptions,
      client: link.map { AccessoryClient(link: $0) }, maximumValueLength: mtu - 3)
  }

  // MARK: Effects

  private func performEffects(of context: AccessoryContext, _ host: inout Host, at now: Instant) {
    for effect in context.effects { perform(effect, &host, at: now) }
  }

  /// Performs an effect: sends values and schedules `timeReached`. The effects on links and advertising are left to the
  /// subclass that owns them.
  func perform(_ effect: AccessoryContext.Effect, _ host: inout Host, at now: Instant) {
    switch effect {
    case .notify(let path): notify(path, &host, at: now)
    case .send(let octets, let path, let client):
      guard let handle = attributes.characteristic(path)?.handle else { break }
      host.update(handle, with: slice(of: octets, in: host.pool), on: client.link, at: now)
    case .wake(let time): wakeTime = time.map { now + TimeSpan($0) }
    case .setService(let index, let isPresent): setService(index, isPresent, &host, at: now)
    case .writeToCentrals(let octets, let path):
      for link in connections {
        centralWrites.append(octets, to: path, on: link)
        beginWrite(on: link, &host, at: now)
      }
    case .update, .disconnect, .advertise: break
    }
  }

  private func notify(_ path: CharacteristicPath, _ host: inout Host, at now: Instant) {
    guard let (handle, characteristic) = attributes.characteristic(path) else { return }
    let subscriptions = attributes.subscriptions
    guard subscriptions.contains(where: { $0.handle == handle }) else { return }
    let value = slice(of: characteristic.value(of: accessory, at: now.sinceZero.duration), in: host.pool)
    for subscription in subscriptions where subscription.handle == handle {
      host.update(handle, with: value, on: subscription.link, at: now)
    }
  }

  // MARK: Writes to centrals

  /// Begins the next write to the server of a central, unless one is in progress.
  private func beginWrite(on link: HCI.ConnectionHandle, _ host: inout Host, at now: Instant) {
    guard let next = centralWrites.next(on: link) else { return }
    host.request(next.request, token: next.token, on: link, at: now)
  }

  /// Continues a write to the server of a central after the result of a request.
  private func completed(
    _ token: GATTToken, _ result: Result<GATTResponse, GATTError>, on link: HCI.ConnectionHandle, _ host: inout Host,
    at now: Instant
  ) {
    switch centralWrites.advance(token, result) {
    case nil: break
    case .request(let request): host.request(request, token: token, on: link, at: now)
    case .ended(let path, let error):
      writeEnded(of: path, because: error, on: link, &host, at: now)
      beginWrite(on: link, &host, at: now)
    }
  }

  /// Tells the accessory the result of a write to the server of a central, and logs an error.
  final func writeEnded(
    of path: CharacteristicPath, because error: CentralWriteError?, on link: HCI.ConnectionHandle, _ host: inout Host,
    at now: Instant
  ) {
    if let error {
      DaemonLog.note(
        "can't write \(path.characteristic) of the service \(path.service) to a connected central: \(error)", of: name)
    }
    withAccessory(&host, at: now, for: link) { $0.centralWriteEnded(of: path, because: error, in: &$1) }
  }

  /// Returns a copy of the octets in a storage of the pool, because measurements are frequent.
  private func slice(of octets: [UInt8], in pool: PacketPool) -> ByteSlice {
    octets.withUnsafeBytes { ByteSlice($0, in: pool) }
  }

  // MARK: Events

  /// Notes a new link.
  final func linkBegan(_ connection: HCI.ConnectionHandle, _ host: inout Host, at now: Instant) {
    connections.append(connection)
    withAccessory(&host, at: now, for: connection) { $0.connected(in: &$1) }
  }

  /// Notes the end of a link.
  final func linkEnded(
    _ connection: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, _ host: inout Host, at now: Instant
  ) {
    connections.removeAll { $0 == connection }
    attributes.forget(connection)
    for path in centralWrites.linkEnded(connection) {
      writeEnded(of: path, because: .disconnected, on: connection, &host, at: now)
    }
    for characteristic in attributes.controlPoints {
      tell(characteristic, .unsubscribed, on: connection, &host, at: now)
    }
    withAccessory(&host, at: now, for: connection) { $0.disconnected(because: reason, in: &$1) }
  }

  /// Ends the procedures and the connections of all clients. Their effects are ignored: the host has no links.
  final func forgetLinks(at now: Instant) {
    for connection in connections {
      attributes.forget(connection)
      var context = context(at: now, for: connection)
      for characteristic in attributes.controlPoints {
        characteristic.clientEvent?(&accessory, .unsubscribed, AccessoryClient(link: connection), &context)
      }
      accessory.disconnected(because: .connectionTerminatedByLocalHost, in: &context)
    }
    connections.removeAll()
  }

  /// Calls the accessory's `timeReached`, which is due.
  final func timeReached(_ host: inout Host, at now: Instant) {
    wakeTime = nil
    withAccessory(&host, at: now) { $0.timeReached(in: &$1) }
  }

  /// Handles an event of an attribute of the accessory.
  final func handle(_ event: GATTEvent, on connection: HCI.ConnectionHandle, _ host: inout Host, at now: Instant) {
    switch event {
    case .readRequested(let request, let handle, let offset):
      host.respond(to: request, on: connection, with: read(handle, offset, on: connection, host, at: now), at: now)
    case .writeRequested(let request, let parts):
      var context = context(at: now, for: connection, mtu: host.mtu(of: connection))
      let result = write(parts, in: &context)
      // The response precedes notifications and indications that the write causes.
      if let request { host.respond(to: request, on: connection, with: result, at: now) }
      performEffects(of: context, &host, at: now)
    case .subscriptionChanged(let handle, let subscription):
      guard let characteristic = attributes.characteristic(at: handle) else { break }
      guard attributes.setSubscription(of: connection, to: handle, !subscription.isEmpty) else {
        return tell(characteristic, .subscribedAgain, on: connection, &host, at: now)
      }
      if subscription.isEmpty { tell(characteristic, .unsubscribed, on: connection, &host, at: now) }
      withAccessory(&host, at: now, for: connection) {
        $0.subscriptionChanged(of: characteristic.path, isOn: !subscription.isEmpty, in: &$1)
      }
    case .updateSent(let handle):
      guard let characteristic = attributes.characteristic(at: handle) else { break }
      tell(characteristic, .sent, on: connection, &host, at: now)
      withAccessory(&host, at: now, for: connection) { $0.valueSent(of: characteristic.path, in: &$1) }
    case .broadcastChanged(let handle, let isOn): attributes.setBroadcast(of: handle, isOn)
    case .completed(let token, let result): completed(token, result, on: connection, &host, at: now)
    case .servicesChanged(let range, _): centralWrites.attributesChanged(range, on: connection)
    case .mtuChanged, .valueReceived, .securityRequired, .signatureMade, .backgroundTurn: break
    }
  }

  /// Tells a control point about an event of a client.
  private func tell(
    _ characteristic: AccessoryCharacteristic<A>, _ event: AccessoryClientEvent, on connection: HCI.ConnectionHandle,
    _ host: inout Host, at now: Instant
  ) {
    guard let handler = characteristic.clientEvent else { return }
    withAccessory(&host, at: now, for: connection) { handler(&$0, event, AccessoryClient(link: connection), &$1) }
  }

  /// Returns the octets of a value from an offset on, or the error of the read.
  private func read(
    _ handle: AttributeHandle, _ offset: Int, on connection: HCI.ConnectionHandle, _ host: borrowing Host,
    at now: Instant
  ) -> Result<ByteSlice, ATT.ErrorCode> {
    guard let characteristic = attributes.characteristic(at: handle) else { return .failure(.attributeNotFound) }
    if let authorize = characteristic.authorize {
      guard authorize(accessory, .read, context(at: now, for: connection, mtu: host.mtu(of: connection))) else {
        return .failure(.insufficientAuthorization)
      }
    }
    let value = characteristic.value(of: accessory, at: now.sinceZero.duration)
    return offset <= value.count ? .success(ByteSlice(value.dropFirst(offset))) : .failure(.invalidOffset)
  }

  /// Passes a write to the accessory as whole values.
  private func write(
    _ parts: GATTWriteParts, in context: inout AccessoryContext
  ) -> Result<ByteSlice, ATT.ErrorCode> {
    do throws(ATTErrorCode) {
      try AccessoryWrite(parts).perform(on: &accessory, attributes, in: &context)
      return .success(ByteSlice())
    } catch {
      return .failure(error)
    }
  }
}
