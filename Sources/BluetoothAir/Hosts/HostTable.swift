import BluetoothDaemon
import BluetoothLab
import BluetoothRadio
import BluetoothTransport
import BluetoothWire
import DequeModule
import HeapModule
import NIOCore

/// The external hosts of an air, and the devices of its world whose controllers they use. Confined to the air's event
/// loop.
final class HostTable: RunnerDelegate, HCISink, @unchecked Sendable {
  // Unchecked: the variables are accessed on the loop only.
  private let options: AirOptions
  private let world: World
  /// The world's runner, cached because every packet needs it.
  let runner: RealTimeRunner
  private let loop: any EventLoop
  private let descriptors = DescriptorReserve()
  private let logger = PrintableLogger("CoreBluetooth.air")
  /// The lines about hosts that come and go.
  private var logAllowance = LogAllowance<String>()

  /// A device whose controller serves an external host, and its current host. Slots are never removed.
  private struct Slot {
    let device: RadioDevice
    var client: HCIClient?
  }

  // Unchecked: no access to these properties overlaps a call to other objects.
  @exclusivity(unchecked) private var slots: [Slot] = []
  /// The indices of slots without a host. A new host gets the lowest one.
  private var freeSlots = Heap<Int>()
  /// True from the first rejected host until a host leaves, so that the log has one line for all rejections.
  private var isRefusing = false
  private var hostCount = 0 {
    didSet { hostObserver?(hostCount) }
  }
  private var hostObserver: (@Sendable (Int) -> Void)?
  /// The hosts in the order in which they have joined, except some of those that have sent something or have left.
  private var silentClients: Deque<HCIClient> = []
  /// The links with packets to write.
  @exclusivity(unchecked) private var pending: Deque<H4Handler> = []
  @exclusivity(unchecked) private var isFlushing = false
  /// The links with too many unread packets. They are closed when the world pauses.
  @exclusivity(unchecked) private var unresponsiveLinks: [H4Handler] = []
  /// The number of ACL packets from hosts that the controllers have not delivered yet.
  @exclusivity(unchecked) private var held = 0
  /// The last time at which a controller accepted a packet from its host, or a peer acknowledged one.
  @exclusivity(unchecked) private var latestMove = Instant.zero
  /// The time without progress after which held packets are assumed to wait for something outside the air, such as a
  /// host that does not read. It is longer than the longest connection interval, 4 s.
  private static let longestWait = TimeSpan.seconds(5)
  /// True if a packet from or to a host has passed since `timerTolerance` was last called.
  @exclusivity(unchecked) private var hasTraffic = false
  /// The time of the last call of `timerTolerance` that found `hasTraffic` true.
  @exclusivity(unchecked) private var latestTraffic = Instant.zero
  /// After `quietTime` without packets from or to hosts, events may be up to `lateness` nanoseconds of the wall clock
  /// late. Otherwise, many controllers that only advertise would wake the machine for each packet on the air.
  private static let (quietTime, lateness) = (TimeSpan.milliseconds(100), 5_000_000)
  /// False if radio time passes faster than the wall clock, because `lateness` would then be a long radio time. With
  /// `Speed.maximum`, radio time passes with the wall clock while no controller holds data.
  private var mayBeLate: Bool {
    guard !runner.hasOwnTime else { return false }
    return switch options.speed {
    case .times(let speed): speed <= 1
    case .maximum: true
    }
  }
  /// The closures that close the listening sockets.
  private var closers: [@Sendable () -> Void] = []
  private var isStopped = false
  /// The devices and clients of the world file.
  private var population: WorldPopulation?
  /// The entries of the devices that have been added since the start.
  var addedDevices: [LocatedValue] = []
  /// The names in use, which a new device can't have.
  private var takenNames: Set<String>

  init(_ options: AirOptions, world: World, loop: any EventLoop) {
    self.options = options
    // `AirServer` makes the world, and always in real time.
    guard let runner = world.realTimeRunner else { fatalError("the world of an air must run in real time") }
    self.world = world
    self.runner = runner
    self.loop = loop
    population = options.file?.populate(world)
    takenNames = Set(world.deviceNames)
    loop.execute { [self] in runner.setDelegate(self) }
  }

  /// A reference to the pool of packets. Unchecked: used on the loop only.
  struct Pool: @unchecked Sendable {
    let value: PacketPool
  }

  /// The pool of the world.
  var pool: Pool {
    var pool: PacketPool?
    runner.enter { pool = $0.pool }
    // `enter` has called its closure, so `pool` is set.
    return Pool(value: pool ?? PacketPool())
  }

  // MARK: Hosts

