import BluetoothHost
import BluetoothWire

/// The broker of the adapter's state and of the questions to its user on behalf of apps: for permission to use
/// Bluetooth, and to switch it on.
struct PermissionBroker {
  /// The adapter's state. It is unknown until the host first reports its own state.
  private(set) var state = AdapterState.unknown
  private var questions: AppQuestions

  /// - Parameters:
  ///   - app: the name of the process, for which the user must give permission, as for each app; nil: the user is not
  ///     asked about the process.
  ///   - asksForApps: true if the user must give permission for each app, even if `app` is nil.
  init(app: String?, asksForApps: Bool) { questions = AppQuestions(app: app, asksForApps: asksForApps) }

  /// The permission of an app about which nothing is stored.
  var accessOfNewApps: AppAccess { questions.asksForApps ? .undetermined : .allowed }

  /// The adapter's state as an app sees it; nil: a session that belongs to no app.
  func state(for app: AppIndex?) -> AdapterState { state(for: AppQuestions.Subject(app)) }

  private func state(for subject: AppQuestions.Subject) -> AdapterState {
    // The state is read for each command.
    if questions.allowsAll { return state }
    return switch questions.access(of: subject) {
    case .allowed: state
    // Without usable Bluetooth there is nothing to permit.
    case .denied: state == .unsupported || state == .unknown ? state : .unauthorized
    case .unasked, .asking: state == .unsupported ? state : .unknown
    }
  }

  /// Restores the user's answer of a former run about the process.
  mutating func recallAccess(_ bonds: inout BondBroker, _ context: inout DaemonContext) {
    recall(.process, &bonds, context.apps)
    context.directory.access = questions.access(of: .process).forApps
  }

  /// Restores the user's answer of a former run about an app, at its first session.
  mutating func recallAccess(of app: AppIndex, _ bonds: inout BondBroker, _ context: inout DaemonContext) {
    guard questions.access[.app(app)] == nil else { return }
    recall(.app(app), &bonds, context.apps)
    publish(.app(app), &context)
  }

  /// Shows the stored decisions on apps that the daemon has not heard of.
  func publish(_ decisions: AppPermissions, _ context: borrowing DaemonContext) {
    for name in decisions.order where context.apps.index(of: name) == nil {
      guard let isAllowed = decisions[name] else { continue }
      context.directory.setAccess(isAllowed ? .allowed : .denied, ofApp: name)
    }
  }

  private mutating func recall(
    _ subject: AppQuestions.Subject, _ bonds: inout BondBroker, _ apps: DaemonApps
  ) {
    var name = questions.processName
    // The user can change the permission of an app in the settings without having been asked.
    if case .app(let app) = subject { name = apps[app].name }
    guard let name, let isAllowed = bonds.access(of: name) else { return }
    questions.access[subject] = isAllowed ? .allowed : .denied
  }

  /// The name of a subject in questions and in the store; nil: the user is not asked.
  private func name(of subject: AppQuestions.Subject, _ apps: DaemonApps) -> String? {
    switch subject {
    case .process: questions.processName
    case .app(let app): questions.asksForApps ? apps[app].name : nil
    }
  }

  /// Shows the permission of a subject to its managers.
  private func publish(_ subject: AppQuestions.Subject, _ context: inout DaemonContext) {
    let access = questions.access(of: subject).forApps
    switch subject {
    case .process: context.directory.access = access
    case .app(let app):
      context.apps[app].setDenied(access == .denied)
      context.directory.setAccess(access, ofApp: context.apps[app].name)
    }
  }

  /// Changes the adapter's state and reports it to apps.
  mutating func become(_ new: AdapterState, at now: Instant, _ context: inout DaemonContext) {
    let before = states(context.sessions)
    state = new
    tellStates(after: before, &context)
    askForApps(at: now, &context)
  }

  /// Asks the pending questions; none while the adapter's state is unknown, or if the adapter does not support
  /// Bluetooth.
  mutating func askForApps(at now: Instant, _ context: inout DaemonContext) {
    guard state != .unknown, state != .unsupported else { return }
    questions.hasWaiting = false
    for (subject, user) in unasked(context.sessions) {
      guard let name = name(of: subject, context.apps) else { continue }
      guard context.mayAsk(for: user) else {
        questions.hasWaiting = true
        continue
      }
      let usage = subject.app.flatMap { context.apps[$0].manifest.usageDescription }
      let id = context.prompts.ask(.useBluetooth(app: name, usage: usage), of: user, at: now)
      questions.access[subject] = .asking(id)
    }
    if state != .poweredOff {
      questions.isTurningOn = false
      withdrawPowerQuestion(&context.prompts)
    }
    let states = subjects(context.sessions).map { state(for: $0) }
    // Requests made while the user is being asked get the same answer.
    if states.contains(.poweredOff) {
      if questions.wantsPower, questions.power == nil, !questions.isTurningOn {
        questions.power = context.prompts.ask(.turnOn, at: now)
      }
      questions.wantsPower = false
    } else if states.allSatisfy({ $0 == .poweredOn || $0 == .unauthorized }) {
      // Otherwise the state is not final, and the request remains.
      questions.wantsPower = false
    }
  }

