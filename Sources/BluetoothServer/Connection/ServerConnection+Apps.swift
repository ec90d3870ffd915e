import BluetoothDaemon
import BluetoothDaemonProtocol
import NIOCore

// The messages about apps, and those of the command line.
extension ServerConnection {
  func handle(_ message: AppMessage) {
    let apps = clients.apps
    if message.isControl {
      guard let identity, apps.setup.mayControl(identity) else {
        logOnce(.mayNotControl, "may not control the server")
        return report(
          .done(failure: "only the user of the server and the superuser may do this, on the machine of the server"))
      }
    }
    switch message {
    case .returned: hasReturned = true
    case .wasInBackground: wasInBackground = true
    case .restoreIdentifier(let number, let identifier):
      guard restoreIdentifiers.count < limits.sessions else { return violate("more identifiers than sessions") }
      restoreIdentifiers[number] = identifier
    case .listApps: report(.apps(apps.descriptions))
    case .controlApp(let name, let control):
      apps.perform(control, on: name) { [weak self] in self?.report(.done(failure: $0)) }
    case .setPermission(let name, let isAllowed):
      // The answer comes when the decision is on the disk.
      apps.setPermission(isAllowed, of: name) { [weak self] in self?.report(.done(failure: $0)) }
    case .setPower(let isOn):
      guard let host = served?.host else { return report(.done(failure: "this adapter has no switch")) }
      logOnce(.power(isOn), "switches the adapter \(isOn ? "on" : "off")")
      host.send(.setPower(isOn))
      report(.done(failure: nil))
    case .resetIdentifiers(let forgetsBonds):
      guard let host = served?.host else { return report(.done(failure: "this adapter can't be reset")) }
      let subject = forgetsBonds ? "network settings" : "identifiers of peers"
      logOnce(.reset(forgetsBonds: forgetsBonds), "resets the \(subject)")
      host.send(.resetIdentifiers(forgetsBonds: forgetsBonds))
      report(.done(failure: nil))
    case .setSharing(let peer, let isAllowed):
      guard let served else { return }
      report(.done(failure: apps.setSharing(isAllowed, with: peer, on: served)))
    case .listAlerts(let follows): apps.reportAlerts(to: self, follows: follows)
    case .explain(let peer):
      guard let served else { return }
      apps.explain(peer, on: served) { [weak self] in self?.report(.links($0)) }
    case .monitor:
      guard let served, let outbox else { return }
      guard let host = served.host else { return report(.done(failure: "this adapter has no HCI packets")) }
      logOnce(.monitor, "monitors the adapter \(served.name)")
      apps.monitor(outbox, on: served)
      // The answer comes when the adapter's thread has begun to pass packets.
      apps.afterRequests(to: host) { [weak self] in self?.report(.done(failure: nil)) }
    }
  }

  /// Sends a message about apps. The parts that do not fit into it are left out.
  func report(_ report: AppReport) { outbox?.send(.app(report.fitted)) }

  /// Tells the client that its app has been ended, and ends its sessions. The client has some time to end itself.
  func stop(_ reason: String, byUser: Bool) {
    isStopped = true
    app = nil
    report(.stop(reason, byUser: byUser))
    context?.eventLoop.scheduleTask(in: Self.stopTime) { [weak self] in self?.refuse(.stopping, reason) }
  }
}

extension AppMessage {
  /// True if only a client that may control the server can send the message.
  fileprivate var isControl: Bool {
    switch self {
    case .controlApp, .setPermission, .setPower, .resetIdentifiers, .setSharing, .monitor: true
    case .returned, .wasInBackground, .restoreIdentifier, .listApps, .listAlerts, .explain: false
    }
  }
}
