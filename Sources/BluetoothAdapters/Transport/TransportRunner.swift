// Design: a controller on a transport
//
// `TransportAdapter` (floor 6) runs on a separate event loop. `TransportRunner` feeds the daemon and its host: it
// passes on received packets, delivers events to apps, and sends all outgoing packets in one write. A request wakes the
// loop once for all that arrive before they are processed. There is one timer at a time. A timer that fires too early
// is left as it is, since deadlines move with each packet, and almost always to a later time. The transport itself
// belongs to `BluetoothTransport`: `Transport.connect` at the host's end, `H4Listener` at the controller's end.
//
// The host knows whether the transport is available (`Host.setTransport`). If the transport is lost, everything that
// apps had is gone, as after a failure of the controller, and they see `resetting`; if a person must fix the cause
// first, they see `unsupported`. The adapter tries to connect again without limit, after 0.1 s, then after twice as
// long each time up to 10 s. A new transport connection starts with a Reset. Octets that form no packet make the host
// reset its controller; `H4Decoder` finds packets again at the answer to that Reset.

import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothWire
import NIOCore

/// Runs a host and its daemon on an event loop, with their controller at the other end of an H4 link. Reconnects when
/// the H4 link is lost, and when no reset of the controller has helped. Confined to the event loop.
final class TransportRunner: @unchecked Sendable {
  /// The state of the connection to the controller.
  private enum ConnectionState {
    case connecting(H4Handler)
    case open(H4Handler)
    /// The pause before the next attempt.
    case pausing(Scheduled<Void>)
    case ended
  }

  /// The reason why the adapter can't be used.
  private enum Outage: Hashable {
    /// The transport is lost, or an attempt to connect has failed.
    case lost
    /// The transport can't come up without action by the user.
    case refused
    /// The transport is up, but the controller does not answer or can't be initialized.
    case failed
  }

  private let name: String
  private let writing: H4Handler.Writing
  private let loop: any EventLoop
  private let connector: TransportAdapter.Connector
  private let sessions: LocalSessions
  private let directory: PeerDirectory
  private let pool = PacketPool()
  /// The event loop's time at the start of the runner: the zero of the adapter's time.
  private let origin = NIODeadline.now()

  // Unchecked: accessed on the loop only, and the daemon never calls back into the runner.
  @exclusivity(unchecked) private var daemon: Daemon
  private var connection = ConnectionState.ended
  private var backOff = ReconnectBackoff()
  /// The reasons of the current outage, each of which the log has once; empty while there is no outage.
  private var outage: Set<Outage> = []
  /// The arrival time of the packets that are being handled. All packets of one read have the same arrival time; nil
  /// between reads.
  private var arrival: Instant?
  /// The timer for the daemon's deadline. It may fire before the deadline.
  private var timer: (time: Instant, task: Scheduled<Void>)?
  /// The observer of the packets to and from the controller; nil: none.
  var observer: (any HCIObserver)?
  /// The timer that checks for bonds changed by other programs.
  private var bondWatch: RepeatedTask?
  private static let bondWatchInterval = TimeAmount.seconds(1)

  private(set) var isPumping = false
  /// True if a client has posted a request since the current round of the pump began.
  private var isWoken = false

  /// The maximum number of rounds in one call of `pump`, so that clients that post requests in each callback do not
  /// block other tasks of the loop.
  private static let maximumRounds = 64

  init(
    _ configuration: DaemonConfiguration, writing: H4Handler.Writing, on loop: any EventLoop,
    sessions: LocalSessions, directory: PeerDirectory, connector: @escaping TransportAdapter.Connector
  ) {
    var configuration = configuration
    configuration.host.canReopenTransport = true
    configuration.host.checksSilentController = true
    name = configuration.name
    self.sessions = sessions
    self.directory = directory
    self.writing = writing
    self.loop = loop
    self.connector = connector
    // The seed is random, because runs with a real controller need not be reproducible.
    let generator = RandomStream(seed: UInt64.random(in: .min ... .max))
    daemon = configuration.makeDaemon(generator: generator, pool: pool, sessions: sessions, directory: directory)
    daemon.timeOfZero = Int64(WallClock.secondsSince2001)
  }

