import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// The server of an accessory's services on the host of a device, which has its own links and advertising. Confined to
/// the world's executor; unchecked, because the compiler does not know that only the daemon's calls use the variables.
final class AccessoryServer<A: Accessory>: SystemServer, @unchecked Sendable {
  private(set) var accessory: A
  /// The name of the device, for the log.
  private let name: String
  private var attributes = AccessoryAttributes<A>()
  private var links: [HCI.ConnectionHandle] = []
  private var hasPublished = false
  /// True while the adapter is on.
  private var isOn = false
  /// The time at which the accessory's `timeReached` is due.
  private(set) var deadline: Instant?

  init(_ accessory: A, name: String) {
    self.accessory = accessory
    self.name = name
  }

  // MARK: The accessory

  /// Runs `body` on the accessory and notifies the subscribers of each characteristic whose value changed.
  func act(_ host: inout Host, at now: Instant, _ body: (inout A, inout AccessoryContext) -> Void) {
    let before = attributes.observed.map { ($0, $0.read(accessory)) }
    var context = context(at: now, for: nil)
    body(&accessory, &context)
    accessory.updated(in: &context)
    perform(context, &host, at: now)
    for (characteristic, value) in before where characteristic.read(accessory) != value {
      if !context.notifies(characteristic.path) { notify(characteristic.path, &host, at: now) }
    }
  }

  private func withAccessory(
    _ host: inout Host, at now: Instant, for link: HCI.ConnectionHandle? = nil,
    _ body: (inout A, inout AccessoryContext) -> Void
  ) {
    var context = context(at: now, for: link, mtu: link.map { host.mtu(of: $0) })
    body(&accessory, &context)
    perform(context, &host, at: now)
  }

  private func context(at now: Instant, for link: HCI.ConnectionHandle?, mtu: Int? = nil) -> AccessoryContext {
    AccessoryContext(
      now: now.sinceZero.duration, connections: links.count, subscriptions: attributes.subscriptions,
      client: link.map { AccessoryClient(link: $0) }, maximumValueLength: (mtu ?? ATT.defaultMTU) - 3)
  }

  private func perform(_ context: AccessoryContext, _ host: inout Host, at now: Instant) {
    for effect in context.effects {
      switch effect {
      case .notify(let path): notify(path, &host, at: now)
      case .send(let octets, let path, let client):
        guard let handle = attributes.characteristic(path)?.handle else { break }
        host.update(handle, with: ByteSlice(octets), on: client.link, at: now)
      case .wake(let time): deadline = isOn ? time.map { now + TimeSpan($0) } : nil
      // The links and the advertising belong to the device.
      case .update, .disconnect, .advertise: break
      }
    }
  }

  private func notify(_ path: CharacteristicPath, _ host: inout Host, at now: Instant) {
    guard let (handle, characteristic) = attributes.characteristic(path) else { return }
    let receivers = attributes.subscriptions.filter { $0.handle == handle }
    guard !receivers.isEmpty else { return }
    let value = ByteSlice(characteristic.value(of: accessory, at: now.sinceZero.duration))
    for receiver in receivers { host.update(handle, with: value, on: receiver.link, at: now) }
  }

  // MARK: SystemServer

  func owns(_ handle: AttributeHandle) -> Bool { attributes.path(at: handle) != nil }

  func started(_ host: inout Host, at now: Instant) {
    isOn = true
    if !hasPublished { for service in accessory.services { publish(service, on: &host, at: now) } }
    hasPublished = true
    withAccessory(&host, at: now) { $0.started(in: &$1) }
  }

  private func publish(_ service: AccessoryService<A>, on host: inout Host, at now: Instant) {
    switch host.addService(service.definition(includes: attributes.includes(of: service)), at: now) {
    case .success(let placement): attributes.add(service, at: placement)
    case .failure(let error): DaemonLog.note("can't publish the service \(service.uuid): \(error)", of: name)
    }
  }

  func stopped(at now: Instant) {
    isOn = false
    for link in links { forget(link, at: now) }
    links.removeAll()
    // A device that is off does nothing. `started` schedules the next time.
    deadline = nil
  }

  /// Ends the procedures and the connection of a client. Their effects are ignored: the device has no links.
  private func forget(_ link: HCI.ConnectionHandle, at now: Instant) {
    attributes.forget(link)
    var context = context(at: now, for: link)
    for characteristic in attributes.controlPoints {
      characteristic.clientEvent?(&accessory, .unsubscribed, AccessoryClient(link: link), &context)
    }
    accessory.disconnected(because: .connectionTerminatedByLocalHost, in: &context)
  }

  func linkBegan(_ connection: HCI.ConnectionHandle, _ host: inout Host, at now: Instant) {
    links.append(connection)
    withAccessory(&host, at: now, for: connection) { $0.connected(in: &$1) }
  }

  func linkEnded(_ connection: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, _ host: inout Host, at now: Instant) {
    links.removeAll { $0 == connection }
    attributes.forget(connection)
    for characteristic in attributes.controlPoints {
      tell(characteristic, .unsubscribed, on: connection, &host, at: now)
    }
    withAccessory(&host, at: now, for: connection) { $0.disconnected(because: reason, in: &$1) }
  }

  func timeReached(_ host: inout Host, at now: Instant) {
    deadline = nil
    withAccessory(&host, at: now) { $0.timeReached(in: &$1) }
  }

  func handle(_ event: GATTEvent, on connection: HCI.ConnectionHandle, _ host: inout Host, at now: Instant) {
    switch event {
    case .readRequested(let request, let handle, let offset):
      let value = attributes.characteristic(at: handle)?.value(of: accessory, at: now.sinceZero.duration) ?? []
      host.respond(
        to: request, on: connection,
        with: offset <= value.count
          ? .success(ByteSlice(value.dropFirst(offset))) : .failure(.invalidOffset), at: now)
    case .writeRequested(let request, let parts):
      var context = context(at: now, for: connection, mtu: host.mtu(of: connection))
      let result = write(parts, in: &context)
      // The response precedes notifications and indications that the write causes.
      if let request { host.respond(to: request, on: connection, with: result, at: now) }
      perform(context, &host, at: now)
    case .subscriptionChanged(let handle, let subscription):
      guard let characteristic = attributes.characteristic(at: handle) else { break }
      let isOn = !subscription.isEmpty
      attributes.setSubscription(of: connection, to: handle, isOn)
      if !isOn { tell(characteristic, .unsubscribed, on: connection, &host, at: now) }
      withAccessory(&host, at: now, for: connection) {
        $0.subscriptionChanged(of: characteristic.path, isOn: isOn, in: &$1)
      }
    case .updateSent(let handle):
      guard let characteristic = attributes.characteristic(at: handle) else { break }
      tell(characteristic, .sent, on: connection, &host, at: now)
      withAccessory(&host, at: now, for: connection) { $0.valueSent(of: characteristic.path, in: &$1) }
    default: break
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
