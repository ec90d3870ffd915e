import CoreBluetooth
import DequeModule

extension Peripheral {
  /// Connects to the peripheral. Returns at once if it is connected. Concurrent calls share one attempt.
  ///
  /// Without a time limit, the attempt lasts until the peripheral is found. If the task is cancelled or the time limit
  /// ends, and no other call waits for the connection, the attempt ends. If the link exists by then, the call returns.
  ///
  /// - Throws: `CBError.connectionFailed` or another error of the attempt; `CBError.operationCancelled` if `disconnect`
  ///   is called, Bluetooth is off, or the central was closed; `CBError.unknownDevice` if the peripheral must be
  ///   discovered again, because Bluetooth was reset since.
  public func connect(within limit: TimeLimit? = nil) async throws {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<Void>()
      try begin(operation)
      try await operation.value(onCancel: { [self] in giveUp(operation) })
    }
  }

  private func begin(_ operation: PendingOperation<Void>) throws {
    try with { state in
      guard state.isUsable || central.isClosed else { throw CBError(.unknownDevice) }
      guard let manager = central.manager else { throw central.unavailable }
      if peer.state == .connected, !state.isEnding {
        state.isLinked = true
        operation.finish(.success(()))
        return
      }
      state.connectWaiters.append(operation)
      // While the previous link ends, the attempt waits for its end.
      if state.connectWaiters.count == 1, !state.isEnding { manager.connect(peer) }
    }
  }

  /// Removes a cancelled call, and ends the attempt if no other call waits for it. A link that another call has returned
  /// before its report stays.
  private func giveUp(_ operation: PendingOperation<Void>) {
    with { state in
      guard let index = state.connectWaiters.firstIndex(where: { $0 === operation }) else { return }
      state.connectWaiters.remove(at: index)
      if state.connectWaiters.isEmpty, !state.isLinked { requestEnd(&state) }
    }
  }

  /// Ends the link or the attempt. Its end is reported later.
  private func requestEnd(_ state: inout State) {
    guard !state.isEnding, peer.state != .disconnected, let manager = central.manager else { return }
    state.isEnding = true
    manager.cancelPeripheralConnection(peer)
  }

  /// Ends the connection or the attempt, and waits for the end. Returns at once if there is none. Pending operations
  /// throw `CBError.operationCancelled`.
  ///
  /// A cancelled task can clean up with this method: the call requests the end, and throws without waiting for it.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, `TimeLimitExceeded` if the limit ends first. The connection
  ///   ends nevertheless.
  public func disconnect(within limit: TimeLimit? = nil) async throws {
    try await limited(limit) { [self] in
      let operation = PendingOperation<Void>()
      let attempts = with { state in
        defer { state.connectWaiters = [] }
        requestEnd(&state)
        if state.isEnding {
          state.disconnectWaiters.append(operation)
        } else {
          operation.finish(.success(()))
        }
        return state.connectWaiters
      }
      for attempt in attempts { attempt.fail(CBError.cancelled("The connection was cancelled.")) }
      try await operation.value(onCancel: { [self] in
        with { state in state.disconnectWaiters.removeAll { $0 === operation } }
      })
    }
  }

  /// Handles the beginning of the link.
  func connected() {
    let resumptions = with { state in
      // No call wants the link, unless one has found it before this report and returned.
      if state.connectWaiters.isEmpty, !state.isLinked { requestEnd(&state) }
      state.isLinked = true
      defer { state.connectWaiters = [] }
      // A call that is cancelled from now on returns: it could not end the link any more.
      return state.connectWaiters.compactMap { $0.decide(.success(())) }
    }
    for resume in resumptions { resume() }
  }

  /// Handles the end of the link or of the attempt.
  ///
  /// - Parameters:
  ///   - error: the reason; nil: the app has ended it.
  ///   - isForgotten: true if the peer can't be used again until it is discovered.
  func ended(because error: (any Error)?, isForgotten: Bool = false) {
    let reason = error ?? CBError.cancelled("The connection was ended by this app.")
    let (ends, failures, subscriptions, disconnection) = with { state in
      if isForgotten { state.isUsable = false }
      var failures = state.operations.removeAll() + state.unsent.map { $0.operation as any AnyOperation }
      let subscriptions = Array(state.subscriptions.values)
      let ends = state.disconnectWaiters
      let disconnection = state.isLinked ? Disconnection(error: error, reason: state.endReason) : nil
      state.lastDisconnection = disconnection ?? state.lastDisconnection
      state.endReason = nil
      // A call of `connect` during the end of the previous link begins its attempt now.
      if state.isEnding, !state.connectWaiters.isEmpty, !isForgotten, let manager = central.manager {
        manager.connect(peer)
      } else {
        failures += state.connectWaiters as [any AnyOperation]
        state.connectWaiters = []
      }
      state.isEnding = false
      state.isLinked = false
      state.disconnectWaiters = []
      state.unsent = []
      state.subscriptions = [:]
      state.attributes = [:]
      state.procedures = [:]
      return (ends, failures, subscriptions, disconnection)
    }
    for failure in failures { failure.fail(reason) }
    for subscription in subscriptions { subscription.finish(throwing: reason) }
    links.forgetLatest()
    if let disconnection { report(disconnection) }
    for end in ends { end.finish(.success(())) }
    if isForgotten { finishEvents() }
  }
}
