import Foundation

/// A code that can match an error in `catch CBError.connectionTimeout`. Only this module's codes conform.
///
/// A protocol, because an operator for each concrete code type would also be chosen for `case .unknown` of other
/// errors.
public protocol _CBErrorCode: RawRepresentable where RawValue == Int {
  /// The error type with this code.
  associatedtype _ErrorType: CustomNSError
}

/// Returns true if `error` has the code `match`.
public func ~= <Code: _CBErrorCode>(match: Code, error: any Error) -> Bool {
  (error as? Code._ErrorType)?.errorCode == match.rawValue
}
