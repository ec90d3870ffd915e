import BluetoothWire
import DequeModule

/// This device's endpoint of one LE credit based channel, which segments SDUs into K-frames and reassembles SDUs from
/// K-frames · Vol 3, Part A, 3.4.3, 10.1, 10.2.
struct CreditChannel {
  /// A violation of the channel's rules by the peer, after which the channel must be disconnected · 3.4.3.
  enum Violation: Error, Hashable {
    /// A K-frame without a credit.
    case noCredit
    /// A K-frame longer than this side's MPS.
    case frameTooLong
    /// A first K-frame without an SDU length.
    case noLength
    /// An SDU longer than this side's MTU.
    case sduTooLong
    /// More octets than the SDU length allows.
    case excess
    /// More than 65,535 credits · 4.24.
    case tooManyCredits
  }

  enum State: Hashable {
    /// The request has been made but not answered; a timeout does not exclude a late response.
    case opening
    case open
    /// This side is disconnecting the channel and ignores incoming K-frames.
    case closing
  }

  private static let maximumCredits = 65_535
  /// The maximum number of SDUs in the send queue.
  private static let maximumQueue = 8
  /// The length of the SDU length field in the first K-frame, in octets.
  private static let lengthSize = 2

  let local: L2CAP.ChannelID
  private(set) var remote = L2CAP.ChannelID.none
  let spsm: UInt16
  let isEnhanced: Bool
  /// True if the peer has opened the channel.
  let isIncoming: Bool
  private(set) var state = State.opening

  // The receive limits of this side
  private(set) var receiveMTU: Int
  private(set) var receiveMPS: Int
  /// The receive limits of a pending reconfiguration. The peer may use them as soon as it has agreed, perhaps before
  /// its response arrives.
  private var offered: (mtu: Int, mps: Int) = (0, 0)
  /// True while a reconfiguration request is pending.
  private(set) var isReconfiguring = false
  /// The maximum number of credits that the peer holds.
  private let window: Int
  /// The number of credits that the peer holds.
  private(set) var granted: Int
  /// The number of credits that can be returned to the peer.
  private var returnable = 0
  /// The SDU in reassembly. It has a single buffer, so the size of the peer's K-frames does not affect the memory use.
  private var assembly: ByteCollector?
  /// The number of SDUs that the owner has not acknowledged. Each holds one credit, and at most the buffer of one
  /// K-frame or one SDU.
  private var held = 0

  // The receive limits of the peer
  private(set) var sendMTU = 0
  private(set) var sendMPS = 0
  private(set) var credits = 0
  private var queue: Deque<ByteSlice> = []
  /// The number of octets of the first SDU that have been sent.
  private var sent = 0
  /// True if the channel must be closed when the send queue is empty.
  private(set) var endsWhenSent = false
  /// True if queued SDUs were discarded.
  private var hasDiscarded = false

  init(local: L2CAP.ChannelID, spsm: UInt16, isEnhanced: Bool, isIncoming: Bool, settings: ChannelSettings) {
    self.local = local
    self.isIncoming = isIncoming
    self.spsm = spsm
    self.isEnhanced = isEnhanced
    receiveMTU = Int(settings.mtu)
    receiveMPS = Int(settings.mps)
    let frames = (receiveMTU + Self.lengthSize + receiveMPS - 1) / receiveMPS
    window = min(Self.maximumCredits, max(Int(settings.credits), frames))
    granted = window
  }

  /// The parameters of this side for the connection request or response.
  var offer: L2CAP.CreditParameters {
    L2CAP.CreditParameters(
      mtu: UInt16(receiveMTU), mps: UInt16(receiveMPS), initialCredits: UInt16(truncatingIfNeeded: window))
  }

  /// Opens the channel after the peer has opened its end.
  mutating func open(remote: L2CAP.ChannelID, _ parameters: L2CAP.CreditParameters) {
    self.remote = remote
    state = .open
    setLimits(mtu: parameters.mtu, mps: parameters.mps)
    credits = Int(parameters.initialCredits)
  }

  /// Stops sending and receiving.
  ///
  /// - Parameter remote: The peer's end of a channel that was never open on this side.
  mutating func beginClosing(remote: L2CAP.ChannelID? = nil) {
    if let remote { self.remote = remote }
    state = .closing
    assembly = nil
    hasDiscarded = !queue.isEmpty
    queue.removeAll()
  }

  /// Closes the channel after the queued SDUs have been sent; the channel accepts no more SDUs.
  mutating func endWhenSent() { endsWhenSent = true }

  /// True if the channel must be closed now because all queued SDUs have been sent.
  var isAtEnd: Bool { endsWhenSent && queue.isEmpty && state == .open }

