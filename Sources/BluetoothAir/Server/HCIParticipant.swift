import BluetoothController
import BluetoothRadio
import BluetoothSimulation
import BluetoothTransport
import BluetoothWire

/// A place in a world for a controller whose host is somewhere else. Nothing is there until a host comes, and what it had is
/// gone when it leaves: the next one gets a new controller. Confined to the world.
final class HCIParticipant: WorldDevice {
  /// A controller, and the link to its host.
  private final class Tenant {
    @exclusivity(unchecked) var controller: Controller
    let link: H4Handler
    @exclusivity(unchecked) var uses = RadioUses()

    init(_ controller: consuming Controller, link: H4Handler) {
      self.controller = controller
      self.link = link
    }
  }

  private let configuration: ControllerConfiguration
  private let generator: SplitGenerator
  private let pool: PacketPool
  private let outlet: any HCIOutlet
  @exclusivity(unchecked) private var wire: HCIWire
  @exclusivity(unchecked) private var tenant: Tenant?
  private var tenants = 0
  /// How many of its host's packets the controller holds, as was last told.
  @exclusivity(unchecked) private var heldPackets = 0
  private var drift: Int64?
  /// What the radio is told when a host has left.
  @exclusivity(unchecked) private var mustStop = false
  /// When something has last happened.
  @exclusivity(unchecked) private var latest = Instant.zero

  init(
    _ configuration: ControllerConfiguration, wire: consuming HCIWire, generator: SplitGenerator, pool: PacketPool,
    outlet: any HCIOutlet
  ) {
    self.configuration = configuration
    self.wire = wire
    self.generator = generator
    self.pool = pool
    self.outlet = outlet
  }

  var isVacant: Bool { tenant == nil }

  /// The public address of its controllers.
  var address: DeviceAddress { configuration.address }
  var identityAddress: DeviceAddress? { address }

  // MARK: Hosts

  /// A host has come. It gets a controller as it is after power on.
  func join(_ link: H4Handler) {
    tenants += 1
    var controller = Controller(
      configuration: configuration, random: generator.split("tenant \(tenants)"), pool: pool)
    if let drift { controller.setSleepClockDrift(partsPerBillion: drift) }
    controller.setSessionObserver(wire.capture?.sessionObserver)
    tenant = Tenant(controller, link: link)
  }

  /// The host has left, and the controller with it: its peers hear nothing of it any more.
  func leave() {
    guard tenant != nil else { return }
    noteHeld(0, at: latest)
    wire.reset()
    tenant = nil
    mustStop = true
    deadline = nil
  }

  /// A packet of the host's; false: its controller was only asked something, so that nothing else has changed.
  func receive(_ packet: HCI.Packet, at now: Instant) -> Bool {
    guard let tenant else { return false }
    // What is delayed on its way changes the deadline.
    var hasChanged = wire.isDisturbed
    wire.carry(packet, isFromHost: true, at: now) {
      if tenant.controller.receive($0, at: now) { hasChanged = true }
    }
    handOver(tenant, at: now)
    if hasChanged { noteDeadline(tenant) }
    return hasChanged
  }

  /// The host's octets have lost their order · Vol 4, Part A, 4.
  func loseSynchronization(at now: Instant) {
    guard let tenant else { return }
    tenant.controller.fail(at: now)
    exchange(tenant, at: now)
  }

  /// The host may take in more.
  func resume(at now: Instant) {
    if let tenant { exchange(tenant, at: now) }
  }

  /// After something has happened to the controller.
  private func exchange(_ tenant: borrowing Tenant, at now: Instant) {
    handOver(tenant, at: now)
    noteDeadline(tenant)
  }

  /// Gives the host what there is for it.
  private func handOver(_ tenant: borrowing Tenant, at now: Instant) {
    latest = now
    // What a host does not take stays with its controller, which then takes no more of its peers' data.
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
    // It was the time of one of both, or of both.
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

  func soliloquy(at now: Instant) -> Soliloquy? {
    guard let tenant, var soliloquy = tenant.controller.soliloquy(at: now) else { return nil }
    soliloquy.until = wire.deadline
    return soliloquy
  }

  func skip(until limit: Instant) -> SkippedPackets? {
    guard let tenant, let skipped = tenant.controller.skip(until: limit) else { return nil }
    tenant.uses.skip(skipped)
    latest = skipped.end
    noteDeadline(tenant)
    return skipped
  }

  // MARK: WorldDevice

  /// Its host alone says what it does.
  func setPower(_ on: Bool, at now: Instant) {}
  /// Bonds are its host's.
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

  func uses(at now: Instant) -> RadioUses {
    guard var uses = tenant?.uses else { return RadioUses() }
    uses.count(until: now)
    return uses
  }

  var links: [LinkReport] { tenant?.controller.links ?? [] }
}

/// Where what controllers have to say to their hosts goes. Confined to the world's executor.
protocol HCIOutlet: AnyObject {
  /// The link had no packets, and now has some that are to be written when the world pauses.
  func hasPending(_ link: H4Handler)
  /// How many packets may wait for a host that takes none.
  var waitingLimit: Int { get }
  /// The link's host takes nothing of what waits for it, and more and more does.
  func isDeaf(_ link: H4Handler)
  /// A controller holds more or fewer packets of its host's.
  func heldPacketsChanged(from before: Int, to after: Int, at now: Instant)
}
