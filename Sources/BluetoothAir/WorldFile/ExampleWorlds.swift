import Foundation

/// The example worlds, which users name without a path: `ble scan --world gym`. Their files are installed with the
/// programs.
package enum ExampleWorlds {
  /// The names of the worlds.
  package static let names = ["fitness-room", "gym", "home", "hospital-ward", "qualification", "weather-station"]

  /// The names as the help of an option lists them.
  package static let list = names.joined(separator: ", ")

  /// Returns true if a text can only be the name of an example world: a path would have a slash or an ending.
  static func isName(_ text: String) -> Bool {
    text.first?.isLetter == true && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
  }

  /// Returns true if a text means an example world: no file has this name. A folder of this name, such as the `home` of
  /// `/`, is no world.
  static func isMeant(by text: String, in folder: String = ".") -> Bool {
    guard isName(text) else { return false }
    var isFolder: ObjCBool = false
    return !FileManager.default.fileExists(atPath: "\(folder)/\(text)", isDirectory: &isFolder) || isFolder.boolValue
  }

  /// Returns the path of a world, or the reason why there is none.
  ///
  /// - Parameter folders: the folders that may have the files, in the order in which they are searched.
  static func path(of name: String, in folders: [String] = Self.folders) throws(MissingWorld) -> String {
    guard names.contains(name) else {
      let suggestion = SpellingSuggestion.suggestion(for: name, among: names)
      throw MissingWorld("no such file, and no example world of this name\(suggestion) (there are \(list))")
    }
    for folder in folders where FileManager.default.fileExists(atPath: "\(folder)/\(name).yaml") {
      return "\(folder)/\(name).yaml"
    }
    throw MissingWorld("the example worlds are not installed: expected them in \(folders[0])")
  }

  /// The reason why a world has no file.
  struct MissingWorld: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  /// The folders that may have the worlds of the running program.
  private static let folders = folders(for: Bundle.main.executablePath ?? CommandLine.arguments[0])

  /// Returns the folders that may have the worlds of a program: `share` beside its own folder, the folder of the package
  /// that has built it, and those of an installation, for other programs that use this package.
  static func folders(for program: String) -> [String] {
    let place = "share/swift-corebluetooth/worlds"
    let path = URL(fileURLWithPath: program).resolvingSymlinksInPath().path
    let prefix = URL(fileURLWithPath: path).deletingLastPathComponent().deletingLastPathComponent().path
    var folders = [prefix == "/" ? "/\(place)" : "\(prefix)/\(place)"]
    if let build = path.range(of: "/.build/") { folders.append(path[..<build.lowerBound] + "/Examples/Worlds") }
    return folders + ["/usr/local/\(place)", "/usr/share/swift-corebluetooth/worlds"]
  }
}
