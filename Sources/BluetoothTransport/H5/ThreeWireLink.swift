import BluetoothWire
import DequeModule

/// One end of a three-wire UART link, also known as H5 · Vol 4, Part D.
///
/// The engine has neither clock nor I/O. Its owner passes received octets and the time, and sends what `takeOctets`
/// returns. HCI packets pass the link in order, each of them once, although octets may be lost or damaged.
package struct ThreeWireLink: Sendable {
  /// The state of link establishment · Vol 4, Part D, 8.
  package enum State: Hashable, Sendable {
    case uninitialized, initialized, active
  }

  package enum Event: Hashable, Sendable {
    /// The link can carry packets. Occurs again after `peerReset`.
    case established
    case packet(ThreeWirePacket.Kind, [UInt8])
    /// The other end has been reset: all packets that it has not acknowledged are dropped.
    case peerReset
  }

  private struct Packet {
    let kind: ThreeWirePacket.Kind
    let payload: [UInt8]
  }

  /// The interval of SYNC and CONFIG messages.
  static let establishmentInterval = TimeSpan.milliseconds(250)
  /// The interval of WAKEUP messages to an end that sleeps.
  static let wakeupInterval = TimeSpan.milliseconds(10)
  /// The minimum time after which a packet without acknowledgment is sent again.
  static let minimumResendTime = TimeSpan.milliseconds(250)

  package private(set) var state = State.uninitialized
  /// The options in use: those of both ends.
  package private(set) var agreed = ThreeWireConfiguration.minimum
  /// True if the host's options are known. Until then a controller uses the minimum.
  private var hasAgreed = false
  /// The number of received packets that were damaged.
  package private(set) var damagedCount = 0
  /// The number of packets that have been sent again.
  package private(set) var resentCount = 0
  private let side: H4Decoder.Side
  private let own: ThreeWireConfiguration
  /// The duration of an octet on the line.
  private let octetTime: TimeSpan
  private var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)
  private var output: [UInt8] = []
  private var events: Deque<Event> = []
  /// The packets that have not been sent.
  private var queue: Deque<Packet> = []
  /// The packets that have been sent and not acknowledged, oldest first.
  private var unacknowledged: Deque<Packet> = []
  /// The sequence number of the next new packet.
  private var nextSequence: UInt8 = 0
  /// The sequence number of the packet that is expected next.
  private var expectedSequence: UInt8 = 0
  private var owesAcknowledgment = false
  private var peerSleeps = false
  /// The time of the next SYNC, CONFIG or WAKEUP message.
  private var messageTime: Instant?
  private var resendTime: Instant?

  /// Creates an end, which `start` starts.
  ///
  /// - Parameters:
  ///   - own: the options that this end supports.
  ///   - octetTime: the duration of an octet on the line, from which the time of retransmissions follows.
  package init(
    for side: H4Decoder.Side, _ own: ThreeWireConfiguration = ThreeWireConfiguration(), octetTime: TimeSpan = .zero
  ) {
    self.side = side
    self.own = own
    self.octetTime = octetTime
  }

  // MARK: Output

  /// The number of packets that have not been sent for the first time.
  package var queuedCount: Int { queue.count }

  /// The number of packets that wait for an acknowledgment.
  package var unacknowledgedCount: Int { unacknowledged.count }

  /// The number of received octets that belong to no complete packet.
  package var keptCount: Int { decoder.keptCount }

  /// The next call of `timeReached`; nil: none.
  package var deadline: Instant? { earliest(messageTime, resendTime) }

  /// Returns the next event; nil: none.
  package mutating func takeEvent() -> Event? { events.popFirst() }

  /// Returns the octets to send, with an acknowledgment if one is due.
  package mutating func takeOctets() -> [UInt8] {
    if owesAcknowledgment, state == .active {
      append(ThreeWirePacket(.acknowledgment, acknowledgment: expectedSequence))
    }
    owesAcknowledgment = false
    defer { output = [] }
    return output
  }

  // MARK: Input

  /// Starts link establishment.
  package mutating func start(at now: Instant) {
    reset()
    send(ThreeWireMessage.sync)
    messageTime = now + Self.establishmentInterval
  }

  /// Sends a packet, once the link is active and its window is open. A payload of more than 4,095 octets is dropped.
  package mutating func send(_ kind: ThreeWirePacket.Kind, _ payload: [UInt8], at now: Instant) {
    guard kind.isReliable, payload.count <= ThreeWirePacket.maximumPayload else { return }
    queue.append(Packet(kind: kind, payload: payload))
    sendQueue(at: now)
  }

  package mutating func receive(_ octets: some Sequence<UInt8>, at now: Instant) {
    for octet in octets {
      guard let frame = decoder.take(octet) else { continue }
      if let packet = ThreeWirePacket(octets: frame) { receive(packet, at: now) } else { damagedCount += 1 }
    }
  }

  package mutating func timeReached(_ now: Instant) {
    if let time = messageTime, time <= now {
      switch state {
      case .uninitialized: repeatMessage(ThreeWireMessage.sync, Self.establishmentInterval, at: now)
      case .initialized: repeatMessage(config, Self.establishmentInterval, at: now)
      case .active: repeatMessage(ThreeWireMessage.wakeup, Self.wakeupInterval, at: now)
      }
    }
    if let time = resendTime, time <= now { resend(at: now) }
  }

  private mutating func repeatMessage(_ message: [UInt8], _ interval: TimeSpan, at now: Instant) {
    send(message)
    messageTime = now + interval
  }

  // MARK: Packets

  private mutating func receive(_ packet: ThreeWirePacket, at now: Instant) {
    if packet.kind == .linkControl { return receive(message: packet.payload, at: now) }
    guard state == .active else { return }
    if peerSleeps { peerWakes(at: now) }
    acknowledge(packet.acknowledgment, at: now)
    if let sequence = packet.sequence {
      // A packet that arrives again tells that the acknowledgment was lost.
      owesAcknowledgment = true
      guard sequence == expectedSequence else { return }
      expectedSequence = (expectedSequence + 1) & 7
    }
    if packet.kind != .acknowledgment { events.append(.packet(packet.kind, packet.payload)) }
  }

  /// Removes the packets before `sequence`, the one that the other end expects next.
  private mutating func acknowledge(_ sequence: UInt8, at now: Instant) {
    let first = (nextSequence &- UInt8(unacknowledged.count)) & 7
    let count = Int((sequence &- first) & 7)
    // A number outside the window acknowledges nothing.
    guard count > 0, count <= unacknowledged.count else { return }
    unacknowledged.removeFirst(count)
    resendTime = nil
    startResendTimer(at: now)
    sendQueue(at: now)
  }

  private mutating func sendQueue(at now: Instant) {
    guard state == .active, !queue.isEmpty else { return }
    if peerSleeps {
      if messageTime == nil { repeatMessage(ThreeWireMessage.wakeup, Self.wakeupInterval, at: now) }
      return
    }
    while unacknowledged.count < Int(agreed.windowSize), let packet = queue.popFirst() {
      unacknowledged.append(packet)
      append(packet, nextSequence)
      nextSequence = (nextSequence + 1) & 7
    }
    startResendTimer(at: now)
  }

  private mutating func resend(at now: Instant) {
    resendTime = nil
    if peerSleeps {
      if messageTime == nil { repeatMessage(ThreeWireMessage.wakeup, Self.wakeupInterval, at: now) }
      return
    }
    var sequence = nextSequence &- UInt8(unacknowledged.count)
    for packet in unacknowledged {
      append(packet, sequence & 7)
      sequence = sequence &+ 1
    }
    resentCount += unacknowledged.count
    startResendTimer(at: now)
  }

  /// Starts the timer unless it runs: three times the duration of the longest packet that waits.
  private mutating func startResendTimer(at now: Instant) {
    guard resendTime == nil, let longest = unacknowledged.map(\.payload.count).max() else { return }
    // Each octet of a packet can need an escape octet.
    let length = 2 * (longest + ThreeWirePacket.headerLength + 2) + 2
    resendTime = now + max(Self.minimumResendTime, 3 * Int64(length) * octetTime)
  }

  private mutating func append(_ packet: Packet, _ sequence: UInt8) {
    append(
      ThreeWirePacket(packet.kind, packet.payload, sequence: sequence, acknowledgment: expectedSequence))
    owesAcknowledgment = false
  }

  private mutating func append(_ packet: ThreeWirePacket) {
    var packet = packet
    packet.hasIntegrityCheck = agreed.hasIntegrityCheck
    SLIP.append(packet.octets, to: &output)
  }

  // MARK: Link control

  /// The CONFIG message of this end. Only the host's message has a configuration field.
  private var config: [UInt8] { ThreeWireMessage.config + (side == .host ? [own.field] : []) }

  private mutating func send(_ message: [UInt8]) {
    SLIP.append(
      ThreeWirePacket(.linkControl, message, acknowledgment: state == .active ? expectedSequence : 0).octets,
      to: &output)
  }

  private mutating func receive(message: [UInt8], at now: Instant) {
    let field = message.count > 2 ? ThreeWireConfiguration(field: message[2]) : .minimum
    switch (Array(message.prefix(2)), state) {
    case (ThreeWireMessage.sync, .active):
      events.append(.peerReset)
      start(at: now)
      send(ThreeWireMessage.syncResponse)
    case (ThreeWireMessage.sync, _): send(ThreeWireMessage.syncResponse)
    case (ThreeWireMessage.syncResponse, .uninitialized):
      state = .initialized
      repeatMessage(config, Self.establishmentInterval, at: now)
    case (ThreeWireMessage.config, .initialized), (ThreeWireMessage.config, .active):
      if side == .controller {
        // A repeated message, whose response was lost, must not change the options under packets that wait.
        if !hasAgreed { (agreed, hasAgreed) = (own.common(with: field), true) }
        send(ThreeWireMessage.configResponse + [agreed.field])
      } else {
        send(ThreeWireMessage.configResponse)
      }
    case (ThreeWireMessage.configResponse, .initialized):
      if side == .host { agreed = own.common(with: field) }
      state = .active
      messageTime = nil
      events.append(.established)
      sendQueue(at: now)
    case (ThreeWireMessage.wakeup, .active):
      send(ThreeWireMessage.woken)
      peerWakes(at: now)
    case (ThreeWireMessage.woken, .active): peerWakes(at: now)
    case (ThreeWireMessage.sleep, .active): peerSleeps = true
    default: break
    }
  }

  private mutating func peerWakes(at now: Instant) {
    guard peerSleeps else { return }
    peerSleeps = false
    messageTime = nil
    if resendTime == nil, !unacknowledged.isEmpty { resend(at: now) }
    sendQueue(at: now)
  }

  /// Drops all packets and begins at the first sequence number.
  private mutating func reset() {
    state = .uninitialized
    (agreed, hasAgreed) = (.minimum, false)
    queue.removeAll()
    unacknowledged.removeAll()
    (nextSequence, expectedSequence, owesAcknowledgment, peerSleeps) = (0, 0, false, false)
    (messageTime, resendTime) = (nil, nil)
  }
}
