import BluetoothWire
import Requirements
import Testing

@testable import BluetoothTransport

/// The two ends of a line in virtual time.
struct ThreeWirePair {
  /// The probabilities, for each octet, that it is lost, duplicated or damaged.
  struct Faults {
    var loss = 0.0
    var duplication = 0.0
    var damage = 0.0
  }

  private struct Burst {
    var arrival: Instant
    var octets: [UInt8]
    var isFromHost: Bool
  }

  /// 10 bits at 115,200 baud.
  static let octetTime = TimeSpan.nanoseconds(86_806)

  var host: ThreeWireLink
  var controller: ThreeWireLink
  private(set) var now = Instant.zero
  private(set) var hostEvents: [ThreeWireLink.Event] = []
  private(set) var controllerEvents: [ThreeWireLink.Event] = []
  /// The octets that the ends have sent.
  private(set) var hostOctets: [UInt8] = []
  private var bursts: [Burst] = []
  /// The time until which each direction of the line is busy.
  private var busy: (fromHost: Instant, fromController: Instant) = (.zero, .zero)
  var faults = Faults()
  private var random: RandomStream

  init(
    _ hostOptions: ThreeWireConfiguration = ThreeWireConfiguration(),
    _ controllerOptions: ThreeWireConfiguration = ThreeWireConfiguration(), seed: UInt64 = 1
  ) {
    host = ThreeWireLink(for: .host, hostOptions, octetTime: Self.octetTime)
    controller = ThreeWireLink(for: .controller, controllerOptions, octetTime: Self.octetTime)
    random = RandomStream(seed: seed)
  }

  mutating func start() {
    host.start(at: now)
    controller.start(at: now)
    collect()
  }

  /// Takes the output of both ends.
  mutating func collect() {
    while let event = host.takeEvent() { hostEvents.append(event) }
    while let event = controller.takeEvent() { controllerEvents.append(event) }
    let fromHost = host.takeOctets()
    hostOctets += fromHost
    put(fromHost, isFromHost: true)
    put(controller.takeOctets(), isFromHost: false)
  }

  private mutating func put(_ octets: [UInt8], isFromHost: Bool) {
    guard !octets.isEmpty else { return }
    let start = max(now, isFromHost ? busy.fromHost : busy.fromController)
    let arrival = start + Int64(octets.count) * Self.octetTime
    if isFromHost { busy.fromHost = arrival } else { busy.fromController = arrival }
    bursts.append(Burst(arrival: arrival, octets: disturbed(octets), isFromHost: isFromHost))
  }

  private mutating func disturbed(_ octets: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for octet in octets {
      func occurs(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &random) < probability
      }
      if occurs(faults.loss) { continue }
      result.append(occurs(faults.damage) ? octet ^ 1 << UInt8.random(in: 0..<8, using: &random) : octet)
      if occurs(faults.duplication) { result.append(octet) }
    }
    return result
  }

  /// Lets time pass until `end`, or until `isMet` returns true. Returns false at `end`.
  @discardableResult
  mutating func run(for span: TimeSpan, until isMet: (Self) -> Bool = { _ in false }) -> Bool {
    let end = now + span
    while !isMet(self) {
      let arrival = bursts.map(\.arrival).min()
      guard let next = earliest(arrival, earliest(host.deadline, controller.deadline)), next <= end else {
        now = end
        return false
      }
      now = max(now, next)
      while let index = bursts.firstIndex(where: { $0.arrival <= now }) {
        let burst = bursts.remove(at: index)
        if burst.isFromHost {
          controller.receive(burst.octets, at: now)
        } else {
          host.receive(burst.octets, at: now)
        }
      }
      if let deadline = host.deadline, deadline <= now { host.timeReached(now) }
      if let deadline = controller.deadline, deadline <= now { controller.timeReached(now) }
      collect()
    }
    return true
  }

  var isActive: Bool { host.state == .active && controller.state == .active }

  /// The host loses its state, as when its program starts again.
  mutating func restartHost() {
    host = ThreeWireLink(for: .host, octetTime: Self.octetTime)
    host.start(at: now)
    collect()
  }
}

extension [ThreeWireLink.Event] {
  /// The payloads of the packets.
  var payloads: [[UInt8]] { compactMap { if case .packet(_, let payload) = $0 { payload } else { nil } } }
}

