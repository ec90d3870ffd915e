import Foundation

/// The content of a `CBError` or a `CBATTError`: a code, and the user info that the app or this module has added.
struct ErrorContent: Hashable, Sendable {
  let code: Int
  // Immutable after init; the values come from the app, or are plain strings and numbers.
  nonisolated(unsafe) let userInfo: [String: Any]

  init(code: Int, userInfo: [String: Any]) {
    self.code = code
    self.userInfo = userInfo
  }

  init(_ error: NSError) { self.init(code: error.code, userInfo: error.userInfo) }

  /// Returns the `userInfo` with `text` as localized description, unless it contains one.
  func userInfo(describedBy text: String) -> [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: text]) { own, _ in own }
  }

  /// Returns the localized description in `userInfo`, otherwise `text`.
  func description(or text: String) -> String { userInfo[NSLocalizedDescriptionKey] as? String ?? text }

  // Implemented explicitly because NSError.hash recurses endlessly on Linux.

  /// Returns true if both have the same code and the same `userInfo`; values that can't be compared count as equal.
  static func == (left: ErrorContent, right: ErrorContent) -> Bool {
    guard left.code == right.code, left.userInfo.count == right.userInfo.count else { return false }
    return left.userInfo.allSatisfy { key, value in
      guard let other = right.userInfo[key] else { return false }
      return value as? AnyHashable == other as? AnyHashable
    }
  }

  func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
