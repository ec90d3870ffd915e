import CAllocationCount

/// One line of the table.
struct Measurement {
  var name: String
  var result: String
  var aim: String
  /// The workload, the number of repetitions, and the counted quantity.
  var method: String
}

/// Runs `body` `repetitions` times and returns the shortest time in seconds, which contains the least interference from
/// other processes.
func bestTime(of repetitions: Int, _ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  var best = Double.infinity
  for _ in 0..<max(1, repetitions) {
    let time = try clock.measure(body)
    best = min(best, Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18)
  }
  return best
}

/// Returns the heap allocations of all threads during `body`; nil if they cannot be counted.
func allocations(_ body: () throws -> Void) rethrows -> UInt64? {
  allocation_count_start()
  defer { allocation_count_stop() }
  try body()
  allocation_count_stop()
  return allocation_count_is_available() ? allocation_count_total() : nil
}
