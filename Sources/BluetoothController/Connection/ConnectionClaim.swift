import BluetoothWire

extension Connection {
  /// So many intervals before the supervision timeout an event can't be refused any more.
  private static let urgentEvents: Int64 = 3

  /// What the next event needs of the radio.
  var claim: RadioClaim {
    let start = schedule.start
    // A peripheral listens in a window; a central's packets are where they are.
    let latestStart = role == .central ? start + RadioTiming.anchorJitter : schedule.listeningEnds
    return RadioClaim(
      purpose: .connection, start: start, latestStart: latestStart, shortest: minimumEnd - start,
      longest: longestEnd - start, losses: missed,
      isUrgent: supervisionDeadline - start < interval * Self.urgentEvents)
  }
}
