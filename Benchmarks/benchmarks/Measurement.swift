import CAllocationCount

/// One line of the table.
struct Measurement {
  var name: String
  var result: String
  var aim: String
  /// What was run, how often, and what was counted.
  var method: String
}

/// Runs `body` `repetitions` times and gives the best time in seconds: what is left when the machine disturbs least.
func bestTime(of repetitions: Int, _ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  var best = Double.infinity
  for _ in 0..<max(1, repetitions) {
    let time = try clock.measure(body)
    best = min(best, Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18)
  }
  return best
}

/// How often all threads took memory from the heap while `body` ran; nil where that can't be counted.
func allocations(_ body: () throws -> Void) rethrows -> UInt64? {
  allocation_count_start()
  defer { allocation_count_stop() }
  try body()
  allocation_count_stop()
  return allocation_count_is_available() ? allocation_count_total() : nil
}
