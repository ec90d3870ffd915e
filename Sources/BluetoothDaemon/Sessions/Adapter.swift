/// A Bluetooth device, virtual or real, with the host stack on top of it. Managers open their sessions on it.
package protocol Adapter: AnyObject, Sendable {
  /// The adapter's knowledge of peers, for answers that an app gets synchronously.
  var directory: PeerDirectory { get }

  /// True if time is virtual: the adapter calls clients on the thread in `run`, and the app's callback must have
  /// returned when `receive` returns. False if time is real: `receive` must not wait.
  var deliversInPlace: Bool { get }

  /// Returns the adapter's time as seconds since 2001-01-01 00:00:00 UTC, as `CFAbsoluteTime` counts.
  func absoluteTime() -> Double

  /// Opens a session for a central manager. Its first event is `stateChanged`. The session holds the client weakly and
  /// ends with `close` or with its client. The session does not retain the adapter: the owner of the session must
  /// retain both.
  func openCentralSession(for client: any CentralClient) -> CentralSession

  /// Opens a session for a peripheral manager; see `openCentralSession`.
  func openPeripheralSession(for client: any PeripheralClient) -> PeripheralSession
}
