import BluetoothLabTime
import Dispatch
import Foundation
import Testing

/// The end of waits that no error can end, and reports on the standard error.
@Suite(.serialized) struct WatchdogTests {
  /// The actions of a watchdog, with the seconds at which they come.
  ///
  /// - Parameter progress: The number of progress steps at a tick.
  private func actions(
    until end: Int = 200, _ limits: AppTimeLimits = AppTimeLimits(), isActive: Bool = true, isDriven: Bool = false,
    progress: (Int) -> Int = { _ in 0 }
  ) -> [String] {
    var watchdog = Watchdog()
    var actions: [String] = []
    for second in 0...end {
      let action = watchdog.tick(
        seconds: 1, progress: progress(second), isActive: isActive, isDriven: isDriven, limits: limits)
      if action != .wait { actions.append("\(second) \(action)") }
      if action == .end { break }
    }
    return actions
  }

  @Test("A wait without progress is reported at the stall limit, and ends the process at the limit for that")
  func limits() {
    #expect(actions() == ["10 report", "60 end"])
    #expect(actions(isDriven: true) == ["12 report", "60 end"])
    #expect(actions(AppTimeLimits(stallSeconds: 3, abortSeconds: 20)) == ["3 report", "20 end"])
  }

  @Test("The process ends at least one stall limit after the report")
  func shortLimit() {
    #expect(actions(AppTimeLimits(stallSeconds: 50)) == ["50 report", "100 end"])
    #expect(actions(AppTimeLimits(stallSeconds: 5, abortSeconds: 0)) == ["5 report", "10 end"])
    let limits = AppTimeLimits(stallSeconds: 5, abortSeconds: -.infinity)
    #expect(actions(limits, isDriven: true) == ["7 report", "12 end"])
  }

  @Test("A limit that is infinite or not a number is never reached")
  func infiniteLimits() {
    #expect(actions(AppTimeLimits(abortSeconds: .infinity)) == ["10 report"])
    #expect(actions(AppTimeLimits(abortSeconds: .nan)) == ["10 report"])
    for stall in [Double.infinity, .nan] {
      #expect(actions(AppTimeLimits(stallSeconds: stall)).isEmpty)
      #expect(actions(AppTimeLimits(stallSeconds: stall), isDriven: true).isEmpty)
    }
  }

  @Test("Each progress begins a new wait")
  func progress() {
    #expect(actions(progress: { $0 / 30 }) == (0...6).map { "\($0 * 30 + 10) report" })
    #expect(actions(progress: { $0 / 5 }).isEmpty)
    #expect(actions(progress: { $0 < 100 ? $0 : 100 }) == ["110 report", "160 end"])
  }

  @Test("In real time, a driver is reported, and the process does not end")
  func realTime() {
    #expect(actions(isActive: false).isEmpty)
    #expect(actions(isActive: false, isDriven: true) == ["12 report"])
  }

  @Test("A test body that sleeps without running the app ends the process with a report")
  func bodySleeps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await sleepInBody()
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("The test has not run its world for 0.5 s of real time"))
    #expect(output.contains("The test has not run its world for 1.0 s of real time"))
    #expect(output.contains("The process ends, because no error can end this wait."))
  }

  @Test("The first thread of an app is reported with the file that creates it")
  func threadReported() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try createThreads()
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let lines = output.split(separator: "\n").filter { $0.hasPrefix("A thread was created by ") }
    #expect(lines.count == 1 && lines.allSatisfy { $0.contains("libFoundation.so. The world does not control") })
  }

  @Test("An app that blocks the main thread ends an asynchronous test on the main actor with a report")
  func mainThreadBlocked() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await blockMainThread()
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("The app made no progress for "))
    #expect(output.contains("running: a block on queue \"com.apple.main-thread\""))
    #expect(output.contains("The process ends, because no error can end this wait."))
  }
}

/// A test body that waits for a sleep, but does not run the app: the sleep takes virtual time, which stands still.
private func sleepInBody() async throws {
  try await AppTime.activate(limits: AppTimeLimits(stallSeconds: 0.5, abortSeconds: 1))
  try await Task.sleep(for: .seconds(1))
}

/// Creates threads in virtual time, and one in real time.
private func createThreads() throws {
  try AppTime.activate()
  for _ in 0..<3 { Thread.detachNewThread {} }
  guard AppTime.counters.threads == 3 else { exit(1) }
  AppTime.deactivate()
  Thread.detachNewThread {}
}

/// Runs an app that waits on the main queue for a lock that it holds.
@MainActor private func blockMainThread() async throws {
  try await AppTime.activate(limits: AppTimeLimits(stallSeconds: 0.5, abortSeconds: 1))
  DispatchQueue.main.async {
    let lock = NSLock()
    lock.lock()
    lock.lock()
  }
  try await AppTime.run(until: 1)
}