  /// Assigns the lowest free slot to the host at the other end of `link`, and returns its index; nil if there is none.
  func join(_ client: HCIClient, _ link: H4Handler) -> Int? {
    loop.preconditionInEventLoop()
    guard !isStopped else { return nil }
    if descriptors.areShort, !displaceSilentHost() { return refuse("no file descriptor left for another host") }
    var free = freeSlot()
    if free == nil, displaceSilentHost() { free = freeSlot() }
    guard let index = free else { return refuse("the maximum number of hosts has joined") }
    slots[index].client = client
    silentClients.append(client)
    // Those that can't be displaced are removed before they outnumber the hosts.
    if silentClients.count > 2 * hostCount + 64 { silentClients.removeAll { !$0.canBeDisplaced } }
    hostCount += 1
    with(index) { device, _ in
      device.join(link)
      return true
    }
    logger.debug("host joined", fields: ["device": slots[index].device.name])
    return index
  }

  /// Disconnects the host that has been silent for the longest time since it joined, so that connections without a host
  /// keep no host away.
  ///
  /// - Returns: false if all hosts have sent something.
  private func displaceSilentHost() -> Bool {
    while let client = silentClients.popFirst() {
      if client.canBeDisplaced {
        client.displace()
        return true
      }
    }
    return false
  }

  private func refuse(_ reason: String) -> Int? {
    if !isRefusing { logLimited { logger.warning("\(reason); new hosts are rejected until a host leaves") } }
    isRefusing = true
    return nil
  }

  private func freeSlot() -> Int? {
    if let index = freeSlots.popMin() { return index }
    guard slots.count < options.hostLimit else { return nil }
    let number = slots.count
    let clients = options.file?.clients ?? []
    let name = clients.indices.contains(number) ? clients[number].name : freeName(number + 1)
    takenNames.insert(name)
    let device = world.addExternalHostDevice(
      named: name,
      clients.indices.contains(number) ? clients[number].options : DeviceOptions(),
      aclBuffers: min(max(options.aclBuffers, 1), 0xFFFF), outlet: self)
    slots.append(Slot(device: device))
    if clients.indices.contains(number) { population?.place(number, for: device) }
    // The device exists only after the world has processed the request to add it.
    runner.enter { $0.settle() }
    return number
  }

  /// The world file of the air; nil: none.
  var file: WorldFile? { options.file }

  /// Reserves the name of a new device that is no host's. Returns false if it is in use, or if a client of the world
  /// file will use it.
  func reserve(_ name: String) -> Bool {
    loop.preconditionInEventLoop()
    let isClient = options.file?.clients.contains { $0.name == name } ?? false
    return !isClient && takenNames.insert(name).inserted
  }

  private func freeName(_ number: Int) -> String {
    (number...).lazy.map { "hci-\($0)" }.first { !takenNames.contains($0) } ?? "hci"
  }

  /// Removes the host of this slot.
  ///
  /// - Parameter reason: the reason, if the host has not just closed its connection.
  func leave(_ slot: Int, _ reason: String?) {
    loop.preconditionInEventLoop()
    with(slot) { device, _ in
      device.leave()
      return true
    }
    slots[slot].client = nil
    freeSlots.insert(slot)
    hostCount -= 1
    isRefusing = false
    runner.pump(runsAhead: false)
    let device = slots[slot].device.name
    if let reason {
      logLimited { logger.info("host left: \(reason)", fields: ["device": device]) }
    } else {
      logger.debug("host left", fields: ["device": device])
    }
  }

  /// Logs a line that hosts can cause again and again, unless there have been too many. The number of those that are
  /// missing comes with the next line.
  private func logLimited(_ log: () -> Void) {
    let now = Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
    for omission in logAllowance.takeOmissions(at: now) {
      logger.warning(
        "\(omission.count) lines about hosts are missing here, because there were too many within a minute")
    }
    if logAllowance.admits("hosts", at: now) { log() }
  }

  /// Calls `body` with the device of a slot. `body` returns true if the device's radio command or deadline may have
  /// changed.
  func with(_ slot: Int, _ body: (ExternalHostDevice, Instant) -> Bool) {
    loop.assertInEventLoop()
    hasTraffic = true
    runner.with(slots[slot].device.radio) { device, now in
      guard let device = device as? ExternalHostDevice else { return false }
      return body(device, now)
    }
  }

  var controllerSlots: [ControllerSlot] {
    loop.preconditionInEventLoop()
    // Inspecting a culled device resumes it (see `CulledTransmitters`), so the timer may have to change.
    defer { if runner.pendingWork != .scheduled { runner.pump(runsAhead: false) } }
    return slots.map { slot in
      var address = DeviceAddress(0, .public)
      runner.enter { engine in
        if let device = engine.device(slot.device.radio) as? ExternalHostDevice { address = device.address }
      }
      return ControllerSlot(name: slot.device.name, address: address, isTaken: slot.client != nil)
    }
  }

