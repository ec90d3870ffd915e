import ArgumentParser
import BluetoothAir
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Requirements
import Testing

@testable import ble

/// `ble try`: the profiles of a device without its app, in virtual time.
@Suite struct TryTests {
  /// Returns the steps of the trial of a device in a world.
  private static func steps(
    of name: String, world path: String, listening seconds: Double? = 2.5
  ) throws -> [DeviceTrial.Step] {
    let steps = NIOLockedValueBox<[DeviceTrial.Step]>([])
    try Stage(try AdapterOptions.parse(["--world", path, "--virtual-time"])).run { stage in
      let central = try await stage.makeCentral()
      let found = try await DeviceChoice.parse([name, "--first"]).find(by: central, on: stage)
      let failures = try await stage.withLink(to: found) { peripheral in
        let trial = DeviceTrial(of: peripheral, listening: seconds, stage) { step in
          steps.withLockedValue { $0.append(step) }
        }
        return try await trial.run()
      }
      #expect(failures == steps.withLockedValue { $0.filter { $0.failure != nil }.count })
    }
    return steps.withLockedValue { $0 }
  }

  /// A device of accessories.yaml, and steps with parts of their values.
  struct Expected: Sendable, CustomTestStringConvertible {
    let device: String
    let values: [(step: String, part: String)]
    var testDescription: String { device }
  }

  static let devices = [
    Expected(device: "strap", values: [("measurements", "72"), ("Battery Level (2A19)", "100 %")]),
    Expected(
      device: "thermometer",
      values: [
        ("measurements", "36.6"), ("temperature type", ""), ("Model Number String (2A24)", "Thermometer"),
      ]),
    Expected(device: "cuff", values: [("features", ""), ("measurements", "120")]),
    Expected(
      device: "glucometer", values: [("features", ""), ("number of stored records", "10"), ("last record", "")]),
    Expected(
      device: "scale",
      values: [
        ("features", "time stamp, multiple users, body mass index"), ("measurements", "weight 72.4 kg, at 2024"),
      ]),
    Expected(
      device: "pocket", values: [("Battery Level (2A19)", "100 %"), ("Model Number String (2A24)", "Pedometer")]),
    Expected(
      device: "bicycle", values: [("features", "wheel"), ("measurements", ""), ("supported sensor locations", "")]),
    Expected(device: "crank", values: [("measurements", "W"), ("crank length", "0.1725 m"), ("sensor location", "")]),
    Expected(device: "shoe", values: [("features", ""), ("measurements", "m/s")]),
    Expected(device: "receiver", values: [("locations", ""), ("position quality", ""), ("number of routes", "0")]),
    Expected(
      device: "keyboard", values: [("information", ""), ("report map", "octets"), ("input reports", "none within")]),
    Expected(device: "mouse", values: [("report map", "octets"), ("protocol mode", "")]),
    Expected(
      device: "tag",
      values: [
        ("infrared thermometer", "object 30 °C, ambient 22 °C"), ("hygrometer", "humidity 45 %, temperature 22 °C"),
        ("barometer", "pressure 1013.25 hPa, temperature 22 °C"), ("movement", "acceleration z 1 g"),
      ]),
    Expected(
      device: "phone",
      values: [
        ("categories of new alerts", ""), ("alert status", ""), ("ringer setting", ""), ("current time", "2024"),
        ("local time", ""),
      ]),
    Expected(
      device: "keys",
      values: [
        ("mild alert, then none", ""), ("alert at link loss", ""), ("transmit power", "dBm"), ("path loss", "dB"),
      ]),
    Expected(device: "lamp", values: [("Battery Level (2A19)", "100 %")]),
    Expected(
      device: "wallet",
      values: [
        ("mild alert, then none", ""), ("Tx Power Level (2A07)", "0 dBm"),
        ("6E1B3A40-2C5D-4F07-9A8E-3D94B1C06F01", "00"),
      ]),
    Expected(
      device: "pins",
      values: [
        ("229B3003-03FB-40DA-98A7-B0DEF65C2D4B", "0x80"), ("229B3008-03FB-40DA-98A7-B0DEF65C2D4B", "028A"),
        ("Software Revision String (2A28)", "1.0.0"),
      ]),
    Expected(device: "pack", values: [("Battery Level (2A19)", "100 %")]),
  ]

  @Test(
    "The trial of each accessory of the lab runs through its profiles, and all works", .requirement("L196"),
    arguments: devices)
  func accessories(expected: Expected) throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("accessories.yaml")
    let steps = try Self.steps(of: expected.device, world: path.path)
    for step in steps { #expect(step.failure == nil, "\(step)") }
    for (title, part) in expected.values {
      let step = try #require(steps.first { $0.title == title }, "\(title) of \(steps.map(\.title))")
      #expect(part.isEmpty || step.values.last?.description.contains(part) == true, "\(step)")
    }
    // Each service begins once.
    #expect(steps.filter(\.isFirst).map(\.service).count == Set(steps.map(\.service)).count)
  }

