import BluetoothWire

/// The receive limits of this side of an LE credit based channel · Vol 3, Part A, 4.22, 4.25.
package struct ChannelSettings: Hashable, Sendable {
  /// The largest MPS of this host, for both directions, in octets.
  static let maximumMPS = ATT.maximumMTU
  /// The smallest MTU and MPS of LE credit based channels. `enhancedMinimum` is that of enhanced credit based
  /// channels.
  static let minimum: UInt16 = 23
  static let enhancedMinimum: UInt16 = 64

  /// The maximum length of an SDU in octets: 64 to 65,535.
  package let mtu: UInt16
  /// The maximum length of a K-frame's payload (MPS) in octets: 64 to 517. 247 octets fill one packet of the link
  /// layer.
  package let mps: UInt16
  /// The number of K-frames that the peer may send without new credits; at least as many as the longest SDU needs.
  package let credits: UInt16

  /// Creates settings; values out of range are limited to the range.
  package init(mtu: UInt16 = 2_048, mps: UInt16 = 247, credits: UInt16 = 32) {
    self.mtu = max(Self.enhancedMinimum, mtu)
    self.mps = min(UInt16(Self.maximumMPS), max(Self.enhancedMinimum, mps))
    self.credits = max(1, credits)
  }
}

/// The identifier of a request for channels, chosen by the requester.
package struct ChannelToken: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An open channel.
package struct Channel: Hashable, Sendable {
  /// The local channel identifier; unique on its link while the channel is open.
  package let id: L2CAP.ChannelID
  /// The SPSM that the channel connects to · Vol 3, Part A, 4.22.
  package let spsm: UInt16
  /// The longest SDU that the peer accepts, in octets.
  package let sendMTU: Int
  /// The longest SDU that this side accepts, in octets.
  package let receiveMTU: Int
  /// True for an enhanced credit based channel, which can be reconfigured.
  package let isEnhanced: Bool
}

package enum ChannelError: Error, Hashable, Sendable {
  /// The peer refused the channel with this result · Vol 3, Part A, 4.23, 4.26.
  case refused(L2CAP.ConnectionResult)
  /// The peer does not support the request.
  case notUnderstood
  /// The peer did not answer in time.
  case timeout
  /// The peer's answer is invalid.
  case invalidAnswer
  /// This side has no free channel: a link has at most 64.
  case outOfChannels
  /// The link does not exist.
  case notConnected
}

package enum ReconfigurationError: Error, Hashable, Sendable {
  /// The peer refused the reconfiguration with this result · Vol 3, Part A, 4.28.
  case refused(L2CAP.ReconfigureResult)
  /// The peer does not support the request.
  case notUnderstood
  /// The peer did not answer in time.
  case timeout
  /// One of the channels is not open, not enhanced, or already being reconfigured, or the new values are smaller than
  /// the current ones. (The MPS may decrease if the request is for a single channel.)
  case notPossible
  /// The link does not exist.
  case notConnected
}

/// An event of a link's channels. All channels close without an event when the link ends.
package enum ChannelEvent: Sendable {
  /// A channel has opened; the token is that of the request, nil if the peer has opened the channel.
  case opened(Channel, ChannelToken?)
  /// A requested channel could not be opened; reported once for each channel.
  case openFailed(ChannelToken, ChannelError)
  /// An SDU has arrived; the peer gets new credits when the SDU is acknowledged.
  case received(L2CAP.ChannelID, ByteSlice)
  /// The channel has room again, after `sendOnChannel` has refused an SDU.
  case hasRoom(L2CAP.ChannelID)
  /// The longest SDU of either side has changed.
  case reconfigured(Channel)
  /// The reconfiguration of these channels has failed; their settings are unchanged.
  case reconfigurationFailed([L2CAP.ChannelID], ReconfigurationError)
  /// The channel has closed: either side has disconnected it, or the peer has violated the protocol. `hasSentAll`:
  /// false if SDUs were still queued, which are lost.
  case closed(L2CAP.ChannelID, hasSentAll: Bool)
  /// The end of `closeChannelWhenSent`, before or after `closed`. `isConfirmed`: the peer has all SDUs, because it has
  /// answered the request that followed them, or because the controller had delivered all of them when the peer closed
  /// the channel or the link ended.
  case closeEnded(L2CAP.ChannelID, isConfirmed: Bool)
}
