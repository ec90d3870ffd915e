import CoreBluetooth
import DequeModule

extension LocalPeripheral {
  /// Advertises until the task is cancelled, or Bluetooth is turned off.
  ///
  /// - Parameters:
  ///   - localName: the advertised name; nil: none.
  ///   - services: the advertised services.
  /// - Throws: always: `CancellationError` after a cancellation, `CBError.operationCancelled` if Bluetooth is off,
  ///   `CBError.alreadyAdvertising` if another call advertises.
  public func advertise(localName: String? = nil, services: [CBUUID] = []) async throws {
    try await run(localName, services) { end in try await end.value(onCancel: {}) }
  }

  /// Advertises while `body` runs.
  ///
  /// If Bluetooth is turned off meanwhile, advertising ends, and `body` goes on.
  ///
  /// - Parameters:
  ///   - localName: the advertised name; nil: none.
  ///   - services: the advertised services.
  ///   - body: what the app does meanwhile.
  /// - Throws: the error of `body`; `CBError.alreadyAdvertising` if another call advertises; the errors of every call.
  public func withAdvertising<Value: Sendable>(
    localName: String? = nil, services: [CBUUID] = [], _ body: () async throws -> Value
  ) async throws -> Value {
    try await run(localName, services) { _ in try await body() }
  }

  /// Advertises while `body` runs.
  ///
  /// - Parameter body: gets the operation that fails if Bluetooth is turned off.
  private func run<Value: Sendable>(
    _ localName: String?, _ services: [CBUUID], _ body: (PendingOperation<Void>) async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let (start, end) = (PendingOperation<Void>(), PendingOperation<Void>())
    try with { state in
      let manager = try manager(state)
      guard state.advertising == nil else { throw CBError(.alreadyAdvertising) }
      var data: [String: Any] = [:]
      if let localName { data[CBAdvertisementDataLocalNameKey] = localName }
      if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services }
      state.advertising = end
      state.starts.append(start)
      manager.startAdvertising(data)
    }
    do {
      try await start.value(onCancel: {})
    } catch {
      stop(end)
      throw error
    }
    defer { stop(end) }
    return try await body(end)
  }

  /// Stops the advertising that `end` stands for.
  private func stop(_ end: PendingOperation<Void>) {
    with { state in
      guard state.advertising === end else { return }
      state.advertising = nil
      if let manager = try? manager(state) { manager.stopAdvertising() }
    }
  }

  func advertisingStarted(_ error: (any Error)?) {
    with { $0.starts.popFirst() }?.finish(result((), error))
  }

  /// True while a call advertises.
  public var isAdvertising: Bool { with { $0.manager?.isAdvertising ?? false } }
}
