import BluetoothController
import BluetoothRadio
import BluetoothSimulation
import BluetoothTransport
import BluetoothWire

/// A device of a world whose controller serves an external host. The device has no controller until a host joins, and
/// drops the controller when the host leaves; the next host gets a new one. Confined to the world.
final class HCIParticipant: WorldDevice {
  /// A controller and the link to its host.
  private final class Tenant {
    @exclusivity(unchecked) var controller: Controller
    let link: H4Handler
    @exclusivity(unchecked) var uses = RadioTimeAccount()

    init(_ controller: consuming Controller, link: H4Handler) {
      self.controller = controller
      self.link = link
    }
  }

  private let configuration: ControllerConfiguration
  private let generator: RandomStream
  private let pool: PacketPool
  private let outlet: any HCIOutlet
  @exclusivity(unchecked) private var wire: HCIWire
  @exclusivity(unchecked) private var tenant: Tenant?
  private var tenants = 0
  /// The last reported number of the host's packets that the controller holds.
  @exclusivity(unchecked) private var heldPackets = 0
  private var drift: Int64?
  /// True if the radio must stop because the host has left.
  @exclusivity(unchecked) private var mustStop = false
  /// The time of the latest event.
  @exclusivity(unchecked) private var latest = Instant.zero

  init(
    _ configuration: ControllerConfiguration, wire: consuming HCIWire, generator: RandomStream, pool: PacketPool,
    outlet: any HCIOutlet
  ) {
    self.configuration = configuration
    self.wire = wire
    self.generator = generator
    self.pool = pool
    self.outlet = outlet
  }

  var isVacant: Bool { tenant == nil }

  /// The public address of the device's controllers.
  var address: DeviceAddress { configuration.address }
  var identityAddress: DeviceAddress? { address }

  // MARK: Hosts

  /// Connects a host to a new controller in the state after power-on.
  func join(_ link: H4Handler) {
    tenants += 1
    var controller = Controller(
      configuration: configuration, random: generator.split("tenant \(tenants)"), pool: pool)
    if let drift { controller.setSleepClockDrift(partsPerBillion: drift) }
    controller.setSessionObserver(wire.capture?.sessionObserver)
    tenant = Tenant(controller, link: link)
  }

  /// Removes the controller after its host has left. The peers are not informed: they receive nothing more from it.
  func leave() {
    guard tenant != nil else { return }
    noteHeld(0, at: latest)
    wire.reset()
    tenant = nil
    mustStop = true
    deadline = nil
  }

  /// Processes a packet from the host. Returns false if the packet only queried the controller, so that nothing else
  /// has changed.
  func receive(_ packet: HCI.Packet, at now: Instant) -> Bool {
    guard let tenant else { return false }
    // A delayed packet changes the deadline.
    var hasChanged = wire.isDisturbed
    wire.carry(packet, isFromHost: true, at: now) {
      if tenant.controller.receive($0, at: now) { hasChanged = true }
    }
    handOver(tenant, at: now)
    if hasChanged { noteDeadline(tenant) }
    return hasChanged
  }

  /// Makes the controller fail with Hardware Error, after the host's octet stream has lost synchronization · Vol 4,
  /// Part A, 4.
  func loseSynchronization(at now: Instant) {
    guard let tenant else { return }
    tenant.controller.fail(at: now)
    exchange(tenant, at: now)
  }

  /// Continues to send packets after the host can accept more.
  func resume(at now: Instant) {
    if let tenant { exchange(tenant, at: now) }
  }

  /// Sends pending packets and updates the deadline. Called after every change to the controller.
  private func exchange(_ tenant: borrowing Tenant, at now: Instant) {
    handOver(tenant, at: now)
    noteDeadline(tenant)
  }

  /// Sends pending packets to the host.
  private func handOver(_ tenant: borrowing Tenant, at now: Instant) {
    latest = now
    // Packets that a host does not read stay with its controller, which then accepts no more data from its peers.
    if tenant.controller.waitingPackets > 0 {
      let link = tenant.link
      while link.isWritable, let packet = tenant.controller.takePacket() {
        wire.carry(packet, isFromHost: false, at: now) { send($0, to: link) }
      }
      if tenant.controller.waitingPackets > outlet.waitingLimit, !link.isWritable { outlet.isDeaf(link) }
    }
    noteHeld(tenant.controller.heldPackets, at: now)
  }

