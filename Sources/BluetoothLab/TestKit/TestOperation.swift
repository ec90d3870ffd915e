/// An operation of the test kit: a call of an app and the wait for its result, or several of them one after the other.
///
/// The world polls it between two events, so that one description serves the synchronous and the asynchronous form.
struct TestOperation<Value> {
  /// The state of an operation.
  enum Progress {
    case waiting
    /// The operation has made a call, which the world must process before the next poll.
    case called
    case done(Value)
  }

  /// The expectation, in words for an error.
  let expectation: String
  let poll: () throws -> Progress

  /// Creates an operation that waits until `result` returns a value.
  init(_ expectation: String, waitingFor result: @escaping () throws -> Value?) {
    self.init(expectation) { try result().map(Progress.done) ?? .waiting }
  }

  /// Creates an operation that makes a call and then waits for its result.
  ///
  /// - Parameter begin: makes the call, and returns the function that returns the result.
  init(_ expectation: String, calling begin: @escaping () -> () throws -> Value?) {
    var result: (() throws -> Value?)?
    self.init(expectation) {
      if let result { return try result().map(Progress.done) ?? .waiting }
      result = begin()
      return .called
    }
  }

  private init(_ expectation: String, poll: @escaping () throws -> Progress) {
    self.expectation = expectation
    self.poll = poll
  }

  /// Returns an operation that goes on with the operation that `next` makes from the result of this one.
  func then<Next>(_ next: @escaping (Value) -> TestOperation<Next>) -> TestOperation<Next> {
    var second: TestOperation<Next>?
    return TestOperation<Next>(expectation) { () -> TestOperation<Next>.Progress in
      if let second { return try second.poll() }
      switch try poll() {
      case .waiting: return .waiting
      case .called: return .called
      case .done(let value):
        let operation = next(value)
        second = operation
        return try operation.poll()
      }
    }
  }

  /// Returns the operation with a value that `transform` makes from the value of this one.
  func map<New>(_ transform: @escaping (Value) -> New) -> TestOperation<New> {
    TestOperation<New>(
      expectation,
      poll: { () -> TestOperation<New>.Progress in
        switch try poll() {
        case .waiting: return .waiting
        case .called: return .called
        case .done(let value): return .done(transform(value))
        }
      })
  }

  /// Returns the operation with another expectation.
  func expecting(_ expectation: String) -> TestOperation { TestOperation(expectation, poll: poll) }
}

/// The error of an operation that can't have a result, however long the world runs.
struct HopelessOperation: Error {
  /// The reason, for `ExpectationFailure`.
  var reason: String
}

/// An operation that the world polls, and its result so far.
private struct Attempt<Value> {
  let operation: TestOperation<Value>
  var result: Result<Value, any Error>?

  /// Polls the operation. Returns true if the run of the world must end: because of a result, or after a call.
  mutating func poll() -> Bool {
    do {
      switch try operation.poll() {
      case .waiting: return false
      case .called: break
      case .done(let value): result = .success(value)
      }
    } catch {
      result = .failure(error)
    }
    return true
  }
}

extension World {
  /// Runs the world until the operation has a result.
  @available(*, noasync)
  func complete<Value>(_ operation: TestOperation<Value>, within limit: Duration) throws -> Value {
    startTrace()
    var attempt = Attempt(operation: operation)
    let end = now + limit
    while true {
      if let result = attempt.result { return try value(of: result, operation.expectation) }
      guard run(until: { attempt.poll() }, limit: end - now) else { throw failure(of: operation.expectation, limit) }
    }
  }
}

extension World {
  /// Returns the value, or throws the error of the app's callback.
  private func value<Value>(of result: Result<Value, any Error>, _ expectation: String) throws -> Value {
    do { return try result.get() } catch let error as HopelessOperation {
      throw failure(of: expectation, reason: error.reason)
    }
  }

  // In a separate extension, because the linter reports two overloads of one method in one declaration as ambiguous.
  nonisolated(nonsending) func complete<Value>(
    _ operation: TestOperation<Value>, within limit: Duration
  ) async throws -> Value {
    startTrace()
    var attempt = Attempt(operation: operation)
    let end = now + limit
    while true {
      if let result = attempt.result { return try value(of: result, operation.expectation) }
      guard await run(until: { attempt.poll() }, limit: end - now) else {
        throw failure(of: operation.expectation, limit)
      }
    }
  }
}