  /// True if all SDUs have been sent, except those that were refused.
  var hasSentAll: Bool { queue.isEmpty && !hasDiscarded }

  /// Sets the receive limits of the peer.
  mutating func setLimits(mtu: UInt16, mps: UInt16) {
    sendMTU = Int(mtu)
    sendMPS = Int(mps)
  }

  // MARK: Reconfiguration · 4.27

  var canReconfigure: Bool { state == .open && isEnhanced && !isReconfiguring }

  /// Records the receive limits of a reconfiguration request to the peer.
  mutating func offerLimits(mtu: UInt16, mps: UInt16) {
    offered = (Int(mtu), Int(mps))
    isReconfiguring = true
  }

  /// Applies the new receive limits after the peer has agreed.
  mutating func acceptOffer() {
    (receiveMTU, receiveMPS) = offered
    dropOffer()
  }

  /// Discards the new receive limits after the peer has refused them.
  mutating func dropOffer() {
    offered = (0, 0)
    isReconfiguring = false
  }

  /// Ends a reconfiguration that the peer did not answer. The new limits remain permitted because the peer may have
  /// agreed.
  mutating func loseOffer() { isReconfiguring = false }

  // MARK: Incoming K-frames

  /// Processes the payload of a K-frame. Returns the SDU that it completes; nil: the SDU is incomplete or empty.
  mutating func receive(_ payload: ByteSlice, pool: PacketPool) throws(Violation) -> ByteSlice? {
    guard granted > 0 else { throw .noCredit }
    granted -= 1
    guard payload.count <= max(receiveMPS, offered.mps) else { throw .frameTooLong }
    if assembly == nil {
      guard payload.count >= Self.lengthSize else { throw .noLength }
      let length = Int(payload[0]) | Int(payload[1]) << 8
      guard length <= max(receiveMTU, offered.mtu) else { throw .sduTooLong }
      let part = payload.dropFirst(Self.lengthSize)
      // The layers above see a stream of octets, to which an empty SDU adds none: its credit returns at once.
      if length == 0, part.isEmpty {
        returnable += 1
        return nil
      }
      // An SDU in a single K-frame is not copied.
      if part.count == length {
        held += 1
        return part
      }
      assembly = ByteCollector(pool, capacity: length)
      guard assembly?.append(part) == true else { throw .excess }
    } else {
      guard assembly?.append(payload) == true else { throw .excess }
    }
    guard assembly?.room == 0 else {
      returnable += 1
      return nil
    }
    defer { assembly = nil }
    held += 1
    return assembly?.finish()
  }

  /// Returns the credit of one SDU that the owner has processed.
  mutating func acknowledge() {
    guard held > 0 else { return }
    held -= 1
    returnable += 1
  }

  /// True if credits must be sent to the peer now.
  var owesCredits: Bool { returnable > 0 && granted * 2 <= window && state == .open }

  /// Returns all credits to send to the peer now, and counts them as granted; nil: none.
  mutating func takeCredits() -> UInt16? {
    guard owesCredits else { return nil }
    defer { returnable = 0 }
    granted += returnable
    return UInt16(truncatingIfNeeded: returnable)
  }

  // MARK: Outgoing K-frames

  /// Adds credits from the peer · 4.24.
  mutating func receiveCredits(_ count: UInt16) throws(Violation) {
    guard credits + Int(count) <= Self.maximumCredits else { throw .tooManyCredits }
    credits += Int(count)
  }

  var hasRoom: Bool { queue.count < Self.maximumQueue }

  /// Queues an SDU of 1 to `sendMTU` octets. Returns false if the queue is full or the SDU does not fit.
  mutating func send(_ sdu: ByteSlice) -> Bool {
    guard state == .open, hasRoom, !endsWhenSent, 1...max(1, sendMTU) ~= sdu.count else { return false }
    queue.append(sdu)
    return true
  }

  var hasFrame: Bool { state == .open && credits > 0 && !queue.isEmpty }

  /// Returns the next K-frame; nil: nothing is queued, or there are no credits.
  mutating func takeFrame(pool: PacketPool) -> ByteSlice? {
    guard hasFrame, let sdu = queue.first else { return nil }
    var writer = ByteWriter(pool)
    var room = min(sendMPS, ChannelSettings.maximumMPS)
    if sent == 0 {
      writer.append(UInt16(truncatingIfNeeded: sdu.count))
      room -= Self.lengthSize
    }
    let end = min(sdu.count, sent + room)
    writer.append(sdu[sent..<end])
    credits -= 1
    sent = end
    if sent == sdu.count {
      queue.removeFirst()
      sent = 0
    }
    return writer.finishFrame(on: remote)
  }
}
