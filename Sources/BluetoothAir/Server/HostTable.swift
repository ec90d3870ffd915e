import BluetoothLab
import BluetoothRadio
import BluetoothTransport
import BluetoothWire
import DequeModule
import HeapModule
import Logging
import NIOCore

/// The hosts of an air, and the places in its world where they are. Confined to the air's event loop.
final class HostTable: WorldGuest, HCIOutlet, @unchecked Sendable {
  // What is not constant is touched on the loop only.
  private let options: AirServer.Options
  private let world: World
  /// Kept beside the world, which would have to be asked for it with every packet.
  let runner: RealTimeRunner
  private let loop: any EventLoop
  private let descriptors = DescriptorReserve()
  private let logger = Logger(label: "CoreBluetooth.air")

  private struct Seat {
    let device: RadioDevice
    var client: HCIClient?
  }

  // No access to these lasts while somebody else is called.
  @exclusivity(unchecked) private var seats: [Seat] = []
  /// The seats without a host. Hosts get the first one.
  private var freeSeats = Heap<Int>()
  /// True after a host was turned away, until one leaves: the log has one line for all of them.
  private var isRefusing = false
  private var hostCount = 0 {
    didSet { hostObserver?(hostCount) }
  }
  private var hostObserver: (@Sendable (Int) -> Void)?
  /// Links with packets that are to be written.
  @exclusivity(unchecked) private var pending: Deque<H4Handler> = []
  @exclusivity(unchecked) private var isFlushing = false
  /// Links whose hosts take nothing: they end when the world pauses.
  @exclusivity(unchecked) private var deaf: [H4Handler] = []
  /// How many packets controllers hold for their hosts, all in all.
  @exclusivity(unchecked) private var held = 0
  /// When one was last taken from a host, or acknowledged by a peer.
  @exclusivity(unchecked) private var latestMove = Instant.zero
  /// Data that has not moved for so long waits for somebody outside the air: longer than the longest connection interval.
  private static let longestWait = TimeSpan.seconds(5)
  /// Whether a packet has come or gone since the world paused, and when one was last seen to have.
  @exclusivity(unchecked) private var hasTraffic = false
  @exclusivity(unchecked) private var latestTraffic = Instant.zero
  /// After so long without a packet the next one may be late by so many nanoseconds of the wall clock. Many controllers that
  /// advertise to nobody would else wake the machine for each packet.
  private static let (silence, lateness) = (TimeSpan.milliseconds(100), 5_000_000)
  /// Where time passes faster, that would be long for the radios.
  private var mayBeLate: Bool {
    switch options.speed {
    case .times(let speed): speed <= 1
    case .maximum: true
    }
  }
  /// What ends listening.
  private var closers: [@Sendable () -> Void] = []
  private var isStopped = false
  /// What the world's file has brought about.
  private var population: WorldPopulation?
  /// The names that a new place can't have.
  private var takenNames: Set<String>

  init(_ options: AirServer.Options, world: World, loop: any EventLoop) {
    self.options = options
    // `AirServer` makes the world, and always in real time.
    guard let runner = world.realTimeRunner else { fatalError("an air runs in real time") }
    self.world = world
    self.runner = runner
    self.loop = loop
    population = options.file?.populate(world)
    takenNames = Set(world.deviceNames)
    loop.execute { [self] in runner.setGuest(self) }
  }

  /// Where the octets of packets are: on the loop only.
  struct Pool: @unchecked Sendable {
    let value: PacketPool
  }

  /// The pool of the world.
  var pool: Pool {
    var pool: PacketPool?
    runner.enter { pool = $0.pool }
    // `enter` has called.
    return Pool(value: pool ?? PacketPool())
  }

  // MARK: Hosts

  /// The other end of `link` is a host: it gets the first place that is free; nil: there is none.
  func join(_ client: HCIClient, _ link: H4Handler) -> Int? {
    guard !isStopped else { return nil }
    guard !descriptors.areShort else { return refuse("there is no descriptor for another host") }
    guard let index = freeSeat() else { return refuse("there is no room for another host") }
    seats[index].client = client
    hostCount += 1
    with(index) { device, _ in
      device.join(link)
      return true
    }
    logger.debug("a host has come", metadata: ["device": "\(seats[index].device.name.printable)"])
    return index
  }

  private func refuse(_ reason: String) -> Int? {
    if !isRefusing { logger.warning("\(reason): hosts are turned away until one leaves") }
    isRefusing = true
    return nil
  }

  private func freeSeat() -> Int? {
    if let index = freeSeats.popMin() { return index }
    guard seats.count < options.hostLimit else { return nil }
    let number = seats.count
    let clients = options.file?.clients ?? []
    let name = clients.indices.contains(number) ? clients[number].name : freeName(number + 1)
    takenNames.insert(name)
    let device = world.addPlace(
      named: name,
      clients.indices.contains(number) ? clients[number].options : DeviceOptions(),
      aclBuffers: min(max(options.aclBuffers, 1), 0xFFFF), outlet: self)
    seats.append(Seat(device: device))
    if clients.indices.contains(number) { population?.place(number, for: device) }
    // It is not there before the world has taken in its mail.
    runner.enter { $0.settle() }
    return number
  }

  private func freeName(_ number: Int) -> String {
    (number...).lazy.map { "hci-\($0)" }.first { !takenNames.contains($0) } ?? "hci"
  }

