import BluetoothController
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// The simulated device of an accessory: a controller and a host, with the accessory in place of the daemon that
/// serves apps. Confined to the world's executor.
final class SimulatedAccessory<A: Accessory>: WorldDevice {
  private(set) var accessory: A
  private let name: String
  private let pool: PacketPool
  // Unchecked: the properties are confined to the world, and no access overlaps another call. See `WorldEngine`. The
  // accessory is checked, because code outside this package changes it.
  @exclusivity(unchecked) private var station: ControllerStation
  @exclusivity(unchecked) private var host: Host
  private var attributes = AccessoryAttributes<A>()
  private var handles: [HCI.ConnectionHandle] = []
  @exclusivity(unchecked) private var progress: AdvertisingProgress?
  private var lastCentral: DeviceAddress?
  /// The time at which the accessory's `timeReached` is due.
  @exclusivity(unchecked) private var wakeTime: Instant?
  private var hasStarted = false

  init(
    _ accessory: A, _ configuration: VirtualDeviceConfiguration, radio: RadioID, environment: DeviceEnvironment,
    generator: RandomStream, pool: PacketPool
  ) {
    self.accessory = accessory
    name = configuration.name
    self.pool = pool
    station = ControllerStation(
      Controller(
        configuration: configuration.controller(random: generator), random: generator.split("controller"), pool: pool),
      StationSettings(of: radio, in: environment, named: configuration.name))
    host = Host(configuration: configuration.host, random: generator.split("host"), pool: pool)
  }

  // MARK: SimulatedDevice

  @exclusivity(unchecked) private(set) var deadline: Instant?
  /// The next deadline of the host and the accessory after their latest input.
  @exclusivity(unchecked) private var hostDeadline: Instant?

  func timeReached(_ now: Instant) {
    var hasChanged = false
    station.timeReached(now) {
      host.receive($0, at: now)
      hasChanged = true
    }
    if hasChanged || isDue(hostDeadline, at: now) {
      if isDue(host.deadline, at: now) { host.timeReached(now) }
      if progress?.timeReached(now) ?? false { advertise(at: now) }
      if isDue(wakeTime, at: now) {
        wakeTime = nil
        withAccessory(at: now) { $0.timeReached(in: &$1) }
      }
      hasChanged = true
    }
    exchange(hostHasChanged: hasChanged, at: now)
  }

  private func isDue(_ deadline: Instant?, at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }

  func radio(_ event: RadioEvent, at now: Instant) {
    station.radio(event, at: now)
    exchange(hostHasChanged: false, at: now)
  }

  func takeRadioCommand() -> RadioCommand? { station.takeRadioCommand() }

  func repeatedAdvertising(at now: Instant) -> RepeatedAdvertising? {
    station.repeatedAdvertising(at: now, hostDeadline: hostDeadline)
  }

  func endEvent(_ packets: SkippedPackets) {
    station.endEvent(packets)
    deadline = earliest(station.deadline, hostDeadline)
  }

  func skip(until limit: Instant) -> SkippedPackets? {
    guard let skipped = station.skip(until: limit) else { return nil }
    deadline = earliest(station.deadline, hostDeadline)
    return skipped
  }

  // MARK: WorldDevice

  func setPower(_ on: Bool, at now: Instant) {
    host.setPower(on, at: now)
    exchange(at: now)
  }

  func forgetBonds(at now: Instant) {
    for bond in host.bonds { host.removeBond(bond.identity, at: now) }
    exchange(at: now)
  }

  func withHost(at now: Instant, _ body: (inout Host) -> Void) -> Bool {
    body(&host)
    exchange(at: now)
    return true
  }

  var identityAddress: DeviceAddress? { host.ownIdentity }

  func setCapture(_ capture: DeviceCapture?) { station.setCapture(capture) }

  func failController(at now: Instant) {
    station.controller.fail(at: now)
    exchange(at: now)
  }

  func setClockDrift(partsPerBillion: Int64) {
    station.controller.setSleepClockDrift(partsPerBillion: partsPerBillion)
  }

  func uses(at now: Instant) -> RadioTimeAccount { station.uses(at: now) }

  var links: [LinkReport] { station.controller.links }

  // MARK: The accessory

  /// Runs `body` on the accessory and notifies the subscribers of each characteristic whose value changed.
  func act(at now: Instant, _ body: (inout A, inout AccessoryContext) -> Void) {
    let before = attributes.observed.map { ($0, $0.read(accessory)) }
    var context = context(at: now, for: nil)
    body(&accessory, &context)
    accessory.updated(in: &context)
    perform(context, at: now)
    for (characteristic, value) in before where characteristic.read(accessory) != value {
      if !context.notifies(characteristic.path) { notify(characteristic.path, at: now) }
    }
    exchange(at: now)
  }