@Suite("Three-wire UART link")
struct ThreeWireLinkTests {
  @Test("Both ends become active, and agree on the smaller window and on a check that both support")
  func establishment() {
    for (hostOptions, controllerOptions) in [
      (ThreeWireConfiguration(), ThreeWireConfiguration()),
      (ThreeWireConfiguration(windowSize: 3), ThreeWireConfiguration(windowSize: 5, hasIntegrityCheck: false)),
      (ThreeWireConfiguration(windowSize: 7, hasIntegrityCheck: false), ThreeWireConfiguration(windowSize: 2)),
    ] {
      var pair = ThreeWirePair(hostOptions, controllerOptions)
      pair.start()
      #expect(pair.run(for: .seconds(1)) { $0.isActive })
      let agreed = ThreeWireConfiguration(
        windowSize: min(hostOptions.windowSize, controllerOptions.windowSize),
        hasIntegrityCheck: hostOptions.hasIntegrityCheck && controllerOptions.hasIntegrityCheck)
      pair.run(for: .seconds(1))
      #expect(pair.host.agreed == agreed && pair.controller.agreed == agreed)
      #expect(pair.hostEvents == [.established] && pair.controllerEvents == [.established])
    }
  }

  /// A host that has had the messages of a controller.
  private func host(after messages: [[UInt8]]) -> ThreeWireLink {
    var host = ThreeWireLink(for: .host)
    host.start(at: .zero)
    _ = host.takeOctets()
    for message in messages { host.receive(line(ThreeWirePacket(.linkControl, message)), at: .zero) }
    return host
  }

  private func line(_ packet: ThreeWirePacket) -> [UInt8] {
    [0xC0] + packet.octets.flatMap { $0 == 0xC0 ? [0xDB, 0xDC] : $0 == 0xDB ? [0xDB, 0xDD] : [$0] } + [0xC0]
  }

  private func messages(_ octets: [UInt8]) -> [[UInt8]] {
    octets.split(separator: 0xC0).map { frame in
      let octets = frame.split(separator: 0xDB, omittingEmptySubsequences: false).enumerated().flatMap { index, part in
        index == 0 ? Array(part) : [part.first == 0xDC ? 0xC0 : 0xDB] + part.dropFirst()
      }
      return Array(octets.dropFirst(4))
    }
  }

  @Test("SYNC is repeated every 250 ms, then CONFIG; other messages are ignored until their state")
  func repetition() {
    var host = host(after: [])
    #expect(host.deadline == .zero + .milliseconds(250))
    host.timeReached(.zero + .milliseconds(250))
    #expect(messages(host.takeOctets()) == [[0x01, 0x7E]])
    #expect(host.deadline == .zero + .milliseconds(500))
    // CONFIG and CONFIG RESPONSE are for later states.
    host = self.host(after: [[0x03, 0xFC], [0x04, 0x7B, 0x14]])
    #expect(host.state == .uninitialized && host.takeOctets().isEmpty)
    host = self.host(after: [[0x01, 0x7E], [0x02, 0x7D]])
    #expect(host.state == .initialized)
    #expect(messages(host.takeOctets()) == [[0x02, 0x7D], [0x03, 0xFC, 0x17]])
    host.timeReached(.zero + .milliseconds(250))
    #expect(messages(host.takeOctets()) == [[0x03, 0xFC, 0x17]])
  }

  @Test("A controller without a configuration field gets one packet at a time, without a check")
  func minimum() {
    var host = host(after: [[0x02, 0x7D], [0x04, 0x7B]])
    #expect(host.state == .active && host.agreed == .minimum)
    _ = host.takeOctets()
    for number in 0..<3 as Range<UInt8> { host.send(.command, [number, 0x0C, 0x00], at: .zero) }
    #expect(messages(host.takeOctets()) == [[0, 0x0C, 0x00]])
    #expect(host.queuedCount == 2)
    host.receive(line(ThreeWirePacket(.acknowledgment, acknowledgment: 1)), at: .zero)
    #expect(messages(host.takeOctets()) == [[1, 0x0C, 0x00]])
  }

