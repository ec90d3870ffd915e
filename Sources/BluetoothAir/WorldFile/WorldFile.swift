import BluetoothLab
import BluetoothTransport
import Foundation

/// A world described by a file: its environment and interference, its devices and their movements, and its faults.
///
/// The file is YAML or JSON; Documentation/World-files.md lists its fields, and Documentation/world.schema.json is
/// their schema.
///
/// ```swift
/// let file = try WorldFile(path: "museum.yaml")
/// let world = World(seed: file.seed ?? 0)
/// var population = file.populate(world)
/// // When the first controller has connected:
/// population.place(0, for: device)
/// ```
package struct WorldFile: Sendable {
  /// A device that the lab simulates.
  package struct Member: Sendable {
    /// The unique name of the device.
    package var name: String
    /// The options with which the device is created.
    package var options: DeviceOptions
    /// The accessory that the device plays.
    package var accessory: any Accessory
    /// The movement of the device; empty if it does not move.
    package var path: [Waypoint]
    /// The times at which Bluetooth is switched on and off, in order of time.
    package var power: [PowerSwitch]
  }

  /// A position and options for the controller of an external host.
  package struct Client: Hashable, Sendable {
    /// The unique name of the client.
    package var name: String
    /// The options with which its controller is created.
    package var options: DeviceOptions
    /// The movement of the client; empty if it does not move.
    package var path: [Waypoint]
  }

  /// A time at which Bluetooth is switched on or off.
  package struct PowerSwitch: Hashable, Sendable {
    /// The radio time of the world.
    package var time: Duration
    /// True if Bluetooth is on from then on.
    package var isOn: Bool
  }

  /// The path loss between two members or clients.
  package struct Loss: Hashable, Sendable {
    package var first: String
    package var second: String
    /// The path loss in both directions, decibels.
    package var decibels: Double
  }

  /// The seed for all randomness; nil if the file does not give one.
  package var seed: UInt64?
  package var environment = Environment.free
  package var interference: [Interference] = []
  package var losses: [Loss] = []
  /// The devices, in the order in which they join the world.
  package var members: [Member] = []
  /// The clients: the first host that connects gets the first one, and so on.
  package var clients: [Client] = []
  package var faults = FaultPlan()
  /// The values of the file's text; nil: it was made without a text.
  private(set) var source: LocatedValue?

  /// The largest size of a file, in octets.
  package static let maximumSize = 4 << 20

  /// Reads a regular file, the standard input (`-`), or a file that the shell has opened (`/dev/fd/63`). Other FIFOs
  /// and devices are rejected, because reading them could block for ever. The name of an example world, such as `gym`,
  /// is that of its file, unless there is a file of this name.
  ///
  /// - Throws: `WorldFileFailure` with all problems, or with the reason why the file can't be read.
  package init(path: String) throws(WorldFileFailure) {
    var path = path
    if ExampleWorlds.isMeant(by: path) {
      do throws(ExampleWorlds.MissingWorld) { path = try ExampleWorlds.path(of: path) } catch {
        throw WorldFileFailure(file: path, error.reason)
      }
    }
    try self.init(text: Self.text(of: path), named: path, shape: .world, folder: Self.folder(of: path))
  }

  /// Reads a file that is a recording: its devices can't be recordings of other files.
  ///
  /// - Throws: `WorldFileFailure` with all problems, or with the reason why the file can't be read.
  init(recording path: String) throws(WorldFileFailure) {
    try self.init(text: Self.text(of: path), named: path, shape: .world, folder: nil)
  }

  /// Returns the folder of a file; empty: the working directory, also for the standard input and open files.
  private static func folder(of path: String) -> String {
    guard !path.hasPrefix("/dev/"), let end = path.lastIndex(of: "/") else { return "" }
    return end == path.startIndex ? "/" : String(path[..<end])
  }

  /// Reads the text of a world file. Relative paths of recordings begin at the working directory.
  ///
  /// - Parameter name: the name of the text in error messages.
  /// - Throws: `WorldFileFailure` with all problems.
  package init(text: String, named name: String = "world") throws(WorldFileFailure) {
    try self.init(text: text, named: name, shape: .world, folder: "")
  }

  private init(
    text: String, named name: String, shape: ObjectShape, folder: String?
  ) throws(WorldFileFailure) {
    guard text.utf8.count <= Self.maximumSize else {
      throw WorldFileFailure(file: name, "file too large: expected at most \(Self.maximumSize) octets")
    }
    let root = try Self.values(of: text, named: name)
    var checker = FieldChecker()
    checker.check(root, .object(shape), at: .root)
    var reader = WorldReader(problems: checker.problems, folder: folder)
    var file = reader.read(root)
    file.source = root
    guard reader.problems.isEmpty else { throw reader.problems.failure(of: name) }
    self = file
  }

  /// Reads a fault plan, with the same rules for the file as `init(path:)`. A plan is a world file with no other field
  /// than `faults`.
  ///
  /// - Throws: `WorldFileFailure` with all problems, or with the reason why the file can't be read.
  package static func faultPlan(path: String) throws(WorldFileFailure) -> FaultPlan {
    try WorldFile(text: text(of: path), named: path, shape: .faultPlan, folder: nil).faults
  }

  /// Reads the values of a file with other fields, such as the apps of a server, with the same rules for the file.
  ///
  /// - Throws: `WorldFileFailure` with the reason why the file can't be read.
  package static func values(path: String) throws(WorldFileFailure) -> LocatedValue {
    try values(of: text(of: path), named: path)
  }

  /// Reads a device: an entry of `devices`, in YAML or JSON. It can't be a recording of another file.
  ///
  /// - Throws: `WorldFileFailure` with all problems.
  static func member(text: String) throws(WorldFileFailure) -> (member: Member, entry: LocatedValue) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let entry = lines.enumerated().map { ($0.offset == 0 ? "  - " : "    ") + $0.element }.joined(separator: "\n")
    let file = try WorldFile(text: "devices:\n" + entry, named: "device", shape: .world, folder: nil)
    guard file.members.count == 1, let member = file.members.first, case .object(let fields)? = file.source?.content,
      case .list(let entries)? = fields.first?.value.content, let entry = entries.first
    else { throw WorldFileFailure(file: "device", "expected one device") }
    return (member, entry)
  }

  private static func values(of text: String, named name: String) throws(WorldFileFailure) -> LocatedValue {
    let format = name.lowercased().hasSuffix(".json") ? "JSON" : "YAML"
    do throws(SyntaxProblem) { return try WorldSyntax.read(text, format: format) } catch {
      throw WorldFileFailure(file: name, error.reason, at: error.place)
    }
  }

  /// Returns the contents of a file.
  private static func text(of path: String) throws(WorldFileFailure) -> String {
    let octets: [UInt8]
    do throws(InputFile.Failure) { octets = try InputFile.octets(of: path, limit: maximumSize, .given) } catch {
      throw WorldFileFailure(file: path, "can't read the file: \(error.reason)")
    }
    guard let text = String(validating: octets, as: UTF8.self) else {
      throw WorldFileFailure(file: path, "not valid UTF-8")
    }
    return text
  }

  /// Creates a world file without any fields.
  init() {}
}

extension FaultPlan {
  /// The plan as a world file in YAML, with a line for each fault.
  var worldFile: String {
    guard !faults.isEmpty else { return "faults: []\n" }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding can't fail: a plan holds only numbers and strings. JSON is YAML.
    let lines = faults.compactMap { fault in (try? encoder.encode(fault)).map { String(decoding: $0, as: UTF8.self) } }
    return "faults:\n" + lines.map { "  - \($0)\n" }.joined()
  }
}

extension WorldFileFailure {
  fileprivate init(file: String, _ reason: String, at place: TextLocation? = nil) {
    self.init(file: file, problems: [WorldFileProblem(place: place, field: "", reason: reason)], omitted: 0)
  }
}
