import BluetoothWire

/// Where an iOS device says which services it has beyond those whose UUIDs fit into its advertisement: manufacturer
/// data of Apple's with one bit for each of 128 classes of UUIDs. Only a scan that names a UUID can find it there, and
/// it may be wrong.
struct OverflowArea: Equatable {
  /// Apple, Inc. · Assigned Numbers, 7.
  static let company: UInt16 = 0x004C
  static let type: UInt8 = 0x01
  static let octets = 16

  private var mask: (UInt64, UInt64)

  init(services: [BluetoothUUID]) {
    mask = (0, 0)
    for service in services {
      let bit = Self.bit(of: service)
      if bit < 64 { mask.0 |= 1 << bit } else { mask.1 |= 1 << (bit - 64) }
    }
  }

  /// nil: the data is something else.
  init?(manufacturerData: ByteSlice) {
    var reader = ByteReader(manufacturerData)
    guard (try? reader.uint16()) == Self.company, (try? reader.uint8()) == Self.type,
      reader.remaining == Self.octets, let first = try? reader.uint64(), let second = try? reader.uint64()
    else { return nil }
    mask = (first, second)
  }

  func mayContain(_ service: BluetoothUUID) -> Bool {
    let bit = Self.bit(of: service)
    return bit < 64 ? mask.0 >> bit & 1 == 1 : mask.1 >> (bit - 64) & 1 == 1
  }

  /// The manufacturer data, company identifier first.
  func encode(into writer: inout ByteWriter) {
    writer.append(Self.company)
    writer.append(Self.type)
    writer.append(mask.0)
    writer.append(mask.1)
  }

  /// The class of a UUID. Apple's own table is not published; any even division serves devices that share it.
  private static func bit(of uuid: BluetoothUUID) -> Int {
    var folded = uuid.high ^ uuid.low
    folded ^= folded >> 32
    folded ^= folded >> 16
    folded ^= folded >> 8
    return Int(folded & 0x7F)
  }

  static func == (left: Self, right: Self) -> Bool { left.mask == right.mask }
}