  /// Returns the configurations and periods of the sensors of a tag, in the order of their UUIDs.
  private static func settings(of peripheral: Peripheral, _ limit: TimeLimit) async throws -> [String] {
    var settings: [String] = []
    for service in try await peripheral.discoverServices(within: limit) {
      for characteristic in try await service.discoverCharacteristics(within: limit)
      where characteristic.uuid.uuidString.hasPrefix("F000AA") && characteristic.properties.contains(.write) {
        let octets = [UInt8](try await characteristic.read(within: limit))
        settings.append("\(characteristic.uuid.uuidString.prefix(8)) \(octets)")
      }
    }
    return settings.sorted()
  }

  @Test("The trial of a sensor tag leaves configurations and periods as they were, also after failed steps")
  func settingsOfTag() throws {
    let path = NSTemporaryDirectory() + "/try-\(UUID().uuidString).yaml"
    defer { try? FileManager.default.removeItem(atPath: path) }
    // The second tag never measures.
    try """
    devices:
      - {name: tag, accessory: sensor-tag}
      - name: silent
        accessory:
          kind: peripheral
          services:
            - uuid: F000AA20-0451-4000-B000-000000000000
              characteristics:
                - {uuid: F000AA21-0451-4000-B000-000000000000, properties: [read, notify], value: "00000000"}
                - {uuid: F000AA22-0451-4000-B000-000000000000, properties: [read, write], value: "00"}
                - {uuid: F000AA23-0451-4000-B000-000000000000, properties: [read, write], value: "C8"}
    """.write(toFile: path, atomically: true, encoding: .utf8)
    for (name, count, expectedFailures) in [("tag", 8, 0), ("silent", 2, 1)] {
      try Stage(try AdapterOptions.parse(["--world", path, "--virtual-time"])).run { stage in
        let central = try await stage.makeCentral()
        let found = try await DeviceChoice.parse([name, "--first"]).find(by: central, on: stage)
        let failures = try await stage.withLink(to: found) { peripheral in
          let before = try await Self.settings(of: peripheral, stage.stepLimit)
          let trial = DeviceTrial(of: peripheral, listening: 2.5, stage) { _ in }
          let failures = try await trial.run()
          #expect(before.count == count, "\(name): \(before)")
          #expect(try await Self.settings(of: peripheral, stage.stepLimit) == before, "\(name)")
          return failures
        }
        #expect(failures == expectedFailures, "\(name)")
      }
    }
  }

  @Test("The trial lists the notifications of a phone, and the device information with values that no client reads")
  func phone() throws {
    let path = NSTemporaryDirectory() + "/try-\(UUID().uuidString).yaml"
    defer { try? FileManager.default.removeItem(atPath: path) }
    // The phone has no Control Point, its System ID has 7 octets.
    try """
    devices:
      - name: phone
        accessory:
          kind: peripheral
          services:
            - uuid: 7905F431-B5CE-4E99-A40F-4B1E122D00D0
              characteristics:
                - uuid: 9FBF120D-6301-42D9-8C58-25E699A21DBD
                  properties: [notify]
                  value: "00 01 04 01 07 00 00 00"
                  notifyPeriod: 1
            - uuid: 180A
              characteristics:
                - {uuid: 2A23, properties: [read], value: "01020304050607"}
                - {uuid: 2A2B, properties: [read], value: "00"}
                - {uuid: 2A24, properties: [read], text: X1}
    """.write(toFile: path, atomically: true, encoding: .utf8)
    let steps = try Self.steps(of: "phone", world: path)
    let titles = [
      "notifications", "Model Number String (2A24)", "System ID (2A23)", "Current Time (2A2B)",
    ]
    #expect(steps.map(\.title) == titles)
    let events = try #require(steps.first)
    #expect(events.values.last == "added 7, category social, 1 in the category, flags silent")
    #expect(steps.dropFirst().first?.values.map(\.description) == ["\"X1\""])
    #expect(steps.map { $0.failure == nil } == [true, true, false, false])
    #expect(steps.dropFirst(2).first?.failure == "The value of System ID is too short")
  }

  @Test("The trial pairs with a phone of a world file, and lists its notifications, also one that appears meanwhile")
  func notifyingPhone() throws {
    let path = NSTemporaryDirectory() + "/try-\(UUID().uuidString).yaml"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try """
    devices:
      - name: phone
        accessory:
          kind: notifying-phone
          notifications:
            - {category: social, app: com.example.chat, title: Ann, message: "Lunch?"}
            - {at: 10, category: email, app: com.example.mail, title: Report, isImportant: true}
    """.write(toFile: path, atomically: true, encoding: .utf8)
    let steps = try Self.steps(of: "phone", world: path, listening: 20)
    for step in steps { #expect(step.failure == nil, "\(step)") }
    let titles = [
      "notifications", "Battery Level (2A19)", "Manufacturer Name String (2A29)", "Model Number String (2A24)",
    ]
    #expect(steps.map(\.title) == titles)
    #expect(
      steps.first?.values == [
        "added 1, category social, 1 in the category, flags pre-existing, app com.example.chat, title \"Ann\"",
        "added 2, category email, 1 in the category, flags important, app com.example.mail, title \"Report\"",
      ])
  }

