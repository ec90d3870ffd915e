import BluetoothDaemon
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore

/// The log of a server: lines for people, with the client as fields for machines.
enum ServerLog {
  private static var logger: PrintableLogger { PrintableLogger("CoreBluetooth.server") }

  /// Logs what the operator may want to know, in one line.
  static func tell(_ line: String, about client: ClientIdentity? = nil) {
    logger.info(line, fields: client?.logFields ?? [:])
  }

  /// Logs a detail, in one line.
  static func trace(_ line: @autoclosure () -> String) { logger.debug(line()) }

  /// Logs what the operator should look at, in one line.
  static func warn(_ line: String, about client: ClientIdentity? = nil) {
    logger.warning(line, fields: client?.logFields ?? [:])
  }
}

/// The log lines that clients can cause again and again, such as by connecting and leaving. Each origin may cause some in
/// a period. The log then has the number of those that it lacks.
final class ClientLog: Sendable {
  private typealias Omission = LogAllowance<String>.Omission

  private struct State {
    var allowance: LogAllowance<String>
    /// True if a task of the event loop will report omitted lines.
    var isScheduled = false
  }

  private let gate: LoopGate
  /// The period in nanoseconds.
  private let period: Int64
  private let state: NIOLockedValueBox<State>

  init(_ gate: LoopGate, _ limits: ServerLimits) {
    self.gate = gate
    period = limits.logPeriod.nanoseconds
    state = NIOLockedValueBox(
      State(allowance: LogAllowance(lines: limits.logLines, period: .nanoseconds(limits.logPeriod.nanoseconds))))
  }

  /// Logs a line, unless its origin has caused too many.
  ///
  /// - Parameters:
  ///   - origin: the cause of the line: a user, a host or an app.
  ///   - log: logs the line.
  func log(from origin: String, _ log: () -> Void) {
    let now = Self.now
    let (omissions, isAdmitted, end) = state.withLockedValue { state -> ([Omission], Bool, Instant?) in
      let isOver = state.allowance.deadline.map { $0 <= now } ?? false
      let omissions = isOver ? state.allowance.takeOmissions(at: now) : []
      let isAdmitted = state.allowance.admits(origin, at: now)
      guard !isAdmitted, !state.isScheduled, let end = state.allowance.deadline else {
        return (omissions, isAdmitted, nil)
      }
      state.isScheduled = true
      return (omissions, isAdmitted, end)
    }
    report(omissions)
    if isAdmitted { log() }
    if let end { schedule(at: end) }
  }

  /// Reports all omitted lines, because the server ends.
  func end() { report(state.withLockedValue { $0.allowance.takeOmissions(at: nil) }) }

  private func schedule(at time: Instant) {
    gate.execute { [self] in
      gate.loop.scheduleTask(deadline: NIODeadline.uptimeNanoseconds(UInt64(time.nanoseconds))) { [weak self] in
        self?.reportPeriod()
      }
    }
  }

  private func reportPeriod() {
    let now = Self.now
    let (omissions, next) = state.withLockedValue { state -> ([Omission], Instant?) in
      let omissions = state.allowance.takeOmissions(at: now)
      let next = state.allowance.deadline
      state.isScheduled = next != nil
      return (omissions, next)
    }
    report(omissions)
    if let next { schedule(at: next) }
  }

  private func report(_ omissions: [Omission]) {
    for omission in omissions {
      let lines = omission.count == 1 ? "1 line is" : "\(omission.count) lines are"
      let origin = omission.origin ?? "another origin"
      ServerLog.warn(
        "\(lines) missing here, which \(origin) has caused within \(period / 1_000_000_000) s")
    }
  }

  private static var now: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }
}
