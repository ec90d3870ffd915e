import BluetoothHost
import BluetoothWire

/// The questions for permission to use Bluetooth, and to switch it on.
extension Daemon {
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
  mutating func recallAccess() {
    guard case .unasked(let app) = questions.access else { return }
    if let isAllowed = bonds.access(of: app) { questions.access = isAllowed ? .allowed : .denied }
    directory.access = access
  }

  private var access: AppAccess {
    switch questions.access {
    case .allowed: .allowed
    case .denied: .denied
    case .unasked, .asking: .undetermined
    }
  }

  /// Asks the pending questions; none while the adapter's state is unknown, or if the adapter does not support
  /// Bluetooth.
  mutating func askForApps(at now: Instant) {
    guard state != .unknown, state != .unsupported else { return }
    if case .unasked(let app) = questions.access, hasSessions {
      questions.access = .asking(app: app, desk.ask(.useBluetooth(app: app), at: now))
    }
    if state != .poweredOff {
      questions.isTurningOn = false
      withdrawPowerQuestion()
    }
    switch stateForApps {
    // Requests made while the user is being asked get the same answer.
    case .poweredOff:
      if questions.wantsPower, questions.power == nil, !questions.isTurningOn {
        questions.power = desk.ask(.turnOn, at: now)
      }
      questions.wantsPower = false
    case .poweredOn, .unauthorized: questions.wantsPower = false
    // The state is not final: the request remains.
    case .unknown, .resetting, .unsupported: break
    }
  }

  /// Handles an app's request for Bluetooth to be on. It asks the user again even if the user has refused another app's
  /// request.
  mutating func askForPower(at now: Instant) {
    questions.wantsPower = true
    askForApps(at: now)
  }

  /// Withdraws the questions if the last session has ended.
  mutating func stopAskingIfUnused() {
    guard !hasSessions else { return }
    if case .asking(let app, let id) = questions.access {
      desk.withdraw(id)
      questions.access = .unasked(app: app)
    }
    questions.wantsPower = false
    withdrawPowerQuestion()
  }

  /// Handles an answer to one of these questions; returns false if the answer is to another question.
  mutating func take(_ answer: PromptQueue.Answer, at now: Instant) -> Bool {
    if answer.id == questions.power {
      questions.power = nil
      if answer.answer == .yes {
        questions.isTurningOn = true
        host.setPower(true, at: now)
      }
      return true
    }
    guard case .asking(let app, answer.id) = questions.access else { return false }
    let before = stateForApps
    let isAllowed = answer.answer == .yes
    questions.access = isAllowed ? .allowed : .denied
    directory.access = access
    if desk.isUser { bonds.keepAccess(isAllowed, of: app) }
    tellState(after: before)
    askForApps(at: now)
    return true
  }

  /// Sends the adapter's state to all apps, if it differs from the state that they saw before.
  mutating func tellState(after before: AdapterState) {
    let new = stateForApps
    guard new != before else { return }
    for index in centrals.values.indices {
      if let key = centrals.key(at: index) { deliver(.stateChanged(new), to: CentralSessionID(key: key)) }
    }
    deliverToPeripherals(.stateChanged(new))
  }

  private var hasSessions: Bool { !centrals.isEmpty || !peripherals.isEmpty }

  private mutating func withdrawPowerQuestion() {
    guard let id = questions.power else { return }
    questions.power = nil
    desk.withdraw(id)
  }
}
