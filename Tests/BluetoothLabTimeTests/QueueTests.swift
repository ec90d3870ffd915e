import BluetoothLabTime
@preconcurrency import Dispatch
import Foundation
import XCTest

/// Tests of queues whose blocks block their threads. The sleeps are those of an app: they take the world's time, and no
/// real time.
final class QueueTests: XCTestCase {
  override func tearDown() {
    AppTime.deactivate()
  }

  /// Starts work and runs it for one second, several times. The steps with their instants in milliseconds must be equal
  /// in each run.
  private func check(
    _ expected: [String], file: StaticString = #filePath, line: UInt = #line, _ body: (Trace) throws -> Void
  ) throws {
    for _ in 0..<runCount {
      let trace = Trace()
      try AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
      try body(trace)
      try AppTime.run(until: 1_000 * millisecond)
      AppTime.deactivate()
      XCTAssertEqual(trace.milliseconds, expected, file: file, line: line)
      if trace.milliseconds != expected { return }
    }
  }

  func testSleepsOnOneQueue() throws {
    try check(["100 first", "200 second", "200 third", "300 fourth"]) { trace in
      let queue = DispatchQueue(label: "sleeps")
      queue.async {
        Thread.sleep(forTimeInterval: 0.1)
        trace.note("first")
        queue.async {
          dispatchPrecondition(condition: .onQueue(queue))
          Thread.sleep(forTimeInterval: 0.1)
          trace.note("fourth")
        }
      }
      queue.async {
        Thread.sleep(forTimeInterval: 0.1)
        trace.note("second")
      }
      queue.async { trace.note("third") }
    }
  }

  func testCommandQueue() throws {
    let expected = [
      "0 write 1", "200 answer", "200 answered 1", "200 write 2", "350 timeout 2", "350 write 3", "400 answer",
      "400 answered 3",
    ]
    try check(expected) { trace in
      let commands = DispatchQueue(label: "commands")
      let answers = DispatchQueue(label: "answers")
      let semaphore = DispatchSemaphore(value: 0)
      for index in 1...3 {
        commands.async {
          trace.note("write \(index)")
          let result = semaphore.wait(timeout: .now() + .milliseconds(index == 2 ? 150 : 1_000))
          trace.note(result == .success ? "answered \(index)" : "timeout \(index)")
        }
      }
      for delay in [200, 400] {
        answers.asyncAfter(deadline: .now() + .milliseconds(delay)) {
          trace.note("answer")
          semaphore.signal()
        }
      }
    }
  }

