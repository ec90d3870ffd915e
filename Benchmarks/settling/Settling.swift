import BluetoothLabTime
@preconcurrency import Dispatch
import Foundation

/// Measures what it costs that time waits for an app: the time of a callback that continues in one of several ways,
/// from one event of a world to the next. Use a release build: swift run -c release settling
@main
enum Settling {
  private static let callbacks = 10_000
  private static let repetitions = 5

  /// Something that an app does in a callback.
  private struct Hop: Sendable {
    let name: String
    /// The most that a callback may cost, in microseconds.
    let aim: Int
    let body: @Sendable () -> Void
  }

  private static let hops: [Hop] = {
    let queue = DispatchQueue(label: "measured")
    return [
      Hop(name: "nothing", aim: 2) {},
      Hop(name: "DispatchQueue.main.async", aim: 50) { DispatchQueue.main.async {} },
      Hop(name: "another serial queue", aim: 50) { queue.async {} },
      Hop(name: "Task", aim: 50) { Task {} },
      Hop(name: "Task on the main actor", aim: 50) { Task { @MainActor in } },
      // Virtual time, so nothing waits.
      Hop(name: "Task with a sleep", aim: 50) { Task { try await Task.sleep(nanoseconds: 100) } },
    ]
  }()

  static func main() throws {
    #if DEBUG
      print("Warning: debug build. The results are not representative.")
    #endif
    print("| run | a callback does | µs per callback | aim |\n| --- | --- | --- | --- |")
    for hop in hops { try measure(hop) }
    Task { @MainActor in
      do {
        for hop in hops { try await measureAsynchronously(hop) }
        exit(EXIT_SUCCESS)
      } catch {
        FileHandle.standardError.write(Data("settling: \(error)\n".utf8))
        exit(EXIT_FAILURE)
      }
    }
    RunLoop.main.run()
  }

  private static func measure(_ hop: Hop) throws {
    try AppTime.activate()
    defer { AppTime.deactivate() }
    var times: [Int64] = []
    for _ in 0...repetitions {
      let source = Callbacks(count: callbacks, body: hop.body)
      let start = AppTime.realClock
      try AppTime.run(until: source.end, source: source)
      times.append(AppTime.realClock - start)
    }
    report("synchronous", hop, times)
  }

  @MainActor private static func measureAsynchronously(_ hop: Hop) async throws {
    try await AppTime.activate()
    defer { AppTime.deactivate() }
    var times: [Int64] = []
    for _ in 0...repetitions {
      let source = Callbacks(count: callbacks, body: hop.body)
      let start = AppTime.realClock
      try await AppTime.run(until: source.end, source: source)
      times.append(AppTime.realClock - start)
    }
    report("async", hop, times)
  }

  /// Prints the shortest time, which contains the least interference from other processes. The first run only warms up.
  private static func report(_ run: String, _ hop: Hop, _ times: [Int64]) {
    let best = Double(times.dropFirst().min() ?? 0) / Double(callbacks) / 1_000
    print("| \(run) | \(hop.name) | \(String(format: "%.2f", best)) | ≤ \(hop.aim) |")
  }
}

/// A world whose only events are callbacks, one in each microsecond.
private final class Callbacks: EventSource, @unchecked Sendable {
  // Unchecked: the properties are confined to the run that uses this source, one thread at a time.
  private var remaining: Int
  private var instant = AppTime.now
  private let body: @Sendable () -> Void

  init(count: Int, body: @escaping @Sendable () -> Void) {
    remaining = count
    self.body = body
  }

  /// The instant at which the run ends, after the last callback.
  var end: Int64 { instant + Int64(remaining + 1) * 1_000 }

  var nextEvent: Int64? { remaining > 0 ? instant + 1_000 : nil }

  func step() {
    remaining -= 1
    instant += 1_000
    body()
  }
}
