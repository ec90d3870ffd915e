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

  let folders: Set<String>
  let uses: [Use]

  init(of module: String) throws {
    let files = Repository.swiftFiles(in: "Sources").filter { $0.module == module }
      .map { (path: $0.path, folder: Self.folder(of: $0.path), code: Self.code(of: $0.text)) }
    let declaration =
      /^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|indirect|final) )*(?:struct|enum|class|protocol|typealias) (\w+)/
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
    self.uses = uses
  }

  /// Returns the folder inside the module; empty for a file outside folders.
  private static func folder(of path: String) -> String {
    let parts = path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : ""
  }

  /// Returns the text without comments and strings.
  private static func code(of text: String) -> String {
    text.split(separator: "\n")
      .map { $0.replacing(/"(?:\\.|[^"\\])*"/, with: "\"\"").replacing(/\/\/.*/, with: "") }
      .joined(separator: "\n")
  }
}

/// The folders of a module are walls: each folder uses the types of certain other folders only.
@Suite struct FolderTests {
  /// The folders of each module, and the folders of the same module whose types they may use.
  static let walls: [String: [String: Set<String>]] = [
    "BluetoothController": [
      "Radio": [],
      "Privacy": [],
      "Events": [],
      "Device": ["Radio", "Privacy", "Events"],
      "HCI": ["Device", "Events"],
      "Connection": ["Radio", "Events", "Device"],
      "Advertising": ["Radio", "Privacy", "Events", "Device", "Connection"],
      "Scanning": ["Radio", "Privacy", "Events", "Device", "Connection"],
      "Interface": ["Radio", "Privacy", "Events", "Device", "HCI", "Connection", "Advertising", "Scanning"],
    ],
    "BluetoothHost": [
      "Interface": [],
      "ATT": [],
      "Privacy": ["Interface"],
      "SMP": ["Interface", "Privacy"],
      "HCI": ["Interface", "Privacy"],
      "L2CAP": ["Interface"],
      "GATT": ["Interface", "ATT"],
      "Context": ["Interface", "SMP", "HCI", "L2CAP", "GATT"],
      "GAP": ["Interface", "Privacy", "SMP", "HCI", "Context"],
      "Links": ["Interface", "SMP", "HCI", "L2CAP", "GATT", "Context", "GAP"],
      "Host": ["Interface", "Privacy", "SMP", "HCI", "L2CAP", "GATT", "Context", "GAP", "Links"],
    ],
    "BluetoothDaemon": [
      "Sessions": [],
      "Apps": ["Sessions"],
      "Bonds": ["Sessions"],
      "Prompts": ["Sessions"],
      "Links": ["Sessions", "Prompts"],
      "Context": ["Sessions", "Apps", "Bonds", "Prompts", "Links"],
      "Scanning": ["Sessions", "Context"],
      "Channels": ["Sessions", "Links", "Context"],
      "GATTClient": ["Sessions", "Links", "Context"],
      "Security": ["Sessions", "Apps", "Bonds", "Prompts", "Links", "Context"],
      "Central": ["Sessions", "Links", "Context", "Scanning", "Channels", "GATTClient"],
      "Peripheral": ["Sessions", "Links", "Context", "Channels"],
      "NotificationCenter": ["Sessions", "Prompts", "Links", "Context", "Security"],
      "SystemServices": ["Links", "Context"],
      "Daemon": [
        "Sessions", "Apps", "Bonds", "Prompts", "Links", "Context", "Channels", "Security", "Central", "Peripheral",
        "NotificationCenter", "SystemServices",
      ],
    ],
  ]

  @Test("A folder of a module uses only the folders that it may use", arguments: walls.keys.sorted())
  func permittedUses(module: String) throws {
    let walls = try #require(Self.walls[module])
    let rooms = try Rooms(of: module)
    #expect(rooms.folders == Set(walls.keys))
    for use in rooms.uses {
      #expect(
        walls[use.from]?.contains(use.to) == true,
        "\(use.file) uses \(use.type) of \(use.to), which \(use.from) may not use")
    }
  }

  @Test("Every permitted use between folders of a module is needed", arguments: walls.keys.sorted())
  func permissionsAreNeeded(module: String) throws {
    let uses = try Rooms(of: module).uses
    for (folder, others) in try #require(Self.walls[module]) {
      for other in others {
        #expect(uses.contains { $0.from == folder && $0.to == other }, "\(folder) does not use \(other)")
      }
    }
  }

  @Test("No folder of a module uses a folder that uses it, directly or through others", arguments: walls.keys.sorted())
  func noCircles(module: String) throws {
    var rest = try #require(Self.walls[module])
    while let lowest = rest.first(where: { $0.value.isDisjoint(with: rest.keys) })?.key {
      rest[lowest] = nil
    }
    #expect(rest.isEmpty, "\(rest.keys.sorted()) use each other")
  }
}
