import BluetoothWire
import DequeModule

/// A data PDU's payload on its way to the peer.
struct OutgoingPDU {
  /// What follows from the peer's acknowledgement.
  enum Meaning {
    /// Nothing: an empty PDU, or a part of an ACL packet.
    case none
    /// A whole ACL packet of the host's is through.
    case endOfPacket
    /// A procedure of this device that has no answer is over.
    case endOfProcedure
    /// The peer knows that the connection ends.
    case termination
    /// The peer encrypts what it sends from now on · 5.1.3.1.
    case encryptionStart
    /// The peer does not encrypt any more · 5.1.3.2.
    case encryptionPause
    /// What changes at an instant, which is chosen when the PDU is sent for the first time.
    case update
  }

  var llid: LL.DataHeader.LLID
  var payload: ByteSlice
  /// What the payload was before it was encrypted; nil: it is not encrypted.
  var plaintext: ByteSlice?
  var meaning: Meaning

  static let empty = OutgoingPDU(llid: .continuation, payload: ByteSlice(), meaning: .none)
  var isEmpty: Bool { payload.isEmpty }

  fileprivate var belongsToEncryption: Bool {
    guard llid == .control, !payload.isEmpty else { return false }
    return LL.ControlOpcode(rawValue: payload[0])?.belongsToEncryption ?? false
  }
}

/// Acknowledgement and flow control of a connection · Vol 6, Part B, 4.5.9: one PDU at a time is on its way; it is sent again
/// until the peer has acknowledged it.
struct PacketFlow {
  private var transmitSequenceNumber = false
  private var nextExpectedSequenceNumber = false
  /// What was sent and is not acknowledged.
  private(set) var pending: OutgoingPDU?

  private var control: Deque<OutgoingPDU> = []
  private var packets: Deque<HCI.ACLData> = []
  /// The octets of the first packet that have been handed to `pending`.
  private var offset = 0

  /// While encryption is being started or paused, nothing but that is sent, and what the peer has asked for before it knew
  /// waits · 5.1.3.
  private(set) var isHeldBack = false
  /// LL Control PDUs to send then, and those of the peer's to look at.
  private var heldControl: Deque<OutgoingPDU> = []
  private var heldRequests: Deque<ByteSlice> = []

  /// Whether something besides empty PDUs is to be sent or to be acknowledged.
  var hasWork: Bool { hasQueue || pending.map { !$0.isEmpty } ?? false }
  /// Whether there is something after `pending`.
  var hasQueue: Bool { !control.isEmpty || !packets.isEmpty && !isHeldBack }
  /// How many LL Control PDUs wait behind `pending`.
  var waitingControl: Int { control.count + heldControl.count + heldRequests.count }
  /// The host's packets that are not wholly acknowledged.
  private(set) var heldPackets = 0

  mutating func append(_ packet: HCI.ACLData) {
    packets.append(packet)
    heldPackets += 1
  }

  /// - Parameter rejected: what the PDU refuses, if it is that: it belongs to the same procedure.
  mutating func append(
    control payload: ByteSlice, meaning: OutgoingPDU.Meaning = .none, rejecting rejected: LL.ControlOpcode? = nil
  ) {
    let pdu = OutgoingPDU(llid: .control, payload: payload, meaning: meaning)
    if isHeldBack && !(rejected?.belongsToEncryption ?? pdu.belongsToEncryption) {
      heldControl.append(pdu)
    } else {
      control.append(pdu)
    }
  }

  mutating func holdBack() { isHeldBack = true }

  mutating func hold(request payload: ByteSlice) { heldRequests.append(payload) }

  /// Everything may be sent again. The peer's requests are to be taken by `takeHeldRequest`.
  mutating func release() {
    isHeldBack = false
    while let pdu = heldControl.popFirst() { control.append(pdu) }
  }

  mutating func takeHeldRequest() -> ByteSlice? { heldRequests.popFirst() }

