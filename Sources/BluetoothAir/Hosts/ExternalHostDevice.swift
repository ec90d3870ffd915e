import BluetoothController
import BluetoothRadio
import BluetoothSimulation
import BluetoothTransport
import BluetoothWire

/// A device of a world whose controller serves an external host. The device gets a new controller when a host joins,
/// and drops the controller when the host leaves. Confined to the world.
final class ExternalHostDevice: WorldDevice {
  /// The controller of the current host, and the link to the host.
  private final class AttachedHost {
    @exclusivity(unchecked) var station: ControllerStation
    let link: H4Handler

    init(_ station: consuming ControllerStation, link: H4Handler) {
      self.station = station
      self.link = link
    }
  }

  private let configuration: ControllerConfiguration
  private let generator: RandomStream
  private let pool: PacketPool
  private let outlet: any HCISink
  @exclusivity(unchecked) private var settings: StationSettings
  @exclusivity(unchecked) private var attachedHost: AttachedHost?
  /// The use of the radio by the hosts that have left.
  @exclusivity(unchecked) private var formerUses = RadioTimeAccount()
  /// The number of hosts so far. It selects the random numbers of the next controller.
  private var hostCount = 0
  /// The last reported number of ACL packets from the host that the controller has not delivered.
  @exclusivity(unchecked) private var heldPackets = 0
  /// True if the radio must stop because the host has left.
  @exclusivity(unchecked) private var mustStop = false

  init(
    _ configuration: ControllerConfiguration, settings: StationSettings, generator: RandomStream, pool: PacketPool,
    outlet: any HCISink
  ) {
    self.configuration = configuration
    self.settings = settings
    self.generator = generator
    self.pool = pool
    self.outlet = outlet
  }

  var isVacant: Bool { attachedHost == nil }

  /// The public address of the device's controllers.
  var address: DeviceAddress { configuration.address }
  var identityAddress: DeviceAddress? { address }

  func hasAddress(_ address: DeviceAddress) -> Bool {
    address == self.address || attachedHost?.station.controller.hasAddress(address) ?? false
  }

  // MARK: Hosts

  /// Connects a host to a new controller in the state after power-on.
  func join(_ link: H4Handler) {
    hostCount += 1
    let controller = Controller(
      configuration: configuration, random: generator.split("tenant \(hostCount)"), pool: pool)
    attachedHost = AttachedHost(ControllerStation(controller, settings), link: link)
  }

  /// Removes the controller after its host has left. The controller's connections are not terminated: the peers detect
  /// their loss by supervision timeout.
  func leave() {
    guard let attachedHost else { return }
    noteHeld(0, at: attachedHost.station.latest)
    formerUses.add(attachedHost.station.uses(at: attachedHost.station.latest))
    self.attachedHost = nil
    mustStop = true
    deadline = nil
  }

  /// Processes a packet from the host. Returns false if the packet only queried the controller: its radio command and
  /// its deadline are unchanged.
  func receive(_ packet: HCI.Packet, at now: Instant) -> Bool {
    guard let attachedHost else { return false }
    let hasChanged = attachedHost.station.receive(packet, at: now)
    handOver(attachedHost, at: now)
    if hasChanged { noteDeadline(attachedHost) }
    return hasChanged
  }

  /// Makes the controller report Hardware Error. Called when packet boundaries in the host's octet stream are lost ·
  /// Vol 4, Part A, 4.
  func loseSynchronization(at now: Instant) {
    guard let attachedHost else { return }
    attachedHost.station.controller.fail(at: now)
    exchange(attachedHost, at: now)
  }

  /// Continues to send packets to the host. Called when the link has become writable.
  func resume(at now: Instant) {
    if let attachedHost { exchange(attachedHost, at: now) }
  }

  /// Sends pending packets and updates the deadline. Called after every change to the controller.
  private func exchange(_ attachedHost: borrowing AttachedHost, at now: Instant) {
    handOver(attachedHost, at: now)
    noteDeadline(attachedHost)
  }

