import BluetoothDaemon
import BluetoothWire

/// A change of an app's life that its user makes.
package enum AppControl: UInt8, CaseIterable, Hashable, Sendable {
  /// Leaves the app, which goes on in the background.
  case background = 0
  /// Returns to the app.
  case foreground = 1
  /// Suspends the app earlier than its policy says.
  case suspend = 2
  /// Ends the app. Nothing of it is restored.
  case quit = 3
}

extension AppControl: MessageEnumeration {
  static var cases: [AppControl] { allCases }
}

/// A message from a client that belongs to no session: from an app about itself, or from the command line.
package enum AppMessage: Hashable, Sendable {
  /// The app has had another connection before. Nothing that it had then is restored.
  case returned
  /// The app was in the background or suspended on its former connection, as the server has told it, and stays in the
  /// background.
  case wasInBackground
  /// The restore identifier of a session that the app is about to open.
  case restoreIdentifier(SessionNumber, String)
  /// Asks for the apps; answered by `apps`.
  case listApps
  /// Changes the life of an app; answered by `done`.
  case controlApp(String, AppControl)
  /// Allows or denies an app the use of Bluetooth; answered by `done`.
  case setPermission(app: String, Bool)
  /// Switches the adapter of the connection on or off; answered by `done`.
  case setPower(Bool)
  /// Asks for the alerts so far, and for the later ones if `follows`; answered by `alerts`.
  case listAlerts(follows: Bool)
  /// Asks for the apps that use a peer, by its name, address or identifier; answered by `links`.
  case explain(peer: String)
  /// Gives all peers of the connection's adapter new identifiers; answered by `done`. `forgetsBonds`: all bonds are
  /// forgotten, too, as when the user of a phone resets its network settings.
  case resetIdentifiers(forgetsBonds: Bool)
  /// Allows or denies a bonded accessory, by its name, address or identifier, to get the notifications of the system;
  /// answered by `done`.
  case setSharing(peer: String, Bool)
  /// Asks for the HCI packets of the connection's adapter from now on; answered by `done`, and by `packet` for each
  /// packet.
  case monitor
}

extension AppMessage: MessageGroup {
  struct Rows {
    let returned = MessageRow(
      0x0300, "returned", "the program has been connected before; nothing of it is restored", AppMessage.returned)
    let restoreIdentifier = MessageRow(
      0x0301, "restoreIdentifier", "of a session that the next message opens", AppMessage.restoreIdentifier, "session",
      "identifier")
    let wasInBackground = MessageRow(
      0x0302, "wasInBackground", "the app was in the background or suspended on its former connection",
      AppMessage.wasInBackground)
    let listApps = MessageRow(0x0310, "listApps", "answered by `apps`", AppMessage.listApps)
    let controlApp = MessageRow(
      0x0311, "controlApp", "changes the life of an app; answered by `done`", AppMessage.controlApp, "app", "change")
    let setPermission = MessageRow(
      0x0312, "setPermission", "allows or denies an app the use of Bluetooth; answered by `done`",
      AppMessage.setPermission, "app", "allowed")
    let setPower = MessageRow(
      0x0313, "setPower", "switches the connection's adapter; answered by `done`", AppMessage.setPower, "on")
    let listAlerts = MessageRow(
      0x0314, "listAlerts", "the alerts so far; answered by `alerts`", AppMessage.listAlerts, "and those to come")
    let explain = MessageRow(
      0x0315, "explain", "the uses of a peer; answered by `links`", AppMessage.explain, "name, address or identifier")
    let resetIdentifiers = MessageRow(
      0x0316, "resetIdentifiers", "new identifiers of all peers of the connection's adapter; answered by `done`",
      AppMessage.resetIdentifiers, "forgets all bonds")
    let setSharing = MessageRow(
      0x0317, "setSharing", "lets an accessory get the notifications of the system; answered by `done`",
      AppMessage.setSharing, "name, address or identifier", "allowed")
    let monitor = MessageRow(
      0x0318, "monitor", "the packets of the connection's adapter; answered by `done` and `packet`", AppMessage.monitor)
  }

  static let rows = Rows()
  static let table = RowTable<AppMessage>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .returned: rows.returned.encode(into: &writer)
    case .restoreIdentifier(let session, let identifier):
      rows.restoreIdentifier.encode(session, identifier, into: &writer)
    case .wasInBackground: rows.wasInBackground.encode(into: &writer)
    case .listApps: rows.listApps.encode(into: &writer)
    case .controlApp(let app, let control): rows.controlApp.encode(app, control, into: &writer)
    case .setPermission(let app, let isAllowed): rows.setPermission.encode(app, isAllowed, into: &writer)
    case .setPower(let isOn): rows.setPower.encode(isOn, into: &writer)
    case .listAlerts(let follows): rows.listAlerts.encode(follows, into: &writer)
    case .explain(let peer): rows.explain.encode(peer, into: &writer)
    case .resetIdentifiers(let forgetsBonds): rows.resetIdentifiers.encode(forgetsBonds, into: &writer)
    case .setSharing(let peer, let isAllowed): rows.setSharing.encode(peer, isAllowed, into: &writer)
    case .monitor: rows.monitor.encode(into: &writer)
    }
  }
}
