import BluetoothHost
import BluetoothWire

// The rules of the platform for the apps of peripheral managers.
extension PeripheralBroker {
  /// The use that a session's advertising may make of the radio.
  func advertisingUse(of session: PeripheralSessionID, _ context: borrowing DaemonContext) -> RadioUse {
    context.radioUse(of: context.sessions.owner(of: session), as: .peripheral)
  }

  /// Notes the limits of a session's advertising if its app is in the background.
  ///
  /// - Parameter isSlow: true if no app in the foreground advertises, and the interval is longer for that reason.
  func noteAdvertising(_ request: AdvertisingState.Request, isSlow: Bool, _ context: inout DaemonContext) {
    guard let app = context.sessions.owner(of: request.session),
      context.radioUse(of: app, as: .peripheral) != .full
    else { return }
    guard context.apps.isWoken(app, by: .peripheral) else {
      return context.note(.advertisingMode, of: app)
    }
    if request.localName != nil { context.note(.advertisedName, of: app) }
    if !request.services.isEmpty { context.note(.overflowServices, of: app) }
    if isSlow { context.note(.slowAdvertising, of: app) }
  }

  /// The minimum time between two updates of values of a session; nil: there is none.
  func updateSpacing(of session: PeripheralSessionID, _ context: borrowing DaemonContext) -> TimeSpan? {
    guard let limits = context.policy.background, let app = context.sessions.owner(of: session),
      context.apps[app].isInBackground
    else { return nil }
    return TimeSpan.seconds(1) / Int64(max(limits.updatesPerSecond, 1))
  }

  /// Returns true if a client's request can wait for the app of a session: the app runs, or the request runs or
  /// launches it. Notes the rule if the app is suspended and the request does not run it.
  ///
  /// - Parameter isCommand: true if the client expects no answer. A command waits for a terminated app without a limit.
  func canAsk(_ session: PeripheralSessionID, isCommand: Bool, _ context: inout DaemonContext) -> Bool {
    guard let app = context.sessions.owner(of: session) else { return true }
    switch context.apps[app].phase {
    case .foreground, .background: return true
    case .suspended:
      if context.apps.isWoken(app, by: .peripheral) { return true }
      context.note(.suspendedServer, of: app)
      return false
    case .terminated: return isCommand || context.apps[app].canBeLaunched
    }
  }

  // MARK: Reports about links

  /// Reports the reason for the end of a link to the sessions that observe links and have heard of this one.
  func reportEnd(_ reason: HCI.ErrorCode, on link: DaemonLinkIndex, _ context: inout DaemonContext) {
    for session in context.sessions.observingPeripherals where context.links[link].server.isKnown(to: session) {
      context.deliver(.link(context.centralInfo(of: link), .ended(reason)), to: session)
    }
  }

  /// Reports a confirmed indication to the session with the characteristic, if the session observes links.
  func reportConfirmation(
    of characteristic: LocalAttributeID, on link: DaemonLinkIndex, to session: PeripheralSessionID,
    _ context: inout DaemonContext
  ) {
    guard context.sessions.observesLinks(session) else { return }
    context.deliver(.indicationConfirmed(context.centralInfo(of: link), characteristic), to: session)
  }

  /// Reports that a client has repeated or changed its subscription to the session with the characteristic, if the
  /// session observes links. A suspended app hears only of subscriptions that begin or end: a repetition among its
  /// waiting events would be taken for a subscription of which the app has not heard.
  func reportRepetition(
    of characteristic: LocalAttributeID, on link: DaemonLinkIndex, to session: PeripheralSessionID,
    _ context: inout DaemonContext
  ) {
    guard context.sessions.observesLinks(session), !context.sessions.isPreserved(.peripheral(session)) else { return }
    if let app = context.sessions.owner(of: session), context.apps[app].isAsleep { return }
    context.deliver(.subscribed(context.centralInfo(of: link), characteristic), on: link, to: session)
  }
}
