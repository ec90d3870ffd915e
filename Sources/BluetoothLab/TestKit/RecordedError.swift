import CoreBluetooth

/// The error of a recorded callback, in a form that tests can compare.
public enum RecordedError: Hashable, Sendable {
  /// A `CBError`.
  case core(CBError.Code)
  /// A `CBATTError`: the error that the peer answered.
  case att(CBATTError.Code)
  /// Another error.
  case other(domain: String, code: Int)

  init(_ error: any Error) {
    switch error {
    case let error as CBError: self = .core(error.code)
    case let error as CBATTError: self = .att(error.code)
    default:
      let error = error as NSError
      self = .other(domain: error.domain, code: error.code)
    }
  }

  /// The error as the app got it, without its user info.
  var error: any Error {
    switch self {
    case .core(let code): CBError(code)
    case .att(let code): CBATTError(code)
    case .other(let domain, let code): NSError(domain: domain, code: code)
    }
  }
}

extension RecordedError: CustomStringConvertible {
  /// The type and the name of the code, such as `CBError.connectionTimeout`.
  public var description: String {
    switch self {
    case .core(let code): "CBError.\(code)"
    case .att(let code): "CBATTError.\(code)"
    case .other(let domain, let code): "\(domain) \(code)"
    }
  }
}
