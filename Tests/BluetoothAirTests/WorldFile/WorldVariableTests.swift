import Foundation
import TestSupport
import Testing

@Suite struct WorldVariableTests {
  private static let text = """
    seed: 7
    devices:
      - { name: strap, accessory: heart-rate }
      - { name: weather, accessory: thermometer, position: [3, 0] }
    """

  private func run(_ variables: [String: String]) async throws -> Program.Ending {
    try await Program.run("world-client", ["2"], environment: variables)
  }

  @Test("A program that names no adapter meets the devices of the file in COREBLUETOOTH_WORLD")
  func programMeetsDevices() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/world.yaml"
    try Self.text.write(toFile: path, atomically: true, encoding: .utf8)
    // The variable of the file takes precedence over the one of an adapter.
    let ending = try await run(["COREBLUETOOTH_WORLD": path, "COREBLUETOOTH_ADAPTER": "tcp:127.0.0.1:1"])
    #expect(ending.output == "strap, weather\n")
    #expect(ending.status == 0)
  }

  @Test("A program with the reader of world files joins the world that its specifier names")
  func specifierNamesWorld() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/world.yaml"
    try Self.text.write(toFile: path, atomically: true, encoding: .utf8)
    let ending = try await run(["COREBLUETOOTH_ADAPTER": "world:\(path)"])
    #expect(ending.output == "strap, weather\n")
    let lost = try await run(["COREBLUETOOTH_ADAPTER": "worlds:\(path)"])
    #expect(lost.output == "state 2\n")
    #expect(lost.errors.contains("server[:PATH][,NAME], bluez[:hciN], world:FILE"))
    let empty = try await run(["COREBLUETOOTH_ADAPTER": "world:"])
    #expect(empty.errors.contains("invalid adapter \"world:\": missing path: expected world:FILE"))
  }

  @Test("A world file with a problem leaves the program without Bluetooth, and the log shows the place of the problem")
  func problemIsLogged() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/world.yaml"
    try "seed: x\n".write(toFile: path, atomically: true, encoding: .utf8)
    let ending = try await run(["COREBLUETOOTH_WORLD": path])
    // CBManagerState.unsupported
    #expect(ending.output == "state 2\n")
    #expect(ending.errors.contains("\(path):1:7: seed: "))
  }
}