  /// Calls `observer` now and after each arrival or departure of a host, with the number of hosts.
  func observeHosts(_ observer: (@Sendable (Int) -> Void)?) {
    loop.preconditionInEventLoop()
    hostObserver = observer
    observer?(hostCount)
  }

  // MARK: Listeners

  /// Registers `close`, which closes a listening socket.
  func add(_ close: @escaping @Sendable () -> Void) { loop.execute { [self] in closers.append(close) } }

  func stop() {
    try? loop.submit { [self] in
      isStopped = true
      for close in closers { close() }
      closers.removeAll()
      for slot in slots { slot.client?.link?.close() }
      runner.setDelegate(nil)
    }.wait()
  }

  // MARK: HCISink

  func packetsQueued(on link: H4Handler) {
    hasTraffic = true
    pending.append(link)
  }

  var waitingLimit: Int { options.waitingLimit }

  func hostStoppedReading(_ link: H4Handler) {
    if !unresponsiveLinks.contains(where: { $0 === link }) { unresponsiveLinks.append(link) }
  }

  func heldPacketsChanged(from before: Int, to after: Int, at now: Instant) {
    held += after - before
    latestMove = now
  }

  // MARK: RunnerDelegate

  func mayRunAhead(at now: Instant) -> Bool {
    options.speed == .maximum && held > 0 && now - latestMove < Self.longestWait
  }

  func timerTolerance(at now: Instant) -> Int {
    if hasTraffic { latestTraffic = now }
    hasTraffic = false
    return mayBeLate && held == 0 && now - latestTraffic > Self.quietTime ? Self.lateness : 0
  }

  /// Called after all octets received so far from a host have been processed.
  func receivedAll() {
    loop.assertInEventLoop()
    let pendingWork = runner.pendingWork
    // Flush now unless an event is due, so that the host gets its answer as early as possible.
    if pendingWork != .due { flush() }
    // In the usual case, the host has only queried its controller, so the timer need not change.
    if pendingWork == .scheduled, unresponsiveLinks.isEmpty, held == 0 { return }
    // The world must not run ahead before the other sockets have been read.
    runner.pump(runsAhead: false)
  }

  func worldPaused() {
    flush()
    while let link = unresponsiveLinks.popLast() {
      let name = slots.first { $0.client?.link === link }?.device.name ?? "a host"
      logLimited {
        logger.warning("\(name): closed; the host stopped reading (more than \(waitingLimit) events pending)")
      }
      link.close()
    }
  }

  private func flush() {
    // Writing may call this function again, for example when a link is closed. The running loop then flushes the added
    // links, so that closing many links does not recurse.
    guard !isFlushing else { return }
    isFlushing = true
    defer { isFlushing = false }
    // One write per link for all its pending packets.
    while let link = pending.popFirst() { link.flush() }
  }
}

/// An external host. Confined to the air's event loop.
final class HCIClient: H4Receiver {
  private let table: HostTable
  /// The index of the host's slot; nil if the host was rejected or has left.
  @exclusivity(unchecked) private var slot: Int?
  /// The link to the host; nil after it is closed. The link and this object retain each other until then.
  private(set) var link: H4Handler?
  /// True if the host has sent nothing.
  @exclusivity(unchecked) private var isSilent = true

  init(table: HostTable) { self.table = table }

  /// True if the host may be disconnected for another one.
  var canBeDisplaced: Bool { isSilent && slot != nil }

  /// Disconnects the host, for another one.
  func displace() {
    guard let slot else { return }
    self.slot = nil
    table.leave(slot, "it has sent nothing, and another host has joined")
    link?.close()
  }

  func opened(_ link: H4Handler) {
    self.link = link
    slot = table.join(self, link)
    if slot == nil { link.close() }
  }

  func receive(_ packet: HCI.Packet, on link: H4Handler) {
    isSilent = false
    if let slot { table.with(slot) { device, now in device.receive(packet, at: now) } }
  }

  func synchronizationLost(on link: H4Handler) {
    isSilent = false
    if let slot {
      table.with(slot) { device, now in
        device.loseSynchronization(at: now)
        return true
      }
    }
  }

  func receivedAll(on link: H4Handler) { table.receivedAll() }

  func writabilityChanged(on link: H4Handler) {
    // A host that does not read its events must not send more commands.
    link.setReading(link.isWritable)
    guard link.isWritable, let slot else { return }
    table.with(slot) { device, now in
      device.resume(at: now)
      return true
    }
    table.receivedAll()
  }

  func closed(_ ending: H4Ending, on link: H4Handler) {
    if let slot { table.leave(slot, ending.reason != nil || ending.cut > 0 ? "\(ending)" : nil) }
    slot = nil
    self.link = nil
  }
}
