import BluetoothNumbers

/// The name of a device · Vol 3, Part C, 12.1; 0x2A00.
public typealias DeviceName = TextValue<DeviceNameKind>

/// The hash of the GATT database, 16 octets that change with the services · Vol 3, Part G, 7.3; 0x2B2A.
public typealias DatabaseHash = OpaqueValue<DatabaseHashKind>

public enum DeviceNameKind: ValueKind { public static let uuid: UInt16 = 0x2A00 }

public enum DatabaseHashKind: ValueKind { public static let uuid: UInt16 = 0x2B2A }

/// The external appearance of a device · Vol 3, Part C, 12.2, and Assigned Numbers, 2.6; 0x2A01.
public struct Appearance: CharacteristicValue, RawRepresentable {
  /// The category and the subcategory.
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The category, the ten highest bits.
  public var category: UInt16 { rawValue >> 6 }

  /// The subcategory, the six lowest bits; 0 for a generic device of the category.
  public var subcategory: UInt16 { rawValue & 0x3F }

  /// The assigned name, such as "Heart Rate Sensor: Heart Rate Belt". Only the category's name if the subcategory has
  /// none; nil if the category has none.
  public var name: String? {
    AssignedNumbers.appearanceName(rawValue) ?? AssignedNumbers.appearanceName(category << 6)
  }

  public static let uuid: UInt16 = 0x2A01

  public init(from reader: inout ValueReader) throws(ValueError) { rawValue = try reader.uint16() }

  public func write(to writer: inout ValueWriter) { writer.integer(rawValue) }

  public var fields: [ValueField] { [ValueField("", name ?? rawValue.hexadecimal)] }
}

/// The connection parameters that a peripheral prefers · Vol 3, Part C, 12.3; 0x2A04.
public struct PeripheralPreferredConnectionParameters: CharacteristicValue {
  public var minimumInterval: Scalar<PreferredInterval>
  public var maximumInterval: Scalar<PreferredInterval>
  /// The peripheral latency in connection events.
  public var latency: UInt16
  public var supervisionTimeout: Scalar<PreferredTimeout>

  public init(
    minimumInterval: Scalar<PreferredInterval>, maximumInterval: Scalar<PreferredInterval>, latency: UInt16,
    supervisionTimeout: Scalar<PreferredTimeout>
  ) {
    self.minimumInterval = minimumInterval
    self.maximumInterval = maximumInterval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  public static let uuid: UInt16 = 0x2A04

  public init(from reader: inout ValueReader) throws(ValueError) {
    minimumInterval = try reader.scalar()
    maximumInterval = try reader.scalar()
    latency = try reader.uint16()
    supervisionTimeout = try reader.scalar()
  }

  public func write(to writer: inout ValueWriter) {
    writer.scalar(minimumInterval)
    writer.scalar(maximumInterval)
    writer.integer(latency)
    writer.scalar(supervisionTimeout)
  }

  public var fields: [ValueField] {
    [
      ValueField("interval at least", minimumInterval), ValueField("at most", maximumInterval),
      ValueField("latency", latency), ValueField("supervision timeout", supervisionTimeout),
    ]
  }
}

/// The support for address resolution: whether a peer may use a private address as the target address ·
/// Vol 3, Part C, 12.4; 0x2AA6.
public struct CentralAddressResolution: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let notSupported: Self = 0
  public static let supported: Self = 1

  public static let uuid: UInt16 = 0x2AA6
  public static let names = ["not supported", "supported"]
}

/// The handle range in which services have changed · Vol 3, Part G, 7.1; 0x2A05.
public struct ServiceChanged: CharacteristicValue {
  public var start: UInt16
  public var end: UInt16

  public init(start: UInt16, end: UInt16) {
    self.start = start
    self.end = end
  }

  public static let uuid: UInt16 = 0x2A05

  public init(from reader: inout ValueReader) throws(ValueError) {
    start = try reader.uint16()
    end = try reader.uint16()
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(start)
    writer.integer(end)
  }

  public var fields: [ValueField] { [ValueField("from", start.hexadecimal), ValueField("to", end.hexadecimal)] }
}
