import BluetoothHost
import BluetoothWire

/// May this app use Bluetooth? Shall it be turned on?
extension Daemon {
  /// The adapter's state as apps are told of it.
  var stateForApps: AdapterState {
    switch questions.access {
    case .allowed: state
    // There is nothing to be allowed.
    case .denied: state == .unsupported || state == .unknown ? state : .unauthorized
    case .unasked, .asking: state == .unsupported ? state : .unknown
    }
  }

  /// What the user has said in a run before.
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

  /// Asks what is to be asked now: nothing as long as it is not known whether there is any Bluetooth.
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
    // Who asks while the user is being asked gets the same answer.
    case .poweredOff:
      if questions.wantsPower, questions.power == nil, !questions.isTurningOn {
        questions.power = desk.ask(.turnOn, at: now)
      }
      questions.wantsPower = false
    case .poweredOn, .unauthorized: questions.wantsPower = false
    // It is not known yet.
    case .unknown, .resetting, .unsupported: break
    }
  }

  /// An app wants Bluetooth to be on. If the user has said no to another one's wish, this one asks again.
  mutating func askForPower(at now: Instant) {
    questions.wantsPower = true
    askForApps(at: now)
  }

  /// A session has ended: nobody wants to know any more, if it was the last.
  mutating func stopAskingIfUnused() {
    guard !hasSessions else { return }
    if case .asking(let app, let id) = questions.access {
      desk.withdraw(id)
      questions.access = .unasked(app: app)
    }
    questions.wantsPower = false
    withdrawPowerQuestion()
  }

  /// Takes an answer to one of these questions; false: it is for another.
  mutating func take(_ answer: PromptDesk.Answer, at now: Instant) -> Bool {
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

  /// Tells all apps of the adapter's state, if they see another one than before.
  mutating func tellState(after before: AdapterState) {
    let new = stateForApps
    guard new != before else { return }
    for slot in centrals.slots { deliver(.stateChanged(new), to: slot) }
    for slot in peripherals.slots { deliver(.stateChanged(new), to: slot) }
  }

  private var hasSessions: Bool {
    centrals.entries.contains { $0 != nil } || peripherals.entries.contains { $0 != nil }
  }

  private mutating func withdrawPowerQuestion() {
    guard let id = questions.power else { return }
    questions.power = nil
    desk.withdraw(id)
  }
}
