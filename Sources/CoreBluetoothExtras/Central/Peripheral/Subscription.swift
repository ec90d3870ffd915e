import CoreBluetooth
import NIOConcurrencyHelpers

/// The iterations over the notifications of a characteristic.
final class Subscription: Sendable {
  /// The receiver of an iteration's values.
  struct Receiver: Sendable {
    /// True if the iteration also gets the last values of an earlier subscription, which is being cancelled.
    let takesEarlierValues: Bool
    let send: @Sendable (Data) -> Void
    let finish: @Sendable (any Error) -> Void
  }

  private struct State {
    var receivers: [Int: Receiver] = [:]
    /// True once the subscription has been requested. The request waits for the end of an earlier subscription.
    var isRequested = false
    /// The calls that wait for the answer of the peripheral.
    var waiters: [PendingOperation<Void>] = []
    /// The answer of the peripheral; nil: there is none yet.
    var answer: Result<Void, any Error>?
  }

  let characteristic: Unchecked<CBCharacteristic>
  private let state = NIOLockedValueBox(State())

  init(_ characteristic: CBCharacteristic) { self.characteristic = Unchecked(characteristic) }

  var isEmpty: Bool { state.withLockedValue { $0.receivers.isEmpty } }

  func add(_ receiver: Receiver, _ number: Int) {
    state.withLockedValue { $0.receivers[number] = receiver }
  }

  func remove(_ number: Int) {
    // The closure returns the receiver, so that it is released without the lock: the termination handler of its stream
    // may take the lock.
    _ = state.withLockedValue { $0.receivers.removeValue(forKey: number) }
  }

  /// Notes that the subscription is being requested: later values belong to it.
  func request() { state.withLockedValue { $0.isRequested = true } }

  func send(_ value: Data) {
    state.withLockedValue { state in
      for receiver in state.receivers.values where state.isRequested || receiver.takesEarlierValues {
        receiver.send(value)
      }
    }
  }

  /// Waits until the peripheral has accepted the subscription.
  func accepted() async throws {
    let operation = PendingOperation<Void>()
    let answer = state.withLockedValue { state in
      if state.answer == nil { state.waiters.append(operation) }
      return state.answer
    }
    if let answer { return try answer.get() }
    try await operation.value(onCancel: { [self] in
      state.withLockedValue { state in state.waiters.removeAll { $0 === operation } }
    })
  }

  /// Notes that the peripheral has accepted the subscription.
  func accept() {
    for waiter in answered(.success(())).waiters { waiter.finish(.success(())) }
  }

  /// Ends all iterations.
  func finish(throwing error: any Error) {
    let ended = answered(.failure(error))
    for waiter in ended.waiters { waiter.fail(error) }
    for receiver in ended.receivers.values { receiver.finish(error) }
  }

  /// Stores the answer of the peripheral, or the end of the subscription, and returns the state before.
  private func answered(_ answer: Result<Void, any Error>) -> State {
    state.withLockedValue { state in
      let before = state
      state.answer = answer
      state.waiters = []
      if case .failure = answer { state.receivers = [:] }
      return before
    }
  }
}