  @Test(
    "The trial listens longer than a thermometer's measurement interval of up to 60 s, unless a time is given",
    .requirement("L196"))
  func intervals() throws {
    let path = NSTemporaryDirectory() + "/try-\(UUID().uuidString).yaml"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try """
    devices:
      - {name: fast, accessory: {kind: thermometer, interval: 1}}
      - {name: slow, accessory: {kind: thermometer, interval: 5}}
      - {name: minute, accessory: {kind: thermometer, interval: 60}}
      - {name: lazy, accessory: {kind: thermometer, interval: 61}}
      - {name: cuff, accessory: {kind: blood-pressure, interval: 30}}
      - name: aperiodic
        accessory:
          kind: peripheral
          services:
            - uuid: 1809
              characteristics:
                - {uuid: 2A1C, properties: [indicate], value: "00"}
                - {uuid: 2A21, properties: [read], value: "0000"}
    """.write(toFile: path, atomically: true, encoding: .utf8)
    // The value of a step without measurements, and the number of values.
    let cases: [(name: String, listening: Double?, none: String?, count: Int)] = [
      ("fast", nil, nil, 2), ("slow", nil, nil, 1), ("minute", nil, nil, 1), ("lazy", nil, "none within 3 s", 1),
      ("cuff", nil, "none within 3 s", 1), ("aperiodic", nil, "none within 3 s", 1),
      ("slow", 3, "none within 3 s", 1), ("slow", 5.5, nil, 1), ("cuff", 31, nil, 1),
    ]
    for (name, listening, none, count) in cases {
      let steps = try Self.steps(of: name, world: path, listening: listening)
      #expect(steps.allSatisfy { $0.failure == nil }, "\(name): \(steps)")
      let step = try #require(steps.first { $0.title == "measurements" }, "\(name)")
      #expect(step.isMeasurement && step.values.count == count, "\(step)")
      if let none {
        #expect(step.values == [TrialValue(none)], "\(step)")
      } else {
        #expect(step.values.allSatisfy { !$0.description.hasPrefix("none") }, "\(step)")
      }
    }
  }

  @Test("A device that breaks its profiles fails the steps concerned, with the exit status 4", .requirement("L196"))
  func broken() throws {
    let path = NSTemporaryDirectory() + "/try-\(UUID().uuidString).yaml"
    defer { try? FileManager.default.removeItem(atPath: path) }
    // The heart rate is cut, the thermometer has no measurements, the bicycle sends none, the battery is charged to
    // 200 %. A blood pressure monitor need not measure.
    try """
    devices:
      - name: broken
        accessory:
          kind: peripheral
          services:
            - uuid: 180D
              characteristics: [{uuid: 2A37, properties: [notify], value: "0E 40", notifyPeriod: 1}]
            - uuid: 1809
              characteristics: [{uuid: 2A1D, properties: [read], value: "01"}]
            - uuid: 1810
              characteristics:
                - {uuid: 2A35, properties: [indicate], value: "00"}
                - {uuid: 2A49, properties: [read], value: "0000"}
            - uuid: 1816
              characteristics:
                - {uuid: 2A5B, properties: [notify], value: "00"}
                - {uuid: 2A5C, properties: [read], value: "0000"}
            - uuid: 180F
              characteristics: [{uuid: 2A19, properties: [read], value: "C8"}]
    """.write(toFile: path, atomically: true, encoding: .utf8)
    let steps = try Self.steps(of: "broken", world: path)
    func failure(_ service: String, _ title: String) -> String? {
      steps.first { $0.service == CBUUID(string: service) && $0.title == title }?.failure
    }
    #expect(failure("180D", "measurements") == "The value of Heart Rate Measurement is too short")
    #expect(
      failure("1809", "service") == "The service Health Thermometer has no characteristic Temperature Measurement")
    #expect(failure("1816", "measurements") == "no value within 2.5 s")
    #expect(steps.first { $0.service == CBUUID(string: "1810") && $0.isMeasurement }?.values == ["none within 2.5 s"])
    #expect(
      failure("180F", "Battery Level (2A19)") == "The field Battery Level of Battery Level is out of range")
    #expect(steps.filter { $0.failure != nil }.count == 4)
    let command = try Try.parse(["broken", "--first", "--world", path, "--virtual-time", "--listen", "2.5", "--json"])
    let error = #expect(throws: Failure.self) { try command.run() }
    #expect(error?.status == ExitStatus.breaches && error?.description == "broken: 4 steps have failed")
  }
}
