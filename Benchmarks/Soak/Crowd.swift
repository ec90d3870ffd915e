import BluetoothLab
import CAllocationCount
import Foundation

/// A world of counters and apps, in pairs that are 15 m apart.
final class Crowd {
  private let world: World
  private let readers: [Reader]
  private var schedule: FaultSchedule
  private let notificationPeriod: Duration
  private var problemsSeen = 0

  init(links: Int, seed: UInt64, notifyingEvery period: Duration, capture: Capture? = nil) {
    let world = World(seed: seed, capture: capture)
    self.world = world
    notificationPeriod = period
    let side = Int(Double(links).squareRoot().rounded(.up))
    readers = (0..<links).map { number in
      let (x, y) = (Double(number % side) * 15, Double(number / side) * 15)
      world.add(
        Counter(name: "counter \(number)", period: period), named: "counter \(number)", at: Position(x: x, y: y))
      let phone = world.makeDevice(named: "phone \(number)", at: Position(x: x + 1, y: y))
      return Reader(of: "counter \(number)", on: phone) { [unowned world] in world.now }
    }
    schedule = FaultSchedule(
      seed: seed, devices: (0..<links).flatMap { ["counter \($0)", "phone \($0)"] })
  }

  var connections: Int { readers.reduce(0) { $0 + $1.connections } }
  var altered: Int { readers.reduce(0) { $0 + $1.altered } }
  var repeated: Int { readers.reduce(0) { $0 + $1.repeated } }

  /// Runs a period: with faults for 5/6 of the time, then without.
  func runPeriod(of time: Duration) {
    let stormEnd = world.now + time * 5 / 6
    let end = world.now + time
    world.add(FaultSchedule.packets)
    while world.now < stormEnd {
      world.add(schedule.deviceFaults(from: world.now))
      world.run(for: min(.seconds(60), stormEnd - world.now))
      restartSilentReaders()
    }
    world.removeFaults()
    // In the first half of the remaining time links are restored; in the second half no value may be missing.
    let restored = world.now + (end - world.now) / 2
    while world.now < restored {
      world.run(for: min(.seconds(60), restored - world.now))
      restartSilentReaders()
    }
    for reader in readers { reader.isCalm = true }
    world.run(for: end - world.now)
    for reader in readers { reader.isCalm = false }
  }

  private func restartSilentReaders() {
    for reader in readers { reader.startOver(ifSilentFor: maximumGap) }
  }

  /// The longest time between two values of a link.
  private var maximumGap: Duration { notificationPeriod * 3 + .seconds(10) }

  /// Returns the last callbacks of the app of a stuck pair, and the HCI faults that affected the pair since its last
  /// value.
  private func context(of number: Int) -> String {
    let reader = readers[number]
    let since = reader.lastValueAt - .seconds(5)
    let events = world.faultEvents.filter {
      ["counter \(number)", "phone \(number)"].contains($0.device) && $0.layer != .air && $0.time > since
    }
    return
      ([reader.history.joined(separator: ", ")] + events.prefix(12).map { "\($0.time) \($0.device) \($0.description)" })
      .map { "\n    " + $0 }.joined()
  }

  /// Checks the invariants after a period.
  func measure() -> PeriodResult {
    let all = readers.flatMap(\.problems)
    var problems = Array(all.dropFirst(problemsSeen))
    problemsSeen = all.count
    for (number, reader) in readers.enumerated() where world.now - reader.lastValueAt > maximumGap {
      problems.append("counter \(number): no value since \(reader.lastValueAt), now \(world.now)" + context(of: number))
    }
    return PeriodResult(
      radioTime: world.now, octets: UInt64(allocation_octets_in_use()), faults: world.faultEventCount,
      values: readers.reduce(0) { $0 + $1.values }, problems: problems)
  }
}
