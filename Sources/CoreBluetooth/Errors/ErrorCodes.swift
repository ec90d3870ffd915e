import Foundation

/// What lets a code match an error in `catch CBError.connectionTimeout`. Only this module's codes conform.
///
/// It is a protocol because an operator for each code's own type would be chosen for `case .unknown` of other errors, too.
public protocol _CBErrorCode: RawRepresentable where RawValue == Int {
  /// The error that has this code.
  associatedtype _ErrorType: CustomNSError
}

/// Whether `error` has the code `match`.
public func ~= <Code: _CBErrorCode>(match: Code, error: any Error) -> Bool {
  (error as? Code._ErrorType)?.errorCode == match.rawValue
}

/// Whether two errors carry the same information; values that can't be compared count as equal.
func sameInformation(_ left: [String: Any], _ right: [String: Any]) -> Bool {
  guard left.count == right.count else { return false }
  return left.allSatisfy { key, value in
    guard let other = right[key] else { return false }
    return value as? AnyHashable == other as? AnyHashable
  }
}