  private func withAccessory(
    at now: Instant, for link: HCI.ConnectionHandle? = nil, _ body: (inout A, inout AccessoryContext) -> Void
  ) {
    var context = context(at: now, for: link)
    body(&accessory, &context)
    perform(context, at: now)
  }

  private func context(at now: Instant, for link: HCI.ConnectionHandle?) -> AccessoryContext {
    AccessoryContext(
      now: now.sinceZero.duration, connections: handles.count, subscriptions: attributes.subscriptions,
      client: link.map(AccessoryClient.init),
      maximumValueLength: (link.map { host.mtu(of: $0) } ?? ATT.defaultMTU) - 3)
  }

  private func perform(_ context: AccessoryContext, at now: Instant) {
    for effect in context.effects {
      switch effect {
      case .notify(let path): notify(path, at: now)
      case .send(let octets, let path, let client):
        guard let handle = attributes.characteristic(path)?.handle else { break }
        host.update(handle, with: slice(of: octets), on: client.link, at: now)
      case .wake(let time): wakeTime = time.map { now + TimeSpan($0) }
      case .update(let preferred): for link in handles { host.updateConnection(link, preferred.parameters, at: now) }
      case .disconnect: for link in handles { host.disconnect(link, at: now) }
      case .advertise(let advertising):
        progress = advertising.map { AdvertisingProgress($0, at: now) }
        advertise(at: now)
      }
    }
  }

  /// Returns a copy of the octets in a storage of the pool, because measurements are frequent.
  private func slice(of octets: [UInt8]) -> ByteSlice { octets.withUnsafeBytes { ByteSlice($0, in: pool) } }

  private func notify(_ path: CharacteristicPath, at now: Instant) {
    guard let (handle, characteristic) = attributes.characteristic(path) else { return }
    let subscriptions = attributes.subscriptions
    if subscriptions.contains(where: { $0.handle == handle }) {
      let value = slice(of: characteristic.value(of: accessory, at: now.sinceZero.duration))
      for subscription in subscriptions where subscription.handle == handle {
        host.update(handle, with: value, on: subscription.link, at: now)
      }
    }
    if attributes.isBroadcast(handle), progress != nil { advertise(at: now) }
  }

  private func advertise(at now: Instant) {
    if var current = progress?.current(lastCentral: lastCentral) {
      for broadcast in host.broadcasts {
        guard let characteristic = attributes.characteristic(at: broadcast.handle) else { continue }
        let value = characteristic.value(of: accessory, at: now.sinceZero.duration)
        current.append(ByteSlice(value), broadcastOf: broadcast.service)
      }
      host.startAdvertising(current, at: now)
    } else {
      host.stopAdvertising(at: now)
    }
  }

  // MARK: The host

  private func handle(_ event: HostEvent, at now: Instant) {
    switch event {
    case .powerChanged(.on):
      if !hasStarted { for service in accessory.services { add(service, at: now) } }
      hasStarted = true
      progress = AdvertisingProgress(accessory.advertising, at: now)
      advertise(at: now)
      withAccessory(at: now) { $0.started(in: &$1) }
    case .powerChanged(let state):
      progress = nil
      // A device that is off does nothing. `started` schedules the next time.
      if state == .off { wakeTime = nil }
    case .connected(let link):
      handles.append(link.handle)
      lastCentral = link.peer
      progress = nil
      host.stopAdvertising(at: now)
      withAccessory(at: now, for: link.handle) { $0.connected(in: &$1) }
    case .disconnected(let link, let reason):
      handles.removeAll { $0 == link }
      attributes.forget(link)
      if handles.isEmpty { progress = AdvertisingProgress(accessory.advertising, at: now) }
      for characteristic in attributes.controlPoints { tell(characteristic, .unsubscribed, on: link, at: now) }
      // Runs before advertising restarts, so that the accessory can change its advertising.
      withAccessory(at: now, for: link) { $0.disconnected(because: reason, in: &$1) }
      if handles.isEmpty { advertise(at: now) }
    case .gatt(let link, let event): handle(event, on: link, at: now)
    case .security(let link, .prompt(let prompt)): answer(prompt, on: link, at: now)
    case .security(let link, .replacementAttempted(let refusal)): noteReplacement(refusal, on: link)
    case .trouble, .advertisingStarted, .advertisingEnded, .advertisingSetStarted, .advertisingSetEnded,
      .advertisingReport, .synchronization, .connectionFailed, .linkChanged,
      .linkRequestEnded, .rssiRead, .nameDiscovered, .channel, .security, .bondChanged:
      break
    }
  }

