import BluetoothWire

/// The identifier of a channel. It identifies no later channel.
package struct ChannelHandle: Hashable, Sendable {
  package let key: SlotKey
  package init(key: SlotKey) { self.key = key }
}

/// An open channel, as an event reports it. `Session.takeChannel` returns the channel itself.
package struct ChannelInfo: Hashable, Sendable {
  package let handle: ChannelHandle
  /// The channel's PSM, as reported to the app that publishes it.
  package let psm: UInt16
  package init(handle: ChannelHandle, psm: UInt16) {
    self.handle = handle
    self.psm = psm
  }
}
