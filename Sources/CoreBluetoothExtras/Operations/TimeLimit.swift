/// A time limit for an operation, on any clock.
///
/// ```swift
/// try await peripheral.connect(within: .seconds(10))
/// try await peripheral.connect(within: TimeLimit(.seconds(10), on: world.clock))
/// ```
public struct TimeLimit: Sendable {
  /// Returns a function that sleeps until the end of the limit, which begins with the call.
  let begin: @Sendable () -> @Sendable () async throws -> Void

  /// Creates a limit of `duration` on `clock`.
  public init<C: Clock>(_ duration: C.Duration, on clock: C) {
    begin = {
      let deadline = clock.now.advanced(by: duration)
      return { try await clock.sleep(until: deadline, tolerance: nil) }
    }
  }

  /// Creates a limit of `duration` on the continuous clock.
  public init(_ duration: Duration) { self.init(duration, on: ContinuousClock()) }

  /// Returns a limit of this number of seconds on the continuous clock.
  ///
  /// - Parameter seconds: the duration. 0 or less: the limit has ended when it begins. More than 10⁹, infinity, or not a
  ///   number: there is no limit.
  public static func seconds(_ seconds: Double) -> TimeLimit {
    // The comparison is false for a value that is not a number.
    guard seconds <= longest else { return unlimited }
    return TimeLimit(Duration.seconds(max(0, seconds)))
  }

  /// Returns a limit of this number of milliseconds on the continuous clock.
  ///
  /// - Parameter milliseconds: the duration. 0 or less: the limit has ended when it begins. More than 10¹², infinity, or
  ///   not a number: there is no limit.
  public static func milliseconds(_ milliseconds: Double) -> TimeLimit {
    guard milliseconds <= 1_000 * longest else { return unlimited }
    return TimeLimit(Duration.milliseconds(max(0, milliseconds)))
  }

  /// The longest limit in seconds, 31 years. `Duration` can't hold every `Double`.
  private static var longest: Double { 1e9 }

  /// A limit that does not end.
  private static var unlimited: TimeLimit {
    TimeLimit(begin: { return { try await PendingOperation<Void>().value(onCancel: {}) } })
  }

  private init(begin: @escaping @Sendable () -> @Sendable () async throws -> Void) { self.begin = begin }
}

/// The error of an operation that has not ended within its time limit.
public struct TimeLimitExceeded: Error, Hashable, Sendable, CustomStringConvertible {
  /// Creates the error.
  public init() {}

  /// The error as a sentence.
  public var description: String { "The operation did not end within its time limit." }
}

/// Runs `operation` with a time limit; for the elements of a sequence, and for several operations under one limit. The
/// operations of this module have a parameter `within` for a limit of their own.
///
/// At the end of the limit, the operation is cancelled as if its task were. If it returns a value nevertheless, this
/// function returns that value.
///
/// - Throws: the error of `operation`; `TimeLimitExceeded` if the limit ended first.
public func withTimeLimit<Value: Sendable>(
  _ limit: TimeLimit, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let sleep = limit.begin()
  return try await withThrowingTaskGroup(of: Outcome<Value>.self) { group in
    group.addTask { .value(try await operation()) }
    group.addTask {
      do { try await sleep() } catch { return .clockStopped }
      return .expired
    }
    var isExpired = false
    do {
      while let outcome = try await group.next() {
        switch outcome {
        case .value(let value):
          group.cancelAll()
          return value
        case .expired:
          isExpired = true
          group.cancelAll()
        case .clockStopped: break
        }
      }
    } catch  where isExpired {
      throw TimeLimitExceeded()
    }
    throw TimeLimitExceeded()
  }
}

/// Runs `operation` with a time limit, or directly if there is none.
func limited<Value: Sendable>(
  _ limit: TimeLimit?, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  guard let limit else { return try await operation() }
  return try await withTimeLimit(limit, operation)
}

private enum Outcome<Value: Sendable>: Sendable {
  case value(Value)
  /// The time limit has ended.
  case expired
  /// The sleep was cancelled.
  case clockStopped
}