  func begin() {
    loop.preconditionInEventLoop()
    daemon.setTransport(.connecting, at: now)
    daemon.setPower(daemon.startsOn, at: now)
    if daemon.hasSharedBonds {
      let interval = Self.bondWatchInterval
      bondWatch = loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in self.checkStoredBonds() }
    }
    connect()
    pump()
  }

  /// Closes the connection and cancels all timers. Called when the adapter is deallocated, so nothing is reported.
  func end() {
    loop.preconditionInEventLoop()
    let former = connection
    connection = .ended
    timer?.task.cancel()
    timer = nil
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

  // MARK: Pump

  /// Records that a client has posted a request while the pump runs.
  func wakeWhilePumping() {
    loop.assertInEventLoop()
    isWoken = true
  }

  /// Handles apps' requests, delivers events to apps, sends all packets in one write, and sets the timer.
  func pump() {
    loop.assertInEventLoop()
    guard !isPumping else { return wakeWhilePumping() }
    if case .ended = connection { return }
    isPumping = true
    var rounds = 0
    repeat {
      isWoken = false
      rounds += 1
      daemon.handleRequests(at: now)
      deliver()
      writeLog()
      sendPackets()
    } while isWoken && rounds < Self.maximumRounds
    isPumping = false
    if isWoken { loop.execute { self.pump() } }
    if case .open(let link) = connection {
      guard !daemon.needsNewTransport else { return reopen(link) }
      link.flush()
    }
    setTimer()
  }

  private func deliver() {
    while let event = daemon.takeEvent() { sessions.deliver(event) }
  }

  private func writeLog() {
    if !outage.isEmpty, daemon.state == .poweredOn {
      outage = []
      backOff.reset()
      DaemonLog.tell("connected again", of: name)
    }
    while let alert = daemon.takeAlert() {
      DaemonLog.note("alert for \(alert.app): \(alert.text)", of: name)
      directory.append(alert)
    }
    while let trouble = daemon.takeTrouble() {
      // After the first line about a controller that does not work, further attempts have the same troubles.
      if !outage.contains(.failed) { DaemonLog.note(trouble, of: name) }
    }
    for note in daemon.takeNotes() { DaemonLog.note(note, of: name) }
  }

  private func sendPackets() {
    while let packet = daemon.takePacket() {
      guard case .open(let link) = connection else { continue }
      observer?.packet(packet, isFromHost: true)
      link.send(packet)
    }
  }

  // MARK: Time

  /// Schedules a timer on the loop for the daemon's deadline. A timer that fires before the deadline is not
  /// rescheduled, because deadlines move with each packet, almost always to a later time.
  private func setTimer() {
    if case .ended = connection { return }
    guard let deadline = daemon.deadline else { return }
    if let timer {
      if timer.time <= deadline { return }
      timer.task.cancel()
    }
    let time = origin + .nanoseconds(deadline.nanoseconds)
    timer = (deadline, loop.scheduleTask(deadline: time) { self.timerFired() })
  }

  private func timerFired() {
    timer = nil
    let time = now
    if let deadline = daemon.deadline, deadline <= time { daemon.timeReached(time) }
    pump()
  }

  private func checkStoredBonds() {
    daemon.takeStoreChanges(at: now)
    pump()
  }

  // MARK: Transport to the controller

  private func connect() {
    let link = H4Handler(for: .host, pool: pool, writing: writing, receiver: self)
    connection = .connecting(link)
    connector(link, loop).whenFailure { error in
      self.failed(error as? TransportError ?? TransportError("\(error)", isLasting: false))
    }
  }

  private func failed(_ error: TransportError) {
    if case .connecting = connection { lost(error.isLasting ? .refused : .lost, "\(error)") }
  }

  /// Opens the transport again, because no reset of the controller has helped: a new connection may reach a controller
  /// that works.
  private func reopen(_ link: H4Handler) {
    lost(.failed, "the controller does not work, so the connection to it is closed and opened again")
    // The link is no longer that of the connection, so its end is not reported as another loss.
    link.close()
  }

  /// Handles the loss of the transport, or a failed attempt to connect.
  ///
  /// - Parameter line: the log line. It is omitted if the log has a line about the same reason of this outage.
  private func lost(_ reason: Outage, _ line: String) {
    if outage.insert(reason).inserted { DaemonLog.note(line + "; retrying", of: name) }
    let pause = backOff.next()
    connection = .pausing(loop.scheduleTask(in: .nanoseconds(pause.nanoseconds)) { self.connect() })
    daemon.setTransport(reason == .refused ? .refused : .lost, at: now)
    pump()
  }
}

extension TransportRunner: H4Receiver {
  func opened(_ link: H4Handler) {
    loop.preconditionInEventLoop()
    guard case .connecting(let expected) = connection, expected === link else { return link.close() }
    connection = .open(link)
    daemon.setTransport(.ready, at: now)
    pump()
  }

  func receive(_ packet: HCI.Packet, on link: H4Handler) {
    loop.assertInEventLoop()
    let time = arrival ?? now
    arrival = time
    observer?.packet(packet, isFromHost: false)
    daemon.receive(packet, at: time)
  }

  func synchronizationLost(on link: H4Handler) { daemon.synchronizationLost(at: arrival ?? now) }

  func receivedAll(on link: H4Handler) {
    arrival = nil
    pump()
  }

  func closed(_ ending: H4Ending, on link: H4Handler) {
    loop.preconditionInEventLoop()
    guard case .open(let open) = connection, open === link else { return }
    arrival = nil
    lost(.lost, "lost the connection to the controller (\(ending))")
  }
}