  private func send(_ packet: HCI.Packet, to link: H4Handler) {
    let isFirst = !link.hasPending
    link.send(packet)
    if isFirst { outlet.hasPending(link) }
  }

  private func noteHeld(_ count: Int, at now: Instant) {
    guard count != heldPackets else { return }
    outlet.heldPacketsChanged(from: heldPackets, to: count, at: now)
    heldPackets = count
  }

  // MARK: Participant

  @exclusivity(unchecked) private(set) var deadline: Instant?

  private func noteDeadline(_ tenant: borrowing Tenant) {
    deadline = earliest(wire.deadline, tenant.controller.deadline)
  }

  func timeReached(_ now: Instant) {
    guard let tenant else { return }
    let isWireTime = wire.deadline.map { $0 <= now } ?? false
    wire.timeReached(now) {
      tenant.controller.receive($0, at: now)
    } atHost: {
      send($0, to: tenant.link)
    }
    // The deadline was that of the wire, of the controller, or of both.
    if !isWireTime || (tenant.controller.deadline ?? .distantFuture) <= now { tenant.controller.timeReached(now) }
    exchange(tenant, at: now)
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    guard let tenant else { return }
    tenant.uses.noteEnd(at: now)
    tenant.controller.radio(event, at: now)
    exchange(tenant, at: now)
  }

  func takeRadioCommand() -> RadioCommand? {
    guard let tenant else {
      defer { mustStop = false }
      return mustStop ? .stop : nil
    }
    mustStop = false
    guard let command = tenant.controller.takeRadioCommand() else { return nil }
    tenant.uses.note(command, for: tenant.controller.radioPurpose, at: latest)
    return command
  }

  func takeMail(at now: Instant) {}
  var hasDelivery: Bool { false }
  func deliverNext() {}

  func openLoopAdvertising(at now: Instant) -> OpenLoopAdvertising? {
    guard let tenant, var openLoopAdvertising = tenant.controller.openLoopAdvertising(at: now) else { return nil }
    openLoopAdvertising.until = wire.deadline
    return openLoopAdvertising
  }

  func skip(until limit: Instant) -> SkippedPackets? {
    guard let tenant, let skipped = tenant.controller.skip(until: limit) else { return nil }
    tenant.uses.skip(skipped)
    latest = skipped.end
    noteDeadline(tenant)
    return skipped
  }

  // MARK: WorldDevice

  /// Does nothing: the external host controls its controller.
  func setPower(_ on: Bool, at now: Instant) {}
  /// Does nothing: the external host keeps the bonds.
  func forgetBonds(at now: Instant) {}

  func setCapture(_ capture: DeviceCapture?) {
    wire.capture = capture
    tenant?.controller.setSessionObserver(capture?.sessionObserver)
  }

  func failController(at now: Instant) { loseSynchronization(at: now) }

  func setClockDrift(partsPerBillion: Int64) {
    drift = partsPerBillion
    tenant?.controller.setSleepClockDrift(partsPerBillion: partsPerBillion)
  }

  func uses(at now: Instant) -> RadioTimeAccount {
    guard var uses = tenant?.uses else { return RadioTimeAccount() }
    uses.count(until: now)
    return uses
  }

  var links: [LinkReport] { tenant?.controller.links ?? [] }
}

/// The receiver of packets from controllers to their hosts. Confined to the world's executor.
protocol HCIOutlet: AnyObject {
  /// Called when the link gets its first pending packet; pending packets are written when the world pauses.
  func hasPending(_ link: H4Handler)
  /// The largest number of packets that may wait for a host that reads none.
  var waitingLimit: Int { get }
  /// Called when more packets wait for the link's host than `waitingLimit` allows, and the host reads none.
  func isDeaf(_ link: H4Handler)
  /// Called when a controller holds more or fewer packets of its host.
  func heldPacketsChanged(from before: Int, to after: Int, at now: Instant)
}
