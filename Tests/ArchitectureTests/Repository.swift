import Foundation
import Testing

/// The working copy that these tests were compiled from.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The text of the file at `path`, relative to the root.
  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The Swift files below `folder`, none if there is no such folder.
  static func swiftFiles(in folder: String) -> [SourceFile] { files[folder] ?? read(folder) }

  /// Those that several tests look through.
  private static let files = Dictionary(uniqueKeysWithValues: ["Sources", "Tests"].map { ($0, read($0)) })

  private static func read(_ folder: String) -> [SourceFile] {
    let start = root.appendingPathComponent(folder)
    guard let paths = FileManager.default.enumerator(atPath: start.path) else { return [] }
    return paths.compactMap { $0 as? String }
      .filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }
      .sorted()
      .compactMap { path in
        guard let text = try? String(contentsOf: start.appendingPathComponent(path), encoding: .utf8) else {
          Issue.record("\(folder)/\(path) can't be read")
          return nil
        }
        return SourceFile(path: "\(folder)/\(path)", text: text)
      }
  }

  /// The rows of a table of tabs, without its heading.
  static func table(_ path: String) throws -> [[String]] {
    try text(path).split(separator: "\n").dropFirst()
      .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  }

  /// The files of the targets that `swift test` runs; other folders of Tests are packages of their own.
  static let testFiles: [SourceFile] = swiftFiles(in: "Tests").filter { $0.module.hasSuffix("Tests") }

  /// The `@Test` and `@Suite` attributes of these files.
  static let testAttributes: [(path: String, attribute: TestAttribute)] = testFiles.flatMap { file in
    TestAttributeReader.attributes(in: file.text).map { (file.path, $0) }
  }

  /// The titles of all tests that run, whatever the conditions.
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

  /// The lines that are not comments and have one of `words`, with their numbers: what a regular expression, which takes much
  /// longer, need look at.
  func codeLines(with words: [String]) -> [(number: Int, text: Substring)] {
    guard words.contains(where: { text.contains($0) }) else { return [] }
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .filter { line in words.contains { line.element.contains($0) } }
      .filter { !$0.element.drop { $0 == " " }.hasPrefix("//") }
      .map { ($0.offset + 1, $0.element) }
  }
}
