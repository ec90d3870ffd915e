import BluetoothController
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// The simulated device of an accessory: a controller and a host, with the accessory in place of the daemon that
/// serves apps. Confined to the world's executor.
final class SimulatedAccessory<A: Accessory>: HostedAccessory<A>, WorldDevice {
  // Unchecked: the properties are confined to the world, and no access overlaps another call. See `WorldEngine`. While
  // a method of the superclass has the host, only its parameter is used.
  @exclusivity(unchecked) private var station: ControllerStation
  @exclusivity(unchecked) private var host: Host
  @exclusivity(unchecked) private var progress: AdvertisingProgress?
  private var lastCentral: DeviceAddress?
  private var hasStarted = false
  private var isOn = false

  init(
    _ accessory: A, _ configuration: VirtualDeviceConfiguration, radio: RadioID, environment: DeviceEnvironment,
    generator: RandomStream, pool: PacketPool
  ) {
    station = ControllerStation(
      Controller(
        configuration: configuration.controller(random: generator), random: generator.split("controller"), pool: pool),
      StationSettings(of: radio, in: environment, named: configuration.name))
    var hostConfiguration = configuration.host
    hostConfiguration.firstHandle = accessory.firstHandle
    host = Host(configuration: hostConfiguration, random: generator.split("host"), pool: pool)
    super.init(accessory, name: configuration.name)
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
      if progress?.timeReached(now) ?? false { advertise(&host, at: now) }
      if isDue(wakeTime, at: now) { timeReached(&host, at: now) }
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

  var isPowered: Bool? { isOn }

  func setPower(_ on: Bool, at now: Instant) {
    isOn = on
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

  func hasAddress(_ address: DeviceAddress) -> Bool { host.hasAddress(address) }

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

  var attempts: [AttemptReport] { station.controller.attempts }

  // MARK: The accessory

  /// Runs `body` on the accessory and notifies the subscribers of each characteristic whose value changed.
  func act(at now: Instant, _ body: (inout A, inout AccessoryContext) -> Void) {
    act(&host, at: now, body)
    exchange(at: now)
  }

  override func perform(_ effect: AccessoryContext.Effect, _ host: inout Host, at now: Instant) {
    switch effect {
    case .notify(let path):
      super.perform(effect, &host, at: now)
      guard progress != nil, let handle = attributes.characteristic(path)?.handle else { break }
      if attributes.isBroadcast(handle) { advertise(&host, at: now) }
    case .send, .wake, .setService, .writeToCentrals: super.perform(effect, &host, at: now)
    case .update(let preferred):
      for link in connections { host.updateConnection(link, preferred.parameters, at: now) }
    case .disconnect: for link in connections { host.disconnect(link, at: now) }
    case .advertise(let advertising):
      progress = advertising.map { AdvertisingProgress($0, at: now) }
      advertise(&host, at: now)
    }
  }

  private func advertise(_ host: inout Host, at now: Instant) {
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
      if !hasStarted { addServices(to: &host, at: now) }
      hasStarted = true
      progress = AdvertisingProgress(accessory.advertising, at: now)
      advertise(&host, at: now)
      withAccessory(&host, at: now) { $0.started(in: &$1) }
    case .powerChanged(let state):
      progress = nil
      // A device that is off does nothing. `started` schedules the next time.
      if state == .off { wakeTime = nil }
    case .connected(let link):
      lastCentral = link.peer
      progress = nil
      host.stopAdvertising(at: now)
      linkBegan(link.handle, &host, at: now)
    case .disconnected(let link, let reason):
      let isLast = connections.allSatisfy { $0 == link }
      if isLast { progress = AdvertisingProgress(accessory.advertising, at: now) }
      // Runs before advertising restarts, so that the accessory can change its advertising.
      linkEnded(link, reason, &host, at: now)
      if isLast { advertise(&host, at: now) }
    case .gatt(let link, let event):
      handle(event, on: link, &host, at: now)
      if case .broadcastChanged = event, progress != nil { advertise(&host, at: now) }
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

  override func publish(_ service: AccessoryService<A>, index: Int, on host: inout Host, at now: Instant) {
    if let stranger = service.characteristics.first(where: { $0.path.service != service.uuid }) {
      // An accessory's services are fixed in its source code: neither packets nor user input can cause this failure.
      fatalError("the service \(service.uuid) lists the characteristic \(stranger.uuid) of \(stranger.path.service)")
    }
    do throws(GATTDatabaseError) {
      try add(service, index: index, to: &host, at: now)
    } catch {
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
