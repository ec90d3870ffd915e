import BluetoothAdapters
import BluetoothWire
import NIOConcurrencyHelpers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An app, as a server identifies the program of a client.
package struct AppIdentity: Hashable, Sendable {
  /// The name of the app, which is its identity on all adapters.
  package var name: String
  package var manifest: AppManifest

  package init(name: String, manifest: AppManifest = AppManifest()) {
    self.name = name
    self.manifest = manifest
  }
}

/// A program that the configuration of a server registers as an app.
package struct RegisteredApp: Hashable, Sendable {
  package var name: String
  /// The absolute path of the program file.
  package var executable: String
  /// The arguments with which the server launches the program.
  package var arguments: [String]
  /// The variables that the program gets in addition to those of the server.
  package var environment: [String: String]
  package var manifest: AppManifest
  /// The user of the program; nil: that of the server.
  package var user: AppUser?

  package init(
    name: String, executable: String, arguments: [String] = [], environment: [String: String] = [:],
    manifest: AppManifest = AppManifest(), user: AppUser? = nil
  ) {
    self.name = name
    self.executable = executable
    self.arguments = arguments
    self.environment = environment
    self.manifest = manifest
    self.user = user
  }
}

/// Identifies the apps of clients: by the program file of the process, which the system knows, and by the `Info.plist`
/// in the folder of that file. Nothing comes from the client.
package final class AppIdentification: Sendable {
  /// The longest path that is a name, in octets.
  private static let maximumNameLength = 512
  /// The maximum number of problems that are logged.
  private static let maximumProblems = 4_096
  /// The maximum number of problems that are logged for the programs of one user.
  private static let maximumProblemsOfUser = 256

  private struct State {
    var owners = BundleOwners()
    /// The users about whose share of bundle identifiers the log has a line.
    var usersAtLimit: Set<UInt32> = []
    /// The problems that have been logged, by user.
    var problems: [UInt32: Set<String>] = [:]
  }

  private let registered: [RegisteredApp]
  private let user: UInt32
  private let state = NIOLockedValueBox(State())

  /// - Parameters:
  ///   - registered: the apps of the configuration.
  ///   - user: the user of the server.
  package init(_ registered: [RegisteredApp], user: UInt32 = getuid()) {
    self.registered = registered
    self.user = user
  }

  /// Returns the app of a client; nil: the client belongs to no app, because it is on TCP.
  package func identity(of client: ClientIdentity) -> AppIdentity? {
    guard let process = client.process else { return nil }
    if let known = registeredApp(of: process) { return AppIdentity(name: known.name, manifest: known.manifest) }
    var identity = identity(of: process)
    identity.name = Self.name(identity.name, ofUser: process.user, server: user)
    return identity
  }

  /// Returns the name of an app without a name in the configuration. A user can make any program do anything in a process
  /// of their own, so that apps of different users are different.
  package static func name(_ name: String, ofUser user: UInt32, server: UInt32 = getuid()) -> String {
    user == server ? name : "\(name)@\(user)"
  }

  /// True if a text can be the name of an app that has not been seen: a path, or a bundle identifier of several parts,
  /// with or without the number of a user.
  static func isCompleteName(_ text: String) -> Bool {
    guard text.utf8.count <= maximumNameLength else { return false }
    if text.hasPrefix("/") { return !text.hasSuffix("/") }
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard let name = parts.first, name.contains("."), InfoDictionary.isPermitted(String(name)) else { return false }
    return parts.count == 1 || (parts.count == 2 && UInt32(parts[1]) != nil)
  }

  /// True if the path of a process leads to its program file. In a container or in a mount namespace of its own, it may
  /// be that of another file here.
  private static func isHere(_ program: String, _ file: ProgramFile) -> Bool {
    file == ProgramFile(path: program) && program.utf8.count <= maximumNameLength
  }

  private func registeredApp(of process: ClientIdentity.Process) -> RegisteredApp? {
    guard let program = process.program, let file = process.file, Self.isHere(program, file) else { return nil }
    return registered.first {
      ($0.user?.number ?? user) == process.user && ProgramFile(path: $0.executable) == file
    }
  }

  private func identity(of process: ClientIdentity.Process) -> AppIdentity {
    guard let program = process.program else { return AppIdentity(name: "unknown program") }
    guard let file = process.file, Self.isHere(program, file) else {
      let file = process.file.map { "file \($0.device):\($0.number)" } ?? "unknown file"
      return AppIdentity(name: "\(program.suffix(from: program.index(afterLast: "/"))) (\(file))")
    }
    if let other = registered.first(where: { ProgramFile(path: $0.executable) == file }) {
      note(
        "\(program) of the user \(process.user) is not the app \(other.name), which is registered for the user "
          + "\(other.user?.number ?? user); no event launches it without an app with its user in the file of apps",
        of: process.user)
    }
    guard let info = Self.infoDictionaryPaths(of: program).lazy.compactMap({ self.read($0, for: process.user) }).first
    else {
      return AppIdentity(name: program)
    }
    guard let identifier = info.bundleIdentifier, owns(identifier, program, process.user) else {
      return AppIdentity(name: program, manifest: info.manifest)
    }
    return AppIdentity(name: identifier, manifest: info.manifest)
  }

  /// Returns the name and the manifest that a program declares in its `Info.plist`; its path is the name otherwise.
  package static func declaration(of program: String) -> AppIdentity {
    let infos = infoDictionaryPaths(of: program).lazy.compactMap { try? InfoDictionary(path: $0) }
    guard let info = infos.first else { return AppIdentity(name: program) }
    return AppIdentity(name: info.bundleIdentifier ?? program, manifest: info.manifest)
  }

  /// The places of the `Info.plist` of a program: beside it, and in the bundle whose folder `Contents` has the
  /// program's folder.
  private static func infoDictionaryPaths(of program: String) -> [String] {
    let folders = program.split(separator: "/").dropLast()
    let bundle = folders.dropLast()
    var paths = ["/" + (folders + ["Info.plist"]).joined(separator: "/")]
    if bundle.last == "Contents" { paths.append("/" + (bundle + ["Info.plist"]).joined(separator: "/")) }
    return paths
  }

  private func read(_ path: String, for user: UInt32) -> InfoDictionary? {
    do throws(InfoDictionary.Problem) { return try InfoDictionary(path: path) } catch {
      if !error.isMissing { note("\(error.description); the app has no manifest", of: user) }
      return nil
    }
  }

  /// Returns true if a program may have a bundle identifier: no other program of the user has claimed it before.
  private func owns(_ identifier: String, _ program: String, _ user: UInt32) -> Bool {
    let name = Self.name(identifier, ofUser: user, server: self.user)
    let isTaken = registered.contains { $0.name == name }
    let (owner, isNewAtLimit) = state.withLockedValue { state -> (String, Bool) in
      if isTaken { return ("a registered app", false) }
      let (owner, hasUsedUpShare) = state.owners.owner(of: identifier, claimedBy: program, ofUser: user)
      return (owner, hasUsedUpShare && state.usersAtLimit.insert(user).inserted)
    }
    if isNewAtLimit {
      ServerLog.warn(
        "user \(user): has their share of bundle identifiers, which is \(BundleOwners.share); the one that has not been "
          + "used for the longest time can be claimed by another program of the user")
    }
    if owner == program { return true }
    note(
      "\(program): the bundle identifier \(identifier) is that of \(owner); the app is named by its path", of: user)
    return false
  }

  /// Logs a problem of a user's program once.
  private func note(_ line: String, of user: UInt32) {
    let isNew = state.withLockedValue { state in
      let count = state.problems.values.reduce(0) { $0 + $1.count }
      guard count < Self.maximumProblems else { return false }
      guard state.problems[user, default: []].count < Self.maximumProblemsOfUser else { return false }
      return state.problems[user, default: []].insert(line).inserted
    }
    if isNew { ServerLog.warn(line) }
  }
}

extension String {
  /// The index behind the last occurrence of `character`; the start if there is none.
  fileprivate func index(afterLast character: Character) -> Index {
    lastIndex(of: character).map { index(after: $0) } ?? startIndex
  }
}
