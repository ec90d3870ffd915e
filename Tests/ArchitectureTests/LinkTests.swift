import Foundation
import Testing

@Suite struct LinkTests {
  private static let index = "Documentation/README.md"

  /// The text without code between fences and within lines. The labels of links that are code become empty.
  private static func prose(of text: String) -> String {
    var isCode = false
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      let isFence = line.drop { $0 == " " }.hasPrefix("```")
      if isFence { isCode.toggle() }
      return !isCode && !isFence
    }
    return lines.joined(separator: "\n").replacing(/`[^`\n]*`/, with: "")
  }

  /// Returns the targets of the links and pictures in the prose of a page that are no URLs.
  static func relativeTargets(of text: String) -> [String] {
    prose(of: text).matches(of: /\[[^\]]*\]\(([^)\s]+)\)/).map { String($0.1) }
      .filter { $0.firstMatch(of: /^[a-z]+:/) == nil }
  }

  /// Returns the fragments that GitHub gives the headings of a page.
  static func fragments(of text: String) -> Set<String> {
    var isCode = false
    var counts: [String: Int] = [:]
    var result: Set<String> = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, let match = line.wholeMatch(of: /#+ (.+)/) else { continue }
      let words = match.1.lowercased().filter { $0.isLetter || $0.isNumber || "_- ".contains($0) }
      let name = words.replacing(" ", with: "-")
      let count = counts[name, default: 0]
      result.insert(count == 0 ? name : "\(name)-\(count)")
      counts[name] = count + 1
    }
    return result
  }

  /// Returns the path of the target of a link in the page at `page`, relative to the root, and its fragment.
  private static func resolved(_ target: String, in page: String) -> (path: String, fragment: String?) {
    let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let fragment = parts.count == 2 ? String(parts[1]) : nil
    guard !parts[0].isEmpty else { return (page, fragment) }
    var components = page.split(separator: "/").dropLast().map(String.init)
    for part in parts[0].split(separator: "/") where part != "." {
      if part == "..", !components.isEmpty { components.removeLast() } else { components.append(String(part)) }
    }
    return (components.joined(separator: "/"), fragment)
  }

  private static func pages() throws -> [SourceFile] {
    let others = try ["CHANGELOG.md", "SECURITY.md", "Interop/README.md"].map { path in
      SourceFile(path: path, text: try Repository.text(path))
    }
    return try Repository.pages() + Repository.files(in: "Examples", suffix: ".md") + others
  }

  @Test("Each relative link of a page leads to a file or a folder, and its fragment to a heading")
  func linksResolve() throws {
    var count = 0
    for page in try Self.pages() {
      for target in Self.relativeTargets(of: page.text) {
        count += 1
        let (path, fragment) = Self.resolved(target, in: page.path)
        guard FileManager.default.fileExists(atPath: Repository.root.appendingPathComponent(path).path) else {
          Issue.record("\(page.path): there is no \(target)")
          continue
        }
        #expect(!path.hasSuffix(".tutorial"), "\(page.path): only the site can show \(target)")
        if let fragment, path.hasSuffix(".md") {
          let headings = Self.fragments(of: try Repository.text(path))
          #expect(headings.contains(fragment), "\(page.path): there is no heading for \(target)")
        }
      }
    }
    #expect(count > 300)
  }

  @Test("The index lists each page of Documentation")
  func indexIsComplete() throws {
    let listed = Set(
      Self.relativeTargets(of: try Repository.text(Self.index)).map { Self.resolved($0, in: Self.index).path })
    for page in Repository.files(in: "Documentation", suffix: ".md") where page.path != Self.index {
      #expect(listed.contains(page.path), "\(Self.index) does not list \(page.path)")
    }
    #expect(try Self.relativeTargets(of: Repository.text("README.md")).contains(Self.index))
  }

  @Test("Each page of Documentation ends with links to the pages to read next")
  func pagesLeadOn() {
    for page in Repository.files(in: "Documentation", suffix: ".md") {
      #expect(Self.leadsOn(page.text), "\(page.path) does not end with a paragraph \"Next: …\" that has a link")
    }
  }

  /// True if the last paragraph of a page begins with "Next: " and has a link.
  private static func leadsOn(_ text: String) -> Bool {
    let last = text.components(separatedBy: "\n\n").last ?? ""
    return last.hasPrefix("Next: ") && !relativeTargets(of: last).isEmpty
  }

  @Test("Links are found in prose and in tables, and not in code; headings get GitHub's fragments")
  func linksAreFound() {
    let text = """
      # A page

      See [a page](A.md#the-end), ![a picture](a.svg) and [a site](https://example.org).
      | [`code`](B.md) | `[no link](C.md)` |
      ```
      [code](D.md)
      # no heading
      ```
      ## `ble air`: what's new?
      ## A page

      Next: [all](E.md).
      """
    #expect(Self.relativeTargets(of: text) == ["A.md#the-end", "a.svg", "B.md", "E.md"])
    #expect(Self.fragments(of: text) == ["a-page", "a-page-1", "ble-air-whats-new"])
    #expect(Self.resolved("../x/B.md#c", in: "Documentation/Flows/A.md").path == "Documentation/x/B.md")
    #expect(Self.resolved("#c", in: "README.md").path == "README.md")
    #expect(Self.leadsOn(text))
    #expect(!Self.leadsOn(text + "\n\nThe end."))
  }
}
