import BluetoothWire

/// A request of this side about channels, from when it is wanted until it has ended.
struct ChannelRequest {
  enum Kind {
    case open([L2CAP.ChannelID], ChannelToken)
    case reconfigure([L2CAP.ChannelID], mtu: UInt16, mps: UInt16)
    case close(L2CAP.ChannelID)
  }

  /// How many may be open before others are refused. Disconnections are not: there are never more of them than channels.
  static let maximumCount = 128
  /// How many disconnections the peer has at a time, and how many others: its room for answers has an end, too.
  static let maximumSent = 8
  /// How long an answer may take that the peer has asked for patience with, and how long in all · Vol 3, Part A, 6.2.2: ERTX.
  private static let patience = TimeSpan.seconds(60)
  private static let longest = TimeSpan.seconds(300)

  let identifier: UInt8
  var kind: Kind
  private var until: Instant
  private let latest: Instant
  /// Until it is sent it can still be taken back.
  private(set) var isSent = false
  /// Its owner has been told that the peer did not answer. It is kept for a while: if the peer then says that it has opened
  /// channels, they are to be closed.
  private(set) var isLapsed = false

  init(identifier: UInt8, kind: Kind, at now: Instant) {
    self.identifier = identifier
    self.kind = kind
    until = now + SignallingChannel.responseTimeout
    latest = now + Self.longest
  }

  /// When it has waited long enough. A disconnection waits from when it is sent on: until then the peer keeps its end.
  var deadline: Instant? { isClose && !isSent ? nil : until }

  var isClose: Bool {
    if case .close = kind { return true }
    return false
  }

  mutating func send(at now: Instant) {
    isSent = true
    if isClose { until = now + SignallingChannel.responseTimeout }
  }

  /// The peer has said that the answer will take longer.
  mutating func prolong(at now: Instant) {
    if !isLapsed { until = min(now + Self.patience, latest) }
  }

  mutating func lapse(at now: Instant) {
    isLapsed = true
    until = now + SignallingChannel.responseTimeout
  }
}
