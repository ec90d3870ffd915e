// Overview
//
// An app on a simulated adapter needs a whole device below it. BluetoothSimulation puts one together: a controller on a
// world's radio, a host and a daemon, connected in memory, with hooks for captures and faults.
//
// The idea: the parts are engines, and this module moves packets, events and time among them. Each simulated device has
// a `ControllerStation`: its controller, the HCI link to its host (`HCIWire`), and the account of its radio's time.
// Above the station is what differs: a daemon (`VirtualDevice` below), an accessory with a host (BluetoothLab's
// `SimulatedAccessory`), a host in another program (BluetoothAir's `ExternalHostDevice`), or a test's script.
//
// HCI packets pass as values, with their payloads by reference, and become octets for captures only. Payloads pass over
// the air by reference, too: the sending host writes the octets of a notification once, and the receiving app's API
// boundary reads them once.
//
// Callers: BluetoothLab's `World`, BluetoothAdapters' `RealTimeDevice` and BluetoothAir create devices; CoreBluetooth
// reaches one as a `VirtualAdapter`. `WorldEngine` (BluetoothRadio) calls the device.
//
// Invariants:
// - Packets between host and controller take no time, unless a fault delays them. `exchange` carries them in both
//   directions until neither side has any.
// - The device is confined to its world. Apps' calls reach it as requests, and callbacks leave it one at a time.
// - The parts of a device are created when an app first uses it, so a crowd of devices costs little. Nobody can observe
//   the difference.
// - Faults are asked for each packet (`HCIFaults`); the protocols do not know of them.
//
// Where to begin: this file, then `ControllerStation.swift` and `HCIWire.swift`; `WorldCapture.swift` for captures.
//
// Specification: none; the module has no protocol rules.

import BluetoothController
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothWire
import DequeModule

/// A complete device of a world: controller, host and daemon, connected in memory. Confined to the world.
///
/// The parts are created at first use, for example by an app, to save memory. Apps and other devices cannot observe
/// this: an unused device neither transmits nor receives, and starting it takes no time. A device that has bonds with
/// input devices is used from the beginning.
final class VirtualDevice: WorldDevice {
  /// The components from which the parts are created.
  struct Components {
    let configuration: VirtualDeviceConfiguration
    let generator: RandomStream
    let pool: PacketPool
    let sessions: LocalSessions
    let directory: PeerDirectory
  }

  private let components: Components
  let executor: VirtualAdapter.Executor
  // Unchecked: the properties are confined to the world, and no access overlaps another call. See `WorldEngine`.
  @exclusivity(unchecked) private var settings: StationSettings
  @exclusivity(unchecked) private var parts: Parts?
  @exclusivity(unchecked) private var isOn = true
  @exclusivity(unchecked) private var events: Deque<DaemonEvent> = []

  /// The parts that are created at first use.
  private final class Parts {
    @exclusivity(unchecked) var station: ControllerStation
    @exclusivity(unchecked) var daemon: Daemon
    /// The number of events waiting for delivery that the sessions know, a multiple of `countStep`.
    @exclusivity(unchecked) var undelivered = 0
    static let countStep = 64

    init(_ components: Components, _ settings: StationSettings) {
      station = ControllerStation(components.makeController(), settings)
      daemon = components.makeDaemon()
    }
  }

  init(_ components: Components, settings: StationSettings, executor: VirtualAdapter.Executor) {
    self.components = components
    self.settings = settings
    self.executor = executor
  }

  /// Returns the parts, creating them if necessary.
  private func wake(at now: Instant) -> Parts {
    if let parts { return parts }
    let new = Parts(components, settings)
    parts = new
    new.daemon.timeOfZero = settings.environment.epoch
    new.daemon.setPower(isOn && new.daemon.startsOn, at: now)
    return new
  }

  // MARK: SimulatedDevice

  @exclusivity(unchecked) private(set) var deadline: Instant?
  /// The daemon's deadline after the daemon's latest input.
  @exclusivity(unchecked) private var daemonDeadline: Instant?

  func timeReached(_ now: Instant) {
    guard let parts else { return }
    var hasChanged = false
    parts.station.timeReached(now) {
      parts.daemon.receive($0, at: now)
      hasChanged = true
    }
    if let deadline = hasChanged ? parts.daemon.deadline : daemonDeadline, deadline <= now {
      parts.daemon.timeReached(now)
      hasChanged = true
    }
    exchange(parts, daemonHasChanged: hasChanged, at: now)
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    guard let parts else { return }
    parts.station.radio(event, at: now)
    exchange(parts, daemonHasChanged: false, at: now)
  }

