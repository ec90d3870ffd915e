import BluetoothWire

/// A request of this side about channels, from its creation to its end.
struct ChannelRequest {
  enum Kind {
    case open([L2CAP.ChannelID], ChannelToken)
    case reconfigure([L2CAP.ChannelID], mtu: UInt16, mps: UInt16)
    case close(L2CAP.ChannelID)
  }

  /// The maximum number of requests; further ones are refused. Disconnections are exempt, because there are never
  /// more of them than channels.
  static let maximumCount = 128
  /// The maximum number of disconnections without a response from the peer, and the same for all other requests: the
  /// peer's room for answers is limited.
  static let maximumSent = 8
  /// The wait after a pending response, and the maximum total wait · Vol 3, Part A, 6.2.2: ERTX.
  private static let extendedTimeout = TimeSpan.seconds(60)
  private static let longest = TimeSpan.seconds(300)

  let identifier: UInt8
  var kind: Kind
  private var until: Instant
  private let latest: Instant
  /// True once the request has been sent, after which it cannot be withdrawn.
  private(set) var isSent = false
  /// True if the request timed out and the owner knows. The request is kept for a while so that channels in a late
  /// response can be closed.
  private(set) var isLapsed = false

  init(identifier: UInt8, kind: Kind, at now: Instant) {
    self.identifier = identifier
    self.kind = kind
    until = now + SignallingChannel.responseTimeout
    latest = now + Self.longest
  }

  /// The end of the wait for the response. The wait of a disconnection begins when it is sent, because the peer keeps
  /// its end of the channel until then.
  var deadline: Instant? { isClose && !isSent ? nil : until }

  var isClose: Bool {
    if case .close = kind { return true }
    return false
  }

  mutating func send(at now: Instant) {
    isSent = true
    if isClose { until = now + SignallingChannel.responseTimeout }
  }

  /// Extends the wait after the peer has announced a later response.
  mutating func prolong(at now: Instant) {
    if !isLapsed { until = min(now + Self.extendedTimeout, latest) }
  }

  mutating func lapse(at now: Instant) {
    isLapsed = true
    until = now + SignallingChannel.responseTimeout
  }
}
