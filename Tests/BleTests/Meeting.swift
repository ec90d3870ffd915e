import ArgumentParser
import BluetoothLab
import CoreBluetoothExtras
import Foundation
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

  /// Finds the device with this name.
  static func find(_ name: String, _ central: Central, _ stage: Stage) async throws -> DeviceChoice.Candidate {
    try await DeviceChoice.parse([name, "--first"]).find(by: central, on: stage)
  }
}
