import ArgumentParser
import BluetoothLab
import CAllocationCount
import CoreBluetooth
import Foundation

/// Runs a crowd of links under every kind of fault and checks the invariants.
@main
struct Soak: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "soak", abstract: "Runs links under every kind of fault in virtual time, and checks invariants.",
    discussion: """
      Half of the devices are counters that notify an increasing number; each of the other devices subscribes to one \
      counter. Faults occur in the first 5/6 of each period of simulated time. Invariants: at the end of each period \
      every app receives the values of its counter again; numbers never decrease; no number is missing while there \
      are no faults; the memory per device does not grow in the last quarter of the run.
      """)

  @Option(help: "The number of devices, an even number.") var devices = 200
  @Option(help: "The simulated time in hours.") var hours = 24.0
  @Option(help: "The seed for all randomness.") var seed: UInt64 = 1
  @Option(help: "The notification interval of a counter, in seconds of simulated time.") var every = 10.0
  @Option(help: "The duration of a period, in minutes of simulated time, at least 6.") var period = 60.0
  @Option(help: "Captures the air and the HCI of all devices in this file.") var capture: String?
  @Option(help: "The allowed growth of memory per device, octets.") var growth = 1_024

  func validate() throws {
    guard devices >= 2, devices.isMultiple(of: 2) else {
      throw ValidationError("--devices must be an even number, at least 2.")
    }
    guard period >= 6, hours > 0, every > 0 else {
      throw ValidationError("--period must be at least 6; --hours and --every must be greater than 0.")
    }
  }

  func run() throws {
    let crowd = try Crowd(
      links: devices / 2, seed: seed, notifyingEvery: .seconds(every), capture: capture.map { try Capture(path: $0) })
    let count = max(1, Int((hours * 60 / period).rounded()))
    var report = Report(devices: devices)
    for number in 1...count {
      crowd.runPeriod(of: .seconds(period * 60))
      report.add(crowd.measure(), number: number, of: count)
    }
    report.checkMemory(allowing: growth)
    report.print(crowd)
    guard report.problems.isEmpty else { throw ExitCode.failure }
  }
}

/// The state after a period.
struct PeriodResult {
  var radioTime: Duration
  var octets: UInt64
  var faults: Int
  var values: Int
  var problems: [String]
}

/// The figures of a run.
struct Report {
  private let devices: Int
  private let start = ContinuousClock.now
  private var results: [PeriodResult] = []
  private(set) var problems: [String] = []

  init(devices: Int) { self.devices = devices }

  mutating func add(_ result: PeriodResult, number: Int, of count: Int) {
    results.append(result)
    problems += result.problems
    let wall = start.duration(to: .now)
    let line =
      "period \(number) of \(count): \(result.radioTime.text) of radio time in \(wall.text), \(result.faults) faults, "
      + "\(result.values) values, \(result.octets / UInt64(devices)) octets a device, \(result.problems.count) problems\n"
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    for problem in result.problems.prefix(10) {
      try? FileHandle.standardError.write(contentsOf: Data("  \(problem)\n".utf8))
    }
  }

  /// Checks the growth of memory. Memory grows in the first half of a run, as buffers reach their largest size and the
  /// log of faults fills. The last quarter is therefore compared with the one before.
  mutating func checkMemory(allowing growth: Int) {
    // 20,000 faults fill the log.
    guard results.count >= 8, results[results.count / 2].faults > 20_000 else { return }
    let quarters = [(results.count / 2)..<(results.count * 3 / 4), (results.count * 3 / 4)..<results.count]
    let octets = quarters.map { results[$0].map { Int($0.octets) }.max() ?? 0 }
    let perDevice = (octets[1] - octets[0]) / devices
    if perDevice > growth { problems.append("memory grew by \(perDevice) octets a device") }
  }

  func print(_ crowd: Crowd) {
    guard let last = results.last else { return }
    let wall = start.duration(to: .now)
    let middle = results[results.count / 2]
    let rows: [(String, String)] = [
      ("devices", "\(devices)"), ("radio time", last.radioTime.text), ("wall time", wall.text),
      ("radio time / wall time", "\((last.radioTime / wall * 10).rounded() / 10)"),
      ("faults that struck", "\(last.faults)"), ("connections", "\(crowd.connections)"),
      ("values received", "\(last.values)"), ("values altered by faults", "\(crowd.altered)"),
      ("values repeated by faults", "\(crowd.repeated)"),
      ("heap per device, in the middle", "\(middle.octets / UInt64(devices)) octets"),
      ("heap per device, at the end", "\(last.octets / UInt64(devices)) octets"),
      ("violated invariants", "\(problems.count)"),
    ]
    for (name, value) in rows { Swift.print("| \(name) | \(value) |") }
    for problem in problems.prefix(50) { Swift.print("violated: \(problem)") }
  }
}

extension Duration {
  fileprivate var text: String {
    let seconds = components.seconds
    return seconds >= 3_600
      ? "\((Double(seconds) / 360).rounded() / 10) h" : seconds >= 120 ? "\(seconds / 60) min" : "\(seconds) s"
  }
}
