import Testing

/// A trait that names what a test shows: rows of the coverage tables in Documentation.
///
/// `ArchitectureTests` reads the names in the source, and compares them with the tables, whose column `evidence`
/// `COREBLUETOOTH_WRITE_TABLES=1 swift test --filter CoverageTableTests` writes.
public struct Requirement: TestTrait {
  /// The requirements' ids, or the symbols.
  public let names: [String]
}

extension Trait where Self == Requirement {
  /// The requirements of Documentation/Coverage-Requirements.tsv that the test shows, such as "A085".
  public static func requirement(_ ids: String...) -> Self { Requirement(names: ids) }

  /// The symbols of Documentation/Coverage-Symbols.tsv that the test shows, such as "CBManager.state".
  public static func symbol(_ names: String...) -> Self { Requirement(names: names) }
}
