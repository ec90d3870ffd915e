import CoreBluetooth
import NIOConcurrencyHelpers

/// The states of Bluetooth that a manager has reported, and the calls that wait for `poweredOn`.
final class PowerWatch: Sendable {
  private let changes = Broadcast<CBManagerState>(repeatsLatest: true, from: .unknown)
  private let waiters = NIOLockedValueBox<[PendingOperation<Void>]>([])

  /// The number of calls that wait.
  var count: Int { waiters.withLockedValue { $0.count } }

  func subscribe() -> AsyncStream<CBManagerState> { changes.subscribe() }

  /// Waits until Bluetooth is on.
  ///
  /// - Parameter state: returns the present state; throws if the owner has been closed.
  func wait(within limit: TimeLimit?, _ state: @escaping @Sendable () throws -> CBManagerState) async throws {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<Void>()
      // The state is read under the lock: a change to `poweredOn` after that finds the operation.
      try waiters.withLockedValue { waiters in
        let power = try state()
        if power == .poweredOn {
          _ = operation.finish(.success(()))
          return
        }
        guard !power.isFinal else { throw CBError.unavailable(power) }
        waiters.append(operation)
      }
      try await operation.value(onCancel: { [weak self] in
        self?.waiters.withLockedValue { waiters in waiters.removeAll { $0 === operation } }
      })
    }
  }

  /// Reports a new state to iterations and to the calls that wait for it.
  func report(_ state: CBManagerState) {
    changes.send(state)
    if state == .poweredOn {
      for waiter in takeWaiters() { waiter.finish(.success(())) }
    } else if state.isFinal {
      fail(CBError.unavailable(state))
    }
  }

  /// Ends the calls that wait, and all iterations. Later iterations get `unsupported`, the state of a closed owner.
  func close(because error: CBError) {
    fail(error)
    changes.finish(with: .unsupported)
  }

  private func fail(_ error: CBError) {
    for waiter in takeWaiters() { waiter.fail(error) }
  }

  private func takeWaiters() -> [PendingOperation<Void>] {
    waiters.withLockedValue { waiters in
      defer { waiters = [] }
      return waiters
    }
  }
}

extension CBManagerState {
  /// True for the states that Bluetooth leaves only if something outside the app changes: another adapter, another
  /// permission.
  var isFinal: Bool { self == .unsupported || self == .unauthorized }
}
