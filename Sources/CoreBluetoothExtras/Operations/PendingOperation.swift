import NIOConcurrencyHelpers

/// A pending operation without the type of its value, for tables of operations.
protocol AnyOperation: AnyObject, Sendable {
  /// Ends the operation with an error. Does nothing if the operation has ended.
  func fail(_ error: any Error)
}

/// A call that waits for its result. The first call of `finish` decides the result and resumes the caller, whatever it
/// stands for: an answer, an error, the end of the link, a cancellation. Later calls do nothing.
final class PendingOperation<Value: Sendable>: AnyOperation {
  private enum State {
    case waiting
    case suspended(CheckedContinuation<Value, any Error>)
    case finished(Result<Value, any Error>)
  }

  private let state = NIOLockedValueBox(State.waiting)
  private let completion: (@Sendable (Result<Value, any Error>) -> Void)?

  /// Creates an operation.
  ///
  /// - Parameter completion: called once with the result; for operations that no task waits for.
  init(_ completion: (@Sendable (Result<Value, any Error>) -> Void)? = nil) { self.completion = completion }

  /// Ends the operation.
  ///
  /// - Returns: false if the operation had ended before; the result then has no effect.
  @discardableResult
  func finish(_ result: Result<Value, any Error>) -> Bool {
    guard let resume = decide(result) else { return false }
    resume()
    return true
  }

  /// Decides the result without resuming the caller. An owner calls this method under the lock under which it removes
  /// the operation, so that a cancellation that no longer finds the operation can't discard a result that the owner has
  /// taken for it.
  ///
  /// - Returns: a function that resumes the caller, to be called without a lock; nil: the operation had ended before, and
  ///   the result has no effect.
  func decide(_ result: Result<Value, any Error>) -> (() -> Void)? {
    let (isFirst, continuation) = state.withLockedValue { state -> (Bool, CheckedContinuation<Value, any Error>?) in
      switch state {
      case .waiting:
        state = .finished(result)
        return (true, nil)
      case .suspended(let continuation):
        state = .finished(result)
        return (true, continuation)
      case .finished: return (false, nil)
      }
    }
    guard isFirst else { return nil }
    return { [completion] in
      continuation?.resume(with: result)
      completion?(result)
    }
  }

  func fail(_ error: any Error) { finish(.failure(error)) }

  /// Waits for the result. Only one task may wait.
  ///
  /// - Parameter onCancel: called if the task is cancelled first, before this method throws. It must make sure that the
  ///   operation has no further effect.
  /// - Throws: the error of the result; `CancellationError` if the task is cancelled first.
  func value(onCancel: @escaping @Sendable () -> Void) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { suspend($0) }
    } onCancel: {
      onCancel()
      fail(CancellationError())
    }
  }

  private func suspend(_ continuation: CheckedContinuation<Value, any Error>) {
    let result: Result<Value, any Error>? = state.withLockedValue { state in
      if case .finished(let result) = state { return result }
      state = .suspended(continuation)
      return nil
    }
    if let result { continuation.resume(with: result) }
  }
}
