import BluetoothLabTime
@preconcurrency import Dispatch
import Foundation
import XCTest

/// The cost of callbacks. Set APP_TIME_MEASURE=1 to run the measurements, preferably of a release build.
final class Measurements: XCTestCase {
  private final class Callbacks: EventSource, @unchecked Sendable {
    var remaining: Int
    var instant = AppTime.now
    let body: @Sendable () -> Void

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

  private static let cases: [(name: String, body: @Sendable () -> Void)] = {
    let queue = DispatchQueue(label: "measured")
    return [
      ("callback only", {}),
      ("main queue", { DispatchQueue.main.async {} }),
      ("main actor task", { Task { @MainActor in } }),
      ("task", { Task {} }),
      ("serial queue", { queue.async {} }),
      ("task with a sleep", { Task { try await Task.sleep(nanoseconds: 100) } }),
    ]
  }()

  private func report(_ kind: String, _ name: String, _ nanoseconds: Int64, _ count: Int) {
    print("\(kind), \(name): \(nanoseconds / Int64(count)) ns")
  }

  private func skipUnlessRequested() throws {
    try XCTSkipUnless(ProcessInfo.processInfo.environment["APP_TIME_MEASURE"] != nil, "APP_TIME_MEASURE is not set")
  }

  func testSynchronous() throws {
    try skipUnlessRequested()
    for (name, body) in Self.cases {
      try AppTime.activate()
      defer { AppTime.deactivate() }
      try AppTime.run(until: 1_000_000_000, source: Callbacks(count: 100, body: body))
      let start = AppTime.realClock
      try AppTime.run(until: 2_000_000_000, source: Callbacks(count: 10_000, body: body))
      report("XCTest", name, AppTime.realClock - start, 10_000)
    }
  }

  func testAsynchronous() async throws {
    try skipUnlessRequested()
    for (name, body) in Self.cases {
      try await AppTime.activate()
      defer { AppTime.deactivate() }
      try await AppTime.run(until: 1_000_000_000, source: Callbacks(count: 100, body: body))
      let start = AppTime.realClock
      try await AppTime.run(until: 2_000_000_000, source: Callbacks(count: 10_000, body: body))
      report("XCTest async", name, AppTime.realClock - start, 10_000)
    }
  }
}
