import BluetoothWire

/// The identifier of a channel. It identifies no later channel.
package struct ChannelHandle: Hashable, Sendable {
  let key: SlotKey
}

/// An open channel, as an event reports it. `Session.takeChannel` returns the channel itself.
package struct ChannelInfo: Hashable, Sendable {
  package let handle: ChannelHandle
  /// The channel's PSM, as reported to the app that publishes it.
  package let psm: UInt16
}
