/// What a manager opens its session on: one Bluetooth device, virtual or real, with all that stands on it.
package protocol Adapter: AnyObject, Sendable {
  /// What is known of peers, for answers that an app gets at once.
  var directory: PeerDirectory { get }

  /// Time is virtual: clients are called on the thread in `run`, and the app's callback must have returned when
  /// `receive` returns. False: time is real and `receive` must not wait.
  var deliversInPlace: Bool { get }

  /// The adapter's time as seconds since 2001-01-01 00:00:00 UTC, as `CFAbsoluteTime` counts.
  func absoluteTime() -> Double

  /// A session for a central manager. The first event is `stateChanged`. The client is held weakly; the session ends
  /// with `close` or with its client. The session does not keep the adapter: whoever uses the one keeps the other.
  func openCentralSession(for client: any CentralClient) -> CentralSession

  /// A session for a peripheral manager; see `openCentralSession`.
  func openPeripheralSession(for client: any PeripheralClient) -> PeripheralSession
}
