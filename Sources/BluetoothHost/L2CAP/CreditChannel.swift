import BluetoothWire
import DequeModule

/// This device's end of one LE credit based channel: SDUs in, K-frames out, and the other way round · Vol 3, Part A, 3.4.3,
/// 10.1, 10.2.
struct CreditChannel {
  /// What a peer may not do with frames. The channel is to be disconnected · 3.4.3.
  enum Violation: Error, Hashable {
    /// A frame without a credit for it.
    case noCredit
    /// A frame longer than this side's MPS.
    case frameTooLong
    /// A first frame without the length of its SDU, or with one of 0.
    case noLength
    /// An SDU longer than this side's MTU.
    case sduTooLong
    /// More octets than the SDU has.
    case excess
    /// More than 65,535 credits · 4.24.
    case tooManyCredits
  }

  enum Standing: Hashable {
    /// The request is on its way, or was not answered in time and may still be.
    case opening
    case open
    /// A Disconnection Request is on its way. What arrives meanwhile is not looked at.
    case closing
  }

  private static let maximumCredits = 65_535
  /// SDUs that may wait for credits.
  private static let maximumQueue = 8
  /// The octets of the SDU's length in its first frame.
  private static let lengthSize = 2

  let local: L2CAP.ChannelID
  private(set) var remote = L2CAP.ChannelID.none
  let spsm: UInt16
  let isEnhanced: Bool
  /// The peer has opened it.
  let isIncoming: Bool
  private(set) var standing = Standing.opening

  // What this side takes.
  private(set) var receiveMTU: Int
  private(set) var receiveMPS: Int
  /// What the peer has been told that it may send: it does so as soon as it agrees, perhaps before its answer is here.
  private var offered: (mtu: Int, mps: Int) = (0, 0)
  /// A request to reconfigure it is open.
  private(set) var isReconfiguring = false
  /// Credits that the peer has at most.
  private let window: Int
  /// Credits that the peer has.
  private(set) var granted: Int
  /// Credits that can be given back.
  private var returnable = 0
  /// The SDU whose frames arrive, all in one storage: a peer that sends it octet by octet has no more of this side's
  /// memory than one that does not.
  private var assembly: ByteCollector?
  /// SDUs that the owner has not acknowledged; each holds a credit, and at most the storage of one frame or one SDU.
  private var held = 0

  // What the peer takes.
  private(set) var sendMTU = 0
  private(set) var sendMPS = 0
  private(set) var credits = 0
  private var queue: Deque<ByteSlice> = []
  /// How much of the first SDU has been sent.
  private var sent = 0
  /// The owner wants it closed once everything has been sent.
  private(set) var endsWhenSent = false

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

  /// What this side says of itself when the channel is opened.
  var offer: L2CAP.CreditParameters {
    L2CAP.CreditParameters(
      mtu: UInt16(receiveMTU), mps: UInt16(receiveMPS), initialCredits: UInt16(truncatingIfNeeded: window))
  }

  /// The peer has its end of the channel.
  mutating func open(remote: L2CAP.ChannelID, _ parameters: L2CAP.CreditParameters) {
    self.remote = remote
    standing = .open
    setLimits(mtu: parameters.mtu, mps: parameters.mps)
    credits = Int(parameters.initialCredits)
  }

  /// Nothing is sent or taken in any more. With `remote`: the peer has an end of a channel that never was open here.
  mutating func beginClosing(remote: L2CAP.ChannelID? = nil) {
    if let remote { self.remote = remote }
    standing = .closing
    assembly = nil
    queue.removeAll()
  }

  /// No SDU is taken any more; those that wait are sent.
  mutating func endWhenSent() { endsWhenSent = true }

  /// Whether it is to be closed now that everything has been sent.
  var isAtEnd: Bool { endsWhenSent && queue.isEmpty && standing == .open }

  /// What the peer takes from now on.
  mutating func setLimits(mtu: UInt16, mps: UInt16) {
    sendMTU = Int(mtu)
    sendMPS = Int(mps)
  }

  // MARK: What this side takes · 4.27

  var canReconfigure: Bool { standing == .open && isEnhanced && !isReconfiguring }

  /// The peer is told that this side takes something else.
  mutating func offerLimits(mtu: UInt16, mps: UInt16) {
    offered = (Int(mtu), Int(mps))
    isReconfiguring = true
  }

  /// The peer has agreed to what it was told.
  mutating func acceptOffer() {
    (receiveMTU, receiveMPS) = offered
    dropOffer()
  }

  /// The peer has refused: what was before stays.
  mutating func dropOffer() {
    offered = (0, 0)
    isReconfiguring = false
  }

  /// The peer has not answered. It may have agreed all the same, so that what it was told stays allowed.
  mutating func loseOffer() { isReconfiguring = false }

  // MARK: Frames of the peer

  /// Takes in the payload of a K-frame; the result is the SDU that is complete with it.
  mutating func receive(_ payload: ByteSlice, pool: PacketPool) throws(Violation) -> ByteSlice? {
    guard granted > 0 else { throw .noCredit }
    granted -= 1
    guard payload.count <= max(receiveMPS, offered.mps) else { throw .frameTooLong }
    if assembly == nil {
      guard payload.count >= Self.lengthSize else { throw .noLength }
      let length = Int(payload[0]) | Int(payload[1]) << 8
      // An SDU of no octets can't be told from none. Other stacks take it in; none sends one.
      guard length > 0 else { throw .noLength }
      guard length <= max(receiveMTU, offered.mtu) else { throw .sduTooLong }
      let part = payload.dropFirst(Self.lengthSize)
      // An SDU in one frame is not copied.
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

  /// The owner has done with one SDU.
  mutating func acknowledge() {
    guard held > 0 else { return }
    held -= 1
    returnable += 1
  }

  /// Whether the peer is to get credits now.
  var owesCredits: Bool { returnable > 0 && granted * 2 <= window && standing == .open }

  /// The credits that the peer is to get now, all of them at once; nil: none.
  mutating func takeCredits() -> UInt16? {
    guard owesCredits else { return nil }
    defer { returnable = 0 }
    granted += returnable
    return UInt16(truncatingIfNeeded: returnable)
  }

  // MARK: Frames for the peer

  /// The peer takes so many more frames · 4.24.
  mutating func receiveCredits(_ count: UInt16) throws(Violation) {
    guard credits + Int(count) <= Self.maximumCredits else { throw .tooManyCredits }
    credits += Int(count)
  }

  var hasRoom: Bool { queue.count < Self.maximumQueue }

  /// Takes an SDU to send, of 1 to `sendMTU` octets; false: there is no room, or it does not fit.
  mutating func send(_ sdu: ByteSlice) -> Bool {
    guard standing == .open, hasRoom, !endsWhenSent, 1...max(1, sendMTU) ~= sdu.count else { return false }
    queue.append(sdu)
    return true
  }

  var hasFrame: Bool { standing == .open && credits > 0 && !queue.isEmpty }

  /// The next frame; nil: nothing is to be sent, or the peer takes nothing.
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
