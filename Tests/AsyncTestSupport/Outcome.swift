import CoreBluetooth
import CoreBluetoothExtras

/// The result of a call, in a form that tests can compare.
package enum Outcome: Hashable {
  case success
  case core(CBError.Code)
  case att(CBATTError.Code)
  case cancelled
  case timeLimit
  /// The call did not end within the limit of the test.
  case none
  case other(String)

  package init(_ error: any Error) {
    switch error {
    case let error as CBError: self = .core(error.code)
    case let error as CBATTError: self = .att(error.code)
    case is CancellationError: self = .cancelled
    case is TimeLimitExceeded: self = .timeLimit
    case is DidNotEnd: self = .none
    default: self = .other("\(error)")
    }
  }
}

package func outcome<Value>(_ body: () throws -> Value) -> Outcome {
  do { _ = try body() } catch { return Outcome(error) }
  return .success
}

package func asyncOutcome(_ body: () async throws -> Void) async -> Outcome {
  do { try await body() } catch { return Outcome(error) }
  return .success
}

/// The error of a result that is missing.
package struct IsMissing: Error {
  package init() {}
}

extension Optional {
  package func orThrow() throws -> Wrapped {
    guard let self else { throw IsMissing() }
    return self
  }
}
