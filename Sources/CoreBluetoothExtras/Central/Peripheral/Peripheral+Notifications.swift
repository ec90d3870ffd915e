import CoreBluetooth

extension Peripheral {
  /// Starts an iteration over the notifications of a characteristic. The first one subscribes to the characteristic.
  func notifications(of box: Unchecked<CBCharacteristic>) -> AsyncThrowingStream<Data, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
    do {
      _ = try begin(continuation, [box], takesEarlierValues: true) { _, value in value }
    } catch { continuation.finish(throwing: error) }
    return stream
  }

  /// Starts an iteration over the notifications of several characteristics, and waits until the peripheral has accepted
  /// all subscriptions. The last values of earlier subscriptions are left out: they do not answer what follows.
  ///
  /// - Parameter element: returns the element for a value of the characteristic with this index.
  func subscribe<Element: Sendable>(
    to boxes: [Unchecked<CBCharacteristic>], _ element: @escaping @Sendable (Int, Data) -> Element
  ) async throws -> AsyncThrowingStream<Element, any Error> {
    try Task.checkCancellation()
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Element.self, throwing: (any Error).self)
    let subscriptions = try begin(continuation, boxes, takesEarlierValues: false, element)
    for subscription in subscriptions { try await subscription.accepted() }
    return stream
  }

  private func begin<Element: Sendable>(
    _ continuation: AsyncThrowingStream<Element, any Error>.Continuation, _ boxes: [Unchecked<CBCharacteristic>],
    takesEarlierValues: Bool, _ element: @escaping @Sendable (Int, Data) -> Element
  ) throws -> [Subscription] {
    var begun: [(subscription: Subscription, number: Int)] = []
    do {
      for (index, box) in boxes.enumerated() {
        let receiver = Subscription.Receiver(
          takesEarlierValues: takesEarlierValues, send: { continuation.yield(element(index, $0)) },
          finish: { continuation.finish(throwing: $0) })
        begun.append(try begin(receiver, box))
      }
    } catch {
      for (subscription, number) in begun { unsubscribe(subscription, number) }
      throw error
    }
    let subscriptions = begun
    continuation.onTermination = { [weak self] _ in
      for (subscription, number) in subscriptions { self?.unsubscribe(subscription, number) }
    }
    return subscriptions.map(\.subscription)
  }

  private func begin(
    _ receiver: Subscription.Receiver, _ box: Unchecked<CBCharacteristic>
  ) throws -> (Subscription, Int) {
    try with { state in
      let (characteristic, key) = (box.value, ObjectIdentifier(box.value))
      try check(characteristic, state)
      state.iterationCount += 1
      if let subscription = state.subscriptions[key] {
        subscription.add(receiver, state.iterationCount)
        return (subscription, state.iterationCount)
      }
      let subscription = Subscription(characteristic)
      subscription.add(receiver, state.iterationCount)
      state.subscriptions[key] = subscription
      let change = PendingOperation<Void> { [weak self, weak subscription] result in
        guard let subscription else { return }
        guard case .failure(let error) = result else { return subscription.accept() }
        self?.remove(subscription)
        subscription.finish(throwing: error)
      }
      state.operations.add(change, .notifications, characteristic) { [peer, weak subscription] in
        subscription?.request()
        peer.setNotifyValue(true, for: characteristic)
      }
      return (subscription, state.iterationCount)
    }
  }

  /// Ends an iteration. The end of the last iteration cancels the subscription.
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
    // The limits of values in the background come beside the values: they neither answer a read nor end a subscription.
    if (error as? CBError)?.isBackgroundLimit == true { return }
    let value = characteristic.value ?? Data()
    // Any other error is the result of a read: a notification always has a value.
    if error != nil || characteristic.isValueOfRead {
      answer(.read, characteristic, with: result(value, error))
    } else {
      with { $0.subscriptions[ObjectIdentifier(characteristic)] }?.send(value)
    }
  }
}

extension CBError {
  /// True for the errors that report the limit of notifications in the background.
  fileprivate var isBackgroundLimit: Bool {
    code == .leGattNearBackgroundNotificationLimit || code == .leGattExceededBackgroundNotificationLimit
  }
}

/// Returns the error if there is one, otherwise the value.
func result<Value>(_ value: Value, _ error: (any Error)?) -> Result<Value, any Error> {
  error.map { .failure($0) } ?? .success(value)
}
