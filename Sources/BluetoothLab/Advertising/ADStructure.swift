import BluetoothWire

/// One AD structure: a type and its data · Core Specification Supplement, Part A.
public struct ADStructure: Hashable, Sendable {
  /// The AD type · Assigned Numbers, 2.3.
  public var type: UInt8
  /// What follows the type.
  public var data: [UInt8]

  /// Any structure.
  public init(type: UInt8, data: [UInt8]) {
    self.type = type
    self.data = data
  }

  /// Length, type and data, as they are on the air. A structure of more than 254 octets of data can't be sent; of its
  /// length the low octet stands here.
  public var octets: [UInt8] { [UInt8(truncatingIfNeeded: data.count + 1), type] + data }

  /// Flags; the default is what a discoverable device without BR/EDR says · 1.3.
  public static func flags(_ flags: UInt8 = 0x06) -> ADStructure { ADStructure(.flags, [flags]) }

  /// The device's whole name · 1.2.
  public static func name(_ name: String) -> ADStructure { ADStructure(.completeLocalName, Array(name.utf8)) }

  /// The beginning of the device's name · 1.2.
  public static func shortenedName(_ name: String) -> ADStructure { ADStructure(.shortenedLocalName, Array(name.utf8)) }

  /// All services that have UUIDs of 16 bits · 1.1.
  public static func services16(_ services: [UInt16]) -> ADStructure {
    ADStructure(.completeServices16, services.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
  }

  /// All services that have these UUIDs: one structure for each width, 16 bits, 32, then 128 · 1.1.
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

  /// The data of a service that has a UUID of any width · 1.11.
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

  /// A service's data · 1.11.
  public static func serviceData(_ service: UInt16, _ data: [UInt8]) -> ADStructure {
    ADStructure(.serviceData16, [UInt8(truncatingIfNeeded: service), UInt8(service >> 8)] + data)
  }

  /// Data of the company that the Bluetooth SIG has given this identifier to · 1.4.
  public static func manufacturerData(company: UInt16, _ data: [UInt8]) -> ADStructure {
    ADStructure(.manufacturerData, [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + data)
  }

  /// The power with which the packet is sent, dBm · 1.5.
  public static func transmitPower(_ level: Int8) -> ADStructure {
    ADStructure(.txPowerLevel, [UInt8(bitPattern: level)])
  }

  /// What the device looks like · 1.12.
  public static func appearance(_ value: UInt16) -> ADStructure {
    ADStructure(.appearance, [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)])
  }

  private init(_ type: AdvertisingData.StructureType, _ data: [UInt8]) {
    self.init(type: type.rawValue, data: data)
  }
}

/// What an advertiser says: AD structures, one behind the other, 31 octets at most.
public struct AdvertisingPayload: Hashable, Sendable {
  /// The structures, in the order in which they are sent.
  public let structures: [ADStructure]

  /// The structures do not fit.
  public struct TooLong: Error, Hashable, Sendable, CustomStringConvertible {
    /// What they would take.
    public let octets: Int
    /// How many octets they take, and how many there may be.
    public var description: String { "the AD structures take \(octets) octets; there is room for 31" }
  }

  /// - Throws: `TooLong` when the structures take more than 31 octets.
  public init(_ structures: [ADStructure]) throws(TooLong) {
    let count = structures.reduce(0) { $0 + 2 + $1.data.count }
    guard count <= Self.maximumLength else { throw TooLong(octets: count) }
    self.structures = structures
  }

  /// Of `structures` those that fit, tried in this order; a name that does not fit is shortened.
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

  /// Nothing.
  public static let empty = AdvertisingPayload(empty: ())

  /// Octets that there is room for in a legacy advertising packet · Vol 6, Part B, 2.3.1.
  public static let maximumLength = 31

  /// What is on the air: all structures, packed.
  public var octets: [UInt8] { structures.flatMap(\.octets) }
}

extension ADStructure {
  /// The structure, or a shortened name, in `room` octets; nil: it does not fit.
  fileprivate func fitting(in room: Int) -> ADStructure? {
    if data.count + 2 <= room { return self }
    guard type == AdvertisingData.StructureType.completeLocalName.rawValue, room > 2 else { return nil }
    let name = String(decoding: data, as: UTF8.self).utf8Prefix(room - 2).bytes
    return name.isEmpty ? nil : ADStructure(.shortenedLocalName, name)
  }
}

extension AdvertisingPayload: CustomStringConvertible {
  /// Two hexadecimal digits an octet, a space between structures.
  public var description: String { structures.map { $0.octets.hexadecimalText }.joined(separator: " ") }
}
