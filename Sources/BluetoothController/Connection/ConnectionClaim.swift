import BluetoothWire

extension Connection {
  /// The number of intervals before the supervision timeout from which events are urgent.
  private static let urgentEvents: Int64 = 3

  /// The claim of the next event on the radio.
  var claim: TimeslotRequest {
    mutating get {
      let start = schedule.start
      // A peripheral listens in a window; a central transmits at a fixed time.
      let latestStart = role == .central ? start + RadioTiming.anchorJitter : schedule.listeningEnds
      return TimeslotRequest(
        purpose: .connection, start: start, latestStart: latestStart, shortest: minimumEnd - start,
        longest: longestEnd - start, losses: missed,
        isUrgent: supervisionDeadline - start < interval * Self.urgentEvents)
    }
  }

  /// The values that the connection table caches for a connection.
  struct Wishes {
    var deadline: Instant
    var heldPackets: Int
    /// The claim of the next event; nil unless requested.
    var claim: TimeslotRequest?
  }

  /// Returns the values for the connection table; nil: the connection has ended. Read-only; `mutating` because a
  /// non-mutating call on an array element in a class would copy the connection.
  mutating func wishes(withClaim: Bool) -> Wishes? {
    guard reasonForEnd == nil else { return nil }
    return Wishes(deadline: deadline, heldPackets: flow.heldPackets, claim: withClaim ? claim : nil)
  }
}
