import Testing

@Suite struct SourceRuleTests {
  static let folders = ["Sources", "Examples", "Benchmarks", "Tests"]

  /// The modules that must not depend on the machine: protocol, controller, radio, host, daemon.
  static let pureModules: Set<String> = [
    "BluetoothTypes", "BluetoothCrypto", "BluetoothNumbers", "BluetoothWire", "BluetoothProfiles", "BluetoothRadio",
    "BluetoothController", "BluetoothHost", "BluetoothDaemon",
  ]

  /// The modules whose files change the state of the type only that they are named after.
  static let engineModules = ["BluetoothController", "BluetoothHost", "BluetoothDaemon"]

  @Test("Only files with the name of a type have functions that change it", arguments: engineModules)
  func ownTypes(module: String) {
    let files = Repository.swiftFiles(in: "Sources").filter { $0.module == module }
    let declaration = /^ *(?:(?:package|indirect|final|private|fileprivate) )*(?:struct|enum|class|protocol) (\w+)/
    var declared: [String: Set<Substring>] = [:]
    for file in files {
      declared[file.path] = Set(
        file.text.split(separator: "\n").compactMap { try? declaration.firstMatch(in: $0)?.1 })
    }
    let types = declared.values.reduce(into: Set<Substring>()) { $0.formUnion($1) }
    #expect(types.count > 50)
    for file in files {
      var current: Substring?
      let name = file.path.split(separator: "/").last ?? ""
      for line in file.text.split(separator: "\n") {
        if let match = try? /^(?:package )?extension ([\w.]+)/.firstMatch(in: line) {
          let type = match.1.split(separator: ".").last ?? ""
          let isOwn = declared[file.path]?.contains(type) ?? false
          let isForeign = types.contains(type) && !isOwn && !name.hasPrefix(type)
          current = isForeign ? type : nil
        } else if let type = current, line.hasPrefix("  mutating func") || line.hasPrefix("  package mutating func") {
          Issue.record("\(file.path) changes \(type): \(line.drop { $0 == " " })")
        } else if line.hasPrefix("}") {
          current = nil
        }
      }
    }
  }

  @Test("Work that blocks has a thread of its own in tests, because a detached task takes one of the pool's")
  func blockingWork() {
    // App time has tests about detached tasks, and runs alone.
    for file in Repository.swiftFiles(in: "Tests") where file.module != "BluetoothLabTimeTests" {
      for line in file.codeLines(with: ["Task" + ".detached"]) {
        Issue.record("\(file.path):\(line.number): use onOwnThread")
      }
    }
  }

  @Test("No source file is longer than 500 lines", arguments: folders)
  func length(folder: String) {
    for file in Repository.swiftFiles(in: folder) {
      let count = file.text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
      #expect(count <= 500, "\(file.path) has \(count) lines: look for the second idea in it")
    }
  }