  @Test("A host that repeats CONFIG gets the same response, and the options stay as long as the link is active")
  func repeatedConfiguration() {
    var controller = ThreeWireLink(for: .controller)
    controller.start(at: .zero)
    for message in [[0x02, 0x7D], [0x03, 0xFC, 0x17], [0x04, 0x7B]] as [[UInt8]] {
      controller.receive(line(ThreeWirePacket(.linkControl, message)), at: .zero)
    }
    #expect(controller.state == .active && controller.agreed == ThreeWireConfiguration())
    for number in 0..<7 as Range<UInt8> { controller.send(.event, [number], at: .zero) }
    _ = controller.takeOctets()
    controller.receive(line(ThreeWirePacket(.linkControl, [0x03, 0xFC])), at: .zero)
    #expect(messages(controller.takeOctets()) == [[0x04, 0x7B, 0x17]])
    #expect(controller.agreed == ThreeWireConfiguration() && controller.unacknowledgedCount == 7)
  }

  @Test("Packets that nobody acknowledges are sent again after 250 ms, and a number outside the window is void")
  func retransmission() {
    var host = host(after: [[0x02, 0x7D], [0x04, 0x7B, 0x03]])
    _ = host.takeOctets()
    for number in 0..<4 as Range<UInt8> { host.send(.acl, [number], at: .zero) }
    #expect(messages(host.takeOctets()) == [[0], [1], [2]])
    host.receive(line(ThreeWirePacket(.acknowledgment, acknowledgment: 6)), at: .zero)
    #expect(host.unacknowledgedCount == 3)
    host.receive(line(ThreeWirePacket(.acknowledgment, acknowledgment: 1)), at: .zero)
    #expect(messages(host.takeOctets()) == [[3]])
    host.timeReached(.zero + .milliseconds(249))
    #expect(host.takeOctets().isEmpty)
    host.timeReached(.zero + .milliseconds(250))
    #expect(messages(host.takeOctets()) == [[1], [2], [3]])
    #expect(host.resentCount == 3)
    host.receive(line(ThreeWirePacket(.acknowledgment, acknowledgment: 4)), at: .zero)
    #expect(host.unacknowledgedCount == 0 && host.deadline == nil)
  }

  @Test("A packet that arrives twice is delivered once and acknowledged twice; one out of order is not delivered")
  func order() {
    var host = host(after: [[0x02, 0x7D], [0x04, 0x7B, 0x07]])
    _ = host.takeOctets()
    _ = host.takeEvent()
    let first = line(ThreeWirePacket(.event, [1], sequence: 0))
    host.receive(first, at: .zero)
    #expect(host.takeEvent() == .packet(.event, [1]))
    #expect(host.takeOctets() == line(ThreeWirePacket(.acknowledgment, acknowledgment: 1)))
    host.receive(first, at: .zero)
    host.receive(line(ThreeWirePacket(.event, [3], sequence: 2)), at: .zero)
    #expect(host.takeEvent() == nil)
    #expect(host.takeOctets() == line(ThreeWirePacket(.acknowledgment, acknowledgment: 1)))
    // A packet carries the acknowledgment.
    host.receive(line(ThreeWirePacket(.event, [2], sequence: 1)), at: .zero)
    host.send(.command, [9], at: .zero)
    #expect(host.takeOctets() == line(ThreeWirePacket(.command, [9], sequence: 0, acknowledgment: 2)))
  }

  @Test("An end that sleeps gets WAKEUP every 10 ms until it is woken, and then the packets; a WAKEUP is answered")
  func sleepingEnd() {
    var host = host(after: [[0x02, 0x7D], [0x04, 0x7B, 0x07], [0x07, 0x78]])
    _ = host.takeOctets()
    host.send(.command, [1], at: .zero)
    host.send(.command, [2], at: .zero)
    #expect(messages(host.takeOctets()) == [[0x05, 0xFA]])
    host.timeReached(.zero + .milliseconds(10))
    #expect(messages(host.takeOctets()) == [[0x05, 0xFA]])
    host.receive(line(ThreeWirePacket(.linkControl, [0x06, 0xF9])), at: .zero + .milliseconds(11))
    #expect(messages(host.takeOctets()) == [[1], [2]])
    host.receive(line(ThreeWirePacket(.linkControl, [0x05, 0xFA])), at: .zero + .milliseconds(12))
    #expect(messages(host.takeOctets()) == [[0x06, 0xF9]])
    // Unacknowledged packets are not sent again to an end that has fallen asleep.
    host.receive(line(ThreeWirePacket(.linkControl, [0x07, 0x78])), at: .zero + .milliseconds(13))
    host.timeReached(.zero + .milliseconds(300))
    #expect(messages(host.takeOctets()) == [[0x05, 0xFA]])
    host.receive(line(ThreeWirePacket(.linkControl, [0x06, 0xF9])), at: .zero + .milliseconds(301))
    #expect(messages(host.takeOctets()) == [[1], [2]])
  }

