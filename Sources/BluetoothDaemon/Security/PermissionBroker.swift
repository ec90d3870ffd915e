import BluetoothHost
import BluetoothWire

/// The broker of the adapter's state and of the questions to its user on behalf of apps: for permission to use
/// Bluetooth, and to switch it on.
struct PermissionBroker {
  /// The adapter's state. It is unknown until the host first reports its own state.
  private(set) var state = AdapterState.unknown
  private var questions: AppQuestions

  /// - Parameter app: the app for which the user must give permission; nil: the user is not asked.
  init(app: String?) { questions = AppQuestions(app: app) }

  /// The adapter's state as apps see it.
  var stateForApps: AdapterState {
    switch questions.access {
    case .allowed: state
    // Without usable Bluetooth there is nothing to permit.
    case .denied: state == .unsupported || state == .unknown ? state : .unauthorized
    case .unasked, .asking: state == .unsupported ? state : .unknown
    }
  }

  /// Restores the user's answer of a former run.
  mutating func recallAccess(_ bonds: inout BondBroker, _ context: inout DaemonContext) {
    guard case .unasked(let app) = questions.access else { return }
    if let isAllowed = bonds.access(of: app) { questions.access = isAllowed ? .allowed : .denied }
    context.directory.access = access
  }

  private var access: AppAccess {
    switch questions.access {
    case .allowed: .allowed
    case .denied: .denied
    case .unasked, .asking: .undetermined
    }
  }

  /// Changes the adapter's state and reports it to apps.
  mutating func become(_ new: AdapterState, at now: Instant, _ context: inout DaemonContext) {
    let before = stateForApps
    state = new
    tellState(after: before, &context)
    askForApps(at: now, &context)
  }

  /// Asks the pending questions; none while the adapter's state is unknown, or if the adapter does not support
  /// Bluetooth.
  mutating func askForApps(at now: Instant, _ context: inout DaemonContext) {
    guard state != .unknown, state != .unsupported else { return }
    if case .unasked(let app) = questions.access, context.hasSessions {
      questions.access = .asking(app: app, context.prompts.ask(.useBluetooth(app: app), at: now))
    }
    if state != .poweredOff {
      questions.isTurningOn = false
      withdrawPowerQuestion(&context)
    }
    switch stateForApps {
    // Requests made while the user is being asked get the same answer.
    case .poweredOff:
      if questions.wantsPower, questions.power == nil, !questions.isTurningOn {
        questions.power = context.prompts.ask(.turnOn, at: now)
      }
      questions.wantsPower = false
    case .poweredOn, .unauthorized: questions.wantsPower = false
    // The state is not final: the request remains.
    case .unknown, .resetting, .unsupported: break
    }
  }

  /// Handles an app's request to turn Bluetooth on. Asks the user again even if the user has refused another app's
  /// request.
  mutating func askForPower(at now: Instant, _ context: inout DaemonContext) {
    questions.wantsPower = true
    askForApps(at: now, &context)
  }

  /// Withdraws the questions if the last session has ended.
  mutating func stopAskingIfUnused(_ context: inout DaemonContext) {
    guard !context.hasSessions else { return }
    if case .asking(let app, let id) = questions.access {
      context.prompts.withdraw(id)
      questions.access = .unasked(app: app)
    }
    questions.wantsPower = false
    withdrawPowerQuestion(&context)
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
        context.host.setPower(true, at: now)
      }
      return true
    }
    guard case .asking(let app, answer.id) = questions.access else { return false }
    let before = stateForApps
    let isAllowed = answer.answer == .yes
    questions.access = isAllowed ? .allowed : .denied
    context.directory.access = access
    if context.prompts.isUser { bonds.keepAccess(isAllowed, of: app) }
    tellState(after: before, &context)
    askForApps(at: now, &context)
    return true
  }

  /// Sends the adapter's state to all apps, if it differs from the state that they saw before.
  private func tellState(after before: AdapterState, _ context: inout DaemonContext) {
    let new = stateForApps
    guard new != before else { return }
    context.deliverToCentrals(.stateChanged(new))
    context.deliverToPeripherals(.stateChanged(new))
  }

  private mutating func withdrawPowerQuestion(_ context: inout DaemonContext) {
    guard let id = questions.power else { return }
    questions.power = nil
    context.prompts.withdraw(id)
  }
}
