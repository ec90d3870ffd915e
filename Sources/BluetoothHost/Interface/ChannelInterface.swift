import BluetoothWire

/// What this side of an LE credit based channel takes · Vol 3, Part A, 4.22, 4.25.
package struct ChannelSettings: Hashable, Sendable {
  /// The longest frame that this host takes, and sends.
  static let maximumMPS = ATT.maximumMTU
  /// The least of LE credit based channels, and of enhanced ones.
  static let minimum: UInt16 = 23
  static let enhancedMinimum: UInt16 = 64

  /// The longest SDU, octets: 64 to 65,535.
  package let mtu: UInt16
  /// The longest frame, octets: 64 to 517. 247 octets fill one packet of the link layer.
  package let mps: UInt16
  /// How many frames the peer may be ahead; at least as many as the longest SDU needs.
  package let credits: UInt16

  /// Values out of range are brought into it.
  package init(mtu: UInt16 = 2_048, mps: UInt16 = 247, credits: UInt16 = 32) {
    self.mtu = max(Self.enhancedMinimum, mtu)
    self.mps = min(UInt16(Self.maximumMPS), max(Self.enhancedMinimum, mps))
    self.credits = max(1, credits)
  }
}

/// Tells a request for channels from others; its maker chooses it.
package struct ChannelToken: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A channel that is open.
package struct Channel: Hashable, Sendable {
  /// This side's end; unique on its link while the channel is open.
  package let id: L2CAP.ChannelID
  /// What it leads to · Vol 3, Part A, 4.22.
  package let spsm: UInt16
  /// The longest SDU that the peer takes, octets.
  package let sendMTU: Int
  /// The longest SDU that this side takes, octets.
  package let receiveMTU: Int
  /// Whether it can be reconfigured.
  package let isEnhanced: Bool
}

package enum ChannelError: Error, Hashable, Sendable {
  /// The peer refuses, with this result · Vol 3, Part A, 4.23, 4.26.
  case refused(L2CAP.ConnectionResult)
  /// The peer does not know the request.
  case notUnderstood
  /// The peer did not answer in time.
  case timeout
  /// The peer's answer makes no sense.
  case invalidAnswer
  /// This side has no channel left: 64 on a link.
  case outOfChannels
  /// There is no such link.
  case notConnected
}

package enum ReconfigurationError: Error, Hashable, Sendable {
  /// The peer refuses, with this result · Vol 3, Part A, 4.28.
  case refused(L2CAP.ReconfigureResult)
  /// The peer does not know the request.
  case notUnderstood
  /// The peer did not answer in time.
  case timeout
  /// One of the channels is not open, not enhanced, or being reconfigured already; or the values are smaller than those
  /// that it has. (Of one channel alone the frames may become shorter.)
  case notPossible
  /// There is no such link.
  case notConnected
}

/// What a host tells of the channels of a link. When the link ends, all of them are closed without a word.
package enum ChannelEvent: Sendable {
  /// A channel is open; the token is that of the request, nil if the peer has opened it.
  case opened(Channel, ChannelToken?)
  /// A channel that was asked for is not there; once for each.
  case openFailed(ChannelToken, ChannelError)
  /// An SDU has arrived; the peer gets new credits when it is acknowledged.
  case received(L2CAP.ChannelID, ByteSlice)
  /// `sendOnChannel` has refused for want of room, and there is room now.
  case hasRoom(L2CAP.ChannelID)
  /// Either side takes longer SDUs from now on.
  case reconfigured(Channel)
  /// What `reconfigure` was asked for these channels has not come about: they take what they took before.
  case reconfigurationFailed([L2CAP.ChannelID], ReconfigurationError)
  /// The channel is gone: either side wanted that, or the peer has broken the rules.
  case closed(L2CAP.ChannelID)
}
