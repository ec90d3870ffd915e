/// The state of the transport between a host and its controller in another process.
package enum TransportState: Hashable, Sendable {
  /// The transport is up.
  case ready
  /// The first connection attempt is in progress.
  case connecting
  /// The transport was up before, or may be up soon.
  case lost
  /// The transport cannot come up without action by the user.
  case refused
}
