import CLockstep
import Foundation
import NIOConcurrencyHelpers

/// Watches the processes of a lockstep in real time: passes on the turn of those that end, and names those that hold
/// the time. A thread of its own runs it.
final class LockstepSupervisor: @unchecked Sendable {
  // Unchecked: `thread` is set before the thread starts; the constants are Sendable or have locks.
  private let state: LockstepState
  private let stallLimit: Duration
  private let programs: [(number: CInt, name: String)]
  private let report: @Sendable (String) -> Void
  private let shared = NIOLockedValueBox(Shared())
  private let ended = DispatchSemaphore(value: 0)

  private struct Shared {
    var isStopped = false
    var hasStalled = false
    var ends: [CInt: LockstepResult.End] = [:]
  }

  /// The real time between two looks at the processes, in milliseconds: the end of a process is announced earlier.
  private static let pause: CInt = 20
  /// The real time after which the holder of the turn is named.
  private static let holdLimit = Duration.seconds(10)
  /// The real time after which the programs are killed, if none gives the turn to the air for the end of the run.
  private static let stopLimit = Duration.seconds(1)

  init(
    _ state: LockstepState, stallLimit: Duration, programs: [(number: CInt, name: String)],
    _ report: @escaping @Sendable (String) -> Void
  ) {
    self.state = state
    self.stallLimit = stallLimit
    self.programs = programs
    self.report = report
  }

  var hasStalled: Bool { shared.withLockedValue { $0.hasStalled } }

  func start() {
    Thread { [self] in
      run()
      ended.signal()
    }.start()
  }

  /// Stops the thread, and waits for its end.
  func stop() {
    shared.withLockedValue { $0.isStopped = true }
    lockstep_ring(state.pointer)
    ended.wait()
  }

  func end(of program: CInt) -> LockstepResult.End { shared.withLockedValue { $0.ends[program] ?? .stopped } }

  private func run() {
    var (runs, now) = (UInt64.max, Int64.min)
    var (latest, latestCheck) = (ContinuousClock.now, ContinuousClock.now)
    var stopping: ContinuousClock.Instant?
    var hasReported = false
    while !shared.withLockedValue({ $0.isStopped }) {
      lockstep_listen(state.pointer, Self.pause)
      noteEnded()
      let isIdle = lockstep_is_idle(state.pointer)
      if state.isStopping {
        if isIdle {
          lockstep_recheck(state.pointer)
        } else if ContinuousClock.now - (stopping ?? .now) > Self.stopLimit {
          // A program that computes or blocks keeps the turn, which the air needs for its end.
          lockstep_kill_all(state.pointer)
        }
        stopping = stopping ?? .now
        continue
      }
      let (newRuns, newNow) = (lockstep_runs(state.pointer), state.now)
      if newRuns != runs || newNow != now {
        (runs, now, latest, hasReported) = (newRuns, newNow, .now, false)
      }
      let elapsed = ContinuousClock.now - latest
      if isIdle, elapsed > stallLimit {
        report("no program can go on: all wait, and none has a deadline\n" + state.text)
        shared.withLockedValue { $0.hasStalled = true }
        lockstep_stop(state.pointer)
      } else if isIdle, ContinuousClock.now - latestCheck >= .milliseconds(Int(Self.pause)) {
        // Something from outside may have arrived, such as a line at a terminal.
        latestCheck = .now
        lockstep_recheck(state.pointer)
      } else if !isIdle, ContinuousClock.now - max(latest, latestCheck) > Self.holdLimit, !hasReported {
        report("the time stands still at \(Self.seconds(now)) s: " + state.text)
        hasReported = true
      }
    }
  }

  /// Notes the processes that have ended, and passes on their turns.
  private func noteEnded() {
    while !shared.withLockedValue({ $0.isStopped }), case let number = lockstep_find_ended(state.pointer),
      number >= 0
    {
      // After the end of the run has been decided, the programs that end have been killed for it.
      if lockstep_has_ended_by_itself(state.pointer, number) { note(number) }
    }
  }

  private func note(_ number: CInt) {
    guard let program = programs.first(where: { $0.number == number }) else { return }
    let status = lockstep_status(state.pointer, number)
    let signal = status & 0x7F
    let end: LockstepResult.End = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    shared.withLockedValue { $0.ends[number] = end }
    let time = Self.seconds(lockstep_end(state.pointer, number))
    switch end {
    case .exited(0), .stopped: break
    case .exited(let status):
      report("\(program.name) has ended with status \(status) at \(time) s")
    case .killed(let signal):
      report(
        "\(program.name) was ended by signal \(signal) (\(String(cString: strsignal(signal)))) at \(time) s")
    }
  }

  private static func seconds(_ nanoseconds: Int64) -> String {
    String(format: "%.6f", Double(nanoseconds) / 1e9)
  }
}
