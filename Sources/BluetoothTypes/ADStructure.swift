/// One AD structure of an advertisement or a scan response: a type and its data · Core Specification Supplement,
/// Part A.
public struct ADStructure: Hashable, Sendable {
  /// The AD type.
  public var type: ADType
  /// The octets after the type.
  public var data: [UInt8]

  /// Creates a structure with any type and data.
  public init(_ type: ADType, _ data: [UInt8]) {
    self.type = type
    self.data = data
  }

  /// The length, type and data as on the air. More than 254 octets of data can't be sent; this property then holds
  /// only the low octet of the length.
  public var octets: [UInt8] { [UInt8(truncatingIfNeeded: data.count + 1), type.rawValue] + data }

  /// Returns Flags; the default is that of a device in general discoverable mode without BR/EDR · 1.3.
  public static func flags(_ flags: UInt8 = 0x06) -> ADStructure { ADStructure(.flags, [flags]) }

  /// Returns a Complete Local Name · 1.2.
  public static func name(_ name: String) -> ADStructure { ADStructure(.completeLocalName, Array(name.utf8)) }

  /// Returns a Shortened Local Name: the beginning of the device's name · 1.2.
  public static func shortenedName(_ name: String) -> ADStructure { ADStructure(.shortenedLocalName, Array(name.utf8)) }

  /// Returns a complete list of service UUIDs, in the shortest width that all of them have: 16, 32 or 128 bits · 1.1.
  public static func services(_ services: [BluetoothUUID]) -> ADStructure {
    let width = services.map(\.advertisedWidth).max { $0.rawValue < $1.rawValue } ?? .bits16
    return ADStructure(width.listType(isComplete: true), services.flatMap { $0.octets(width) })
  }

  /// Returns the complete lists of service UUIDs: one structure for each width present, in the order 16, 32 and 128
  /// bits · 1.1.
  public static func serviceLists(_ services: [BluetoothUUID]) -> [ADStructure] {
    [BluetoothUUID.Width.bits16, .bits32, .bits128].compactMap { width in
      let list = services.filter { $0.advertisedWidth == width }
      return list.isEmpty ? nil : ADStructure(width.listType(isComplete: true), list.flatMap(\.advertisedOctets))
    }
  }

  /// Returns the Service Data of a service, whose UUID is sent in its shortest form · 1.11.
  public static func serviceData(of service: BluetoothUUID, _ data: [UInt8]) -> ADStructure {
    ADStructure(service.advertisedWidth.dataType, service.advertisedOctets + data)
  }

  /// Returns Manufacturer Specific Data with a company identifier assigned by the Bluetooth SIG · 1.4.
  public static func manufacturerData(company: UInt16, _ data: [UInt8]) -> ADStructure {
    ADStructure(.manufacturerData, company.octets(2) + data)
  }

  /// Returns the TX Power Level: the transmit power of the packet, in dBm · 1.5.
  public static func transmitPower(_ level: Int8) -> ADStructure {
    ADStructure(.txPowerLevel, [UInt8(bitPattern: level)])
  }

  /// Returns the Appearance of the device · 1.12.
  public static func appearance(_ value: UInt16) -> ADStructure { ADStructure(.appearance, value.octets(2)) }
}
