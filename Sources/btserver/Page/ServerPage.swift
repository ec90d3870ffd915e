import BluetoothAir
import BluetoothDaemon
import BluetoothDaemonProtocol
import Dispatch

/// The apps of a server for its page: what `ble apps`, `ble alerts` and `ble why` show, and what `ble apps` and
/// `ble settings` change. It asks the server by its socket, as those commands do.
struct ServerPage {
  /// The maximum number of alerts that the page gets.
  private static let maximumAlerts = 50

  private let path: String
  private let queue = DispatchQueue(label: "page of the server")

  /// - Parameter path: the path of the server's socket.
  init(socket path: String) { self.path = path }

  var apps: PageApps {
    let (path, queue) = (path, queue)
    return PageApps(
      read: { answer in queue.async { answer(Self.state(of: ServerQuestion(to: Self.server(path)))) } },
      perform: { action, name, done in
        queue.async {
          do {
            try ServerQuestion(to: Self.server(path)).perform(Self.message(action, name))
            done(nil)
          } catch {
            done("\(error)")
          }
        }
      })
  }

  private static func server(_ path: String) -> ServerSpecifier { ServerSpecifier(.unix(path: path)) }

  private static func message(_ action: PageApps.Action, _ name: String) -> AppMessage {
    switch action {
    case .background: .controlApp(name, .background)
    case .foreground: .controlApp(name, .foreground)
    case .suspend: .controlApp(name, .suspend)
    case .quit: .controlApp(name, .quit)
    case .allow: .setPermission(app: name, true)
    case .deny: .setPermission(app: name, false)
    }
  }

  /// Returns the apps and alerts; nil: the server does not answer.
  private static func state(of server: ServerQuestion) -> JSONText? {
    guard let apps = try? server.apps(), let alerts = try? server.alerts() else { return nil }
    return .object([
      ("apps", .list(apps.map(text(of:)))),
      (
        "alerts",
        .list(
          alerts.suffix(maximumAlerts).map { alert in
            .object([
              ("number", .number("\(alert.number)")), ("time", .number("\(alert.time / 1_000)")),
              ("app", .text(alert.app)), ("text", .text(alert.text)),
            ])
          })
      ),
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

  private static func permission(_ access: AppAccess) -> String {
    switch access {
    case .allowed: "allowed"
    case .denied: "denied"
    case .undetermined: "undetermined"
    }
  }
}
