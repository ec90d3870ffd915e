import Foundation
import Testing

/// A folder in which programs run, with the files of `Tests/ProgramTests/Files`.
struct Place {
  let folder: String

  /// The folder of the package.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path
  static let files = root + "/Tests/ProgramTests/Files"

  /// The folder of the programs, which `swift test` builds beside the tests.
  static let programs: String = {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
    return URL(filePath: own).deletingLastPathComponent().path
  }()

  /// - Parameter text: the files whose names occur in it are copied to the folder.
  init(for text: String) throws {
    // Short, because the path of a socket is limited; of one length, because a table is as wide as its longest path.
    var template = Array("/tmp/ble-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil, "no temporary folder")
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    for name in try FileManager.default.contentsOfDirectory(atPath: Self.files)
    where name == "world.yaml" || text.contains(name) {
      try FileManager.default.copyItem(atPath: "\(Self.files)/\(name)", toPath: "\(folder)/\(name)")
    }
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  func data(_ name: String) -> Data { FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data() }

  func read(_ name: String) -> String { String(decoding: data(name), as: UTF8.self) }

  func write(_ text: String, to name: String) throws {
    try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
  }

  /// The texts that differ from run to run, with the words that take their places in golden files.
  var known: [(value: String, name: String)] {
    [(folder, "<folder>"), (Self.programs, "<programs>")]
      + read(".processes").split(separator: "\n").map { (String($0), "<pid>") }
  }

  /// Runs a command to its end, with its output in the file `.shell`. Returns the exit status.
  func run(_ command: [String], world: Bool = false) async throws -> Int32 {
    await Slots.shared.take()
    defer { Task { await Slots.shared.give() } }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = URL(filePath: folder)
    process.environment = environment(world: world)
    _ = FileManager.default.createFile(atPath: "\(folder)/.shell", contents: nil)
    let shell = try #require(FileHandle(forWritingAtPath: "\(folder)/.shell"))
    process.standardInput = FileHandle.nullDevice
    (process.standardOutput, process.standardError) = (shell, shell)
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch {
        process.terminationHandler = nil
        ended.resume(throwing: error)
      }
    }
    return process.terminationStatus
  }

  /// The variables of a program. Zone, language and colours must not matter.
  private func environment(world: Bool) -> [String: String] {
    var variables = ProcessInfo.processInfo.environment
    variables = variables.filter { !$0.key.hasPrefix("COREBLUETOOTH_") && $0.key != "NO_COLOR" }
    variables["PATH"] = Self.programs + ":" + (variables["PATH"] ?? "/usr/bin:/bin")
    variables["COREBLUETOOTH_BONDS"] = "bonds"
    variables["COREBLUETOOTH_PROMPTS"] = "accept"
    variables["COREBLUETOOTH_WORLD"] = world ? "world.yaml" : nil
    variables.merge(["LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm", "REPOSITORY": Self.root]) { $1 }
    return variables
  }
}

/// The right to run programs, which two tests have at a time.
actor Slots {
  static let shared = Slots()

  private var free = 2
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func take() async {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
  }

  func give() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}

/// The captures that several golden files read. They are made once.
actor Prepared {
  static let shared = Prepared()

  private var made: Task<[String: Data], any Error>?

  func copy(to place: Place) async throws {
    let task =
      made
      ?? Task {
        let place = try Place(for: "")
        defer { place.remove() }
        let status = try await place.run([
          "bash", "-ec",
          """
          ble simulate world.yaml --for 20 --capture room.pcapng
          heart-rate --protected --count 1 --seed 1 --capture encrypted.pcapng --capture-keys
          """,
        ])
        try #require(status == 0, "\(place.read(".shell"))")
        let names = ["room.pcapng", "encrypted.pcapng", "encrypted.pcapng.keys.json"]
        return Dictionary(uniqueKeysWithValues: names.map { ($0, place.data($0)) })
      }
    made = task
    for (name, data) in try await task.value { try data.write(to: URL(filePath: "\(place.folder)/\(name)")) }
  }
}
