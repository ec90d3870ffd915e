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
          _ = try await command.observe(found, central, stage)
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

  @Test("A device that vanishes after it was found ends inspect --check and clone with the status 2, and no verdict")
  func vanished() throws {
    try Meeting.run { local, central, stage in
      let found = try await local.withAdvertising(localName: "Thing") {
        try await Meeting.find("Thing", central, stage)
      }
      // The last advertising event may still be on the air.
      try await stage.sleep(1)
      var beginning = stage.now
      let inspect = try Inspect.parse(["Thing", "--check", "apple"])
      let check = await #expect(throws: Failure.self) { try await inspect.observe(found, central, stage) }
      #expect(check?.status == ExitStatus.linkLost)
      #expect(check?.description == "Thing has not advertised for 5 s")
      #expect(Duration.seconds(5)...(.seconds(5.1)) ~= stage.now - beginning)
      beginning = stage.now
      let clone = try Clone.parse(["Thing"])
      let recording = await #expect(throws: Failure.self) { try await clone.observed(found, central, stage) }
      #expect(recording?.status == ExitStatus.linkLost)
      #expect(recording?.description == "Thing has not advertised for 3 s")
      #expect(Duration.seconds(3)...(.seconds(3.1)) ~= stage.now - beginning)
    }
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
