import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothWire
import NIOCore

/// Runs a host and its service on an event loop, with their controller at the other end of an H4 link, which it looks for
/// again whenever it is gone. Confined to that loop.
final class TransportRunner: @unchecked Sendable {
  private enum Way {
    case connecting(H4Handler)
    case open(H4Handler)
    case pausing(Scheduled<Void>)
    case ended
  }

  private let name: String
  private let writing: H4Handler.Writing
  private let loop: any EventLoop
  private let connector: TransportAdapter.Connector
  private let pool = PacketPool()
  /// The event loop's clock when this began, which is where the adapter's time begins.
  private let origin = NIODeadline.now()

  // Confined, and neither host nor service calls out while it works.
  @exclusivity(unchecked) private var daemon: Daemon
  private var way = Way.ended
  private var backOff = BackOff()
  /// What the log was told of the way that is missing; nil: nothing is.
  private var outage: TransportError?
  /// When those packets have come that are just being told; nil: none are.
  private var arrival: Instant?
  private var alarm: (time: Instant, task: Scheduled<Void>)?
  /// Looks for bonds that other programs have changed.
  private var bondWatch: RepeatedTask?
  private static let bondWatchInterval = TimeAmount.seconds(1)

  private(set) var isPumping = false
  private var isWoken = false

  /// So often is looked for what clients on the loop have said meanwhile, before others have their turn.
  private static let maximumRounds = 64

  init(
    _ configuration: DaemonConfiguration, writing: H4Handler.Writing, on loop: any EventLoop, mailbox: Mailbox,
    directory: PeerDirectory, connector: @escaping TransportAdapter.Connector
  ) {
    name = configuration.name
    self.writing = writing
    self.loop = loop
    self.connector = connector
    // Nothing of it has to repeat.
    let generator = SplitGenerator(seed: UInt64.random(in: .min ... .max))
    daemon = configuration.makeDaemon(generator: generator, pool: pool, mailbox: mailbox, directory: directory)
  }

  func begin() {
    daemon.setTransport(.connecting, at: now)
    daemon.setPower(true, at: now)
    if daemon.hasSharedBonds {
      let interval = Self.bondWatchInterval
      bondWatch = loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in self.lookAtBonds() }
    }
    connect()
    pump()
  }

  /// Nobody uses the adapter any more: nothing is told.
  func end() {
    let former = way
    way = .ended
    alarm?.task.cancel()
    alarm = nil
    bondWatch?.cancel()
    bondWatch = nil
    switch former {
    case .connecting(let link), .open(let link): link.close()
    case .pausing(let task): task.cancel()
    case .ended: break
    }
  }

  private var now: Instant {
    Instant(nanoseconds: (NIODeadline.now() - origin).nanoseconds)
  }

  // MARK: Doing what there is to do

  /// The app has said something while it was told something.
  func wakeWhilePumping() { isWoken = true }

  /// Takes in what apps have said, hands over what they are told, and sends what is to be sent in one write.
  func pump() {
    guard !isPumping else { return wakeWhilePumping() }
    if case .ended = way { return }
    isPumping = true
    var rounds = 0
    repeat {
      isWoken = false
      rounds += 1
      daemon.drainMailbox(at: now)
      deliver()
      writeLog()
      sendPackets()
    } while isWoken && rounds < Self.maximumRounds
    isPumping = false
    if isWoken { loop.execute { self.pump() } }
    if case .open(let link) = way { link.flush() }
    setAlarm()
  }

  private func deliver() {
    while let delivery = daemon.takeDelivery() { delivery.handOver() }
  }

  private func writeLog() {
    if outage != nil, daemon.state == .poweredOn {
      outage = nil
      backOff.reset()
      DaemonLog.tell("it is there again", of: name)
    }
    while let trouble = daemon.takeTrouble() { DaemonLog.note(trouble, of: name) }
    for note in daemon.takeNotes() { DaemonLog.note(note, of: name) }
  }

  private func sendPackets() {
    while let packet = daemon.takePacket() {
      if case .open(let link) = way { link.send(packet) }
    }
  }

  // MARK: Time

  /// Has the loop call when the service wants to be told the time. One that calls too early is left as it is: deadlines move
  /// with each packet, and almost always away.
  private func setAlarm() {
    if case .ended = way { return }
    guard let deadline = daemon.deadline else { return }
    if let alarm {
      if alarm.time <= deadline { return }
      alarm.task.cancel()
    }
    let time = origin + .nanoseconds(deadline.nanoseconds)
    alarm = (deadline, loop.scheduleTask(deadline: time) { self.alarmRings() })
  }

  private func alarmRings() {
    alarm = nil
    let time = now
    if let deadline = daemon.deadline, deadline <= time { daemon.timeReached(time) }
    pump()
  }

  private func lookAtBonds() {
    daemon.takeStoreChanges(at: now)
    pump()
  }

  // MARK: The way to the controller

  private func connect() {
    let link = H4Handler(for: .host, pool: pool, writing: writing, receiver: self)
    way = .connecting(link)
    connector(link, loop).whenFailure { error in
      self.failed(error as? TransportError ?? TransportError("\(error)", isLasting: false))
    }
  }

  private func failed(_ error: TransportError) {
    if case .connecting = way { lost(error, "\(error)") }
  }

  /// - Parameter line: what the log says, if it was not told before that there is no way.
  private func lost(_ error: TransportError, _ line: String) {
    if outage?.isLasting != error.isLasting { DaemonLog.note(line + "; it is tried again until it works", of: name) }
    outage = error
    let pause = backOff.next()
    way = .pausing(loop.scheduleTask(in: .nanoseconds(pause.nanoseconds)) { self.connect() })
    daemon.setTransport(error.isLasting ? .refused : .lost, at: now)
    pump()
  }
}

extension TransportRunner: H4Receiver {
  func opened(_ link: H4Handler) {
    guard case .connecting(let expected) = way, expected === link else { return link.close() }
    way = .open(link)
    daemon.setTransport(.ready, at: now)
    pump()
  }

  func receive(_ packet: HCI.Packet, on link: H4Handler) {
    let time = arrival ?? now
    arrival = time
    daemon.receive(packet, at: time)
  }

  func synchronizationLost(on link: H4Handler) { daemon.synchronizationLost(at: arrival ?? now) }

  func receivedAll(on link: H4Handler) {
    arrival = nil
    pump()
  }

  func closed(_ ending: H4Ending, on link: H4Handler) {
    guard case .open(let open) = way, open === link else { return }
    arrival = nil
    lost(TransportError("\(ending)", isLasting: false), "the controller is gone (\(ending))")
  }
}
