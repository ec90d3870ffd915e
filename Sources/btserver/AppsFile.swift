import BluetoothAir
import BluetoothServer
import BluetoothTransport
import BluetoothTypes
import Foundation

/// The file of `--apps`: the programs that the server can launch for an event.
struct AppsFile {
  private(set) var apps: [RegisteredApp] = []
  private let path: String

  /// Reads a file in YAML or JSON.
  ///
  /// - Throws: `Failure` with the file, the line and the key.
  init(path: String) throws {
    self.path = path
    let root: LocatedValue
    do throws(WorldFileFailure) { root = try WorldFile.values(path: path) } catch {
      throw Failure(error)
    }
    for member in try members(of: root, "the file") {
      guard member.name == "apps" else { throw wrong(member.place, "unknown key \"\(member.name)\": expected apps") }
      guard case .list(let list) = member.value.content else {
        throw wrong(member.value.place, "apps: expected a list")
      }
      for value in list { apps.append(try app(value)) }
    }
    let twice = Dictionary(grouping: apps, by: \.name).first { $0.value.count > 1 }
    if let twice { throw Failure("\(path): two apps with the name \"\(twice.key)\"", status: Failure.wrongInput) }
  }

  private func app(_ root: LocatedValue) throws -> RegisteredApp {
    var app = RegisteredApp(name: "", executable: "")
    var executable = root.place
    var modes: Set<AppManifest.BackgroundMode>?
    var usage: String?
    var setsUp: Bool?
    for member in try members(of: root, "an app") {
      let value = member.value
      switch member.name {
      case "name": app.name = try text(value, "name")
      case "executable":
        executable = value.place
        app.executable = try text(value, "executable")
      case "user": app.user = try user(value)
      case "arguments": app.arguments = try texts(value, "arguments")
      case "environment":
        for member in try members(of: value, "environment") {
          let name = member.name
          guard !name.isEmpty, !name.contains("="), !name.contains("\0") else {
            throw wrong(member.place, "environment: invalid name \"\(name)\": expected a name without =")
          }
          app.environment[name] = try text(member.value, "environment")
        }
      case "backgroundModes":
        modes = Set(
          try texts(value, "backgroundModes").map { text in
            guard let mode = AppManifest.BackgroundMode(rawValue: text) else {
              let forms = AppManifest.BackgroundMode.allCases.map(\.rawValue).joined(separator: " or ")
              throw wrong(value.place, "backgroundModes: unknown mode \"\(text)\": expected \(forms)")
            }
            return mode
          })
      case "usageDescription": usage = try text(value, "usageDescription")
      case "setsUpAccessories":
        guard let flag = value.flag else { throw wrong(value.place, "setsUpAccessories: expected true or false") }
        setsUp = flag
      default: throw wrong(member.place, "unknown key \"\(member.name)\" of an app")
      }
    }
    try check(app, at: executable)
    // The program's own manifest, which every program has, gives the values that are missing in the file.
    let own = AppIdentification.declaration(of: app.executable)
    if app.name.isEmpty { app.name = AppIdentification.name(own.name, ofUser: app.user?.number ?? getuid()) }
    guard app.name.utf8.count <= 512 else { throw wrong(root.place, "name: longer than 512 octets") }
    app.manifest = own.manifest
    if let modes { app.manifest.backgroundModes = modes }
    if let usage { app.manifest.usageDescription = usage }
    if let setsUp { app.manifest.setsUpAccessories = setsUp }
    return app
  }

  /// Reads the user of an app.
  private func user(_ value: LocatedValue) throws -> AppUser {
    let name = try text(value, "user")
    guard let user = AppUser(name) else { throw wrong(value.place, "user: this machine has no user \"\(name)\"") }
    if let problem = ProcessStarter().problem(startingAs: user) { throw wrong(value.place, "user: \(problem)") }
    return user
  }

  /// Checks the program of an app.
  private func check(_ app: RegisteredApp, at place: TextLocation) throws {
    let path = app.executable
    guard path.hasPrefix("/") else { throw wrong(place, "executable: expected an absolute path") }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
      access(path, X_OK) == 0, let file = ProgramFile(path: path)
    else { throw wrong(place, "executable: can't start \(path)") }
    // The program file of a script's process is that of its interpreter.
    if (try? InputFile.beginning(of: path, 2, .regular)) == Array("#!".utf8) {
      throw wrong(place, "executable: \(path) is a script: name the program that it starts")
    }
    // The server knows the app of a client by this file and its user.
    let user = app.user?.number ?? getuid()
    let other = apps.first { ($0.user?.number ?? getuid()) == user && ProgramFile(path: $0.executable) == file }
    if let other {
      throw wrong(place, "executable: \(path) is the program of the app \"\(other.name)\" already")
    }
  }

  /// Checks that only the superuser can change the file: a launcher acts as any user that the file names.
  func checkOwner() throws {
    var status = stat()
    guard stat(path, &status) == 0, status.st_uid == 0, status.st_mode & 0o022 == 0 else {
      throw Failure(
        "\(path): the file must belong to the superuser, and only its owner may change it",
        status: Failure.wrongInput)
    }
  }

  private func members(of value: LocatedValue, _ name: String) throws -> [MarkedMember] {
    guard case .object(let members) = value.content else {
      throw wrong(value.place, "\(name): expected keys and values")
    }
    return members
  }

  private func text(_ value: LocatedValue, _ name: String) throws -> String {
    guard let text = value.raw, !text.isEmpty, !text.contains("\0") else {
      throw wrong(value.place, "\(name): expected a text")
    }
    return text
  }

  private func texts(_ value: LocatedValue, _ name: String) throws -> [String] {
    guard case .list(let list) = value.content else { throw wrong(value.place, "\(name): expected a list of texts") }
    return try list.map { try text($0, name) }
  }

  private func wrong(_ place: TextLocation, _ reason: String) -> Failure {
    Failure("\(path):\(place.line): \(reason)", status: Failure.wrongInput)
  }
}
