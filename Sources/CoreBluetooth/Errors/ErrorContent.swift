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

  /// Returns the error's text as Apple's systems print an error of a callback. The keys are sorted, so that two runs of
  /// one program print the same text.
  func text(domain: String, describedBy text: String) -> String {
    let error = "Error Domain=\(domain) Code=\(code) \"\(description(or: text))\""
    return userInfo.isEmpty ? error : "\(error) UserInfo=\(Self.text(of: userInfo))"
  }

  private static func text(of value: Any) -> String {
    guard let dictionary = value as? [AnyHashable: Any] else { return "\(value)" }
    return "{" + dictionary.map { "\($0)=\(text(of: $1))" }.sorted().joined(separator: ", ") + "}"
  }

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
