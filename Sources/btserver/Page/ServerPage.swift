import BluetoothAir
import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothServer

/// The apps of a server for its page: what `ble apps`, `ble alerts` and `ble why` show, and what `ble apps` and
/// `ble settings` change.
struct ServerPage {
  /// The maximum number of alerts that the page gets.
  private static let maximumAlerts = 50

  let server: DaemonServer

  var apps: PageApps {
    let server = server
    return PageApps(
      read: { answer in server.readOverview { answer(Self.text(of: $0)) } },
      perform: { action, name, done in
        switch action {
        case .background: server.perform(.background, on: name, done)
        case .foreground: server.perform(.foreground, on: name, done)
        case .suspend: server.perform(.suspend, on: name, done)
        case .quit: server.perform(.quit, on: name, done)
        case .allow: server.setPermission(true, of: name, done)
        case .deny: server.setPermission(false, of: name, done)
        }
      })
  }

  private static func text(of overview: ServerOverview) -> JSONText {
    .object([
      ("apps", .list(overview.apps.map(text(of:)))),
      ("holds", .list(overview.uses.map { text(of: $0.use, on: $0.adapter) })),
      ("alerts", .list(overview.alerts.suffix(maximumAlerts).map(text(of:)))),
    ])
  }

  private static func text(of alert: AlertDescription) -> JSONText {
    .object([
      ("number", .number("\(alert.number)")), ("time", .number("\(alert.time / 1_000)")),
      ("app", .text(alert.app)), ("text", .text(alert.text)),
    ])
  }

  private static func text(of app: AppDescription) -> JSONText {
    var fields: [(String, JSONText)] = [
      ("name", .text(app.name)), ("state", .text("\(app.state)")), ("adapter", .text(app.adapter)),
      ("sessions", .number("\(app.sessions)")), ("processes", .list(app.processes.map { .number("\($0)") })),
      ("permission", .text(permission(app.access))), ("launched", .flag(app.isLaunchable)),
    ]
    if let question = app.question { fields.append(("question", .text(question))) }
    return .object(fields)
  }

  /// Returns the apps that hold the link to a peer, wait for it, or serve the peer.
  private static func text(of use: PeerUsage, on adapter: String) -> JSONText {
    var fields: [(String, JSONText)] = [
      ("adapter", .text(adapter)), ("address", .text(String("\(use.address)".prefix { $0 != " " }))),
      ("linked", .flag(use.isLinked)), ("ending", .flag(use.isEnding)),
      ("apps", .list(use.users.map { .text(name(of: $0.app)) })),
      ("served", .list(use.served.map { .text(name(of: $0.app)) })),
    ]
    if let name = use.name { fields.append(("peer", .text(name))) }
    return .object(fields)
  }

  private static func name(of app: String?) -> String { app ?? "a program that is no app" }

  private static func permission(_ access: AppAccess) -> String {
    switch access {
    case .allowed: "allowed"
    case .denied: "denied"
    case .undetermined: "undetermined"
    }
  }
}
