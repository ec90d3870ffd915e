import BluetoothDaemon

/// The connections and connection attempts of a central manager, as it has requested them from the daemon.
///
/// Commands and events cross each other. The daemon answers each cancellation of a connection that it still has with
/// one event, so while that event is awaited, no further command is sent for the peer: the event would be taken for the
/// end of a later attempt.
///
/// The daemon answers each `connect` for a link with `connected`. If it has lost the link before it gets the `connect`,
/// it begins a new attempt instead, although the report of the loss is still on its way.
struct ConnectionAttemptTable {
  private enum State {
    /// The daemon connects.
    case attempting
    /// The daemon has reported a connection. `unanswered` is the number of later `connect` without an answer.
    case connected(unanswered: Int)
    /// The daemon has been told to end the connection. `unanswered` is as in `connected`, `next` has the commands of a
    /// later `connect`.
    case ending(isReported: Bool, unanswered: Int, next: [CentralCommand])
  }

  private var states: [PeerHandle: State] = [:]

  /// Returns true if a connection or attempt has not ended.
  func contains(_ peer: PeerHandle) -> Bool { states[peer] != nil }

  /// Returns true if the commands of a `connect` are to be sent now; otherwise `ended` returns them.
  mutating func mayBegin(_ peer: PeerHandle, _ commands: [CentralCommand]) -> Bool {
    switch states[peer] {
    case nil, .attempting?: states[peer] = .attempting
    case .connected(let unanswered)?: states[peer] = .connected(unanswered: unanswered + 1)
    case .ending(let isReported, let unanswered, _)?:
      states[peer] = .ending(isReported: isReported, unanswered: unanswered, next: commands)
      return false
    }
    return true
  }

  /// Notes a connection that the daemon reports. Returns false if the app has cancelled it.
  mutating func connected(_ peer: PeerHandle) -> Bool {
    switch states[peer] {
    case nil, .attempting?: states[peer] = .connected(unanswered: 0)
    case .connected(let unanswered)?: states[peer] = .connected(unanswered: max(unanswered - 1, 0))
    case .ending(let isReported, let unanswered, let next)?:
      states[peer] = .ending(isReported: isReported, unanswered: max(unanswered - 1, 0), next: next)
      return false
    }
    return true
  }

  /// Returns true if a cancellation is to be sent now.
  ///
  /// - Parameter isReported: true if the app is told of the end.
  mutating func mustCancel(_ peer: PeerHandle, isReported: Bool) -> Bool {
    switch states[peer] {
    case nil: return false
    case .attempting?:
      states[peer] = .ending(isReported: isReported, unanswered: 0, next: [])
      return true
    case .connected(let unanswered)?:
      states[peer] = .ending(isReported: isReported, unanswered: unanswered, next: [])
      return true
    case .ending(_, let unanswered, _)?:
      states[peer] = .ending(isReported: isReported, unanswered: unanswered, next: [])
      return false
    }
  }

  /// Notes the loss of a link. Returns true if the app has cancelled the link and the answer to the cancellation
  /// follows: the daemon connects again by itself, or by a `connect` that it gets before the cancellation.
  ///
  /// - Parameter isReconnecting: true if the daemon re-establishes the link.
  mutating func awaitsEnd(of peer: PeerHandle, isReconnecting: Bool) -> Bool {
    guard case .ending(let isReported, let unanswered, let next) = states[peer], isReconnecting || unanswered > 0
    else { return false }
    states[peer] = .ending(isReported: isReported, unanswered: 0, next: next)
    return true
  }

  /// Notes the end of a connection or attempt. Returns true if the app is told of it, and the commands to send now.
  ///
  /// - Parameter isReconnecting: true if the daemon re-establishes the link.
  mutating func ended(
    _ peer: PeerHandle, isReconnecting: Bool = false
  ) -> (isReported: Bool, next: [CentralCommand]) {
    var isAttempting = isReconnecting
    switch states[peer] {
    case .ending(let isReported, _, let next)?:
      states[peer] = nil
      return (isReported, next)
    // Each unanswered `connect` is, or is part of, a new attempt of the daemon.
    case .connected(let unanswered)?: isAttempting = isAttempting || unanswered > 0
    case nil, .attempting?: break
    }
    states[peer] = isAttempting ? .attempting : nil
    return (true, [])
  }
}