  func testTimersOfAnOccupiedQueue() throws {
    let expected = ["110 slept", "110 after", "110 source", "120 source", "140 cancelled"]
    try check(expected) { trace in
      let queue = DispatchQueue(label: "timers")
      queue.async {
        Thread.sleep(forTimeInterval: 0.11)
        trace.note("slept")
      }
      queue.asyncAfter(deadline: .now() + .milliseconds(5)) { trace.note("after") }
      let source = DispatchSource.makeTimerSource(queue: queue)
      source.setEventHandler { trace.note("source") }
      source.setCancelHandler { trace.note("cancelled") }
      source.schedule(deadline: .now() + .milliseconds(20), repeating: .milliseconds(20))
      source.resume()
      DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(140)) { source.cancel() }
    }
  }

  func testSynchronousCallOnAnOccupiedQueue() throws {
    let expected = [
      "100 slept", "100 queued before", "100 synchronous", "100 returned", "100 queued after",
      "100 from the main queue",
    ]
    try check(expected) { trace in
      let queue = DispatchQueue(label: "occupied")
      let other = DispatchQueue(label: "other")
      queue.async {
        Thread.sleep(forTimeInterval: 0.1)
        trace.note("slept")
      }
      queue.async { trace.note("queued before") }
      other.async {
        queue.sync {
          dispatchPrecondition(condition: .onQueue(queue))
          trace.note("synchronous")
        }
        trace.note("returned")
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) {
        queue.async { trace.note("queued after") }
      }
      DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(20)) {
        queue.sync { trace.note("from the main queue") }
      }
    }
  }

  func testSynchronousCallThatBlocks() throws {
    try check(["100 test", "150 synchronous", "150 queued", "200 test again", "200 main queue"]) { trace in
      let queue = DispatchQueue(label: "occupied")
      queue.async { Thread.sleep(forTimeInterval: 0.1) }
      // The caller is the thread that runs the app.
      queue.sync { trace.note("test") }
      DispatchQueue(label: "other").async {
        queue.sync {
          Thread.sleep(forTimeInterval: 0.05)
          trace.note("synchronous")
        }
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) {
        queue.async { trace.note("queued") }
      }
      try AppTime.run(until: 150 * millisecond)
      queue.sync {
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(50)) {
          queue.sync { trace.note("main queue") }
        }
        Thread.sleep(forTimeInterval: 0.05)
        trace.note("test again")
      }
    }
  }

  func testBarriers() throws {
    let expected = ["0 reader", "100 slept", "150 barrier", "150 late reader", "150 synchronous", "150 last"]
    try check(expected) { trace in
      let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
      queue.async {
        Thread.sleep(forTimeInterval: 0.1)
        trace.note("slept")
      }
      queue.async { trace.note("reader") }
      queue.async(flags: .barrier) {
        Thread.sleep(forTimeInterval: 0.05)
        trace.note("barrier")
      }
      queue.async { trace.note("late reader") }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(120)) {
        queue.sync { trace.note("synchronous") }
        queue.sync(flags: .barrier) { trace.note("last") }
      }
    }
  }

  /// libdispatch adds one thread a second to a global queue whose threads are blocked, so that the blocks would need
  /// several minutes.
  func testManySleepsOnConcurrentQueues() throws {
    let start = AppTime.realClock
    let trace = Trace()
    try AppTime.activate()
    let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let serial = DispatchQueue(label: "serial", target: .global())
    for number in 1...100 {
      for queue in [DispatchQueue.global(), concurrent] {
        queue.async {
          dispatchPrecondition(condition: .onQueue(queue))
          Thread.sleep(forTimeInterval: 0.1)
        }
      }
      serial.async {
        dispatchPrecondition(condition: .onQueue(serial))
        dispatchPrecondition(condition: .onQueue(.global()))
        Thread.sleep(forTimeInterval: 0.001)
        if number == 100 { trace.note("serial") }
      }
    }
    concurrent.async(flags: .barrier) { trace.note("barrier") }
    DispatchQueue.global().async { trace.note("behind the sleeps") }
    try AppTime.run(until: 1_000 * millisecond)
    XCTAssertEqual(trace.milliseconds.sorted(), ["0 behind the sleeps", "100 barrier", "100 serial"])
    XCTAssertLessThan(AppTime.realClock - start, 60_000 * millisecond)
  }

  func testTargetQueues() throws {
    let expected = ["0 free", "100 first", "100 sibling", "100 target", "200 second", "200 concurrent child"]
    try check(expected) { trace in
      let target = DispatchQueue(label: "target")
      let first = DispatchQueue(label: "first", target: target)
      let second = DispatchQueue(label: "second", target: target)
      let child = DispatchQueue(label: "child", attributes: .concurrent, target: target)
      first.async {
        Thread.sleep(forTimeInterval: 0.1)
        trace.note("first")
      }
      second.async { trace.note("sibling") }
      target.async { trace.note("target") }
      second.async {
        Thread.sleep(forTimeInterval: 0.1)
        trace.note("second")
      }
      child.async { trace.note("concurrent child") }
      DispatchQueue(label: "free").async { trace.note("free") }
    }
  }

  func testSuspensionOfAnOccupiedQueue() throws {
    try check(["100 slept", "300 second", "300 third", "300 fourth"]) { trace in
      let queue = DispatchQueue(label: "suspended")
      queue.async {
        Thread.sleep(forTimeInterval: 0.1)
        trace.note("slept")
      }
      queue.async { trace.note("second") }
      let main = DispatchQueue.main
      main.asyncAfter(deadline: .now() + .milliseconds(10)) { queue.suspend() }
      main.asyncAfter(deadline: .now() + .milliseconds(20)) { queue.async { trace.note("third") } }
      main.asyncAfter(deadline: .now() + .milliseconds(300)) {
        queue.async { trace.note("fourth") }
        queue.resume()
      }
    }
  }

  func testDeactivationReleasesBlockedCalls() throws {
    try AppTime.activate()
    let queue = DispatchQueue(label: "held")
    let semaphore = DispatchSemaphore(value: 0)
    let expectations = ["answered", "queued", "synchronous"].map { expectation(description: $0) }
    queue.async {
      semaphore.wait()
      expectations[0].fulfill()
    }
    queue.async { expectations[1].fulfill() }
    DispatchQueue.global().async { queue.sync { expectations[2].fulfill() } }
    try AppTime.settle()
    AppTime.deactivate()
    semaphore.signal()
    wait(for: expectations, timeout: 10)
  }

  /// `Thread.sleep` computes in floating point and repeats its call for a rest of less than 1 ns.
  func testSleepsOfManyDurations() throws {
    let trace = Trace()
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
    DispatchQueue(label: "sleeps").async {
      for index in 1...200 { Thread.sleep(forTimeInterval: 0.001 * Double(index)) }
      trace.note("end")
    }
    try AppTime.run(until: 25_000 * millisecond)
    XCTAssertEqual(trace.milliseconds, ["20100 end"])
  }

  func testManyCommands() throws {
    let trace = Trace()
    try AppTime.activate()
    let queue = DispatchQueue(label: "commands")
    for index in 1...1_000 {
      queue.async {
        usleep(1_000)
        trace.note("\(index)")
      }
    }
    try AppTime.run(until: 2_000 * millisecond)
    XCTAssertTrue(trace.milliseconds == (1...1_000).map { "\($0) \($0)" })
  }
}
