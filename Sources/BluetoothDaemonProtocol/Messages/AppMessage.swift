import BluetoothDaemon
import BluetoothWire

/// A change of an app's life that its user makes.
package enum AppControl: UInt8, Hashable, Sendable {
  /// Leaves the app, which goes on in the background.
  case background
  /// Returns to the app.
  case foreground
  /// Suspends the app earlier than its policy says.
  case suspend
  /// Ends the app. Nothing of it is restored.
  case quit
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

  var type: AppRequestType {
    switch self {
    case .returned: .returned
    case .wasInBackground: .wasInBackground
    case .restoreIdentifier: .restoreIdentifier
    case .listApps: .listApps
    case .controlApp: .controlApp
    case .setPermission: .setPermission
    case .setPower: .setPower
    case .listAlerts: .listAlerts
    case .explain: .explain
    case .resetIdentifiers: .resetIdentifiers
    case .setSharing: .setSharing
    case .monitor: .monitor
    }
  }

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .returned, .wasInBackground, .listApps, .monitor: break
    case .restoreIdentifier(let session, let identifier):
      writer.append(session.value)
      writer.append(identifier)
    case .controlApp(let app, let control):
      writer.append(app)
      writer.put(control)
    case .setPermission(let app, let isAllowed):
      writer.append(app)
      writer.append(isAllowed)
    case .setPower(let isOn): writer.append(isOn)
    case .listAlerts(let follows): writer.append(follows)
    case .explain(let peer): writer.append(peer)
    case .resetIdentifiers(let forgetsBonds): writer.append(forgetsBonds)
    case .setSharing(let peer, let isAllowed):
      writer.append(peer)
      writer.append(isAllowed)
    }
  }

  init(_ type: AppRequestType, from reader: inout MessageReader) throws(DecodingError) {
    switch type {
    case .returned: self = .returned
    case .wasInBackground: self = .wasInBackground
    case .restoreIdentifier:
      let session = try reader.session()
      self = .restoreIdentifier(session, try reader.text())
    case .listApps: self = .listApps
    case .controlApp:
      let app = try reader.text()
      self = .controlApp(app, try reader.value())
    case .setPermission:
      let app = try reader.text()
      self = .setPermission(app: app, try reader.bool())
    case .setPower: self = .setPower(try reader.bool())
    case .listAlerts: self = .listAlerts(follows: try reader.bool())
    case .explain: self = .explain(peer: try reader.text())
    case .resetIdentifiers: self = .resetIdentifiers(forgetsBonds: try reader.bool())
    case .setSharing:
      let peer = try reader.text()
      self = .setSharing(peer: peer, try reader.bool())
    case .monitor: self = .monitor
    }
  }
}
