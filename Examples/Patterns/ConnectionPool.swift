import CoreBluetooth

/// Keeps a limited number of links: a new one replaces the oldest, and a link that was lost by timeout is created again
/// after a pause.
///
/// Use the pool on the manager's queue, as the delegate of the manager.
///
/// Unchecked Sendable, because the timers carry a reference to it. The app must use it on one queue.
final class ConnectionPool: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
  private let central: CBCentralManager
  private let limit: Int
  private let pause: TimeInterval
  private let after: (TimeInterval, @escaping @Sendable () -> Void) -> Void
  /// The peripherals that the app wants, the oldest first. The pool keeps them alive.
  private var wanted: [CBPeripheral] = []

  /// The peripherals with a link, the oldest first.
  private(set) var connected: [CBPeripheral] = []

  /// Creates a pool without links.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of links. The system's limit is respected as well.
  ///   - pause: the seconds from a timeout to the next attempt.
  ///   - after: calls a closure after a number of seconds.
  init(
    _ central: CBCentralManager, limit: Int, pause: TimeInterval = 2,
    after: @escaping (TimeInterval, @escaping @Sendable () -> Void) -> Void = {
      DispatchQueue.main.asyncAfter(deadline: .now() + $0, execute: $1)
    }
  ) {
    (self.central, self.limit, self.pause, self.after) = (central, limit, pause, after)
  }

  /// Connects to a peripheral, in place of the oldest one if the limit is reached.
  func open(_ peripheral: CBPeripheral) {
    if wanted.count >= limit { closeOldest() }
    wanted.append(peripheral)
    central.connect(peripheral)
  }

  private func closeOldest() {
    guard let oldest = connected.first ?? wanted.first else { return }
    wanted.removeAll { $0 === oldest }
    central.cancelPeripheralConnection(oldest)
  }

  private func openAgain(_ peripheral: CBPeripheral, after error: (any Error)?) {
    guard wanted.contains(where: { $0 === peripheral }) else { return }
    switch (error as? CBError)?.code {
    case .connectionTimeout?:
      let identifier = peripheral.identifier
      self.after(pause) { [weak self] in
        guard let self, let peripheral = self.wanted.first(where: { $0.identifier == identifier }) else { return }
        self.central.connect(peripheral)
      }
    case .connectionLimitReached?:
      closeOldest()
      central.connect(peripheral)
    default: wanted.removeAll { $0 === peripheral }
    }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state != .poweredOn { (wanted, connected) = ([], []) }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    connected.append(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    openAgain(peripheral, after: error)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    connected.removeAll { $0 === peripheral }
    openAgain(peripheral, after: error)
  }
}
