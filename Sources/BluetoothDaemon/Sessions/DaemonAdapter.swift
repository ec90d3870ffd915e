import BluetoothWire
import NIOConcurrencyHelpers

/// A Bluetooth device, virtual or real, with the host stack on top of it. Managers open their sessions on it.
package protocol DaemonAdapter: AnyObject, Sendable {
  /// The adapter's knowledge of peers, for answers that an app gets synchronously.
  var directory: PeerDirectory { get }

  /// True if time is virtual: the adapter calls clients on the thread in `run`, and the app's callback must have
  /// returned when `receive` returns. False if time is real: `receive` must not wait.
  var deliversInPlace: Bool { get }

  /// Returns the adapter's time as seconds since 2001-01-01 00:00:00 UTC, as `CFAbsoluteTime` counts.
  func absoluteTime() -> Double

  /// The name of the app whose managers open sessions by this object; nil: they belong to no app.
  var app: String? { get }

  /// Returns the permission of the app that uses this object, which may have to be asked of another process. Blocks until
  /// that process has answered, or for `seconds`; must not be called on the adapter's thread.
  func toldAccess(within seconds: Double) -> AppAccess

  /// Opens a session for a central manager. Its first event is `stateChanged`, or `restored` if `owner` names a preserved
  /// session. The session holds the client weakly and
  /// ends with `close` or with its client. The session does not retain the adapter: the owner of the session must
  /// retain both.
  func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession

  /// Opens a session for a peripheral manager; see `openCentralSession`.
  func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession
}

/// An adapter in this process, which the apps of the process tell of their life.
package protocol AppAdapter: DaemonAdapter {
  /// Sets the receiver of an app's events, which is held weakly.
  func setClient(_ client: any AppClient, ofApp app: String)
  /// Sends a message about the life of an app.
  func send(_ request: AppRequest, ofApp app: String)
  /// Sets the receiver of events that belong to no app, which is held weakly.
  func setSystemClient(_ client: any SystemClient)
  /// Sends a request of the system's user.
  func send(_ request: SystemRequest)
  /// Sets the observer of the packets between host and controller, which is retained; nil: none.
  func setHCIObserver(_ observer: (any HCIObserver)?)
}

/// An observer of the packets between an adapter's host and its controller.
package protocol HCIObserver: AnyObject, Sendable {
  /// Called on the adapter's thread, in the order of the packets. The packet's octets are valid during the call.
  func packet(_ packet: HCI.Packet, isFromHost: Bool)
}

/// An adapter as the managers of one app see it.
package final class AppView: DaemonAdapter {
  private struct Suspension {
    var isSuspended = false
    /// The work that waits for the end of the suspension.
    var waiting: [@Sendable () -> Void] = []
  }

  private let base: any DaemonAdapter
  package let app: String?
  private let suspension = NIOLockedValueBox(Suspension())

  /// Suspends the app's own work, or lets it go on.
  package func setSuspended(_ isSuspended: Bool) {
    let due = suspension.withLockedValue { suspension -> [@Sendable () -> Void] in
      suspension.isSuspended = isSuspended
      guard !isSuspended else { return [] }
      defer { suspension.waiting = [] }
      return suspension.waiting
    }
    for body in due { body() }
  }

  /// Calls `body` now, or when the app is no longer suspended.
  package func whenRunning(_ body: @escaping @Sendable () -> Void) {
    let isSuspended = suspension.withLockedValue { suspension in
      if suspension.isSuspended { suspension.waiting.append(body) }
      return suspension.isSuspended
    }
    if !isSuspended { body() }
  }

  package init(of base: any DaemonAdapter, for app: String) {
    self.base = base
    self.app = app
  }

  package var directory: PeerDirectory { base.directory }
  package var deliversInPlace: Bool { base.deliversInPlace }
  package func absoluteTime() -> Double { base.absoluteTime() }
  package func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession {
    base.openCentralSession(for: client, owner: owner)
  }
  package func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession {
    base.openPeripheralSession(for: client, owner: owner)
  }
}

extension DaemonAdapter {
  /// The permission of the managers that open sessions by this object.
  package var access: AppAccess { app.map { directory.access(ofApp: $0) } ?? directory.access }
  package var app: String? { nil }

  package func toldAccess(within seconds: Double) -> AppAccess { access }

  /// Returns the identifier by which the managers that use this object know a peer.
  package func identifier(of peer: PeerIdentifier) -> PeerIdentifier {
    app.map { directory.identifier(peer, ofApp: $0) } ?? peer
  }

  /// Returns the identifiers of the adapter behind those of the managers, without unknown ones.
  package func adapterIdentifiers(of identifiers: [PeerIdentifier]) -> [PeerIdentifier] {
    guard let app else { return identifiers }
    return identifiers.compactMap { directory.adapterIdentifier($0, ofApp: app) }
  }

  package func openCentralSession(for client: any CentralClient) -> CentralSession {
    openCentralSession(for: client, owner: nil)
  }
  package func openPeripheralSession(for client: any PeripheralClient) -> PeripheralSession {
    openPeripheralSession(for: client, owner: nil)
  }
}
