import Foundation
import TestSupport
import Testing

/// The sources, tests and tables of this package.
enum Repository {
  static let root = WorkingCopy.root

  /// Returns the text of the file at `path`, relative to the root.
  static func text(_ path: String) throws -> String { try WorkingCopy.text(path) }

  /// Returns the Swift files in `folder` and its subfolders; empty if the folder does not exist.
  static func swiftFiles(in folder: String) -> [SourceFile] { files[folder] ?? read(folder) }

  /// The files of folders that several tests read.
  private static let files = Dictionary(uniqueKeysWithValues: ["Sources", "Tests"].map { ($0, read($0)) })

  private static func read(_ folder: String, suffix: String = ".swift") -> [SourceFile] {
    let start = root.appendingPathComponent(folder)
    guard let paths = FileManager.default.enumerator(atPath: start.path) else { return [] }
    return paths.compactMap { $0 as? String }
      .filter { $0.hasSuffix(suffix) && !$0.contains(".build/") }
      .sorted()
      .compactMap { path in
        guard let text = try? String(contentsOf: start.appendingPathComponent(path), encoding: .utf8) else {
          Issue.record("\(folder)/\(path) can't be read")
          return nil
        }
        return SourceFile(path: "\(folder)/\(path)", text: text)
      }
  }

  /// Returns the files in `folder` and its subfolders whose names end with `suffix`; empty if the folder does not exist.
  static func files(in folder: String, suffix: String) -> [SourceFile] { read(folder, suffix: suffix) }

  /// Returns the pages in Documentation and its subfolders, and the pages for contributors outside of it.
  static func pages() throws -> [SourceFile] {
    let others = try ["README.md", "CONTRIBUTING.md", "Sources/README.md"].map { path in
      SourceFile(path: path, text: try text(path))
    }
    return read("Documentation", suffix: ".md") + others
  }

  /// Returns the rows of a tab-separated table, without its heading.
  static func table(_ path: String) throws -> [[String]] {
    try text(path).split(separator: "\n").dropFirst()
      .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  }

  /// The files of the targets that `swift test` runs. Other folders of Tests are separate packages.
  static let testFiles: [SourceFile] = swiftFiles(in: "Tests").filter { $0.module.hasSuffix("Tests") }

  /// The `@Test` and `@Suite` attributes of these files.
  static let testAttributes: [(path: String, attribute: TestAttribute)] = testFiles.flatMap { file in
    TestAttributeReader.attributes(in: file.text).map { (file.path, $0) }
  }

  /// The titles of all tests that are enabled unconditionally.
  static let testTitles: [String] = testAttributes.compactMap { _, attribute in
    attribute.name == "Test" && attribute.isEnabled ? attribute.title : nil
  }
}

struct SourceFile {
  var path: String
  var text: String

  /// The second part of the path: the module, for `Sources/MODULE/…`.
  var module: String { String(path.split(separator: "/")[1]) }

  /// The modules that this file imports.
  var imports: Set<String> {
    let pattern = /(?:@\w+(?:\([^)]*\))? +)*(?:(?:public|package|internal|fileprivate|private) +)?import +(.+)/
    let kinds: Set<Substring> = ["class", "struct", "enum", "protocol", "typealias", "func", "let", "var"]
    var result: Set<String> = []
    for line in text.split(separator: "\n") where line.contains("import") {
      guard let match = try? pattern.wholeMatch(in: line.drop { $0 == " " }) else { continue }
      let words = match.1.split(separator: " ")
      let name = words.first { !kinds.contains($0) } ?? ""
      if let module = name.split(separator: ".").first { result.insert(String(module)) }
    }
    return result
  }

  /// Returns the lines, with their numbers, that are not comments and contain one of `words`. This limits the use of a
  /// regular expression, which takes much longer.
  func codeLines(with words: [String]) -> [(number: Int, text: Substring)] {
    guard words.contains(where: { text.contains($0) }) else { return [] }
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .filter { line in words.contains { line.element.contains($0) } }
      .filter { !$0.element.drop { $0 == " " }.hasPrefix("//") }
      .map { ($0.offset + 1, $0.element) }
  }
}
