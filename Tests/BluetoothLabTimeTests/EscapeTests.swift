import BluetoothLabTime
@preconcurrency import Dispatch
import Foundation
import XCTest

/// Tests of work items, sources of user data, blocks of the run loop, and test bodies that wait. The sleeps are those of
/// an app: they take the world's time, and no real time.
final class EscapeTests: XCTestCase {
  private let trace = Trace()

  override func tearDown() {
    AppTime.deactivate()
  }

  func testWaitForWorkItem() throws {
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
    let queue = DispatchQueue(label: "items")
    let trace = trace
    let item = DispatchWorkItem {
      usleep(200_000)
      trace.note("item")
    }
    queue.async(execute: item)
    DispatchQueue(label: "waiter").async {
      XCTAssertEqual(item.wait(timeout: .now() + .milliseconds(50)), .timedOut)
      trace.note("timeout")
      item.wait()
      trace.note("waited")
    }
    try AppTime.run(until: 1_000 * millisecond)
    XCTAssertEqual(trace.milliseconds, ["50 timeout", "200 item", "200 waited"])
    // The caller is the thread that runs the app.
    let second = DispatchWorkItem { trace.note("second") }
    queue.asyncAfter(deadline: .now() + .milliseconds(10), execute: second)
    second.wait()
    XCTAssertEqual(trace.milliseconds.last, "1010 second")
    XCTAssertEqual(AppTime.now, 1_010 * millisecond)
    let third = DispatchWorkItem { trace.note("third") }
    let group = DispatchGroup()
    queue.async(group: group, execute: third)
    DispatchQueue(label: "waiter").async {
      third.wait()
      trace.note("waited in a group")
    }
    try AppTime.settle()
    XCTAssertEqual(trace.milliseconds.suffix(2), ["1010 third", "1010 waited in a group"])
  }

  func testSourcesOfUserData() throws {
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
    let trace = trace
    let queue = DispatchQueue(label: "data")
    let sum = DispatchSource.makeUserDataAddSource(queue: queue)
    sum.setEventHandler {
      dispatchPrecondition(condition: .onQueue(queue))
      trace.note("sum \(sum.data)")
    }
    sum.resume()
    let bits = DispatchSource.makeUserDataOrSource(queue: .main)
    bits.setEventHandler { trace.note("bits \(bits.data)") }
    bits.activate()
    let last = DispatchSource.makeUserDataReplaceSource(queue: queue)
    last.setEventHandler { trace.note("last \(last.data)") }
    for delay in [100, 200] {
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) {
        for value: UInt in [1, 2] {
          sum.add(data: value)
          bits.or(data: value << 2)
          last.replace(data: value)
        }
        if delay == 200 { last.resume() }
      }
    }
    try AppTime.run(until: 300 * millisecond)
    XCTAssertEqual(
      trace.milliseconds, ["100 sum 3", "100 bits 12", "200 sum 3", "200 last 2", "200 bits 12"])
    XCTAssertEqual(AppTime.counters.foreignWakeUps, 0)
    for source: any DispatchSourceProtocol in [sum, bits, last] { source.cancel() }
  }

  func testBlocksOfTheMainRunLoop() throws {
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
    let trace = trace
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(100)) {
      RunLoop.main.perform {
        dispatchPrecondition(condition: .onQueue(.main))
        trace.note("performed")
        RunLoop.main.perform { trace.note("performed again") }
      }
    }
    try AppTime.run(until: 300 * millisecond)
    XCTAssertEqual(trace.milliseconds, ["100 performed", "100 performed again"])
  }

  /// `waitUntilExit` runs the run loop in steps of 50 ms. They take real time, and the world's time stands still.
  func testWaitForProcess() throws {
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 5))
    let trace = trace
    @Sendable func runProcess() {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", "exit 3"]
      XCTAssertNoThrow(try process.run())
      process.waitUntilExit()
      trace.note("exit \(process.terminationStatus)")
    }
    runProcess()
    DispatchQueue(label: "app").asyncAfter(deadline: .now() + .milliseconds(10)) { runProcess() }
    try AppTime.run(until: 100 * millisecond)
    XCTAssertEqual(trace.milliseconds, ["0 exit 3", "10 exit 3"])
  }

  func testThreadsOfTheAppAreCounted() throws {
    for _ in 0..<2 {
      Thread.detachNewThread {}
      try AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
      // These blocks need threads of libdispatch, and the task a thread of the scheduler.
      for index in 0..<3 { DispatchQueue(label: "sleeper \(index)").async { usleep(1_000) } }
      Task.detached {}
      try AppTime.run(until: 10 * millisecond)
      XCTAssertEqual(AppTime.counters.threads, 0)
      DispatchQueue(label: "app").async {
        for _ in 0..<2 { Thread.detachNewThread {} }
      }
      try AppTime.settle()
      XCTAssertEqual(AppTime.counters.threads, 2)
      XCTAssertEqual(AppTime.counters.outsideSources, 0)
      AppTime.deactivate()
    }
  }

  func testSourcesThatCannotFollowAreCounted() throws {
    // The descriptors stay open, because libdispatch ends the sources later.
    var descriptors: [Int32] = [-1, -1]
    XCTAssertEqual(pipe(&descriptors), 0)
    let handle = FileHandle(fileDescriptor: descriptors[0], closeOnDealloc: false)
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
    let queue = DispatchQueue(label: "sources")
    let signals = DispatchSource.makeSignalSource(signal: SIGURG, queue: queue)
    let input = DispatchSource.makeReadSource(fileDescriptor: descriptors[0], queue: queue)
    let data = DispatchSource.makeUserDataAddSource(queue: queue)
    let timer = DispatchSource.makeTimerSource(queue: queue)
    XCTAssertEqual(AppTime.counters.outsideSources, 2)
    for source: any DispatchSourceProtocol in [signals, input, data, timer] {
      source.resume()
      source.cancel()
    }
    try AppTime.settle()
    handle.readabilityHandler = { _ in }
    XCTAssertEqual(AppTime.counters.outsideSources, 3)
    handle.readabilityHandler = nil
  }

  func testBodyThatWaitsIsReported() throws {
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 0.5))
    let start = AppTime.realClock
    while AppTime.report == nil, AppTime.realClock - start < 10_000 * millisecond { sched_yield() }
    let report = try XCTUnwrap(AppTime.report)
    XCTAssertTrue(report.hasPrefix("The test has not run its world for 0.5 s of real time"), report)
    XCTAssertTrue(report.contains("Call world.run(until:) instead"), report)
  }
}
