import CoreBluetooth

/// Connects to a peripheral, and connects again after ever longer pauses: 1 s, 2 s, 4 s and so on.
///
/// `connect` has no time limit, so each attempt gets one here. The pauses begin with the shortest again after each
/// link. Start the connector again after Bluetooth was off. Use it on the manager's queue, as the delegate of the manager.
///
/// Unchecked Sendable, because the timers carry a reference to it. The app must use it on one queue.
final class RetryingConnector: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
  private enum State {
    case idle
    case connecting(attempt: Int)
    case pausing
    case connected
  }

  private let central: CBCentralManager
  private let peripheral: CBPeripheral
  private let maximumAttempts: Int
  private let timeLimit: TimeInterval
  private let after: (TimeInterval, @escaping @Sendable () -> Void) -> Void
  private var state = State.idle { didSet { stateNumber += 1 } }
  /// The number of state changes. A timer of an earlier state recognizes by it that it has expired too late.
  private var stateNumber = 0

  /// Called when a link is there.
  var onConnect: () -> Void = {}
  /// Called when the last attempt has failed, with its error; nil: the time limit.
  var onGiveUp: ((any Error)?) -> Void = { _ in }

  /// Creates a connector for a peripheral.
  ///
  /// - Parameters:
  ///   - maximumAttempts: the number of attempts for each link.
  ///   - timeLimit: the seconds that each attempt has.
  ///   - after: calls a closure after a number of seconds.
  init(
    _ peripheral: CBPeripheral, of central: CBCentralManager, maximumAttempts: Int = 5, timeLimit: TimeInterval = 5,
    after: @escaping (TimeInterval, @escaping @Sendable () -> Void) -> Void = {
      DispatchQueue.main.asyncAfter(deadline: .now() + $0, execute: $1)
    }
  ) {
    (self.peripheral, self.central, self.maximumAttempts, self.timeLimit) =
      (peripheral, central, maximumAttempts, timeLimit)
    self.after = after
  }

  /// Begins the first attempt.
  func start() { connect(attempt: 1) }

  private func connect(attempt: Int) {
    state = .connecting(attempt: attempt)
    central.connect(peripheral)
    after(timeLimit) { [weak self, number = stateNumber] in
      guard let self, self.stateNumber == number else { return }
      self.central.cancelPeripheralConnection(self.peripheral)
      self.attemptFailed(attempt, nil)
    }
  }

  private func attemptFailed(_ attempt: Int, _ error: (any Error)?) {
    guard attempt < maximumAttempts else {
      state = .idle
      return onGiveUp(error)
    }
    pause(before: attempt + 1)
  }

  /// Connects after 1 s, 2 s, 4 s and so on.
  private func pause(before attempt: Int) {
    state = .pausing
    after(TimeInterval(1 << max(attempt - 2, 0))) { [weak self, number = stateNumber] in
      guard let self, self.stateNumber == number else { return }
      self.connect(attempt: attempt)
    }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state != .poweredOn { state = .idle }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    state = .connected
    onConnect()
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    if case .connecting(let attempt) = state { attemptFailed(attempt, error) }
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    if case .connected = state { pause(before: 1) }
  }
}
