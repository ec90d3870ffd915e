import CoreBluetooth
import NIOConcurrencyHelpers

/// The iterations over the notifications of a characteristic.
final class Subscription: Sendable {
  typealias Continuation = AsyncThrowingStream<Data, any Error>.Continuation

  private struct State {
    var continuations: [Int: Continuation] = [:]
    /// The calls that wait for the answer of the peripheral.
    var waiters: [PendingOperation<Void>] = []
    /// The answer of the peripheral; nil: there is none yet.
    var answer: Result<Void, any Error>?
  }

  let characteristic: Unchecked<CBCharacteristic>
  private let state = NIOLockedValueBox(State())

  init(_ characteristic: CBCharacteristic) { self.characteristic = Unchecked(characteristic) }

  var isEmpty: Bool { state.withLockedValue { $0.continuations.isEmpty } }

  func add(_ continuation: Continuation, _ number: Int) {
    state.withLockedValue { $0.continuations[number] = continuation }
  }

  func remove(_ number: Int) {
    // Released outside the lock.
    _ = state.withLockedValue { $0.continuations.removeValue(forKey: number) }
  }

  func send(_ value: Data) {
    state.withLockedValue { state in
      for continuation in state.continuations.values { continuation.yield(value) }
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
    for continuation in ended.continuations.values { continuation.finish(throwing: error) }
  }

  /// Stores the answer of the peripheral, or the end of the subscription, and returns the state before.
  private func answered(_ answer: Result<Void, any Error>) -> State {
    state.withLockedValue { state in
      let before = state
      state.answer = answer
      state.waiters = []
      if case .failure = answer { state.continuations = [:] }
      return before
    }
  }
}

extension Peripheral {
  /// Begins an iteration over the notifications of a characteristic; the first one subscribes.
  func notifications(of box: Unchecked<CBCharacteristic>) -> AsyncThrowingStream<Data, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
    do { _ = try begin(continuation, box) } catch { continuation.finish(throwing: error) }
    return stream
  }

  /// Begins an iteration, and waits until the peripheral has accepted the subscription.
  func subscribe(to box: Unchecked<CBCharacteristic>) async throws -> AsyncThrowingStream<Data, any Error> {
    try Task.checkCancellation()
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
    try await begin(continuation, box).accepted()
    return stream
  }

  private func begin(_ continuation: Subscription.Continuation, _ box: Unchecked<CBCharacteristic>) throws
    -> Subscription
  {
    let (subscription, number) = try with { state in
      let (characteristic, key) = (box.value, ObjectIdentifier(box.value))
      try check(characteristic, state)
      state.iterationCount += 1
      if let subscription = state.subscriptions[key] {
        subscription.add(continuation, state.iterationCount)
        return (subscription, state.iterationCount)
      }
      let subscription = Subscription(characteristic)
      subscription.add(continuation, state.iterationCount)
      state.subscriptions[key] = subscription
      let change = PendingOperation<Void> { [weak self, weak subscription] result in
        guard let subscription else { return }
        guard case .failure(let error) = result else { return subscription.accept() }
        self?.remove(subscription)
        subscription.finish(throwing: error)
      }
      state.operations.add(change, .notifications, characteristic) { [peer] in
        peer.setNotifyValue(true, for: characteristic)
      }
      return (subscription, state.iterationCount)
    }
    continuation.onTermination = { [weak self] _ in self?.unsubscribe(subscription, number) }
    return subscription
  }

  /// Ends an iteration. The last one cancels the subscription.
  private func unsubscribe(_ subscription: Subscription, _ number: Int) {
    with { state in
      subscription.remove(number)
      let characteristic = subscription.characteristic.value
      let key = ObjectIdentifier(characteristic)
      guard subscription.isEmpty, state.subscriptions[key] === subscription else { return }
      state.subscriptions[key] = nil
      guard (try? check(characteristic, state)) != nil else { return }
      state.operations.add(PendingOperation<Void>(), .notifications, characteristic) { [peer] in
        peer.setNotifyValue(false, for: characteristic)
      }
    }
  }

  /// Removes a subscription that the peripheral has rejected.
  private func remove(_ subscription: Subscription) {
    let key = ObjectIdentifier(subscription.characteristic.value)
    with { state in
      if state.subscriptions[key] === subscription { state.subscriptions[key] = nil }
    }
  }

  func valueUpdated(_ characteristic: CBCharacteristic, _ error: (any Error)?) {
    let value = characteristic.value ?? Data()
    // Only reads fail.
    if error != nil || characteristic.isValueOfRead {
      answer(.read, characteristic, with: result(value, error))
    } else {
      with { $0.subscriptions[ObjectIdentifier(characteristic)] }?.send(value)
    }
  }
}

/// Returns the error if there is one, otherwise the value.
func result<Value>(_ value: Value, _ error: (any Error)?) -> Result<Value, any Error> {
  error.map { .failure($0) } ?? .success(value)
}