  /// Returns the numbers of lines of the overviews in a text, with their headings. An overview consists of lines that
  /// begin with `//`, and ends before a doc comment.
  static func overviewLengths(of text: String) -> [Int] {
    guard text.contains("// Overview") else { return [] }
    var lengths: [Int] = []
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "// Overview" {
        lengths.append(1)
        isInside = true
      } else if isInside, line.hasPrefix("//"), !line.hasPrefix("///"), let last = lengths.indices.last {
        lengths[last] += 1
      } else {
        isInside = false
      }
    }
    return lengths
  }

  @Test("Each Swift module has one overview of 10 to 40 lines, and Design.md has a link to it")
  func overviews() throws {
    let design = try Repository.text("Documentation/Contributing/Design.md")
    let files = Dictionary(grouping: Repository.swiftFiles(in: "Sources"), by: \.module)
    for module in try FloorTests.modules() {
      let found = (files[module] ?? []).flatMap { file in
        Self.overviewLengths(of: file.text).map { (path: file.path, lines: $0) }
      }
      #expect(found.count == 1, "\(module) has \(found.count) overviews: \(found.map(\.path))")
      for (path, lines) in found {
        #expect((10...40).contains(lines), "the overview in \(path) has \(lines) lines")
        let isLinked = design.contains("](../../\(path))")
        #expect(isLinked, "no link to \(path) in Documentation/Contributing/Design.md")
      }
    }
  }

  @Test("Design.md has a link to each part with rules at the head of its file")
  func partRules() throws {
    let design = try Repository.text("Documentation/Contributing/Design.md")
    var count = 0
    for file in Repository.swiftFiles(in: "Sources") where file.text.contains("// Design: ") {
      for line in file.text.split(separator: "\n") where line.hasPrefix("// Design: ") {
        count += 1
        let link = "[\(line.dropFirst("// Design: ".count))](../../\(file.path))"
        let isLinked = design.contains(link)
        #expect(isLinked, "missing in Documentation/Contributing/Design.md: \(link)")
      }
    }
    #expect(count > 20)
  }

  @Test("An overview ends at the first line that is no comment, or at a doc comment")
  func overviewsAreFound() {
    let overview = "// Overview\n//\n// Text."
    #expect(Self.overviewLengths(of: overview + "\n\nimport A\n// More.\n") == [3])
    #expect(Self.overviewLengths(of: "import A\n\n" + overview + "\n/// A type.\nstruct A {}\n") == [3])
    #expect(Self.overviewLengths(of: overview + "\n" + overview) == [3, 3])
    #expect(Self.overviewLengths(of: "// An overview\n// Overviews\nlet text = \"// Overview\"\n").isEmpty)
  }

  @Test("No file in Sources uses try! or as!")
  func force() {
    for file in Repository.swiftFiles(in: "Sources") {
      for line in file.codeLines(with: ["try!", "as!"]) where line.text.contains(/\btry!|\bas!/) {
        Issue.record("\(file.path):\(line.number):\(line.text)")
      }
    }
  }

  /// The modules that apps call.
  static let publicModules: Set<String> = [
    "CoreBluetooth", "CoreBluetoothExtras", "CoreBluetoothProfiles", "BeaconLocation", "AccessoryPlayer",
    "BluetoothLab",
  ]

  @Test("Public modules report errors of an app in release builds too, and use no preconditions or assertions")
  func reasons() {
    for file in Repository.swiftFiles(in: "Sources") where Self.publicModules.contains(file.module) {
      for line in file.codeLines(with: ["precondition", "assert"])
      where line.text.contains(/\b(precondition|preconditionFailure|assert)\(/) {
        Issue.record("\(file.path):\(line.number):\(line.text)")
      }
    }
  }

  @Test("Engines read no clock and use no random numbers of the system")
  func purity() {
    let forbidden = /\b(ContinuousClock|SuspendingClock|clock_gettime|SystemRandomNumberGenerator)\b/
    for file in Repository.swiftFiles(in: "Sources") where Self.pureModules.contains(file.module) {
      let words = ["ContinuousClock", "SuspendingClock", "clock_gettime", "SystemRandomNumberGenerator", ".random("]
      for line in file.codeLines(with: words)
      where line.text.contains(forbidden) || line.text.contains(/\.random\(in: [^,)]*\)/) {
        Issue.record("\(file.path):\(line.number):\(line.text)")
      }
    }
  }

  /// Swift 6.3.1 destroys a large structure that was read through such an accessor in memory that is free by then:
  /// `CompilerFaultTests`.
  @Test("No accessor yields a value for reading")
  func readAccessors() {
    for file in Repository.swiftFiles(in: "Sources") {
      for line in file.codeLines(with: ["_read"]) where line.text.contains(/\b_read\b/) {
        Issue.record("\(file.path):\(line.number):\(line.text)")
      }
    }
  }

  @Test("No test sleeps")
  func sleeping() {
    // The sleeps of apps and programs under the control of a world, and those on the clock of a world, take no real
    // time.
    let apps = ["Tests/BluetoothLabTimeTests/", "Tests/LockstepTests/", "Tests/UneditedClient/"]
    for file in Repository.swiftFiles(in: "Tests") where !apps.contains(where: file.path.hasPrefix) {
      for line in file.codeLines(with: ["sleep"])
      where line.text.contains(/\b(Task\.sleep|Thread\.sleep|usleep|nanosleep|sleep)\(/)
        && !line.text.contains("clock: world.clock")
      {
        Issue.record("\(file.path):\(line.number):\(line.text)")
      }
    }
  }

  @Test("No two tests of the package have the same title")
  func titles() {
    let named = Repository.testAttributes.filter { $0.attribute.name == "Test" && $0.attribute.title != nil }
    for (title, places) in Dictionary(grouping: named, by: \.attribute.title) where places.count > 1 {
      Issue.record("\(title ?? ""): \(places.map(\.path))")
    }
  }

  @Test("No test and no suite is disabled, and no test has a known issue")
  func enabled() {
    for (path, attribute) in Repository.testAttributes {
      #expect(!attribute.traits.contains(".disabled"), "\(path): \(attribute.title ?? attribute.name)")
    }
    for file in Repository.testFiles {
      for line in file.codeLines(with: ["withKnownIssue"]) where !line.text.contains("\"withKnownIssue") {
        Issue.record("\(file.path):\(line.number):\(line.text)")
      }
    }
  }
}