  /// The host of this seat has gone.
  func leave(_ seat: Int, _ ending: H4Ending) {
    with(seat) { device, _ in
      device.leave()
      return true
    }
    seats[seat].client = nil
    freeSeats.insert(seat)
    hostCount -= 1
    isRefusing = false
    runner.pump(runsAhead: false)
    if ending.reason != nil || ending.cut > 0 {
      logger.info("a host has gone: \(ending)", metadata: ["device": "\(seats[seat].device.name.printable)"])
    } else {
      logger.debug("a host has gone", metadata: ["device": "\(seats[seat].device.name.printable)"])
    }
  }

  /// Has something done to the device of a seat; what follows from it, if `body` returns true, comes with the next pause.
  func with(_ seat: Int, _ body: (HCIParticipant, Instant) -> Bool) {
    hasTraffic = true
    runner.with(seats[seat].device.radio) { participant, now in
      guard let device = participant as? HCIParticipant else { return false }
      return body(device, now)
    }
  }

  var places: [AirServer.Place] {
    // To look at devices that nobody could notice has them run from now on.
    defer { if runner.outlook != .awaited { runner.pump(runsAhead: false) } }
    return seats.map { seat in
      var address = DeviceAddress(0, .public)
      runner.enter { engine in
        if let device = engine.participant(seat.device.radio) as? HCIParticipant { address = device.address }
      }
      return AirServer.Place(name: seat.device.name, address: address, isTaken: seat.client != nil)
    }
  }

  /// Calls `observer` now, and whenever a host has come or gone, with the number of hosts.
  func observeHosts(_ observer: (@Sendable (Int) -> Void)?) {
    hostObserver = observer
    observer?(hostCount)
  }

  // MARK: Listeners

  /// `close` ends what others can connect to.
  func add(_ close: @escaping @Sendable () -> Void) { loop.execute { [self] in closers.append(close) } }

  func stop() {
    try? loop.submit { [self] in
      isStopped = true
      for close in closers { close() }
      closers.removeAll()
      for seat in seats { seat.client?.link?.close() }
      runner.setGuest(nil)
    }.wait()
  }

  // MARK: HCIOutlet

  func hasPending(_ link: H4Handler) {
    hasTraffic = true
    pending.append(link)
  }

  var waitingLimit: Int { options.waitingLimit }

  func isDeaf(_ link: H4Handler) {
    if !deaf.contains(where: { $0 === link }) { deaf.append(link) }
  }

  func heldPacketsChanged(from before: Int, to after: Int, at now: Instant) {
    held += after - before
    latestMove = now
  }

  // MARK: WorldGuest

  func isHurried(at now: Instant) -> Bool {
    options.speed == .maximum && held > 0 && now - latestMove < Self.longestWait
  }

  func patience(at now: Instant) -> Int {
    if hasTraffic { latestTraffic = now }
    hasTraffic = false
    return mayBeLate && held == 0 && now - latestTraffic > Self.silence ? Self.lateness : 0
  }

  /// Everything that had arrived from a host has been taken in.
  func receivedAll() {
    let outlook = runner.outlook
    // Unless there is more to come at once: the sooner a host has its answer, the sooner it goes on.
    if outlook != .due { flush() }
    // Mostly a host has only asked its controller something.
    if outlook == .awaited, deaf.isEmpty, held == 0 { return }
    // Other sockets may have something, too: before it is taken in the air does not run ahead.
    runner.pump(runsAhead: false)
  }

  func worldPaused() {
    flush()
    while let link = deaf.popLast() {
      logger.warning("a host takes nothing of what it is told: its connection is closed")
      link.close()
    }
  }

  private func flush() {
    // Writing may call back, also to say that a link is gone: what it brings is for the loop that goes on already, so that
    // many lost links don't end inside of each other.
    guard !isFlushing else { return }
    isFlushing = true
    defer { isFlushing = false }
    // One write for all packets that are ready.
    while let link = pending.popFirst() { link.flush() }
  }
}

/// One host. Confined to the air's event loop.
final class HCIClient: H4Receiver {
  private let table: HostTable
  /// Where it is; nil: nowhere.
  @exclusivity(unchecked) private var seat: Int?
  /// Nil when it is gone: both keep each other until then.
  private(set) var link: H4Handler?

  init(table: HostTable) { self.table = table }

  func opened(_ link: H4Handler) {
    self.link = link
    seat = table.join(self, link)
    if seat == nil { link.close() }
  }

  func receive(_ packet: HCI.Packet, on link: H4Handler) {
    if let seat { table.with(seat) { device, now in device.receive(packet, at: now) } }
  }

  func synchronizationLost(on link: H4Handler) {
    if let seat {
      table.with(seat) { device, now in
        device.loseSynchronization(at: now)
        return true
      }
    }
  }

  func receivedAll(on link: H4Handler) { table.receivedAll() }

  func writabilityChanged(on link: H4Handler) {
    // Who does not take the answers is not asked for more commands.
    link.setReading(link.isWritable)
    guard link.isWritable, let seat else { return }
    table.with(seat) { device, now in
      device.resume(at: now)
      return true
    }
    table.receivedAll()
  }

  func closed(_ ending: H4Ending, on link: H4Handler) {
    if let seat { table.leave(seat, ending) }
    seat = nil
    self.link = nil
  }
}
