import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import CoreBluetooth
import DequeModule

// MARK: Links to centrals

extension LocalPeripheral {
  /// The calls and iterations about the link to a central.
  struct CentralLink {
    var requests: Deque<PendingOperation<Void>> = []
    /// The calls that wait for the end of the link.
    var ends: [PendingOperation<HCI.ErrorCode>] = []
    /// The reason for the end of the link, shortly before its end.
    var endReason: HCI.ErrorCode?
    let changes = Broadcast<LinkProperties>()
  }

  /// Returns the properties of the link to a central; nil: the link has ended.
  public func linkProperties(of central: RemoteCentral) -> LinkProperties? {
    let manager = with { Unchecked($0.manager) }.value
    return manager?.link(to: central.box.value).map { LinkProperties($0) }
  }

  /// Returns the properties of the link to a central: the present ones, and then each change. The sequence ends with
  /// the link.
  public func linkChanges(of central: RemoteCentral) -> EventSequence<LinkProperties> {
    EventSequence(owner: self) { [self] in
      // The link is read and the entry is made under one lock: an entry without a link would never end, and a change in
      // between would be missed.
      let changes = with { state -> AsyncStream<LinkProperties>? in
        guard let current = state.manager?.link(to: central.box.value) else { return nil }
        let id = ObjectIdentifier(central.box.value)
        let link = state.links[id] ?? CentralLink()
        state.links[id] = link
        return link.changes.subscribe(from: LinkProperties(current))
      }
      guard let changes else { return AsyncStream { $0.finish() } }
      return changes
    }
  }

  /// Requests other connection parameters of the link to a central, and waits for the answer of the central. If the
  /// central accepts, it changes them shortly after; `linkChanges(of:)` reports the new ones.
  ///
  /// The request is sent when the link is 5 s old and the central has been quiet for 1 s, at most 5 s later, as
  /// Vol 3, Part C, 9.3.12 demands.
  ///
  /// - Parameters:
  ///   - central: the central.
  ///   - interval: the desired connection intervals, 7.5 ms to 4 s, rounded inwards to steps of 1.25 ms.
  ///   - latency: the maximum number of consecutive connection events that this device may skip, 0 to 499.
  ///   - supervisionTimeout: the time without a packet after which the link is lost, 100 ms to 32 s; more than
  ///     2 × (1 + latency) × interval.
  ///   - limit: the time limit for the answer; nil: none.
  /// - Throws: `LinkRequestError`: `refused(.unacceptableConnectionParameters)` if the central refuses; `CBError` with
  ///   `notConnected` if the link ends; the errors of every call.
  public func requestConnectionParameters(
    of central: RemoteCentral, interval: ClosedRange<Duration>, latency: Int = 0,
    supervisionTimeout: Duration = .seconds(2), within limit: TimeLimit? = nil
  ) async throws {
    let parameters = LinkParameters(
      interval: interval, latency: latency, supervisionTimeout: supervisionTimeout)
    guard let parameters else { throw LinkRequestError.invalidParameters }
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let operation = PendingOperation<Void>()
      try with { state in
        let manager = try manager(state)
        guard manager.changeLink(to: central.box.value, .connectionParameters(parameters)) else {
          throw CBError.isNotConnected
        }
        state.links[ObjectIdentifier(central.box.value), default: CentralLink()].requests.append(operation)
      }
      // The answer to a cancelled request still arrives, and then removes it.
      try await operation.value(onCancel: {})
    }
  }

  /// Returns true while the link to a central exists.
  package func isConnected(_ central: RemoteCentral) -> Bool {
    let manager = with { Unchecked($0.manager) }.value
    return manager?.isConnected(central.box.value) ?? false
  }

  /// Waits for the end of the link to a central. Returns its reason; Connection Terminated By Local Host if Bluetooth
  /// has been turned off, or if the link has ended before the call.
  ///
  /// - Throws: `CancellationError` if the task is cancelled first.
  package func end(of central: RemoteCentral) async throws -> HCI.ErrorCode {
    let operation = PendingOperation<HCI.ErrorCode>()
    let id = ObjectIdentifier(central.box.value)
    with { state in
      guard let manager = try? manager(state), manager.isConnected(central.box.value) else {
        operation.finish(.success(.connectionTerminatedByLocalHost))
        return
      }
      state.links[id, default: CentralLink()].ends.append(operation)
    }
    return try await operation.value(onCancel: { [self] in
      with { $0.links[id]?.ends.removeAll { $0 === operation } }
    })
  }

  /// Ends the links to all centrals, except those that other apps of this adapter use, and waits for their ends.
  /// Apple's API has no such call: an app leaves the end of a link to its central. A program that ends needs it,
  /// because the controller may keep the link without the program. A cancelled task requests the ends, too, and does
  /// not wait for them.
  ///
  /// - Parameter limit: the time limit; nil: none. Links that have not ended by then may still end.
  /// - Throws: `TimeLimitExceeded`; `CancellationError` if the task is cancelled first.
  package func disconnectCentrals(within limit: TimeLimit? = nil) async throws {
    try await limited(limit) { [self] in
      let operation = PendingOperation<Void>()
      with { state in
        // Without Bluetooth there are no links.
        guard let manager = try? manager(state), manager.disconnectCentrals() else {
          operation.finish(.success(()))
          return
        }
        state.disconnections.append(operation)
      }
      try await operation.value(onCancel: { [self] in
        with { state in state.disconnections.removeAll { $0 === operation } }
      })
    }
  }

  func linksEnded() {
    let ended = with { state in
      defer { state.disconnections = [] }
      return state.disconnections
    }
    for operation in ended { operation.finish(.success(())) }
  }

  func linkReported(_ central: ObjectIdentifier, _ event: LinkEvent) {
    switch event {
    case .changed(let info): with { $0.links[central]?.changes }?.send(LinkProperties(info))
    case .requestEnded(_, let error):
      let operation = with { $0.links[central]?.requests.popFirst() }
      operation?.finish(error.map { .failure(LinkRequestError.error($0)) } ?? .success(()))
    case .ended(let reason): with { $0.links[central]?.endReason = reason }
    }
  }

  func linkEnded(_ central: ObjectIdentifier) {
    guard let link = with({ $0.links.removeValue(forKey: central) }) else { return }
    for request in link.requests { request.fail(CBError.isNotConnected) }
    for end in link.ends { end.finish(.success(link.endReason ?? .connectionTerminatedByLocalHost)) }
    link.changes.finish()
  }
}