  /// Sends pending packets to the host.
  private func handOver(_ attachedHost: borrowing AttachedHost, at now: Instant) {
    // Packets that the host does not read stay in the controller, which then accepts no more data from its peers.
    if attachedHost.station.controller.waitingPackets > 0 {
      let link = attachedHost.link
      while link.isWritable, attachedHost.station.sendPacket(at: now, toHost: { send($0, to: link) }) {}
      if attachedHost.station.controller.waitingPackets > outlet.waitingLimit, !link.isWritable {
        outlet.hostStoppedReading(link)
      }
    }
    noteHeld(attachedHost.station.controller.heldPackets, at: now)
  }

  private func send(_ packet: HCI.Packet, to link: H4Handler) {
    let isFirst = !link.hasPending
    link.send(packet)
    if isFirst { outlet.packetsQueued(on: link) }
  }

  private func noteHeld(_ count: Int, at now: Instant) {
    guard count != heldPackets else { return }
    outlet.heldPacketsChanged(from: heldPackets, to: count, at: now)
    heldPackets = count
  }

  // MARK: SimulatedDevice

  @exclusivity(unchecked) private(set) var deadline: Instant?

  private func noteDeadline(_ attachedHost: borrowing AttachedHost) { deadline = attachedHost.station.deadline }

  func timeReached(_ now: Instant) {
    guard let attachedHost else { return }
    attachedHost.station.timeReached(now) { send($0, to: attachedHost.link) }
    exchange(attachedHost, at: now)
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    guard let attachedHost else { return }
    attachedHost.station.radio(event, at: now)
    exchange(attachedHost, at: now)
  }

  func takeRadioCommand() -> RadioCommand? {
    guard let attachedHost else {
      defer { mustStop = false }
      return mustStop ? .stop : nil
    }
    mustStop = false
    return attachedHost.station.takeRadioCommand()
  }

  func repeatedAdvertising(at now: Instant) -> RepeatedAdvertising? {
    attachedHost?.station.repeatedAdvertising(at: now, hostDeadline: nil)
  }

  func endEvent(_ packets: SkippedPackets) {
    guard let attachedHost else { return }
    attachedHost.station.endEvent(packets)
    noteDeadline(attachedHost)
  }

  func skip(until limit: Instant) -> SkippedPackets? {
    guard let attachedHost, let skipped = attachedHost.station.skip(until: limit) else { return nil }
    noteDeadline(attachedHost)
    return skipped
  }

  // MARK: WorldDevice

  /// Does nothing: the external host controls its controller.
  func setPower(_ on: Bool, at now: Instant) {}
  /// Does nothing: the external host keeps the bonds.
  func forgetBonds(at now: Instant) {}

  func setCapture(_ capture: DeviceCapture?) {
    settings.capture = capture
    attachedHost?.station.setCapture(capture)
  }

  func failController(at now: Instant) { loseSynchronization(at: now) }

  func setClockDrift(partsPerBillion: Int64) {
    settings.clockDrift = partsPerBillion
    attachedHost?.station.controller.setSleepClockDrift(partsPerBillion: partsPerBillion)
  }

  func uses(at now: Instant) -> RadioTimeAccount {
    var uses = formerUses
    if let attachedHost { uses.add(attachedHost.station.uses(at: now)) }
    return uses
  }

  var links: [LinkReport] { attachedHost?.station.controller.links ?? [] }

  var attempts: [AttemptReport] { attachedHost?.station.controller.attempts ?? [] }
}

/// The owner of the links to hosts. It flushes and closes the links. Confined to the world's executor.
protocol HCISink: AnyObject {
  /// Called when a packet is queued on a link without queued packets. The outlet flushes the link when the world
  /// pauses, or earlier.
  func packetsQueued(on link: H4Handler)
  /// The maximum number of packets that may wait in a controller for a host that does not read.
  var waitingLimit: Int { get }
  /// Called when more than `waitingLimit` packets wait for the link's host, and the link is not writable. The outlet
  /// closes the link.
  func hostStoppedReading(_ link: H4Handler)
  /// Called when the number of ACL packets from the host that a controller has not delivered changes.
  func heldPacketsChanged(from before: Int, to after: Int, at now: Instant)
}
