import CoreBluetooth
import NIOConcurrencyHelpers

/// A value that waits for room to be sent to subscribers.
struct Update {
  let operation: PendingOperation<Void>
  let value: Data
  let characteristic: CBMutableCharacteristic
  /// The centrals that get the value; nil: all subscribers.
  let centrals: [CBCentral]?
}

extension LocalPeripheral {
  /// Sends a value to subscribers, as notification or indication. Returns when there was room for the value among those
  /// that wait to be sent, so that a loop of calls is as fast as the slowest link. Values are sent in the order of the
  /// calls. Returns at once if no central is subscribed.
  ///
  /// - Parameters:
  ///   - characteristic: a published characteristic.
  ///   - value: the value, of which each central gets the first `RemoteCentral.maximumUpdateLength` octets.
  ///   - centrals: the centrals that get the value if they are subscribed; nil: all subscribers.
  ///   - limit: the time limit; nil: none.
  /// - Throws: `CBError.invalidParameters` if the characteristic is not published; the errors of every call.
  public func update(
    _ characteristic: LocalCharacteristic, to value: Data, for centrals: [RemoteCentral]? = nil,
    within limit: TimeLimit? = nil
  ) async throws {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<Void>()
      try with { state in
        _ = try manager(state)
        guard state.characteristics[ObjectIdentifier(characteristic.box.value)] != nil else {
          throw CBError(.invalidParameters)
        }
        state.updates.append(
          Update(
            operation: operation, value: value, characteristic: characteristic.box.value,
            centrals: centrals?.map(\.box.value)))
      }
      send()
      try await operation.value(onCancel: { [self] in
        with { state in state.updates.removeAll { $0.operation === operation } }
      })
    }
  }

  /// Sends the waiting values for which there is room. A value without room requests the callback that calls this
  /// method again.
  func send() {
    let sent = with { state in
      var sent: [PendingOperation<Void>] = []
      guard let manager = try? manager(state) else { return sent }
      while let next = state.updates.first,
        manager.updateValue(next.value, for: next.characteristic, onSubscribedCentrals: next.centrals)
      {
        sent.append(next.operation)
        state.updates.removeFirst()
      }
      return sent
    }
    for operation in sent { operation.finish(.success(())) }
  }

  /// Sets the function that is called with the events of subscribers, before the requests that a subscriber sends later
  /// are received. nil: none.
  package func setSubscriberHandler(_ handler: SubscriberHandler?) {
    subscriberHandler.withLockedValue { $0 = handler }
  }

  func tell(_ event: SubscriberEvent, by central: ObjectIdentifier, of characteristic: ObjectIdentifier) {
    guard let handler = subscriberHandler.withLockedValue({ $0 }),
      let local = with({ $0.characteristics[characteristic] }),
      let subscriber = local.subscribers.first(where: { ObjectIdentifier($0.box.value) == central })
    else { return }
    handler(event, subscriber, local)
  }
}

/// An event of a subscriber that Apple's API does not have.
package enum SubscriberEvent: Sendable {
  /// The subscriber has confirmed an indication of a characteristic that has no notifications. The end of a subscription
  /// drops indications without an event.
  case confirmed
  /// The subscriber has changed from notifications to indications or back, or has repeated the subscription that a bond
  /// has kept from an earlier link.
  case subscribedAgain
}
