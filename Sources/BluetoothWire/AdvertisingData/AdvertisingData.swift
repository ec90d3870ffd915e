/// Advertising or scan response data: a sequence of AD structures · Vol 3, Part C, 11.
///
/// Iteration allocates nothing and accepts any octets. It ends at a structure of length 0, with which the
/// non-significant part begins, and before a structure that extends beyond the end.
package struct AdvertisingData: Hashable, Sendable, Sequence {
  /// One AD structure.
  package struct Structure: Hashable, Sendable {
    package let type: ADType
    package let data: ByteSlice
  }

  package struct Iterator: IteratorProtocol {
    var rest: ByteSlice

    package mutating func next() -> Structure? {
      guard rest.count >= 2 else { return nil }
      let length = Int(rest[0])
      guard length > 0, length < rest.count else { return nil }
      defer { rest = rest.dropFirst(1 + length) }
      return Structure(type: ADType(rawValue: rest[1]), data: rest[2..<1 + length])
    }
  }

  package let octets: ByteSlice
  package init(_ octets: ByteSlice) { self.octets = octets }
  package func makeIterator() -> Iterator { Iterator(rest: octets) }

  /// The maximum length of the data of a legacy advertising packet or scan response in octets · Vol 6, Part B, 2.3.1.
  package static let maximumLegacyLength = 31
  /// The Flags LE General Discoverable Mode and BR/EDR Not Supported · Core Specification Supplement, Part A, 1.3.
  package static let generalDiscoverableFlags: UInt8 = 0x06
}

extension AdvertisingData.Structure {
  /// The services in a list of Service UUIDs; nil for any other structure · CSS, Part A, 1.1.
  package var services: UUIDList? {
    switch type {
    case .incompleteServices16, .completeServices16: return UUIDList(width: .bits16, data: data)
    case .incompleteServices32, .completeServices32: return UUIDList(width: .bits32, data: data)
    case .incompleteServices128, .completeServices128: return UUIDList(width: .bits128, data: data)
    default: return nil
    }
  }

  /// The services in a list of Service Solicitation UUIDs; nil for any other structure · CSS, Part A, 1.10.
  package var solicitedServices: UUIDList? {
    switch type {
    case .solicitedServices16: return UUIDList(width: .bits16, data: data)
    case .solicitedServices32: return UUIDList(width: .bits32, data: data)
    case .solicitedServices128: return UUIDList(width: .bits128, data: data)
    default: return nil
    }
  }

  /// The service and the data of a Service Data structure; nil if it is too short, and for any other structure ·
  /// CSS, Part A, 1.11.
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
  /// Returns true if a list of Service UUIDs contains this service.
  package func contains(service: BluetoothUUID) -> Bool {
    contains { structure in structure.services?.contains(service) ?? false }
  }
}

/// A list of UUIDs of one width, read in place. Trailing octets that are shorter than a UUID are ignored.
package struct UUIDList: RandomAccessCollection, Hashable, Sendable {
  package let width: BluetoothUUID.Width
  package let data: ByteSlice

  package var startIndex: Int { 0 }
  package var endIndex: Int { data.count / width.rawValue }
  package subscript(index: Int) -> BluetoothUUID { data.uuid(at: index * width.rawValue, width) }
}

extension AdvertisingData {
  /// Returns the data with its discoverability Flags replaced by `mode` · CSS, Part A, 1.3. Adds Flags if there are
  /// none; returns nil if they do not fit in `capacity` octets.
  package func discoverable(_ mode: Flags, capacity: Int = maximumLegacyLength) -> ByteSlice? {
    var octets = octets.bytes
    var start = 0
    for structure in self {
      if structure.type == .flags, !structure.data.isEmpty {
        let others = Flags(rawValue: octets[start + 2]).subtracting([.limitedDiscoverable, .generalDiscoverable])
        octets[start + 2] = others.union(mode).rawValue
        return ByteSlice(octets)
      }
      start += 2 + structure.data.count
    }
    guard octets.count + 3 <= capacity else { return nil }
    return ByteSlice([0x02, ADType.flags.rawValue, Flags([mode, .bredrNotSupported]).rawValue] + octets)
  }
}
