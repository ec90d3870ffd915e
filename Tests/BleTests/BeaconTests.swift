import ArgumentParser
import BeaconLocation
import BluetoothLab
import BluetoothTypes
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

/// The advertising data of `ble beacon`.
@Suite struct BeaconTests {
  private static func beacon(_ structures: [ADStructure]) -> Beacon? {
    let octets = structures.flatMap(\.octets)
    #expect(octets.count <= 31)
    return Beacon(AdvertisingData(ByteSlice(octets)))
  }

  @Test("An Eddystone-UID has a power, a namespace and an instance")
  func identity() throws {
    let (namespace, instance) = ([UInt8](1...10), [UInt8](11...16))
    let frame = EddystoneFrame.uid(namespace: namespace, instance: instance, txPower: -18)
    #expect(
      Self.beacon(try frame.advertisingData())
        == .eddystoneUID(power: -18, namespace: ByteSlice(namespace), instance: ByteSlice(instance)))
  }

  @Test(
    "An Eddystone-URL is shortened, and read as it was",
    arguments: [
      ("https://www.example.com/", 8), ("http://example.org", 8), ("https://example.com/a.net/b", 11),
      ("http://www.a.information", 9),
    ])
  func address(url: String, count: Int) throws {
    let frame = try BeaconVerb.EddystoneURL.data(url, power: 4)
    #expect(Self.beacon(frame) == .eddystoneURL(power: 4, url))
    // Two octets for the service, one each for the kind of frame, the power and the scheme.
    #expect(frame[2].data.count - 5 == count)
  }

  @Test(
    "An address that Eddystone can't carry is refused",
    arguments: [
      "ftp://a.com", "https://", "https://a b.com", "http://é.com", "https://example.com/much-too-long-a-path",
    ])
  func refused(url: String) {
    let failure = #expect(throws: Failure.self) { try BeaconVerb.EddystoneURL.data(url, power: 0) }
    #expect(failure?.status == ExitStatus.usage)
  }

  @Test("Eddystone-TLM has the battery, the temperature, the number of packets and the time")
  func telemetry() throws {
    let sent = EddystoneFrame.Telemetry(
      batteryVoltage: 3_000, temperature: -2.5, advertisingCount: 70_000, uptime: .seconds(12.34))
    let frame = try EddystoneFrame.telemetry(sent).advertisingData()
    guard case .eddystoneTelemetry(let state)? = Self.beacon(frame) else {
      Issue.record("no telemetry")
      return
    }
    #expect(state.version == 0)
    #expect(state.battery == 3_000)
    #expect(state.temperature == -640)
    #expect(state.advertisements == 70_000)
    #expect(state.uptime == 123)
    let empty = EddystoneFrame.Telemetry(advertisingCount: 0, uptime: .zero)
    guard
      case .eddystoneTelemetry(let none)? = Self.beacon(try EddystoneFrame.telemetry(empty).advertisingData())
    else {
      Issue.record("no telemetry")
      return
    }
    #expect(none.temperature == .min)
  }

  @Test("The number of packets of Eddystone-TLM begins again at 0 after 2^32 packets")
  func packets() {
    #expect(BeaconVerb.EddystoneTLM.packets(within: .seconds(10), every: 0.5) == 20)
    #expect(BeaconVerb.EddystoneTLM.packets(within: .seconds(2_147_483_648), every: 0.5) == 0)
    #expect(BeaconVerb.EddystoneTLM.packets(within: .seconds(2_147_483_653), every: 0.5) == 10)
  }

  @Test("A beacon ends when its adapter is turned off, with the status 69")
  func turnedOff() throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("empty.yaml").path
    let ends = NIOLockedValueBox<[(failure: Failure, time: Duration)]>([])
    try Stage(try AdapterOptions.parse(["--world", path, "--virtual-time"])).run { stage in
      let options = try BeaconVerb.Options.parse(["--for", "60"])
      let device = try #require(stage.adapter as? Device)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await stage.sleep(2)
          device.setPower(false)
        }
        do {
          try await options.advertise("ibeacon", on: stage) { _ in [.flags()] }
        } catch let failure as Failure {
          let time = stage.now
          ends.withLockedValue { $0.append((failure, time)) }
        }
        try await group.next()
      }
    }
    let end = try #require(ends.withLockedValue { $0.first })
    #expect(end.failure.status == ExitStatus.noAdapter)
    #expect(end.failure.description.hasSuffix("was turned off"), "\(end.failure)")
    #expect(end.time >= .seconds(2) && end.time < .seconds(3), "\(end.time)")
  }
}
