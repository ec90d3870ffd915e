/// The CRC of gzip and zip · RFC 1952, 8.
struct CRC32 {
  private static let table: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
  }

  private var register = UInt32.max

  var value: UInt32 { ~register }

  mutating func update(_ octets: some Sequence<UInt8>) {
    for octet in octets { register = register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register) ^ octet)] }
  }
}
