import Testing

/// A name means one type in the whole package: a reader who searches for it finds one declaration, and a file that imports
/// two modules needs no qualified names.
@Suite struct NameTests {
  /// The names that types of two modules have, with the reason.
  private static let exceptions: [String: String] = [
    "Failure": "the error of a program, `ble` or `btserver`, which no other module sees",
    "L2CAP": "the verb `ble l2cap`; the verbs have the names that the user types",
  ]

  /// The modules that declare each name at the top level, except for types that are private to a file.
  private static func modules(of files: [SourceFile]) -> [Substring: Set<String>] {
    let declaration =
      /^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|indirect|final|open|nonisolated) )*(?:struct|enum|class|protocol|typealias|actor) (\w+)/
    var modules: [Substring: Set<String>] = [:]
    for file in files {
      for line in file.text.split(separator: "\n") where line.first != " " && line.first != "/" {
        if let match = try? declaration.firstMatch(in: line) { modules[match.1, default: []].insert(file.module) }
      }
    }
    return modules
  }

  private static let modules = modules(of: Repository.swiftFiles(in: "Sources"))

  @Test("No two modules have types with the same name")
  func unique() {
    #expect(Self.modules.count > 1_000)
    for (name, modules) in Self.modules where modules.count > 1 && Self.exceptions[String(name)] == nil {
      Issue.record("\(name) is the name of types of \(modules.sorted())")
    }
  }

  @Test("Every exception to unique names is needed", arguments: exceptions.keys.sorted())
  func exceptionsAreNeeded(name: String) {
    #expect((Self.modules[name[...]]?.count ?? 0) > 1)
  }

  @Test("Types at the top level are found, and others are not")
  func declarations() {
    let text = "package struct A {\n  struct B {}\n}\nprivate enum C {}\n// struct D\nclass E {}\n"
    #expect(Set(Self.modules(of: [SourceFile(path: "Sources/M/F.swift", text: text)]).keys) == ["A", "E"])
  }
}