  @Test("An end that has been reset is noticed, its packets are dropped, and the link is established again")
  func reset() {
    var pair = ThreeWirePair()
    pair.start()
    pair.run(for: .seconds(1)) { $0.isActive }
    pair.host.send(.command, [1], at: pair.now)
    pair.collect()
    pair.run(for: .seconds(1))
    pair.restartHost()
    pair.controller.send(.event, [2], at: pair.now)
    #expect(pair.run(for: .seconds(2)) { $0.isActive && $0.controllerEvents.count == 4 })
    #expect(pair.controllerEvents == [.established, .packet(.command, [1]), .peerReset, .established])
    pair.host.send(.command, [3], at: pair.now)
    pair.controller.send(.event, [4], at: pair.now)
    pair.collect()
    pair.run(for: .seconds(1))
    #expect(pair.controllerEvents.payloads == [[1], [3]])
    #expect(pair.hostEvents.payloads == [[4]])
    #expect(pair.host.resentCount == 0 && pair.controller.resentCount == 0)
  }

  @Test(
    "All packets arrive once and in order, whatever octets the line loses, duplicates or damages, in both directions",
    .requirement("L075"),
    arguments: 0..<60 as Range<UInt64>)
  func faults(seed: UInt64) {
    var random = RandomStream(seed: seed &+ 1_000)
    let kinds: [ThreeWirePair.Faults] = [
      ThreeWirePair.Faults(loss: 0.01), ThreeWirePair.Faults(duplication: 0.01), ThreeWirePair.Faults(damage: 0.01),
      ThreeWirePair.Faults(loss: 0.004, duplication: 0.004, damage: 0.004),
    ]
    let faults = kinds[Int(seed % 4)]
    var pair = ThreeWirePair(
      ThreeWireConfiguration(windowSize: UInt8.random(in: 1...7, using: &random)),
      ThreeWireConfiguration(windowSize: UInt8.random(in: 1...7, using: &random)), seed: seed)
    // A configuration field has no check: damage to it is a wrong agreement, not a lost packet.
    pair.faults = ThreeWirePair.Faults(loss: faults.loss, duplication: faults.duplication)
    pair.start()
    #expect(pair.run(for: .seconds(60)) { $0.isActive })
    pair.faults = faults
    var sent: (byHost: [[UInt8]], byController: [[UInt8]]) = ([], [])
    for number in 0..<60 as Range<UInt8> {
      let length = Int.random(in: 0...40, using: &random)
      let octets: [UInt8] = [0xC0, 0xDB, 0x11, 0x55]
      let payload = [number] + (0..<length).map { _ in octets[Int.random(in: 0..<4, using: &random)] }
      if Bool.random(using: &random) {
        pair.host.send(.acl, payload, at: pair.now)
        sent.byHost.append(payload)
      } else {
        pair.controller.send(.event, payload, at: pair.now)
        sent.byController.append(payload)
      }
      pair.collect()
      pair.run(for: .milliseconds(Int64.random(in: 0...20, using: &random)))
    }
    let counts = (sent.byHost.count, sent.byController.count)
    pair.run(for: .seconds(600)) {
      $0.controllerEvents.payloads.count >= counts.0 && $0.hostEvents.payloads.count >= counts.1
        && $0.host.unacknowledgedCount == 0 && $0.controller.unacknowledgedCount == 0
    }
    #expect(pair.controllerEvents.payloads == sent.byHost)
    #expect(pair.hostEvents.payloads == sent.byController)
    #expect(pair.controllerEvents.count { $0 == .peerReset } == 0)
    #expect(pair.host.unacknowledgedCount == 0 && pair.controller.unacknowledgedCount == 0)
    if faults.loss + faults.damage > 0 { #expect(pair.host.resentCount + pair.controller.resentCount > 0) }
  }
}
