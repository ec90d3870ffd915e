import Foundation
import Testing

/// The claim in a row of a coverage table: its last three columns.
struct CoverageClaim {
  /// The requirement's id, or the symbol.
  var subject: String
  /// One of "works", "not yet" and "decided otherwise".
  var state: String
  /// For "works" the titles of tests, separated by " | "; for "decided otherwise" the reason, and behind it the titles of
  /// tests that show a limit which the reason names. The titles are those of the tests whose traits name the subject.
  var evidence: String
  /// For "works" a short summary of what the tests check.
  var proves: String

  /// Returns the evidence with the titles of these tests.
  func evidence(of titles: [String]) -> String {
    let reason = state == "decided otherwise" ? [evidence.components(separatedBy: " | ")[0]] : []
    return (reason + titles).joined(separator: " | ")
  }

  /// Records an issue if the state is unknown, if a cell is filled or empty contrary to it, or if what the tests show is
  /// not said.
  func expectConsistent(location: SourceLocation = #_sourceLocation) {
    switch state {
    case "works":
      #expect(!evidence.isEmpty, "\(subject): no enabled test shows it", sourceLocation: location)
      #expect(!proves.isEmpty, "\(subject) does not say what its tests show", sourceLocation: location)
      let titles = evidence.components(separatedBy: " | ")
      #expect(!titles.contains(proves), "\(subject) only repeats a title", sourceLocation: location)
    case "decided otherwise":
      #expect(!evidence.isEmpty && proves.isEmpty, "\(subject)", sourceLocation: location)
    case "not yet": #expect(evidence.isEmpty && proves.isEmpty, "\(subject)", sourceLocation: location)
    default: Issue.record("\(subject) is in the state \"\(state)\"", sourceLocation: location)
    }
  }
}

/// A coverage table, and the trait by which tests name its rows.
enum CoverageTable: String, CaseIterable {
  case requirement
  case symbol

  var path: String {
    switch self {
    case .requirement: "Documentation/Coverage-Requirements.tsv"
    case .symbol: "Documentation/Coverage-Symbols.tsv"
    }
  }

  /// The number of columns, of which the last three are the claim.
  private var width: Int { self == .requirement ? 5 : 6 }
  private var subject: Int { self == .requirement ? 0 : 1 }

  func rows() throws -> [(cells: [String], claim: CoverageClaim)] {
    try Repository.table(path).map { cells in
      try #require(cells.count == width, "\(cells)")
      let claim = CoverageClaim(
        subject: cells[subject], state: cells[width - 3], evidence: cells[width - 2], proves: cells[width - 1])
      return (cells, claim)
    }
  }

  /// The titles of the enabled tests that name each row.
  func titles() -> [String: [String]] {
    var titles: [String: [String]] = [:]
    for (_, attribute) in Repository.testAttributes where attribute.name == "Test" && attribute.isEnabled {
      for name in attribute.shows[rawValue] ?? [] { titles[name, default: []].append(attribute.title ?? "") }
    }
    return titles
  }

  /// Writes the evidence of all rows.
  func write() throws {
    let heading = try Repository.text(path).prefix { $0 != "\n" }
    let titles = titles()
    let rows = try rows().map { cells, claim in
      var cells = cells
      cells[width - 2] = claim.evidence(of: titles[claim.subject] ?? [])
      return cells.joined(separator: "\t")
    }
    let text = ([String(heading)] + rows).joined(separator: "\n") + "\n"
    try text.write(to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
  }
}

@Suite("What tests show")
struct CoverageTableTests {
  private static let rewrites = ProcessInfo.processInfo.environment["COREBLUETOOTH_WRITE_TABLES"] == "1"

  @Test("The evidence of each row is the tests that name it; COREBLUETOOTH_WRITE_TABLES=1 writes it")
  func evidence() throws {
    for table in CoverageTable.allCases {
      if Self.rewrites { try table.write() }
      let titles = table.titles()
      let rows = try table.rows()
      for (_, claim) in rows { #expect(claim.evidence == claim.evidence(of: titles[claim.subject] ?? [])) }
      for unknown in Set(titles.keys).subtracting(rows.map(\.claim.subject)) {
        Issue.record("\(table.path) has no row \(unknown), which \(titles[unknown] ?? []) names")
      }
    }
  }

  @Test("A row that works has tests and says what they show, and one that is decided otherwise gives the reason")
  func states() throws {
    for table in CoverageTable.allCases {
      for (_, claim) in try table.rows() { claim.expectConsistent() }
    }
  }
}
