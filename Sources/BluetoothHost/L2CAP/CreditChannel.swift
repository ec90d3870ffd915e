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
    /// The request is on its way.
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
  var standing = Standing.opening

  // What this side takes.
  private(set) var receiveMTU: Int
  private(set) var receiveMPS: Int
  /// Credits that the peer has at most.
  private let window: Int
  /// Credits that the peer has.
  private var granted: Int
  /// Credits that can be given back.
  private var returnable = 0
  private var parts: [ByteSlice] = []
  private var received = 0
  /// The length of the SDU whose parts arrive; 0: none does.
  private var sduLength = 0
  /// SDUs that the owner has not acknowledged; each holds a credit.
  private var held = 0

  // What the peer takes.
  private(set) var sendMTU = 0
  private(set) var sendMPS = 0
  private(set) var credits = 0
  private var queue: Deque<ByteSlice> = []
  /// How much of the first SDU has been sent.
  private var sent = 0

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

  /// What the peer takes from now on.
  mutating func setLimits(mtu: UInt16, mps: UInt16) {
    sendMTU = Int(mtu)
    sendMPS = Int(mps)
  }

  /// What this side takes from now on; never less than before.
  mutating func setOwnLimits(mtu: UInt16, mps: UInt16) {
    receiveMTU = Int(mtu)
    receiveMPS = Int(mps)
  }

  // MARK: Frames of the peer

  /// Takes in the payload of a K-frame; the result is the SDU that is complete with it.
  mutating func receive(_ payload: ByteSlice, pool: PacketPool) throws(Violation) -> ByteSlice? {
    guard granted > 0 else { throw .noCredit }
    granted -= 1
    guard payload.count <= receiveMPS else { throw .frameTooLong }
    var part = payload
    if sduLength == 0 {
      guard payload.count >= Self.lengthSize else { throw .noLength }
      let length = Int(payload[0]) | Int(payload[1]) << 8
      guard length > 0 else { throw .noLength }
      guard length <= receiveMTU else { throw .sduTooLong }
      sduLength = length
      part = payload.dropFirst(Self.lengthSize)
    }
    guard received + part.count <= sduLength else { throw .excess }
    received += part.count
    guard received == sduLength else {
      if !part.isEmpty { parts.append(part) }
      returnable += 1
      return nil
    }
    defer { (sduLength, received) = (0, 0) }
    held += 1
    // An SDU in one frame is not copied.
    if parts.isEmpty { return part }
    var writer = ByteWriter(pool, capacity: received, headroom: 0)
    for part in parts { writer.append(part) }
    writer.append(part)
    parts.removeAll(keepingCapacity: true)
    return writer.finish()
  }

  /// The owner has done with one SDU.
  mutating func acknowledge() {
    guard held > 0 else { return }
    held -= 1
    returnable += 1
  }

  /// The credits that the peer is to get now; nil: none.
  mutating func takeCredits() -> UInt16? {
    guard standing == .open, returnable > 0, granted * 2 <= window else { return nil }
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
    guard standing == .open, hasRoom, 1...max(1, sendMTU) ~= sdu.count else { return false }
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
