import ArgumentParser
import BluetoothAir
import BluetoothLab
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

/// A peripheral of a verb and a central, alone in a world, in virtual time.
enum Meeting {
  /// Runs `body` when both are on.
  static func run(
    _ body: @escaping @Sendable (LocalPeripheral, Central, Stage) async throws -> Void
  ) throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("empty.yaml").path
    try Stage(try AdapterOptions.parse(["--world", path, "--virtual-time"])).run { stage in
      let device = try #require(stage.adapter as? Device)
      let local = LocalPeripheral(adapter: device)
      let central = Central(adapter: device.world.makeDevice(named: "phone", at: Position(x: 1)))
      defer {
        local.close()
        central.close()
      }
      try await local.waitUntilPoweredOn(within: stage.stepLimit)
      try await central.waitUntilPoweredOn(within: stage.stepLimit)
      try await body(local, central, stage)
    }
  }

  /// Plays the first device of a file, and runs `body` with a central of the world.
  ///
  /// - Returns: the lines of the output, without their times.
  @discardableResult
  static func play(
    _ text: String, _ body: @escaping @Sendable (Central, DeviceChoice.Candidate, Stage) async throws -> Void
  ) throws -> [String] {
    let description = try #require(try WorldFile(text: text).members.first?.description)
    let lines = NIOLockedValueBox<[String]>([])
    try run { local, central, stage in
      let player = PeripheralPlayer(description, named: "Thing", by: local, stage, isJSON: false) { line in
        lines.withLockedValue { $0.append(line.split(separator: " ").dropFirst().joined(separator: " ")) }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          do { try await player.play() } catch is CancellationError {} catch { Issue.record(error) }
        }
        try await body(central, try await find("Thing", central, stage), stage)
        group.cancelAll()
      }
    }
    return lines.withLockedValue { $0 }
  }

  /// Returns a file with a device that has these services.
  static func file(_ services: String) -> String {
    """
    devices:
      - name: Thing
        accessory:
          kind: peripheral
          advertising: {interval: 0.1, payload: {flags: 6, name: Thing}}
          services:
    \(services.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n"))
    """
  }

  /// Finds the device with this name.
  static func find(_ name: String, _ central: Central, _ stage: Stage) async throws -> DeviceChoice.Candidate {
    try await DeviceChoice.parse([name, "--first"]).find(by: central, on: stage)
  }
}
