import BluetoothWire
import DequeModule

/// An outgoing data channel PDU.
struct OutgoingPDU {
  /// The action that follows the peer's acknowledgement.
  enum Meaning {
    /// No action: an empty PDU, or a fragment of an ACL packet other than the last.
    case none
    /// The last fragment of an ACL packet of the host: the packet is completely acknowledged.
    case endOfPacket
    /// The end of a local procedure that has no answer.
    case endOfProcedure
    /// The termination of the connection, which the peer now knows.
    case termination
    /// The peer's encryption starts: its packets are encrypted from now on · 5.1.3.1.
    case encryptionStart
    /// The peer's encryption is paused: its packets are not encrypted any more · 5.1.3.2.
    case encryptionPause
    /// An update with an instant, which is chosen when the PDU is sent for the first time.
    case update
  }

  var llid: LL.DataHeader.LLID
  var payload: ByteSlice
  /// The payload before encryption; nil: it is not encrypted.
  var plaintext: ByteSlice?
  var meaning: Meaning

  static let empty = OutgoingPDU(llid: .continuation, payload: ByteSlice(), meaning: .none)
  var isEmpty: Bool { payload.isEmpty }

  fileprivate var belongsToEncryption: Bool {
    guard llid == .control, !payload.isEmpty else { return false }
    return LL.ControlOpcode(rawValue: payload[0])?.belongsToEncryption ?? false
  }
}

/// Acknowledgement and flow control of a connection · Vol 6, Part B, 4.5.9: one PDU at a time is sent, and repeated
/// until the peer has acknowledged it.
struct LinkARQ {
  private var transmitSequenceNumber = false
  private var nextExpectedSequenceNumber = false
  /// The PDU that was sent and is not acknowledged.
  private(set) var pending: OutgoingPDU?

  private var control: Deque<OutgoingPDU> = []
  private var packets: Deque<HCI.ACLData> = []
  /// The number of octets of the first packet that have been moved to `pending`.
  private var offset = 0

  /// True while encryption is being started or paused. Only PDUs of that procedure are sent; requests of the peer from
  /// before the procedure wait · 5.1.3.
  private(set) var isHeldBack = false
  /// The LL Control PDUs to send after that procedure; `heldRequests` holds the peer's requests to process after it.
  private var heldControl: Deque<OutgoingPDU> = []
  private var heldRequests: Deque<ByteSlice> = []

  /// True if a non-empty PDU is queued or unacknowledged.
  var hasWork: Bool { hasQueue || pending.map { !$0.isEmpty } ?? false }
  /// True if another PDU waits behind `pending`.
  var hasQueue: Bool { !control.isEmpty || !packets.isEmpty && !isHeldBack }
  /// The number of LL Control PDUs that wait behind `pending`.
  var waitingControl: Int { control.count + heldControl.count + heldRequests.count }
  /// The number of the host's packets that are not completely acknowledged.
  private(set) var heldPackets = 0

  mutating func append(_ packet: HCI.ACLData) {
    packets.append(packet)
    heldPackets += 1
  }

  /// Queues an LL Control PDU.
  ///
  /// - Parameter rejected: the opcode that the PDU rejects, if any; the PDU belongs to the same procedure.
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

  mutating func pauseData() { isHeldBack = true }

  mutating func hold(request payload: ByteSlice) { heldRequests.append(payload) }

  /// Resumes normal operation. The caller then processes the peer's requests with `takeHeldRequest`.
  mutating func release() {
    isHeldBack = false
    while let pdu = heldControl.popFirst() { control.append(pdu) }
  }

  mutating func takeHeldRequest() -> ByteSlice? { heldRequests.popFirst() }

  /// Returns the payload length of the next PDU, including the MIC of `session`.
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

  /// True if the next PDU announces an update and has not been sent before.
  var beginsUpdate: Bool {
    guard pending == nil, case .update? = control.first?.meaning else { return false }
    return true
  }

  /// Replaces the payload of the next LL Control PDU with another one of the same length.
  mutating func rewriteNext(_ payload: ByteSlice) {
    guard !control.isEmpty else { return }
    control[0].payload = payload
  }

  /// The shortest payload that may be sent now: that of the PDU to retransmit, else zero.
  var shortestNextLength: Int { pending?.payload.count ?? 0 }

  /// True if the next transmission is a retransmission of a non-empty PDU.
  var isRetransmitting: Bool { pending.map { !$0.isEmpty } ?? false }

  /// Returns the PDU to send now, with at most `maximum` octets of data: the unacknowledged PDU, octet for octet, or
  /// else the next one, encrypted by `session`. If the next one is longer than `longest`, an empty PDU goes first.
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

  /// The maximum number of waiting LL Control PDUs. If a peer sends more requests without acknowledging the responses,
  /// this device does not acknowledge the peer's PDUs until there is room: the link layer's flow control · 4.5.9.
  private static let maximumWaitingControl = 8

  /// Processes the header of an intact PDU. Returns the PDU that it acknowledges, and true if its payload is new and
  /// must be processed. Data for which the controller has no room is not acknowledged, so the peer retransmits it.
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
