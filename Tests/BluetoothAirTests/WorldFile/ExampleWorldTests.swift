import Foundation
import TestSupport
import Testing

@testable import BluetoothAir

/// The example worlds, which users name without a path.
@Suite struct ExampleWorldTests {
  /// Returns the reason why a world can't be read; an empty text if it can.
  private func reason(_ path: String) -> String {
    do throws(WorldFileFailure) {
      _ = try WorldFile(path: path)
      return ""
    } catch {
      return error.description
    }
  }

  @Test("Each example is found by its name from a program that this package has built", arguments: ExampleWorlds.names)
  func built(name: String) throws {
    let folders = ExampleWorlds.folders(for: WorkingCopy.root.path + "/.build/debug/ble")
    #expect(try ExampleWorlds.path(of: name, in: folders).hasSuffix("/\(name).yaml"))
    #expect(reason(name) == "")
  }

  @Test(
    "An installed program looks for its worlds beside itself first",
    arguments: [
      ("/opt/bluetooth/bin/ble", "/opt/bluetooth/share/swift-corebluetooth/worlds"),
      ("/usr/bin/btserver", "/usr/share/swift-corebluetooth/worlds"),
      ("/bin-of-mine/ble", "/share/swift-corebluetooth/worlds"),
    ])
  func installed(program: String, folder: String) {
    #expect(ExampleWorlds.folders(for: program).first == folder)
    #expect(ExampleWorlds.folders(for: program).last == "/usr/share/swift-corebluetooth/worlds")
  }

  @Test("The first folder that has the world is taken, and without one the message names the place")
  func order() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let (first, second) = (folder.file("first"), folder.file("second"))
    func find() -> String {
      do throws(ExampleWorlds.MissingWorld) { return try ExampleWorlds.path(of: "gym", in: [first, second]) } catch {
        return error.reason
      }
    }
    #expect(find() == "the example worlds are not installed: expected them in \(first)")
    for place in [second, first] {
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      try Data().write(to: URL(fileURLWithPath: place + "/gym.yaml"))
      #expect(find() == place + "/gym.yaml")
    }
  }

  @Test("The message about an unknown name lists the worlds, and suggests the nearest one")
  func unknown() {
    let names = "(there are fitness-room, gym, home, hospital-ward, qualification, weather-station)"
    #expect(reason("gmy") == "gmy: no such file, and no example world of this name; did you mean \"gym\"? \(names)")
    #expect(reason("museum") == "museum: no such file, and no example world of this name \(names)")
  }

  @Test("A text with a slash or an ending is a path", arguments: ["./gym", "gym.yaml", "/gym", "-", "2"])
  func path(text: String) { #expect(!ExampleWorlds.isName(text)) }

  @Test("A file takes precedence of the example of its name, and a folder does not")
  func precedence() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    #expect(ExampleWorlds.isMeant(by: "gym", in: folder.path))
    try FileManager.default.createDirectory(atPath: folder.file("home"), withIntermediateDirectories: false)
    try Data().write(to: URL(fileURLWithPath: folder.file("gym")))
    #expect(ExampleWorlds.isMeant(by: "home", in: folder.path))
    #expect(!ExampleWorlds.isMeant(by: "gym", in: folder.path))
  }
}
