import BluetoothServer
import BluetoothTypes
import Foundation
import Yams

/// The file of `--apps`: the programs that the server can launch for an event.
struct AppsFile {
  private(set) var apps: [RegisteredApp] = []
  private let path: String

  /// Reads a file in YAML or JSON.
  ///
  /// - Throws: `Failure` with the file, the line and the key.
  init(path: String) throws {
    self.path = path
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Failure("can't read \(path)", status: Failure.wrongInput)
    }
    let root: Node
    do {
      guard let text = String(data: data, encoding: .utf8), let node = try Yams.compose(yaml: text) else {
        throw Failure("\(path): the file is empty or not UTF-8", status: Failure.wrongInput)
      }
      root = node
    } catch let error as YamlError {
      throw Failure("\(path): \(error)".split(separator: "\n").joined(separator: " "), status: Failure.wrongInput)
    }
    for (key, value) in try mapping(root, "the file") {
      guard key.string == "apps" else { throw wrong(key, "unknown key \"\(key.string ?? "?")\": expected apps") }
      guard let list = value.sequence else { throw wrong(value, "apps: expected a list") }
      for node in list { apps.append(try app(node)) }
    }
    let twice = Dictionary(grouping: apps, by: \.name).first { $0.value.count > 1 }
    if let twice { throw Failure("\(path): two apps with the name \"\(twice.key)\"", status: Failure.wrongInput) }
  }

  private func app(_ node: Node) throws -> RegisteredApp {
    var app = RegisteredApp(name: "", executable: "")
    var executable = node
    var modes: Set<AppManifest.BackgroundMode>?
    var usage: String?
    for (key, value) in try mapping(node, "an app") {
      switch key.string {
      case "name": app.name = try text(value, "name")
      case "executable":
        executable = value
        app.executable = try text(value, "executable")
      case "arguments": app.arguments = try texts(value, "arguments")
      case "environment":
        for (key, value) in try mapping(value, "environment") {
          let name = try text(key, "environment")
          guard !name.contains("=") else {
            throw wrong(key, "environment: invalid name \"\(name)\": expected a name without =")
          }
          app.environment[name] = try text(value, "environment")
        }
      case "backgroundModes":
        modes = Set(
          try texts(value, "backgroundModes").map { text in
            guard let mode = AppManifest.BackgroundMode(rawValue: text) else {
              let forms = AppManifest.BackgroundMode.allCases.map(\.rawValue).joined(separator: " or ")
              throw wrong(value, "backgroundModes: unknown mode \"\(text)\": expected \(forms)")
            }
            return mode
          })
      case "usageDescription": usage = try text(value, "usageDescription")
      default: throw wrong(key, "unknown key \"\(key.string ?? "?")\" of an app")
      }
    }
    try check(app.executable, at: executable)
    // The program's own manifest, which every program has, gives the values that are missing in the file.
    let own = AppIdentification.declaration(of: app.executable)
    if app.name.isEmpty { app.name = own.name }
    guard app.name.utf8.count <= 512 else { throw wrong(node, "name: longer than 512 octets") }
    app.manifest = own.manifest
    if let modes { app.manifest.backgroundModes = modes }
    if let usage { app.manifest.usageDescription = usage }
    return app
  }

  /// Checks the program of an app.
  private func check(_ path: String, at node: Node) throws {
    guard path.hasPrefix("/") else { throw wrong(node, "executable: expected an absolute path") }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
      access(path, X_OK) == 0, let file = ProgramFile(path: path)
    else { throw wrong(node, "executable: can't start \(path)") }
    // The program file of a script's process is that of its interpreter.
    if let content = FileHandle(forReadingAtPath: path), (try? content.read(upToCount: 2)) == Data("#!".utf8) {
      throw wrong(node, "executable: \(path) is a script: name the program that it starts")
    }
    // The server knows the app of a client by this file.
    if let other = apps.first(where: { ProgramFile(path: $0.executable) == file }) {
      throw wrong(node, "executable: \(path) is the program of the app \"\(other.name)\" already")
    }
  }

  private func mapping(_ node: Node, _ name: String) throws -> [(key: Node, value: Node)] {
    guard let mapping = node.mapping else { throw wrong(node, "\(name): expected keys and values") }
    return Array(mapping)
  }

  private func text(_ node: Node, _ name: String) throws -> String {
    guard let text = node.scalar?.string, !text.isEmpty, !text.contains("\0") else {
      throw wrong(node, "\(name): expected a text")
    }
    return text
  }

  private func texts(_ node: Node, _ name: String) throws -> [String] {
    guard let list = node.sequence else { throw wrong(node, "\(name): expected a list of texts") }
    return try list.map { try text($0, name) }
  }

  private func wrong(_ node: Node, _ reason: String) -> Failure {
    Failure("\(path)\(node.mark.map { ":\($0.line)" } ?? ""): \(reason)", status: Failure.wrongInput)
  }
}
