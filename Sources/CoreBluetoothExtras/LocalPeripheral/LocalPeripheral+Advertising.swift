import CoreBluetooth
import DequeModule

extension LocalPeripheral {
  private typealias Start = (CBPeripheralManager) -> Void

  /// Advertises until the task is cancelled, or Bluetooth is turned off.
  ///
  /// - Parameters:
  ///   - localName: the advertised name; nil: none.
  ///   - services: the advertised services.
  ///   - limit: the time limit for the start; nil: none.
  /// - Throws: always: `CancellationError` after a cancellation, `CBError.operationCancelled` if Bluetooth is off,
  ///   `CBError.alreadyAdvertising` if another call advertises.
  public func advertise(
    localName: String? = nil, services: [CBUUID] = [], within limit: TimeLimit? = nil
  ) async throws {
    try await run(start(localName, services), within: limit) { end in try await end.value(onCancel: {}) }
  }

  /// Advertises with these parameters until the task is cancelled, or Bluetooth is turned off. No other app of this
  /// adapter can advertise meanwhile.
  ///
  /// - Parameters:
  ///   - parameters: the kind, the data and the timing.
  ///   - limit: the time limit for the start; nil: none.
  /// - Throws: always: `CBError.invalidParameters` if a value is out of its range, `CBError.outOfSpace` if the data are
  ///   too long; the errors of `advertise(localName:services:)`. A controller without extended advertising, or without
  ///   a PHY, refuses with a `CBError` that has its code.
  public func advertise(_ parameters: AdvertisingParameters, within limit: TimeLimit? = nil) async throws {
    try await run(start(parameters), within: limit) { end in try await end.value(onCancel: {}) }
  }

  /// Advertises while `body` runs.
  ///
  /// `body` runs on the caller's actor, so it can use the actor's state. If Bluetooth is turned off meanwhile,
  /// advertising ends, and `body` goes on.
  ///
  /// - Parameters:
  ///   - localName: the advertised name; nil: none.
  ///   - services: the advertised services.
  ///   - limit: the time limit for the start; nil: none.
  ///   - body: what the app does meanwhile.
  /// - Throws: the error of `body`; `CBError.alreadyAdvertising` if another call advertises; the errors of every call.
  public nonisolated(nonsending) func withAdvertising<Value: Sendable>(
    localName: String? = nil, services: [CBUUID] = [], within limit: TimeLimit? = nil,
    _ body: () async throws -> Value
  ) async throws -> Value {
    try await run(start(localName, services), within: limit) { _ in try await body() }
  }

  /// Advertises with these parameters while `body` runs; see `advertise(_:)` and
  /// `withAdvertising(localName:services:_:)`.
  public nonisolated(nonsending) func withAdvertising<Value: Sendable>(
    _ parameters: AdvertisingParameters, within limit: TimeLimit? = nil, _ body: () async throws -> Value
  ) async throws -> Value {
    try await run(start(parameters), within: limit) { _ in try await body() }
  }

  private func start(_ localName: String?, _ services: [CBUUID]) -> Start {
    var data: [String: Any] = [:]
    if let localName { data[CBAdvertisementDataLocalNameKey] = localName }
    if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services }
    return { $0.startAdvertising(data) }
  }

  private func start(_ parameters: AdvertisingParameters) throws -> Start {
    guard let advertising = parameters.host else { throw CBError(.invalidParameters) }
    return { $0.startAdvertising(advertising) }
  }

  /// Advertises while `body` runs.
  ///
  /// - Parameters:
  ///   - limit: the time limit for the start; nil: none.
  ///   - body: gets the operation that fails if Bluetooth is turned off.
  private nonisolated(nonsending) func run<Value: Sendable>(
    _ begin: Start, within limit: TimeLimit?, _ body: (PendingOperation<Void>) async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let (start, end) = (PendingOperation<Void>(), PendingOperation<Void>())
    try with { state in
      let manager = try manager(state)
      guard state.advertising == nil else { throw CBError(.alreadyAdvertising) }
      state.advertising = end
      state.starts.append(start)
      begin(manager)
    }
    do {
      try await limited(limit) { try await start.value(onCancel: {}) }
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