  /// Answers by the rule of devices without a user: it allows pairing, but does not replace a bond before the key of
  /// that bond has encrypted the link.
  private func answer(_ prompt: PairingPrompt, on link: HCI.ConnectionHandle, at now: Instant) {
    let pairing = Prompt.Pairing(
      identifier: .unknown, name: nil, isLocallyInitiated: host.hasDemand(on: link),
      replacesBond: host.isBonded(link), isProven: host.isProven(link))
    guard let answer = AutomaticPrompts.Policy.accept.answer(to: .pairing(prompt, pairing)) else { return }
    host.answer(answer, on: link, at: now)
  }

  /// Logs that a peer without the key of its bond has requested pairing: the bonded device, or another device with
  /// its address.
  private func noteReplacement(_ refusal: SMP.FailureReason?, on link: HCI.ConnectionHandle) {
    guard let peer = host.links.first(where: { $0.handle == link })?.peer else { return }
    let reason =
      refusal.map { "with reason 0x\($0.rawValue.hexadecimal)" } ?? "because an accessory has no user to confirm it"
    DaemonLog.note(
      "\(peer): a peer without the key of its bond requests pairing; refused \(reason): "
        + "if it is the same device, remove the accessory's bonds (forgetBonds)", of: name)
  }

  private func handle(_ event: GATTEvent, on link: HCI.ConnectionHandle, at now: Instant) {
    switch event {
    case .readRequested(let request, let handle, let offset):
      let value = attributes.characteristic(at: handle)?.value(of: accessory, at: now.sinceZero.duration) ?? []
      host.respond(
        to: request, on: link,
        with: offset <= value.count
          ? .success(ByteSlice(value.dropFirst(offset))) : .failure(.invalidOffset), at: now)
    case .writeRequested(let request, let parts):
      var context = context(at: now, for: link)
      let result = write(parts, in: &context)
      // The response precedes notifications and indications that the write causes.
      if let request { host.respond(to: request, on: link, with: result, at: now) }
      perform(context, at: now)
    case .subscriptionChanged(let handle, let subscription):
      guard let characteristic = attributes.characteristic(at: handle) else { break }
      attributes.setSubscription(of: link, to: handle, !subscription.isEmpty)
      if subscription.isEmpty { tell(characteristic, .unsubscribed, on: link, at: now) }
      withAccessory(at: now, for: link) {
        $0.subscriptionChanged(of: characteristic.path, isOn: !subscription.isEmpty, in: &$1)
      }
    case .updateSent(let handle):
      guard let characteristic = attributes.characteristic(at: handle) else { break }
      tell(characteristic, .sent, on: link, at: now)
      withAccessory(at: now, for: link) { $0.valueSent(of: characteristic.path, in: &$1) }
    case .mtuChanged, .completed, .valueReceived, .servicesChanged, .securityRequired, .signatureMade, .backgroundTurn:
      break
    case .broadcastChanged(let handle, let isOn):
      attributes.setBroadcast(of: handle, isOn)
      if progress != nil { advertise(at: now) }
    }
  }

  /// Tells a control point about an event of a client.
  private func tell(
    _ characteristic: AccessoryCharacteristic<A>, _ event: AccessoryClientEvent, on link: HCI.ConnectionHandle,
    at now: Instant
  ) {
    guard let handler = characteristic.clientEvent else { return }
    withAccessory(at: now, for: link) { handler(&$0, event, AccessoryClient(link: link), &$1) }
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

  private func add(_ service: AccessoryService<A>, at now: Instant) {
    if let stranger = service.characteristics.first(where: { $0.path.service != service.uuid }) {
      // An accessory's services are fixed in its source code: neither packets nor user input can cause this failure.
      fatalError("the service \(service.uuid) lists the characteristic \(stranger.uuid) of \(stranger.path.service)")
    }
    switch host.addService(service.definition(includes: attributes.includes(of: service)), at: now) {
    case .success(let placement): attributes.add(service, at: placement)
    case .failure(let error):
      // An accessory's services are fixed in its source code: neither packets nor user input can cause this failure.
      fatalError("can't publish the service \(service.uuid) of the accessory: \(error)")
    }
  }

  // MARK: Exchange between host and controller

  /// Passes packets between host and controller until neither side has any. Called after every change to a part.
  ///
  /// - Parameter hostHasChanged: false if neither the host nor the accessory has had an input since the last call. Most
  ///   events of the radio do not reach them, so their output and their deadline are the same as before.
  private func exchange(hostHasChanged: Bool = true, at now: Instant) {
    var hasChanged = hostHasChanged
    while true {
      if hasChanged {
        takeEvents(at: now)
        while let packet = host.takePacket() { station.receive(packet, at: now) }
      }
      guard station.sendPacket(at: now, toHost: { host.receive($0, at: now) }) else { break }
      hasChanged = true
    }
    if hasChanged { hostDeadline = earliest(host.deadline, earliest(wakeTime, progress?.end)) }
    deadline = earliest(station.deadline, hostDeadline)
  }

  private func takeEvents(at now: Instant) {
    while let event = host.takeEvent() { handle(event, at: now) }
  }
}
