/// Apple's overflow area for services that do not fit in an advertisement: manufacturer specific data with a mask of
/// 128 bits. Each service UUID sets one bit. Several UUIDs share a bit, so the mask shows only that an advertiser may
/// have a service.
///
/// Apple's function from UUID to bit is not public. This project uses the 64-bit FNV-1a hash of the UUID's 128-bit
/// form, most significant octet first, with its upper half folded onto the lower half by exclusive or, modulo 128.
/// Bit n is bit n mod 8 (0 is the least significant) of octet n / 8 of the mask. Therefore the overflow area works only
/// between devices of this project, not with Apple's devices.
package struct OverflowArea: Hashable, Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// The Company Identifier of Apple, Inc. · Assigned Numbers, 7.1.
  static let company: UInt16 = 0x004C
  /// The type octet that follows the Company Identifier.
  static let type: UInt8 = 0x01
  static let maskLength = 16
  /// The length of the AD structure in octets, including its header of two octets.
  package static let structureLength = 2 + 2 + 1 + maskLength

  package init() {}

  /// Decodes the data of a Manufacturer Specific Data structure. Returns nil if it is not an overflow area.
  package init?(manufacturerData data: ByteSlice) {
    guard data.count == 3 + Self.maskLength, data.littleEndian16(at: 0) == Self.company, data[2] == Self.type else {
      return nil
    }
    for index in 0..<8 {
      low |= UInt64(data[3 + index]) << (8 * index)
      high |= UInt64(data[11 + index]) << (8 * index)
    }
  }

  package var isEmpty: Bool { low == 0 && high == 0 }

  package mutating func insert(_ service: BluetoothUUID) {
    let bit = Self.bit(for: service)
    if bit < 64 { low |= 1 << bit } else { high |= 1 << (bit - 64) }
  }

  /// Returns true if the advertiser may have `service`.
  package func mayContain(_ service: BluetoothUUID) -> Bool {
    let bit = Self.bit(for: service)
    return (bit < 64 ? low >> bit : high >> (bit - 64)) & 1 == 1
  }

  /// The data of the Manufacturer Specific Data structure that follows the Company Identifier.
  package var octets: [UInt8] {
    [Self.type]
      + (0..<8).map { UInt8(truncatingIfNeeded: low >> (8 * $0)) }
      + (0..<8).map { UInt8(truncatingIfNeeded: high >> (8 * $0)) }
  }

  /// Returns the number of the service's bit, 0 to 127.
  static func bit(for service: BluetoothUUID) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for half in [service.high, service.low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        hash = (hash ^ (half >> UInt64(shift) & 0xFF)) &* 0x100_0000_01B3
      }
    }
    return Int((hash ^ hash >> 32) & 0x7F)
  }
}

extension AdvertisingDataBuilder {
  @discardableResult
  package mutating func appendOverflowArea(_ area: OverflowArea) -> Bool {
    appendManufacturerData(company: OverflowArea.company, area.octets)
  }
}
