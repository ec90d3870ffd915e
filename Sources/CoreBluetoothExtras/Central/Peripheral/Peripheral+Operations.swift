import CoreBluetooth
import DequeModule

// The operations on a link that a callback answers.
extension Peripheral {
  /// Starts an operation when the earlier ones of its queue have been answered, and waits for its result.
  ///
  /// - Parameters:
  ///   - attribute: the attribute in the callback, which must be valid; nil: the callback has none.
  ///   - start: calls Apple's API.
  func perform<Value: Sendable>(
    _ kind: OperationTable.Kind, _ attribute: Unchecked<CBAttribute>? = nil, returning: Value.Type = Value.self,
    within limit: TimeLimit?, start: @escaping @Sendable (CBPeripheral) -> Void
  ) async throws -> Value {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<Value>()
      try with { state in
        try check(attribute?.value, state)
        state.operations.add(operation, kind, attribute?.value) { [peer] in start(peer) }
      }
      return try await operation.value(onCancel: { [self] in
        with { $0.operations.removeUnstarted(operation, OperationTable.Key(kind, attribute?.value)) }
      })
    }
  }

  /// Throws unless the link is up and `attribute` belongs to it.
  ///
  /// The link may end between the check and the call that follows. CoreBluetooth then drops the call silently, and the
  /// report of the end, which waits for the lock, ends the operation.
  func check(_ attribute: CBAttribute?, _ state: State) throws {
    guard peer.state == .connected else { throw CBError.isNotConnected }
    guard let attribute else { return }
    guard state.attributes[ObjectIdentifier(attribute)] === attribute else { throw CBError.isInvalidAttribute }
  }

  /// Gives the operation in progress its result. Does nothing if none is in progress, or if the operation has ended.
  func answer<Value: Sendable>(
    _ kind: OperationTable.Kind, _ attribute: CBAttribute? = nil, with result: Result<Value, any Error>
  ) {
    let operation = with { $0.operations.takeAnswered(OperationTable.Key(kind, attribute)) }
    (operation as? PendingOperation<Value>)?.finish(result)
  }

  /// Notes attributes as valid on this link.
  func adopt(_ attributes: [CBAttribute]) {
    with { state in
      // The link may have ended since the callback began.
      guard peer.state == .connected else { return }
      for attribute in attributes { state.attributes[ObjectIdentifier(attribute)] = attribute }
    }
  }

  /// Ends all that waits for attributes which have become invalid.
  func servicesModified(_ services: [CBService]) {
    let attributes: [CBAttribute] = services.flatMap { service -> [CBAttribute] in
      let characteristics = service.characteristics ?? []
      return [service] + characteristics + characteristics.flatMap { $0.descriptors ?? [] }
    }
    let invalid = Set(attributes.map { ObjectIdentifier($0) })
    let (failures, subscriptions) = with { state in
      var failures = state.operations.removeAll { attribute in
        attribute.map { invalid.contains(ObjectIdentifier($0)) } ?? false
      }
      failures += state.unsent.filter { invalid.contains(ObjectIdentifier($0.characteristic)) }.map(\.operation)
      state.unsent.removeAll { invalid.contains(ObjectIdentifier($0.characteristic)) }
      let subscriptions = state.subscriptions.filter { invalid.contains($0.key) }
      for key in subscriptions.keys { state.subscriptions[key] = nil }
      for id in invalid { (state.attributes[id], state.procedures[id]) = (nil, nil) }
      return (failures, subscriptions.values)
    }
    for failure in failures { failure.fail(CBError.isInvalidAttribute) }
    for subscription in subscriptions { subscription.finish(throwing: CBError.isInvalidAttribute) }
    report(invalid: services.map { RemoteService($0, of: self) })
  }
}

// MARK: Discovery, signal strength, channels

extension Peripheral {
  /// Discovers services.
  ///
  /// - Parameters:
  ///   - uuids: the types of the services; nil or empty: all services are discovered.
  ///   - limit: the time limit; nil: the call has none.
  /// - Returns: the services of these types in the order in which they were discovered on this link.
  public func discoverServices(
    _ uuids: [CBUUID]? = nil, within limit: TimeLimit? = nil
  ) async throws -> [RemoteService] {
    let all: [RemoteService] = try await perform(.services, within: limit) { $0.discoverServices(uuids) }
    return all.filter { uuids.include($0.uuid) }
  }

  /// Returns the signal strength of the link in dBm; nil: not available.
  public func readRSSI(within limit: TimeLimit? = nil) async throws -> Int? {
    try await perform(.rssi, returning: Int?.self, within: limit) { $0.readRSSI() }
  }

  /// Opens an L2CAP channel to this PSM of the peripheral. If the peripheral requires an encrypted link, this device
  /// encrypts the link, and pairs first if necessary.
  ///
  /// - Returns: the channel, which the app must retain.
  public func openL2CAPChannel(_ psm: CBL2CAPPSM, within limit: TimeLimit? = nil) async throws -> L2CAPChannel {
    try await perform(.channel, within: limit) { $0.openL2CAPChannel(psm) }
  }
}

extension [CBUUID]? {
  /// Returns true if a discovery of these types finds attributes of type `uuid`; nil and an empty array mean all types.
  func include(_ uuid: CBUUID) -> Bool {
    guard let self, !self.isEmpty else { return true }
    return self.contains(uuid)
  }
}
