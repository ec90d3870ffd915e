import BluetoothLab
import Foundation

/// The timers of patterns, in the time of a world. Unchecked, because the work runs on the test's thread and in
/// callbacks, for which that thread waits.
final class WorldTimers: @unchecked Sendable {
  private struct Timer {
    var due: Duration
    var work: @Sendable () -> Void
  }

  private let world: World
  private var timers: [Timer] = []
  /// The number of timers that were ever set.
  private var count = 0

  init(in world: World) { self.world = world }

  /// Calls a closure after a number of seconds.
  func after(_ seconds: TimeInterval, _ work: @escaping @Sendable () -> Void) {
    count += 1
    timers.append(Timer(due: world.now + .seconds(seconds), work: work))
  }

  /// Runs the world and the timers until `condition` is true. Returns false if that takes longer than `limit`.
  @discardableResult
  func run(until condition: () -> Bool = { false }, limit: Duration = .seconds(60)) -> Bool {
    let end = world.now + limit
    while !condition() {
      if let index = timers.indices.min(by: { timers[$0].due < timers[$1].due }), timers[index].due <= world.now {
        timers.remove(at: index).work()
        continue
      }
      guard world.now < end else { return false }
      let (next, before) = (min(timers.map(\.due).min() ?? end, end), count)
      world.run(until: { condition() || count != before }, limit: next - world.now)
    }
    return true
  }
}
