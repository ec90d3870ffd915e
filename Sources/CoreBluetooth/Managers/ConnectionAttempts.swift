import BluetoothDaemon

/// The connections and connection attempts of a central manager, as it has requested them from the daemon.
///
/// Commands and events cross each other. The daemon answers each cancellation of a connection that it still has with
/// one event, so while that event is awaited, no further command is sent for the peer: the event would be taken for the
/// end of a later attempt.
struct ConnectionAttempts {
  private enum State {
    /// The daemon connects, or is connected.
    case wanted
    /// The daemon has been told to end the connection. `next` has the commands of a later `connect`.
    case ending(isReported: Bool, next: [CentralCommand])
  }

  private var states: [PeerHandle: State] = [:]

  /// True if the end of a cancelled connection is awaited.
  func isEnding(_ peer: PeerHandle) -> Bool {
    if case .ending = states[peer] { true } else { false }
  }

  /// Returns true if the commands of a `connect` are to be sent now; otherwise `ended` returns them.
  mutating func mayBegin(_ peer: PeerHandle, _ commands: [CentralCommand]) -> Bool {
    if case .ending(let isReported, _) = states[peer] {
      states[peer] = .ending(isReported: isReported, next: commands)
      return false
    }
    states[peer] = .wanted
    return true
  }

  /// Notes a connection that the daemon reports. Returns false if the app has cancelled it.
  mutating func mayBegin(_ peer: PeerHandle) -> Bool {
    guard !isEnding(peer) else { return false }
    states[peer] = .wanted
    return true
  }

  /// Returns true if a cancellation is to be sent now.
  ///
  /// - Parameter isReported: true if the app is told of the end.
  mutating func mustCancel(_ peer: PeerHandle, isReported: Bool) -> Bool {
    switch states[peer] {
    case nil: return false
    case .wanted:
      states[peer] = .ending(isReported: isReported, next: [])
      return true
    case .ending:
      states[peer] = .ending(isReported: isReported, next: [])
      return false
    }
  }

  /// Notes the end of a connection or attempt. Returns true if the app is told of it, and the commands to send now.
  mutating func ended(_ peer: PeerHandle) -> (isReported: Bool, next: [CentralCommand]) {
    if case .ending(let isReported, let next) = states.removeValue(forKey: peer) { return (isReported, next) }
    return (true, [])
  }
}