  /// The payload's length of what would be sent now, with the MIC of `session`.
  func nextLength(maximum: Int, session: EncryptionSession?) -> Int {
    if let pending { return pending.payload.count }
    let length = queuedLength(maximum: maximum)
    return length + (session?.addedLength(to: length) ?? 0)
  }

  private func queuedLength(maximum: Int) -> Int {
    if let first = control.first { return first.payload.count }
    if !isHeldBack, let first = packets.first { return min(maximum, first.payload.count - offset) }
    return 0
  }

  /// Whether the next PDU tells of an update, and has not been sent before.
  var beginsUpdate: Bool {
    guard pending == nil, case .update? = control.first?.meaning else { return false }
    return true
  }

  /// Gives the next LL Control PDU another payload of the same length.
  mutating func rewriteNext(_ payload: ByteSlice) {
    guard !control.isEmpty else { return }
    control[0].payload = payload
  }

  /// The shortest payload of what may be sent now: nothing, unless a PDU has to be sent again.
  var shortestNextLength: Int { pending?.payload.count ?? 0 }

  /// Whether a PDU with octets has to be sent again.
  var isRetransmitting: Bool { pending.map { !$0.isEmpty } ?? false }

  /// What to send now, with at most `maximum` octets of data: the unacknowledged PDU again, octet for octet, else the next
  /// one, encrypted by `session`; an empty one before it when it is longer than `longest`.
  mutating func next(
    maximum: Int, longest: Int = .max, session: inout EncryptionSession?
  ) -> (pdu: OutgoingPDU, header: LL.DataHeader) {
    var pdu = OutgoingPDU.empty
    if let pending {
      pdu = pending
    } else if nextLength(maximum: maximum, session: session) <= longest {
      pdu = take(maximum: maximum)
      session?.seal(&pdu)
    }
    pending = pdu
    let header = LL.DataHeader(
      llid: pdu.llid, nextExpectedSequenceNumber: nextExpectedSequenceNumber, sequenceNumber: transmitSequenceNumber,
      moreData: hasQueue, length: UInt8(truncatingIfNeeded: pdu.payload.count))
    return (pdu, header)
  }

  private mutating func take(maximum: Int) -> OutgoingPDU {
    if let first = control.popFirst() { return first }
    guard !isHeldBack, let packet = packets.first else { return .empty }
    let end = min(packet.payload.count, offset + maximum)
    let llid: LL.DataHeader.LLID = offset == 0 && packet.boundary != .continuing ? .start : .continuation
    let isLast = end == packet.payload.count
    let part = OutgoingPDU(
      llid: llid, payload: packet.payload[offset..<end], meaning: isLast ? .endOfPacket : .none)
    if isLast {
      packets.removeFirst()
      offset = 0
    } else {
      offset = end
    }
    return part
  }

  /// How many LL Control PDUs may wait. A peer that makes for more, by asking without acknowledging the answers, is not
  /// acknowledged itself until there is room again · 4.5.9: that is the link layer's flow control.
  private static let maximumWaitingControl = 8

  /// Takes in the header of an intact PDU: what it acknowledges, and whether its payload is new and is to be looked at. Data
  /// that there is no room for is not acknowledged either.
  mutating func receive(
    _ header: LL.DataHeader, hasRoom: Bool = true
  ) -> (acknowledged: OutgoingPDU?, isNew: Bool) {
    var acknowledged: OutgoingPDU?
    if let sent = pending, header.nextExpectedSequenceNumber != transmitSequenceNumber {
      transmitSequenceNumber.toggle()
      acknowledged = sent
      if case .endOfPacket = sent.meaning { heldPackets -= 1 }
      pending = nil
    }
    let isNew =
      header.sequenceNumber == nextExpectedSequenceNumber && waitingControl < Self.maximumWaitingControl
      && (hasRoom || header.llid == .control || header.length == 0)
    if isNew { nextExpectedSequenceNumber.toggle() }
    return (acknowledged, isNew)
  }
}
