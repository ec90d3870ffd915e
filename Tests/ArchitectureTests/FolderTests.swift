import Foundation
import Testing

/// The folders of a module and the types that they declare.
private struct Rooms {
  /// A type of another folder that a file uses.
  struct Use: Hashable {
    let file: String
    let type: String
    let from: String
    let to: String
  }

  /// The folders of each module.
  static let byModule: [String: Rooms] = Dictionary(grouping: Repository.swiftFiles(in: "Sources"), by: \.module)
    .mapValues { Rooms($0) }

  /// The folders inside the module; empty text for the files outside of folders.
  let folders: Set<String>
  let fileCount: Int
  let uses: [Use]

  private init(_ sources: [SourceFile]) {
    let files =
      sources.map { (path: $0.path, folder: Self.folder(of: $0.path), code: Self.code(of: $0.text)) }
    let declaration =
      /^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|indirect|final|open|nonisolated) )*(?:struct|enum|class|protocol|typealias|actor) (\w+)/
    var owners: [Substring: String] = [:]
    for file in files {
      for line in file.code.split(separator: "\n") {
        if let match = try? declaration.firstMatch(in: line) { owners[match.1] = file.folder }
      }
    }
    var uses: [Use] = []
    for file in files {
      var names: Set<Substring> = []
      for match in file.code.matches(of: /(^|[^.\w])([A-Z]\w+)/) { names.insert(match.2) }
      for name in names.sorted() {
        guard let owner = owners[name], owner != file.folder else { continue }
        uses.append(Use(file: file.path, type: String(name), from: file.folder, to: owner))
      }
    }
    folders = Set(files.map(\.folder))
    fileCount = files.count
    self.uses = uses
  }

  /// Returns the folder inside the module; empty for a file outside folders.
  private static func folder(of path: String) -> String {
    let parts = path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : ""
  }

  /// Returns the folders from which uses lead back to them, with those on the way to them.
  static func circle(in uses: [String: Set<String>]) -> [String] {
    var rest = uses
    while let lowest = rest.first(where: { $0.value.isDisjoint(with: rest.keys) })?.key {
      rest[lowest] = nil
    }
    return rest.keys.sorted()
  }

  /// The folders that each folder uses.
  var usesByFolder: [String: Set<String>] {
    let used = Dictionary(grouping: uses, by: \.from).mapValues { Set($0.map(\.to)) }
    return Dictionary(uniqueKeysWithValues: folders.map { ($0, used[$0] ?? []) })
  }

  /// Returns the text without comments and strings.
  private static func code(of text: String) -> String {
    let outside = text.components(separatedBy: "\"\"\"").enumerated().filter { $0.offset.isMultiple(of: 2) }
    return outside.map(\.element).joined().split(separator: "\n")
      .map { $0.replacing(/"(?:\\.|[^"\\])*"/, with: "\"\"").replacing(/\/\/.*/, with: "") }
      .joined(separator: "\n")
  }
}

/// The folders of a module are walls: each folder uses the types of certain other folders only.
@Suite struct FolderTests {
  private static let walls = FolderWalls.walls

  @Test("Every module has a table of its folders, and a module of more than 12 files has folders")
  func everyModule() throws {
    #expect(try Set(FloorTests.modules()) == Set(FolderWalls.walls.keys))
    for (module, rooms) in Rooms.byModule where rooms.folders == [""] {
      #expect(rooms.fileCount <= 12, "\(module) has \(rooms.fileCount) files and no folders")
    }
  }

  @Test("A folder of a module uses only the folders that it may use", arguments: walls.keys.sorted())
  func permittedUses(module: String) throws {
    let walls = try #require(Self.walls[module])
    let rooms = try #require(Rooms.byModule[module])
    #expect(rooms.folders == Set(walls.keys))
    for use in rooms.uses {
      #expect(
        walls[use.from]?.contains(use.to) == true,
        "\(use.file) uses \(use.type) of \(use.to), which \(use.from) may not use")
    }
  }

  @Test("Every permitted use between folders of a module is needed", arguments: walls.keys.sorted())
  func permissionsAreNeeded(module: String) throws {
    let uses = try #require(Rooms.byModule[module]).uses
    for (folder, others) in try #require(Self.walls[module]) {
      for other in others {
        #expect(uses.contains { $0.from == folder && $0.to == other }, "\(folder) does not use \(other)")
      }
    }
  }

  @Test("No folder of a module uses a folder that uses it, directly or through others", arguments: walls.keys.sorted())
  func noCircles(module: String) throws {
    let circle = Rooms.circle(in: try #require(Self.walls[module]))
    #expect(circle.isEmpty, "\(circle) use each other")
  }

  @Test("No folder uses the files outside of folders", arguments: walls.keys.sorted())
  func topFiles(module: String) throws {
    for (folder, others) in try #require(Self.walls[module]) {
      #expect(!others.contains(""), "\(folder) uses files outside of folders")
    }
  }
}
