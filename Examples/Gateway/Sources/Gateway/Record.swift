import BluetoothProfiles
import CoreBluetooth

/// One line of the gateway's output.
public struct Record: Codable, Hashable, Sendable {
  /// The kinds of events.
  public enum Event: String, Codable, Sendable { case connected, value, lost }

  /// The time of the event.
  public var time: Date
  /// The kind of the event.
  public var event: Event
  /// The name of the device.
  public var device: String
  /// The quantity of a value, such as `heartRate`.
  public var quantity: String?
  /// The number of a value.
  public var number: Double?
  /// The unit of a value.
  public var unit: String?

  /// The record as a line of NDJSON, with its line break.
  public var line: Data {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    // The same record always gives the same line.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A record has no value that can't be encoded: `Sensor.decode` rejects infinite numbers.
    return ((try? encoder.encode(self)) ?? Data()) + Data("\n".utf8)
  }
}

/// A kind of sensor that the gateway reads.
public struct Sensor: Sendable {
  /// The service that the sensor advertises.
  public let service: UInt16
  /// The characteristic that notifies or indicates its values.
  public let characteristic: UInt16
  /// The name of the quantity.
  public let quantity: String
  /// Returns the number and the unit of a value; nil if the octets are no such value.
  public let decode: @Sendable (Data) -> (number: Double, unit: String)?

  /// A heart rate sensor.
  public static let heartRate = Sensor(service: 0x180D, characteristic: 0x2A37, quantity: "heartRate") { octets in
    (try? HeartRateMeasurement(octets)).map { (Double($0.heartRate), "1/min") }
  }

  /// A thermometer.
  public static let thermometer = Sensor(service: 0x1809, characteristic: 0x2A1C, quantity: "temperature") { octets in
    guard let value = try? TemperatureMeasurement(octets), value.temperature.value.isFinite else { return nil }
    return (value.temperature.value, value.isFahrenheit ? "°F" : "°C")
  }
}
