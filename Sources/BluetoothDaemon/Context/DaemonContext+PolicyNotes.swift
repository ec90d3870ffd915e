import BluetoothWire

// The log lines about what the platform's policy changes or drops. The code calls these functions only where a rule has
// an effect, so that apps without limits pay nothing.
extension DaemonContext {
  /// Adds a line for the log if the rule has its first effect on the app.
  ///
  /// - Parameter app: The app that owns the session; nil: none.
  mutating func note(_ rule: PolicyRule, of app: AppIndex?) {
    apps.note(rule, of: app, policy)
  }

  // MARK: Radio

  /// Notes the limits of a scan in the background.
  mutating func noteBackgroundScan(at index: Int) {
    guard let app = sessions.centrals.values[index]?.session.app,
      let request = sessions.centrals.values[index]?.scan?.request
    else { return }
    guard apps[app].isWoken(by: .central, policy) else { return note(.scanMode, of: app) }
    guard request.services?.isEmpty == false else { return note(.scanServices, of: app) }
    if request.allowsDuplicates { note(.scanDuplicates, of: app) }
  }

  /// Notes the pauses of the scan for each app that scans in the background. No other app scans.
  mutating func noteSlowScan() {
    for index in sessions.centrals.values.indices where sessions.centrals.values[index]?.scan != nil {
      if scanUse(at: index) == .reduced { note(.slowScan, of: sessions.centrals.values[index]?.session.app) }
    }
  }

  /// Notes the limits of a session's advertising if its app is in the background.
  ///
  /// - Parameter isSlow: true if no app in the foreground advertises, and the interval is longer for that reason.
  mutating func noteAdvertising(
    of session: PeripheralSessionID, name: String?, services: [BluetoothUUID], isSlow: Bool
  ) {
    guard let app = sessions.owner(of: session), radioUse(of: app, as: .peripheral) != .full else { return }
    guard apps[app].isWoken(by: .peripheral, policy) else { return note(.advertisingMode, of: app) }
    if name != nil { note(.advertisedName, of: app) }
    if !services.isEmpty { note(.overflowServices, of: app) }
    if isSlow { note(.slowAdvertising, of: app) }
  }

  // MARK: Links and restoration

  /// Notes that the system or a session's app has as many links as the platform allows, if the platform and not the
  /// adapter's owner has set the limit.
  mutating func noteLinkLimit(of session: CentralSessionID, to peer: PeerHandle) {
    if isAtLinkLimit(for: peer) { return note(.linkLimit, of: sessions.owner(of: session)) }
    guard let app = sessions.owner(of: session), let limit = policy.linksPerApp, limit <= shares.links ?? limit else {
      return
    }
    note(.linksPerApp, of: app)
  }

  /// Notes the end of an idle link for the apps that use it.
  mutating func noteIdleLink(_ link: LinkIndex) {
    let users = peers[links[link].peer].users
    for user in users where user.phase == .connected { note(.idleLink, of: sessions.owner(of: user.session)) }
  }

  /// Notes that a session with a restore identifier ends with its app, which the system has terminated.
  mutating func noteUnpreserved(_ app: AppIndex, as mode: AppManifest.BackgroundMode) {
    guard policy.restoresApps else { return note(.restoration, of: app) }
    note(mode == .central ? .unpreservedCentral : .unpreservedPeripheral, of: app)
  }
}