  func takeRadioCommand() -> RadioCommand? { parts?.station.takeRadioCommand() }

  func processRequests(at now: Instant) {
    guard parts != nil || !components.sessions.requests.isEmpty else { return }
    let parts = wake(at: now)
    let (capture, observer) = (settings.capture, settings.environment.callObserver)
    if capture != nil || observer != nil {
      let device = settings.device
      parts.daemon.handleRequests(at: now) { request in
        guard let call = request.callDescription else { return }
        capture?.call(call)
        observer?.call(call, on: device, at: now)
      }
    } else {
      parts.daemon.handleRequests(at: now)
    }
    exchange(parts, at: now)
  }

  var hasDelivery: Bool { !events.isEmpty }

  func deliverNext() {
    guard let event = events.popFirst() else { return }
    if let parts { noteUndelivered(parts) }
    components.sessions.deliver(event)
  }

  func repeatedAdvertising(at now: Instant) -> RepeatedAdvertising? {
    guard let parts, events.isEmpty else { return nil }
    return parts.station.repeatedAdvertising(at: now, hostDeadline: daemonDeadline)
  }

  func endEvent(_ packets: SkippedPackets) {
    guard let parts else { return }
    parts.station.endEvent(packets)
    deadline = earliest(parts.station.deadline, daemonDeadline)
  }

  func skip(until limit: Instant) -> SkippedPackets? {
    guard let parts, let skipped = parts.station.skip(until: limit) else { return nil }
    deadline = earliest(parts.station.deadline, daemonDeadline)
    return skipped
  }

  // MARK: WorldDevice

  func setPower(_ on: Bool, at now: Instant) {
    isOn = on
    guard let parts else { return }
    parts.daemon.setPower(on, at: now)
    exchange(parts, at: now)
  }

  func restart(at now: Instant) -> Bool {
    let wasPowered = isOn
    isOn = false
    guard let parts else { return wasPowered }
    parts.daemon.restart(at: now)
    exchange(parts, at: now)
    return wasPowered
  }

  func setAccess(_ isAllowed: Bool, ofApp app: String, at now: Instant) {
    input(at: now) { $0.setAccess(isAllowed, ofApp: app, at: now) }
  }

  func forgetBonds(at now: Instant) {
    // There may be stored bonds from an earlier run, although no app has used the device in this run.
    let parts = wake(at: now)
    for record in parts.daemon.bondRecords { parts.daemon.forget(record.identity, at: now) }
    exchange(parts, at: now)
  }

  func resetNetworkSettings(at now: Instant) {
    input(at: now) { $0.resetNetworkSettings(at: now) }
  }

  /// Gives the daemon an input, and processes what follows from it.
  private func input(at now: Instant, _ body: (inout Daemon) -> Void) {
    let parts = wake(at: now)
    body(&parts.daemon)
    exchange(parts, at: now)
  }

  var notifications: [SystemNotification] { parts?.daemon.systemNotifications ?? [] }

  var notificationActions: [NotificationAction] { parts?.daemon.notificationActions ?? [] }

  func post(_ notification: SystemNotification, at now: Instant) {
    input(at: now) { $0.post(notification, at: now) }
  }

  func removeNotification(_ identifier: String, at now: Instant) {
    input(at: now) { $0.removeNotification(identifier, at: now) }
  }

  func setNotificationSharing(_ isAllowed: Bool, with identity: DeviceAddress, at now: Instant) {
    input(at: now) { $0.setNotificationSharing(isAllowed, with: identity, at: now) }
  }

  func serve(_ server: any SystemServer, at now: Instant) {
    input(at: now) { $0.serve(server, at: now) }
  }

  func changeServices(at now: Instant, _ body: (inout Host) -> Void) {
    input(at: now) { $0.changeServices(at: now, body) }
  }

  var bondRecords: [BondRecord] {
    // While the parts do not exist, return the stored bonds of an earlier run.
    parts?.daemon.bondRecords ?? (try? components.configuration.bonds?.load().records) ?? []
  }

  var bondLimit: Int { components.configuration.bonds?.limit ?? components.configuration.bondLimit }

  func forgetBond(_ identity: DeviceAddress, at now: Instant) {
    input(at: now) { $0.forget(identity, at: now) }
  }

  func importBond(_ record: BondRecord, at now: Instant) {
    input(at: now) { $0.take(record, at: now) }
  }

