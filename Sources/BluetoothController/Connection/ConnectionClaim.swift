import BluetoothWire

extension Connection {
  /// So many intervals before the supervision timeout an event can't be refused any more.
  private static let urgentEvents: Int64 = 3

  /// What the next event needs of the radio.
  var claim: RadioClaim {
    mutating get {
      let start = schedule.start
      // A peripheral listens in a window; a central's packets are where they are.
      let latestStart = role == .central ? start + RadioTiming.anchorJitter : schedule.listeningEnds
      return RadioClaim(
        purpose: .connection, start: start, latestStart: latestStart, shortest: minimumEnd - start,
        longest: longestEnd - start, losses: missed,
        isUrgent: supervisionDeadline - start < interval * Self.urgentEvents)
    }
  }

  /// What a table keeps beside a connection.
  struct Wishes {
    var deadline: Instant
    var heldPackets: Int
    /// Nil unless it was asked for.
    var claim: RadioClaim?
  }

  /// What it wants now; nil: it is over. It changes nothing: from an array of a class, only what may change something is
  /// called without copying the connection.
  mutating func wishes(withClaim: Bool) -> Wishes? {
    guard reasonForEnd == nil else { return nil }
    return Wishes(deadline: deadline, heldPackets: flow.heldPackets, claim: withClaim ? claim : nil)
  }
}
