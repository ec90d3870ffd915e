import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import DequeModule
import Foundation
import Testing

/// Tasks on several threads, beside the thread that runs the world. The threads belong to the test: neither do tasks of
/// other tests wait for them, nor the other way round.
@Suite struct ThreadTests {
  /// Does one of the operations that a peripheral has.
  private static func operate(
    _ characteristic: RemoteCharacteristic, _ number: Int, on thread: ThreadExecutor
  ) async throws {
    let peripheral = characteristic.service.peripheral
    switch number % 7 {
    case 0: _ = try await characteristic.read()
    case 1: try await characteristic.write(Data([1]))
    case 2: try await characteristic.writeWithoutResponse(Data([2]))
    case 3: _ = try await characteristic.notifications.first { _ in true }
    case 4: _ = try await peripheral.readRSSI()
    case 5: try await peripheral.requestConnectionParameters(interval: .milliseconds(30) ... .milliseconds(30))
    default:
      // Cancelled from another task, at any time.
      let call = Task(executorPreference: thread) { try await characteristic.read() }
      call.cancel()
      _ = await asyncOutcome { _ = try await call.value }
    }
  }

  @Test("Tasks on several threads use one central at the same time, and all of them end with the link")
  func threads() throws {
    let meeting = Meeting()
    let characteristic = try meeting.characteristic()
    let peripheral = characteristic.service.peripheral
    let threads = (0..<3).map { ThreadExecutor("user \($0)") }
    defer { for thread in threads { thread.stop() } }

    // Each operation ends: the count of each task is bounded.
    let ended = Box(0)
    for (number, thread) in threads.enumerated() {
      Task(executorPreference: thread) {
        for round in 0..<14 {
          let outcome = await asyncOutcome { try await Self.operate(characteristic, number + round, on: thread) }
          #expect(outcome == .success)
        }
        ended.change { $0 += 1 }
      }
    }
    meeting.runUntil { ended.value == threads.count }
    // The answers to cancelled reads may come later.
    meeting.runUntil { peripheral.pendingCount == 0 }

    // The link ends while operations are in progress.
    let outcomes = Box<[Outcome]>([])
    for (number, thread) in threads.enumerated() {
      Task(executorPreference: thread) {
        outcomes.append(
          await asyncOutcome { while true { try await Self.operate(characteristic, number, on: thread) } })
      }
    }
    meeting.stage.run(for: .milliseconds(500))
    Task(executorPreference: threads[0]) {
      outcomes.append(await asyncOutcome { try await peripheral.disconnect() })
    }
    meeting.runUntil { outcomes.value.count == threads.count + 1 }
    let expected: Set<Outcome> = [.success, .core(.operationCancelled), .core(.notConnected)]
    #expect(Set(outcomes.value).isSubset(of: expected))
    meeting.runUntil { meeting.central.pendingCount == 0 }
    #expect(peripheral.state == .disconnected)
  }
}

extension Meeting {
  /// Runs the world while threads work, which it does not wait for. Only a hang reaches the time limit.
  fileprivate func runUntil(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    let end = ContinuousClock.now + .seconds(600)
    while !condition() {
      guard ContinuousClock.now < end else {
        Issue.record("the threads have not ended", sourceLocation: sourceLocation)
        return
      }
      // An iteration that joins a subscription gets no greeting of the sensor.
      sensor.update(Data([9]))
      stage.run(for: .milliseconds(30))
    }
  }
}

/// Runs the jobs of tasks on a thread of its own.
private final class ThreadExecutor: TaskExecutor {
  private let jobs = Box<Deque<UnownedJob>>([])
  private let isStopped = Box(false)
  private let wake = DispatchSemaphore(value: 0)

  init(_ name: String) {
    let thread = Thread { [weak self] in
      while let executor = self, !executor.isStopped.value {
        executor.wake.wait()
        executor.runJob()
      }
    }
    thread.name = name
    thread.start()
  }

  private func runJob() {
    guard let job = jobs.change({ $0.popFirst() }) else { return }
    job.runSynchronously(on: asUnownedTaskExecutor())
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.change { $0.append(job) }
    wake.signal()
  }

  /// Ends the thread after the jobs that it has.
  func stop() {
    isStopped.value = true
    wake.signal()
  }
}
