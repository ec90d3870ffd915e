import Foundation
import Testing

/// The claim in a row of a coverage table: its last three columns.
struct CoverageClaim {
  /// The requirement's id, or the symbol.
  var subject: String
  /// One of "works", "not yet" and "decided otherwise".
  var state: String
  /// For "works" the titles of tests, separated by " | "; for "decided otherwise" the reason, and behind it the titles of
  /// tests that show a limit which the reason names.
  var evidence: String
  /// For "works" a short summary of what the tests check.
  var proves: String

  private var tests: [String] {
    let parts = evidence.components(separatedBy: " | ")
    switch state {
    case "works": return parts
    case "decided otherwise": return Array(parts.dropFirst())
    default: return []
    }
  }

  /// Records an issue for each named test that does not exist, and for each part of a "works" claim that has no
  /// evidence.
  func expectShown(by titles: Set<String>, location: SourceLocation = #_sourceLocation) {
    for test in tests {
      #expect(titles.contains(test), "\(subject): no enabled test is called \"\(test)\"", sourceLocation: location)
    }
    guard state == "works" else { return }
    #expect(!proves.isEmpty, "\(subject) does not say what its tests show", sourceLocation: location)
    #expect(!tests.contains(proves), "\(subject) only repeats a title", sourceLocation: location)
  }

  /// Records an issue if the state is unknown, or if a cell is filled or empty contrary to it.
  func expectConsistent(location: SourceLocation = #_sourceLocation) {
    switch state {
    case "works": #expect(!evidence.isEmpty, "\(subject)", sourceLocation: location)
    case "decided otherwise":
      #expect(!evidence.isEmpty && proves.isEmpty, "\(subject)", sourceLocation: location)
    case "not yet": #expect(evidence.isEmpty && proves.isEmpty, "\(subject)", sourceLocation: location)
    default: Issue.record("\(subject) is in the state \"\(state)\"", sourceLocation: location)
    }
  }
}
