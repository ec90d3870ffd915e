import ArgumentParser
import BeaconLocation
import BluetoothAir
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

  @Test("The frames of Eddystone have a text and a JSON form in the output of a scan")
  func output() {
    let identity = EddystoneFrame.uid(namespace: [UInt8](1...10), instance: [UInt8](11...16), txPower: -18)
    #expect(identity.summary == "UID 0102030405060708090A 0B0C0D0E0F10" && identity.isIdentity)
    #expect(
      identity.json.line
        == #"{"frame":"uid","namespace":"0x0102030405060708090A","instance":"0x0B0C0D0E0F10","txPower":-18}"#)
    let address = EddystoneFrame.url("https://www.example.com/", txPower: 4)
    #expect(address.summary == "https://www.example.com/" && address.isIdentity)
    #expect(address.json.line == #"{"frame":"url","url":"https://www.example.com/","txPower":4}"#)
    let state = EddystoneFrame.telemetry(
      EddystoneFrame.Telemetry(
        batteryVoltage: 3_000, temperature: -4.5, advertisingCount: 7, uptime: .milliseconds(12_300)))
    #expect(state.summary == "TLM 3000 mV -4.5 °C 7 packets 12.3 s" && !state.isIdentity)
    #expect(
      state.json.line == #"{"frame":"tlm","battery":3000,"temperature":-4.5,"packets":7,"uptime":12.3}"#)
    let empty = EddystoneFrame.telemetry(EddystoneFrame.Telemetry(advertisingCount: 0, uptime: .zero))
    #expect(empty.summary == "TLM 0 packets 0.0 s")
    #expect(empty.json.line == #"{"frame":"tlm","packets":0,"uptime":0}"#)
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
