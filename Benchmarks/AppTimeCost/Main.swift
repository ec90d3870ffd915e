import BluetoothLabTime
@preconcurrency import Dispatch

/// Measures what it costs to wait for an app at rest after each callback: `swift run -c release app-time-cost`.
@main
enum AppTimeCost {
  /// Events that stand for callbacks, one each microsecond of virtual time.
  private final class Callbacks: EventSource, @unchecked Sendable {
    private var remaining: Int
    private var instant = AppTime.now
    private let body: @Sendable () -> Void

    init(count: Int, body: @escaping @Sendable () -> Void) {
      remaining = count
      self.body = body
    }

    var nextEvent: Int64? { remaining > 0 ? instant + 1_000 : nil }

    func step() {
      remaining -= 1
      instant += 1_000
      body()
    }
  }

  static func main() throws {
    let queue = DispatchQueue(label: "measured")
    let cases: [(name: String, body: @Sendable () -> Void)] = [
      ("no hop", {}), ("main queue", { DispatchQueue.main.async {} }), ("main actor task", { Task { @MainActor in } }),
      ("task", { Task {} }), ("serial queue", { queue.async {} }),
      ("task with a sleep", { Task { try await Task.sleep(nanoseconds: 100) } }),
    ]
    for (name, body) in cases {
      var best = Int64.max
      for _ in 0..<5 {
        try AppTime.activate()
        defer { AppTime.deactivate() }
        try AppTime.run(until: 1_000_000_000, source: Callbacks(count: 100, body: body))
        let start = AppTime.realClock
        try AppTime.run(until: 2_000_000_000, source: Callbacks(count: 10_000, body: body))
        best = min(best, AppTime.realClock - start)
      }
      print("\(name): \(best / 10_000) ns for each callback; 10,000 callbacks, best of 5")
    }
  }
}
