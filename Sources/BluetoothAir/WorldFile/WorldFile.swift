import BluetoothLab
import Foundation

/// A world as a file describes it: what disturbs it, what is in it and how it moves, and what goes wrong.
///
/// The file is YAML or JSON; Documentation/World-files.md has its fields, and Documentation/world.schema.json their schema.
///
/// ```swift
/// let file = try WorldFile(path: "museum.yaml")
/// let world = World(seed: file.seed ?? 0)
/// var population = file.populate(world)
/// // When the first controller has connected:
/// population.place(0, for: device)
/// ```
package struct WorldFile: Sendable {
  /// Something with a radio that the lab plays.
  package struct Member: Sendable {
    /// Tells it from all others.
    package var name: String
    /// How it is made.
    package var options: DeviceOptions
    /// What it is.
    package var accessory: any Accessory
    /// How it moves; none: it stays where it is.
    package var path: [Waypoint]
    /// When it is switched, in the order of time.
    package var power: [PowerSwitch]
  }

  /// A place for a controller that a program elsewhere uses.
  package struct Client: Hashable, Sendable {
    /// Tells it from all others.
    package var name: String
    /// How its controller is made.
    package var options: DeviceOptions
    /// How it moves; none: it stays where it is.
    package var path: [Waypoint]
  }

  /// A time at which somebody switches Bluetooth.
  package struct PowerSwitch: Hashable, Sendable {
    /// The world's radio time.
    package var time: Duration
    /// Whether it is on from then on.
    package var isOn: Bool
  }

  /// What the way between two members or clients loses.
  package struct Loss: Hashable, Sendable {
    package var first: String
    package var second: String
    /// In both directions.
    package var decibels: Double
  }

  /// What decides all chance; nil: the file does not say.
  package var seed: UInt64?
  package var environment = Environment.free
  package var interference: [Interference] = []
  package var losses: [Loss] = []
  /// In the order in which they join the world.
  package var members: [Member] = []
  /// The place of the first controller that connects, and so on.
  package var clients: [Client] = []
  package var faults = FaultPlan()

  /// Octets that a file may have.
  package static let maximumSize = 4 << 20

  /// Reads a regular file, or the standard input (`-`), or what the shell has opened (`/dev/fd/63`). Another FIFO or device is
  /// refused, as reading it could wait for ever.
  ///
  /// - Throws: `Failure` with everything that is wrong, or why the file can't be read.
  package init(path: String) throws(Failure) {
    let data: Data
    do {
      let file = try Self.open(path)
      defer { try? file.close() }
      data = try file.read(upToCount: Self.maximumSize + 1) ?? Data()
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(file: path, "it can't be read: \(Self.reason(error))")
    }
    try self.init(data: data, named: path)
  }

  /// Reads what stands in a file.
  ///
  /// - Parameter name: what the failure calls it.
  package init(text: String, named name: String = "world") throws(Failure) {
    guard text.utf8.count <= Self.maximumSize else { throw Self.tooLong(name) }
    let root: MarkedValue
    do throws(SyntaxProblem) { root = try WorldSyntax.read(text) } catch {
      throw Failure(file: name, error.reason, at: error.place)
    }
    var checker = FieldChecker()
    checker.check(root, .object(.world), at: .root)
    var reader = WorldReader(problems: checker.problems)
    let file = reader.read(root)
    guard reader.problems.isEmpty else { throw reader.problems.failure(of: name) }
    self = file
  }

  private init(data: Data, named name: String) throws(Failure) {
    guard data.count <= Self.maximumSize else { throw Self.tooLong(name) }
    guard let text = String(validating: data, as: UTF8.self) else { throw Failure(file: name, "it is no UTF-8") }
    try self.init(text: text, named: name)
  }

  /// A file in which nothing is said.
  init() {}

  private static func open(_ path: String) throws -> FileHandle {
    if path == "-" { return FileHandle(fileDescriptor: STDIN_FILENO, closeOnDealloc: false) }
    if path == "/dev/stdin" || path.hasPrefix("/dev/fd/") {
      return try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }
    let descriptor = Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG || status.st_mode & S_IFMT == S_IFDIR
    else {
      throw Failure(file: path, "it is not a regular file")
    }
    return file
  }

  private static func tooLong(_ name: String) -> Failure {
    Failure(file: name, "it has more than \(maximumSize) octets, which are the most that a world file may have")
  }

  private static func reason(_ error: any Error) -> String {
    let code = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError)
    return code.domain == NSPOSIXErrorDomain ? String(cString: strerror(Int32(code.code))) : error.localizedDescription
  }
}

extension WorldFile.Failure {
  fileprivate init(file: String, _ reason: String, at place: TextPlace? = nil) {
    self.init(file: file, problems: [WorldFile.Problem(place: place, field: "", reason: reason)], omitted: 0)
  }
}
