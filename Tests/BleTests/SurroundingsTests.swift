import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import ble

/// What a user gets who has named neither an adapter nor a world.
@Suite struct SurroundingsTests {
  @Test("The failure offers the controllers of the machine, and the example worlds by name")
  func offers() {
    let failure = Surroundings.failure(controllers: ["hci:0", "hci:1"])
    #expect(failure.status == ExitStatus.noAdapter)
    #expect(failure.lines.contains("  --adapter hci:0") && failure.lines.contains("  --adapter hci:1"))
    #expect(failure.lines.last?.contains("fitness-room, gym, home") == true)
    #expect(Surroundings.failure(controllers: []).description.contains("Linux lists no controllers"))
  }

  @Test("Options name a place, and the default adapter is not named")
  func names() throws {
    #expect(try AdapterOptions.parse(["--world", "gym"]).named?.origin == "--world")
    #expect(try AdapterOptions.parse(["--adapter", "virtual"]).named?.origin == "--adapter")
    let environment = ProcessInfo.processInfo.environment
    guard environment["COREBLUETOOTH_WORLD"] == nil, environment["COREBLUETOOTH_ADAPTER"] == nil else { return }
    let options = try AdapterOptions.parse([])
    #expect(options.named == nil)
    #expect(options.choice.choice == .specifier("virtual"))
  }

  @Test(
    "A verb that looks for devices ends at once, with the offers",
    arguments: ["scan", "read strap 2A37", "inspect strap"])
  func ends(words: String) async throws {
    let ending = try await Program.run(
      "ble", words.split(separator: " ").map(String.init),
      environment: ["COREBLUETOOTH_ADAPTER": "", "COREBLUETOOTH_WORLD": ""])
    #expect(ending.status == ExitStatus.noAdapter)
    #expect(ending.errors.hasPrefix("ble: no adapter is named"))
    #expect(ending.errors.split(separator: "\n").last?.contains("gym") == true)
  }
}
