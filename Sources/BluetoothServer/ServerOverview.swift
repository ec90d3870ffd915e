import BluetoothDaemon
import BluetoothDaemonProtocol

/// The apps of a server, as its user sees them.
package struct ServerOverview: Sendable {
  package var apps: [AppDescription] = []
  /// The alerts so far, oldest first.
  package var alerts: [AlertDescription] = []
  /// The uses of the peers that have a link or for which an app waits, by the name of the adapter.
  package var uses: [(adapter: String, use: PeerUsage)] = []
}

// For the program of the server, which shows and changes what clients do by messages.
extension DaemonServer {
  /// Calls `answer` on the server's thread with the present state of the apps, unless the server ends before.
  package func readOverview(_ answer: @escaping @Sendable (ServerOverview) -> Void) {
    let apps = clients.apps
    apps.gate.execute {
      var overview = ServerOverview(apps: apps.descriptions, alerts: apps.alerts)
      var unansweredCount = apps.adapters.count
      for served in apps.adapters {
        apps.readUses(on: served) { uses in
          overview.uses += uses.map { (served.name, $0) }
          unansweredCount -= 1
          if unansweredCount == 0 { answer(overview) }
        }
      }
    }
  }

  /// Changes the life of an app on all adapters. Calls `answer` on the server's thread with the reason why that is not
  /// possible; nil: it is done.
  package func perform(_ control: AppControl, on app: String, _ answer: @escaping @Sendable (String?) -> Void) {
    let apps = clients.apps
    apps.gate.execute { apps.perform(control, on: app, answer) }
  }

  /// Allows or denies an app the use of all adapters. Calls `answer` on the server's thread with the reason why that is
  /// not possible; nil: it is done.
  package func setPermission(
    _ isAllowed: Bool, of app: String, _ answer: @escaping @Sendable (String?) -> Void
  ) {
    let apps = clients.apps
    apps.gate.execute { apps.setPermission(isAllowed, of: app, answer) }
  }
}
