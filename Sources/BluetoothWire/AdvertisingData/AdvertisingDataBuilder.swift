/// Appends AD structures while there is space · Vol 3, Part C, 11.
///
/// Each method returns true if its structure fitted; otherwise it returns false and changes nothing.
package struct AdvertisingDataBuilder {
  /// The maximum length of the data in octets.
  package let capacity: Int
  package private(set) var octets: [UInt8] = []

  package init(capacity: Int = AdvertisingData.maximumLegacyLength) { self.capacity = capacity }

  package var data: ByteSlice { ByteSlice(octets) }
  /// The maximum number of data octets of a further structure; negative if no further structure fits.
  package var room: Int { min(capacity - octets.count - Self.headerLength, 254) }

  /// The length and the type of a structure, in octets.
  package static let headerLength = 2

  @discardableResult
  package mutating func append(_ type: ADType, _ data: some Collection<UInt8>) -> Bool {
    guard data.count <= room else { return false }
    octets.append(UInt8(1 + data.count))
    octets.append(type.rawValue)
    octets.append(contentsOf: data)
    return true
  }

  @discardableResult
  package mutating func appendFlags(_ flags: UInt8 = AdvertisingData.generalDiscoverableFlags) -> Bool {
    append(.flags, CollectionOfOne(flags))
  }

  /// Appends the TX Power Level.
  ///
  /// - Parameter level: the transmit power in dBm.
  @discardableResult
  package mutating func appendTxPowerLevel(_ level: Int8) -> Bool {
    append(.txPowerLevel, CollectionOfOne(UInt8(bitPattern: level)))
  }

  /// Appends the local name: the complete name if it fits, else a shortened name of at most `limit` octets that fits.
  /// Appends nothing if not even one character fits.
  @discardableResult
  package mutating func appendLocalName(_ name: String, limit: Int = .max) -> Bool {
    let limit = min(limit, room)
    guard limit > 0 || name.isEmpty && limit == 0 else { return false }
    let part = name.utf8Prefix(limit)
    if part.count == name.utf8.count { return append(.completeLocalName, part.bytes) }
    return part.isEmpty ? false : append(.shortenedLocalName, part.bytes)
  }

  /// Appends one list for each UUID width that occurs; either all lists or none.
  @discardableResult
  package mutating func appendServices(_ services: [BluetoothUUID], isComplete: Bool = true) -> Bool {
    appendLists(services) { $0.listType(isComplete: isComplete) }
  }

  /// Appends one list for each UUID width that occurs; either all lists or none.
  @discardableResult
  package mutating func appendSolicitedServices(_ services: [BluetoothUUID]) -> Bool {
    appendLists(services) { $0.solicitationType }
  }

  @discardableResult
  package mutating func appendServiceData(_ service: BluetoothUUID, _ data: some Collection<UInt8>) -> Bool {
    append(service.advertisedWidth.dataType, service.advertisedOctets + data)
  }

  @discardableResult
  package mutating func appendManufacturerData(company: UInt16, _ data: some Collection<UInt8>) -> Bool {
    append(
      .manufacturerData, [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)] + data)
  }

  private mutating func appendLists(
    _ services: [BluetoothUUID], _ type: (BluetoothUUID.Width) -> ADType
  ) -> Bool {
    let before = octets
    for width in [BluetoothUUID.Width.bits16, .bits32, .bits128] {
      let list = services.filter { $0.advertisedWidth == width }
      if !list.isEmpty, !append(type(width), list.flatMap(\.advertisedOctets)) {
        octets = before
        return false
      }
    }
    return true
  }
}