  func withHost(at now: Instant, _ body: (inout Host) -> Void) -> Bool {
    let parts = wake(at: now)
    exchange(parts, at: now)
    parts.daemon.withHost(body)
    exchange(parts, at: now)
    return true
  }

  func setCapture(_ capture: DeviceCapture?) {
    settings.capture = capture
    parts?.station.setCapture(capture)
  }

  func setHCIObserver(_ observer: (any HCIObserver)?) {
    settings.environment.setHCIObserver(observer, of: settings.device)
  }

  func failController(at now: Instant) {
    guard let parts else { return }
    parts.station.controller.fail(at: now)
    exchange(parts, at: now)
  }

  func setClockDrift(partsPerBillion: Int64) {
    settings.clockDrift = partsPerBillion
    parts?.station.controller.setSleepClockDrift(partsPerBillion: partsPerBillion)
  }

  func uses(at now: Instant) -> RadioTimeAccount { parts?.station.uses(at: now) ?? RadioTimeAccount() }

  var isPowered: Bool? { isOn }

  var links: [LinkReport] { parts?.station.controller.links ?? [] }

  var attempts: [AttemptReport] { parts?.station.controller.attempts ?? [] }

  func hasAddress(_ address: DeviceAddress) -> Bool {
    var hasAddress = false
    parts?.daemon.withHost { hasAddress = $0.hasAddress(address) }
    return hasAddress
  }

  // MARK: HCI

  /// Passes packets between host and controller until neither side has any. HCI transfers take no simulated time.
  /// Called after every change to a part.
  ///
  /// - Parameter daemonHasChanged: false if the daemon has had no input since the last call. Most events of the radio
  ///   do not reach the daemon, so its output and its deadline are the same as before.
  private func exchange(_ parts: Parts, daemonHasChanged: Bool = true, at now: Instant) {
    var hasChanged = daemonHasChanged
    while true {
      if hasChanged {
        collectEvents(parts, at: now)
        while let packet = parts.daemon.takePacket() { parts.station.receive(packet, at: now) }
      }
      guard parts.station.sendPacket(at: now, toHost: { parts.daemon.receive($0, at: now) }) else { break }
      hasChanged = true
    }
    if hasChanged {
      holdLinks(parts)
      daemonDeadline = parts.daemon.deadline
    }
    deadline = earliest(parts.station.deadline, daemonDeadline)
  }

  /// Applies link layer flow control: the controller accepts no data on links whose apps do not read the received data.
  private func holdLinks(_ parts: Parts) {
    if parts.daemon.heldLinksChanged { parts.station.controller.holdLinks(parts.daemon.takeHeldLinks()) }
  }

  private func collectEvents(_ parts: Parts, at now: Instant) {
    while let event = parts.daemon.takeEvent() {
      if settings.capture != nil || settings.environment.callObserver != nil { describe(event, at: now) }
      events.append(event)
    }
    noteUndelivered(parts)
    if parts.daemon.hasReports { takeReports(of: parts) }
  }

  /// Tells the sessions how many events wait for delivery, rounded down to steps, because each call has its cost.
  private func noteUndelivered(_ parts: Parts) {
    let count = events.count / Parts.countStep * Parts.countStep
    guard count != parts.undelivered else { return }
    parts.undelivered = count
    components.sessions.setUndelivered(count)
  }

  private func takeReports(of parts: Parts) {
    while let alert = parts.daemon.takeAlert() {
      DaemonLog.note("alert for \(alert.app): \(alert.text)", of: components.configuration.name)
      components.directory.append(alert)
    }
    while let trouble = parts.daemon.takeTrouble() { DaemonLog.note(trouble, of: components.configuration.name) }
    for note in parts.daemon.takeNotes() { DaemonLog.note(note, of: components.configuration.name) }
  }

  /// Reports the callback that `event` leads to, if an app is there for it.
  private func describe(_ event: DaemonEvent, at now: Instant) {
    guard let callback = event.callbackDescription, components.sessions.hasReceiver(of: event) else { return }
    settings.capture?.callback(callback)
    settings.environment.callObserver?.callback(callback, on: settings.device, at: now)
  }
}

extension VirtualDevice.Components {
  fileprivate func makeController() -> Controller {
    Controller(
      configuration: configuration.controller(random: generator), random: generator.split("controller"), pool: pool)
  }

  fileprivate func makeDaemon() -> Daemon {
    configuration.daemon.makeDaemon(generator: generator, pool: pool, sessions: sessions, directory: directory)
  }
}
