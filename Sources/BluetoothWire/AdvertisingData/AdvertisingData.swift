/// Advertising or scan response data: a sequence of AD structures · Vol 3, Part C, 11.
///
/// Iterating over it allocates nothing, and takes in any octets: it ends at a structure of length 0, which begins the
/// part without meaning, and before one that goes beyond the end.
package struct AdvertisingData: Hashable, Sendable, Sequence {
  /// One AD structure.
  package struct Structure: Hashable, Sendable {
    package let type: StructureType
    package let data: ByteSlice
  }

  /// An AD type · Core Specification Supplement, Part A; Assigned Numbers, 2.3. Any octet can arrive.
  package struct StructureType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let flags = StructureType(rawValue: 0x01)
    package static let incompleteServices16 = StructureType(rawValue: 0x02)
    package static let completeServices16 = StructureType(rawValue: 0x03)
    package static let incompleteServices32 = StructureType(rawValue: 0x04)
    package static let completeServices32 = StructureType(rawValue: 0x05)
    package static let incompleteServices128 = StructureType(rawValue: 0x06)
    package static let completeServices128 = StructureType(rawValue: 0x07)
    package static let shortenedLocalName = StructureType(rawValue: 0x08)
    package static let completeLocalName = StructureType(rawValue: 0x09)
    package static let txPowerLevel = StructureType(rawValue: 0x0A)
    package static let solicitedServices16 = StructureType(rawValue: 0x14)
    package static let solicitedServices128 = StructureType(rawValue: 0x15)
    package static let serviceData16 = StructureType(rawValue: 0x16)
    package static let appearance = StructureType(rawValue: 0x19)
    package static let solicitedServices32 = StructureType(rawValue: 0x1F)
    package static let serviceData32 = StructureType(rawValue: 0x20)
    package static let serviceData128 = StructureType(rawValue: 0x21)
    package static let manufacturerData = StructureType(rawValue: 0xFF)
  }

  package struct Iterator: IteratorProtocol {
    var rest: ByteSlice

    package mutating func next() -> Structure? {
      guard rest.count >= 2 else { return nil }
      let length = Int(rest[0])
      guard length > 0, length < rest.count else { return nil }
      defer { rest = rest.dropFirst(1 + length) }
      return Structure(type: StructureType(rawValue: rest[1]), data: rest[2..<1 + length])
    }
  }

  package let octets: ByteSlice
  package init(_ octets: ByteSlice) { self.octets = octets }
  package func makeIterator() -> Iterator { Iterator(rest: octets) }

  /// The longest data of a legacy advertising packet or scan response · Vol 6, Part B, 2.3.1.
  package static let maximumLegacyLength = 31
  /// Flags: LE General Discoverable Mode, BR/EDR Not Supported · Core Specification Supplement, Part A, 1.3.
  package static let generalDiscoverableFlags: UInt8 = 0x06
}

extension AdvertisingData.Structure {
  /// The services of a list of Service UUIDs; nil if it is another structure · CSS, Part A, 1.1.
  package var services: UUIDList? {
    switch type {
    case .incompleteServices16, .completeServices16: return UUIDList(width: .bits16, data: data)
    case .incompleteServices32, .completeServices32: return UUIDList(width: .bits32, data: data)
    case .incompleteServices128, .completeServices128: return UUIDList(width: .bits128, data: data)
    default: return nil
    }
  }

  /// The services of a list of Service Solicitation UUIDs; nil if it is another structure · CSS, Part A, 1.10.
  package var solicitedServices: UUIDList? {
    switch type {
    case .solicitedServices16: return UUIDList(width: .bits16, data: data)
    case .solicitedServices32: return UUIDList(width: .bits32, data: data)
    case .solicitedServices128: return UUIDList(width: .bits128, data: data)
    default: return nil
    }
  }

  /// Service Data with its service; nil if it is another structure or too short · CSS, Part A, 1.11.
  package var serviceData: (service: BluetoothUUID, data: ByteSlice)? {
    let width: BluetoothUUID.Width
    switch type {
    case .serviceData16: width = .bits16
    case .serviceData32: width = .bits32
    case .serviceData128: width = .bits128
    default: return nil
    }
    guard data.count >= width.rawValue else { return nil }
    return (data.uuid(at: 0, width), data.dropFirst(width.rawValue))
  }
}

extension AdvertisingData {
  /// Whether one of the lists names this service.
  package func contains(service: BluetoothUUID) -> Bool {
    contains { structure in structure.services?.contains(service) ?? false }
  }
}

/// UUIDs of one width, read in place. A rest that is too short for one is not part of the list.
package struct UUIDList: RandomAccessCollection, Hashable, Sendable {
  package let width: BluetoothUUID.Width
  package let data: ByteSlice
  package init(width: BluetoothUUID.Width, data: ByteSlice) {
    self.width = width
    self.data = data
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { data.count / width.rawValue }
  package subscript(index: Int) -> BluetoothUUID { data.uuid(at: index * width.rawValue, width) }
}
