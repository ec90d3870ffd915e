import BluetoothWire

/// One AD structure: a type and its data · Core Specification Supplement, Part A.
public struct ADStructure: Hashable, Sendable {
  /// The AD type · Assigned Numbers, 2.3.
  public var type: UInt8
  /// The octets after the type.
  public var data: [UInt8]

  /// Creates a structure with any type and data.
  public init(type: UInt8, data: [UInt8]) {
    self.type = type
    self.data = data
  }

  /// The length, type and data as on the air. More than 254 octets of data can't be sent; this property then holds
  /// only the low octet of the length.
  public var octets: [UInt8] { [UInt8(truncatingIfNeeded: data.count + 1), type] + data }

  /// Returns Flags; the default is that of a device in general discoverable mode without BR/EDR · 1.3.
  public static func flags(_ flags: UInt8 = 0x06) -> ADStructure { ADStructure(.flags, [flags]) }

  /// Returns a Complete Local Name · 1.2.
  public static func name(_ name: String) -> ADStructure { ADStructure(.completeLocalName, Array(name.utf8)) }

  /// Returns a Shortened Local Name: the beginning of the device's name · 1.2.
  public static func shortenedName(_ name: String) -> ADStructure { ADStructure(.shortenedLocalName, Array(name.utf8)) }

  /// Returns the Complete List of 16-bit Service UUIDs · 1.1.
  public static func services16(_ services: [UInt16]) -> ADStructure {
    ADStructure(.completeServices16, services.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
  }

  /// Returns the complete lists of service UUIDs: one structure for each width present, in the order 16, 32 and 128
  /// bits · 1.1.
  public static func serviceLists(_ services: [AttributeUUID]) -> [ADStructure] {
    let octets = services.map(\.advertisedOctets)
    let types: [(width: Int, type: AdvertisingData.StructureType)] = [
      (2, .completeServices16), (4, .completeServices32), (16, .completeServices128),
    ]
    return types.compactMap { width, type in
      let list = octets.filter { $0.count == width }
      return list.isEmpty ? nil : ADStructure(type, list.flatMap(\.self))
    }
  }

  /// Returns the Service Data of a service with a UUID of any width · 1.11.
  public static func serviceData(of service: AttributeUUID, _ data: [UInt8]) -> ADStructure {
    let octets = service.advertisedOctets
    let type: AdvertisingData.StructureType =
      switch octets.count {
      case 2: .serviceData16
      case 4: .serviceData32
      default: .serviceData128
      }
    return ADStructure(type, octets + data)
  }

  /// Returns the Service Data of a service with a 16-bit UUID · 1.11.
  public static func serviceData(_ service: UInt16, _ data: [UInt8]) -> ADStructure {
    ADStructure(.serviceData16, [UInt8(truncatingIfNeeded: service), UInt8(service >> 8)] + data)
  }

  /// Returns Manufacturer Specific Data with a company identifier assigned by the Bluetooth SIG · 1.4.
  public static func manufacturerData(company: UInt16, _ data: [UInt8]) -> ADStructure {
    ADStructure(.manufacturerData, [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + data)
  }

  /// Returns the TX Power Level: the transmit power of the packet, in dBm · 1.5.
  public static func transmitPower(_ level: Int8) -> ADStructure {
    ADStructure(.txPowerLevel, [UInt8(bitPattern: level)])
  }

  /// Returns the Appearance of the device · 1.12.
  public static func appearance(_ value: UInt16) -> ADStructure {
    ADStructure(.appearance, [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)])
  }

  private init(_ type: AdvertisingData.StructureType, _ data: [UInt8]) {
    self.init(type: type.rawValue, data: data)
  }
}

/// The AD structures of an advertising packet or scan response, at most 31 octets in all.
public struct AdvertisingPayload: Hashable, Sendable {
  /// The structures, in the order in which they are sent.
  public let structures: [ADStructure]

  /// The error of structures that exceed 31 octets.
  public struct TooLong: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of octets that the structures would need.
    public let octets: Int
    /// The number of octets needed and the limit, in words.
    public var description: String { "the AD structures have \(octets) octets; the maximum is 31" }
  }

  /// Creates a payload with all these structures.
  ///
  /// - Throws: `TooLong` if the structures need more than 31 octets.
  public init(_ structures: [ADStructure]) throws(TooLong) {
    let count = structures.reduce(0) { $0 + 2 + $1.data.count }
    guard count <= Self.maximumLength else { throw TooLong(octets: count) }
    self.structures = structures
  }

  /// Creates a payload with those of the structures that fit, tried in order. A name that does not fit is shortened.
  public init(fitting structures: [ADStructure]) {
    var room = Self.maximumLength
    var fitting: [ADStructure] = []
    for structure in structures {
      guard let part = structure.fitting(in: room) else { continue }
      fitting.append(part)
      room -= 2 + part.data.count
    }
    self.structures = fitting
  }

  private init(empty: Void) { structures = [] }

  /// A payload without structures.
  public static let empty = AdvertisingPayload(empty: ())

  /// The maximum length of the data in a legacy advertising packet, in octets · Vol 6, Part B, 2.3.1.
  public static let maximumLength = 31

  /// The structures as on the air, concatenated.
  public var octets: [UInt8] { structures.flatMap(\.octets) }
}

extension ADStructure {
  /// Returns the structure, or a shortened name, if it fits into `room` octets; otherwise nil.
  fileprivate func fitting(in room: Int) -> ADStructure? {
    if data.count + 2 <= room { return self }
    guard type == AdvertisingData.StructureType.completeLocalName.rawValue, room > 2 else { return nil }
    let name = String(decoding: data, as: UTF8.self).utf8Prefix(room - 2).bytes
    return name.isEmpty ? nil : ADStructure(.shortenedLocalName, name)
  }
}

extension AdvertisingPayload: CustomStringConvertible {
  /// The octets in hexadecimal, with a space between structures.
  public var description: String { structures.map { $0.octets.hexadecimalText }.joined(separator: " ") }
}
