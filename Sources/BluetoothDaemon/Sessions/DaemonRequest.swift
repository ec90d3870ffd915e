import BluetoothWire

/// A message from a client to the daemon. It is a value that could be encoded: sessions, peers, attributes and channels
/// are identifiers.
package enum DaemonRequest: Sendable {
  /// Opens a central manager's session. The first event is `stateChanged`, or `restored` if the session was preserved.
  /// Without an owner, the session belongs to no app, and the policy of the platform does not limit it.
  case openCentral(CentralSessionID, SessionOwner?)
  /// A command of a central manager; `seenStates`: see `SessionCounters`.
  case central(CentralSessionID, CentralCommand, seenStates: UInt32)
  /// Ends a session with everything that it uses.
  case closeCentral(CentralSessionID)
  case openPeripheral(PeripheralSessionID, SessionOwner?)
  case peripheral(PeripheralSessionID, PeripheralCommand, seenStates: UInt32)
  case closePeripheral(PeripheralSessionID)
  /// A process in which an app runs has ended, and has not handled these events of a session. The end of the app
  /// follows.
  case unhandled(UnhandledEvents)
  /// An app has read from, written to or closed a channel. The octets are in the channel's `ChannelPipe`; a transport
  /// between processes sends them with this message.
  case channel(ChannelHandle)
  /// A change of the life of an app, by the name of the app.
  case app(String, AppRequest)
  /// A request of the system's user that concerns no app.
  case system(SystemRequest)
  /// A client in another process knows a device from before this daemon's start, or before the daemon has forgotten it.
  /// The daemon makes it a peer, which the directory shows.
  case introduce(DeviceAddress, CentralSessionID)
}

/// A message from the daemon to a client; see `DaemonRequest`.
package enum DaemonEvent: Sendable {
  case central(CentralSessionID, CentralEvent)
  case peripheral(PeripheralSessionID, PeripheralEvent)
  /// A channel has changed: octets to read, room to write, or its end.
  case channel(ChannelHandle)
  /// An event for the process that runs an app, by the name of the app.
  case app(String, AppEvent)
  /// An event that belongs to no app.
  case system(SystemEvent)
}