  /// Asks the questions that have waited until others of the same user ended.
  mutating func askWaiting(at now: Instant, _ context: inout DaemonContext) {
    if questions.hasWaiting { askForApps(at: now, &context) }
  }

  /// Handles an app's request to turn Bluetooth on. Asks the user again even if the user has refused another app's
  /// request.
  mutating func askForPower(at now: Instant, _ context: inout DaemonContext) {
    questions.wantsPower = true
    askForApps(at: now, &context)
  }

  /// Withdraws the questions about subjects whose last session has ended.
  mutating func stopAskingIfUnused(_ context: inout DaemonContext) {
    let used = subjects(context.sessions)
    for (subject, access) in questions.access {
      guard case .asking(let id) = access, !used.contains(subject) else { continue }
      context.prompts.withdraw(id)
      questions.access[subject] = .unasked
    }
    guard used.isEmpty else { return }
    questions.wantsPower = false
    withdrawPowerQuestion(&context.prompts)
  }

  /// Handles the answer to a question about permission or power; returns false if the answer belongs to another
  /// question.
  mutating func take(
    _ answer: PromptQueue.Answer, at now: Instant, _ bonds: inout BondBroker, _ context: inout DaemonContext
  ) -> Bool {
    if answer.id == questions.power {
      questions.power = nil
      if answer.answer == .yes {
        questions.isTurningOn = true
        // The answer of a rule applies to this run.
        if !context.prompts.isAutomatic { bonds.keepSwitchedOff(false) }
        context.host.setPower(true, at: now)
      }
      return true
    }
    guard let subject = questions.access.first(where: { $0.value == .asking(answer.id) })?.key else { return false }
    let isAllowed = answer.answer == .yes
    if context.prompts.isUser, let name = name(of: subject, context.apps) { bonds.keepAccess(isAllowed, of: name) }
    set(isAllowed ? .allowed : .denied, of: subject, at: now, &context)
    return true
  }

  /// Changes the permission of an app, as its user does in the settings. Takes effect at once.
  ///
  /// - Returns: the reason why the permission is not stored and applies only to this run; nil: it is stored.
  mutating func set(
    _ isAllowed: Bool, of app: AppIndex, at now: Instant, _ bonds: inout BondBroker, _ context: inout DaemonContext
  ) -> BondStoreError? {
    if case .asking(let id) = questions.access(of: .app(app)) { context.prompts.withdraw(id) }
    let failure = bonds.keepAccess(isAllowed, of: context.apps[app].name)
    set(isAllowed ? .allowed : .denied, of: .app(app), at: now, &context)
    return failure
  }

  private mutating func set(
    _ access: AppQuestions.Access, of subject: AppQuestions.Subject, at now: Instant, _ context: inout DaemonContext
  ) {
    let before = states(context.sessions)
    questions.access[subject] = access
    publish(subject, &context)
    tellStates(after: before, &context)
    askForApps(at: now, &context)
  }

  // MARK: Subjects

  /// The subjects with a session about which the user must be asked, in the order in which the adapter has met them, with
  /// the users of their clients.
  private func unasked(
    _ sessions: SessionTable
  ) -> [(subject: AppQuestions.Subject, user: ClientUser)] {
    if questions.allowsAll { return [] }
    var users: [AppQuestions.Subject: ClientUser] = [:]
    for (_, session) in sessions.all {
      users[.init(session.app)] = users[.init(session.app)] ?? session.user
    }
    return users.filter { questions.access(of: $0.key) == .unasked }.map { ($0.key, $0.value) }
      .sorted { left, right in
        guard let left = left.0.app else { return right.0.app != nil }
        return right.0.app.map { left < $0 } ?? false
      }
  }

  /// The subjects that have a session.
  private func subjects(_ sessions: SessionTable) -> Set<AppQuestions.Subject> {
    Set(sessions.all.map { AppQuestions.Subject($0.session.app) })
  }

  private func states(_ sessions: SessionTable) -> [AppQuestions.Subject: AdapterState] {
    var states: [AppQuestions.Subject: AdapterState] = [:]
    for subject in subjects(sessions) { states[subject] = state(for: subject) }
    return states
  }

  /// Sends the adapter's state to the sessions of the subjects for which it differs from what they saw before.
  private func tellStates(after before: [AppQuestions.Subject: AdapterState], _ context: inout DaemonContext) {
    for (id, session) in context.sessions.all
    where !session.preservation.isForwarder && !context.sessions.awaitsAdapter(id) {
      let new = state(for: session.app)
      if new != before[.init(session.app)] { context.deliver(new, to: id) }
    }
  }

  private mutating func withdrawPowerQuestion(_ prompts: inout PromptQueue) {
    guard let id = questions.power else { return }
    questions.power = nil
    prompts.withdraw(id)
  }
}

extension AppQuestions.Access {
  /// The permission as managers show it.
  fileprivate var forApps: AppAccess {
    switch self {
    case .allowed: .allowed
    case .denied: .denied
    case .unasked, .asking: .undetermined
    }
  }
}
