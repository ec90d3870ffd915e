import ArgumentParser
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

/// The failures of verbs that use a device.
@Suite struct FailureTests {
  private static let world =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("accessories.yaml").path

  @Test("An adapter that is turned off while a verb uses a device is the reason of the failure, with the status 69")
  func turnedOff() throws {
    let failures = NIOLockedValueBox<[Failure]>([])
    try Stage(try AdapterOptions.parse(["--world", Self.world, "--virtual-time"])).run { stage in
      let device = try #require(stage.adapter as? Device)
      do {
        try await stage.withDevice(try DeviceChoice.parse(["strap", "--first"])) { peripheral in
          device.setPower(false)
          while true { _ = try await peripheral.readRSSI(within: stage.stepLimit) }
        }
      } catch let failure as Failure {
        failures.withLockedValue { $0.append(failure) }
      }
    }
    let failure = try #require(failures.withLockedValue { $0.first })
    #expect(failure.status == ExitStatus.noAdapter)
    #expect(failure.description.hasSuffix("was turned off"), "\(failure)")
  }

  @Test("An adapter that is turned off while inspect --check observes a device is the reason of the failure")
  func turnedOffWhileChecking() throws {
    let failures = NIOLockedValueBox<[Failure]>([])
    try Stage(try AdapterOptions.parse(["--world", Self.world, "--virtual-time"])).run { stage in
      let device = try #require(stage.adapter as? Device)
      let command = try Inspect.parse(["strap", "--check", "apple"])
      let central = try await stage.makeCentral()
      defer { central.close() }
      let found = try await DeviceChoice.parse(["strap", "--first"]).find(by: central, on: stage)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await stage.sleep(1)
          device.setPower(false)
        }
        do {
          _ = try await command.observe(found.peripheral, central, stage)
        } catch let failure as Failure {
          failures.withLockedValue { $0.append(failure) }
        }
        try await group.next()
      }
    }
    let failure = try #require(failures.withLockedValue { $0.first })
    #expect(failure.status == ExitStatus.noAdapter)
    #expect(failure.description.hasSuffix("was turned off"), "\(failure)")
  }

  @Test("A recording that can't be written is refused before the device is looked for")
  func missingFolder() throws {
    let path = NSTemporaryDirectory() + "/\(UUID().uuidString)/device.yaml"
    let command = try Clone.parse(["nobody", "-o", path, "--world", Self.world, "--virtual-time"])
    let failure = #expect(throws: Failure.self) { try command.run() }
    #expect(failure?.description.hasPrefix("can't write ") == true)
  }

  @Test("The end of a link without a code of Apple's API has the reason of the controller, and the status 2")
  func unknownReason() throws {
    let reason = CBError(.unknown, userInfo: [CBErrorHCIErrorCodeKey: NSNumber(value: 0x3D)])
    let failure = try #require(Failure.of(reason, "Strap") as? Failure)
    #expect(failure.status == ExitStatus.linkLost)
    #expect(failure.description.hasPrefix("Strap: link lost: "))
    #expect(failure.description.contains("0x3D"))
    let other = try #require(Failure.of(CBError(.unknown), "Strap") as? Failure)
    #expect(other.status == EXIT_FAILURE)
    #expect(other.description == "Strap: Unknown error")
  }
}
