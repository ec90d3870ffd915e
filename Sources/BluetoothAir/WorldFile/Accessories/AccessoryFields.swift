import BluetoothLab
import BluetoothProfiles
import Foundation

extension AccessoryKind {
  /// The kinds of accessories: the ready-made accessories of the lab, then `peripheral`, which the file describes
  /// completely.
  static let all: [AccessoryKind] = [
    heartRate, thermometer, bloodPressure, glucose, cycling, cyclingPower, running, location, keyboard, mouse,
    weightScale, pedometer, sensorTag, telephone, notifyingPhone, flashlight, keyFob, finderTag, pinBoard, battery,
    AccessoryKind(.iBeacon) { object, _ in
      guard let uuid = object["proximityUUID"]?.raw.flatMap({ UUID(uuidString: $0) }) else {
        return Broadcaster(Advertising())
      }
      return IBeacon(
        proximityUUID: uuid, major: object.whole("major") ?? 0, minor: object.whole("minor") ?? 0,
        measuredPower: object.whole("measuredPower") ?? -59, interval: object.time("interval") ?? .milliseconds(100))
    },
    AccessoryKind(.broadcaster) { $1.broadcaster($0) },
    AccessoryKind(.recording) { $1.recording($0) },
    AccessoryKind(.peripheral) { $1.peripheral($0) },
  ]
}

extension ObjectShape {
  /// The objects of all kinds of accessories.
  static let accessoryKinds = AccessoryKind.all.map(\.shape)

  static let iBeacon = ObjectShape(
    "ibeacon", "an iBeacon transmitter",
    [
      WorldField(
        required: "proximityUUID", .uuid128, "The proximity UUID",
        example: #""6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001""#),
      WorldField("major", .integer(0...65_535), "The major value", else: "0", example: "1"),
      WorldField("minor", .integer(0...65_535), "The minor value", else: "0", example: "2"),
      WorldField("measuredPower", .integer(-128...127), "The measured power at 1 m, dBm", else: "-59", example: "-65"),
      WorldField(
        "interval", .number(0.02...10.24), "The advertising interval, seconds", else: "0.1", example: "1"),
    ])

  static let recording = ObjectShape(
    "recording", "a device of a capture or of a file that `ble clone` writes, with the history of its values",
    [
      WorldField(
        required: "file", .text(1...4_096),
        "The capture or the file of `ble clone`; a relative path begins at the folder of this file",
        example: #""session.pcapng""#),
      WorldField(
        "device", .text(1...248), "The name or the address of the recorded device",
        else: "the only one with services, or the only one", example: #""Sign""#),
      WorldField(
        "start", .choice(RecordingStartNames.all.keys.sorted()),
        "The time from which the offsets of a capture count: the device is turned on first, or a client subscribes",
        else: "power-on", example: #""subscription""#),
    ])

  static let broadcaster = ObjectShape(
    "broadcaster", "a device that only advertises",
    [
      WorldField(
        required: "advertising", .object(.advertising),
        "The advertising parameters and data; not connectable by default",
        example: #"{"payload": {"name": "A"}}"#)
    ])
}

// MARK: Fields of several kinds

extension AccessoryField {
  static func battery(_ level: WritableKeyPath<A, UInt8> & Sendable) -> Self {
    WorldField("batteryLevel", .integer(0...100), "The battery level, %", else: "100", example: "80").whole(level)
  }

  static func measurementInterval(_ interval: WritableKeyPath<A, Duration> & Sendable) -> Self {
    WorldField(
      "interval", .number(0.001...WorldLimits.seconds.upperBound),
      "The measurement interval while a client is subscribed, seconds", else: "1", example: "0.5"
    ).time(interval)
  }

  static func timeStamp(_ time: WritableKeyPath<A, DateTime?> & Sendable) -> Self {
    WorldField(
      "timeStamp", .dateTime, "The time stamp of each measurement", else: "none", example: #""2024-02-29T08:30:00""#
    ).date(time)
  }

  static func protection(
    _ protection: WritableKeyPath<A, CharacteristicProtection> & Sendable, else standard: String
  ) -> Self {
    WorldField(
      "protection", .choice(ProtectionNames.all.keys.sorted()),
      "The link security that the characteristics of the service require", else: "\"\(standard)\"",
      example: standard == "none" ? #""encrypted""# : #""none""#
    ).word(protection, ProtectionNames.all)
  }
}

extension AccessoryField where A: ScheduledAccessory {
  /// - Parameter first: the default interval in the first 30 s, in seconds.
  static func advertisingInterval(first: String = "0.1") -> Self {
    WorldField(
      "advertisingInterval", .number(0.02...10.24), "The advertising interval, seconds, in steps of 0.625 ms",
      else: "\(first) for 30 s after power-on and after each disconnection, then 1.0225", example: "0.1"
    ).set { accessory, object, _ in
      if let interval = object.time("advertisingInterval") { accessory.advertisingSchedule = [.every(interval)] }
    }
  }
}
