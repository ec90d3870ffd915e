import BluetoothHost
import BluetoothWire

/// A server of services that the system itself provides, such as those of a telephone. The daemon calls it with the
/// host of the adapter.
package protocol SystemServer: AnyObject, Sendable {
  /// The time of the next call of `timeReached`; nil: no timer is running.
  var deadline: Instant? { get }
  /// Returns true if the attribute belongs to one of the services.
  func owns(_ handle: AttributeHandle) -> Bool
  /// Starts serving: the adapter is on. The first call publishes the services, which then stay in the host's database.
  func started(_ host: inout Host, at now: Instant)
  /// Stops serving: the adapter is off or not usable, and has no links.
  func stopped(at now: Instant)
  /// Notes a new link.
  func linkBegan(_ connection: HCI.ConnectionHandle, _ host: inout Host, at now: Instant)
  /// Notes the end of a link.
  func linkEnded(_ connection: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, _ host: inout Host, at now: Instant)
  /// Handles an event of an attribute that the server owns.
  func handle(_ event: GATTEvent, on connection: HCI.ConnectionHandle, _ host: inout Host, at now: Instant)
  /// Handles the deadline.
  func timeReached(_ host: inout Host, at now: Instant)
}
