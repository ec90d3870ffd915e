import Testing

/// Parses a pcapng file strictly, for tests.
struct CaptureReader {
  struct Packet: Equatable {
    var interface: Int
    var nanoseconds: UInt64
    var data: [UInt8]
    var comments: [String]
  }

  struct Interface: Equatable {
    var linkType: Int
    var name: String
    var timeResolution: UInt8
  }

  var interfaces: [Interface] = []
  var packets: [Packet] = []
  /// The numbers of dropped packets, by interface.
  var dropped: [Int: Int] = [:]

  init(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let type = try Self.number(rest, at: 0, octets: 4)
      let length = try Self.number(rest, at: 4, octets: 4)
      try #require(length % 4 == 0 && length >= 12 && length <= rest.count)
      try #require(Self.number(rest, at: length - 4, octets: 4) == length)
      let body = Array(rest.dropFirst(8).prefix(length - 12))
      rest = rest.dropFirst(length)
      switch type {
      case 0x0A0D_0D0A: try #require(Self.number(body[...], at: 0, octets: 4) == 0x1A2B_3C4D)
      case 1: interfaces.append(try Self.interface(body))
      case 5: dropped[try Self.number(body[...], at: 0, octets: 4)] = try Self.droppedPackets(body)
      case 6: packets.append(try Self.packet(body))
      default: Issue.record("block of unknown type \(type)")
      }
    }
  }

  private static func interface(_ body: [UInt8]) throws -> Interface {
    let options = try options(body[8...])
    return Interface(
      linkType: try number(body[...], at: 0, octets: 2),
      name: String(decoding: options.first { $0.code == 2 }?.value ?? [], as: UTF8.self),
      timeResolution: options.first { $0.code == 9 }?.value.first ?? 6)
  }

  private static func droppedPackets(_ body: [UInt8]) throws -> Int {
    let value = try #require(try options(body[12...]).first { $0.code == 5 }?.value)
    return try number(value[...], at: 0, octets: 8)
  }

  private static func packet(_ body: [UInt8]) throws -> Packet {
    let count = try number(body[...], at: 12, octets: 4)
    let high = try number(body[...], at: 4, octets: 4)
    let low = try number(body[...], at: 8, octets: 4)
    let options = try options(body[(20 + (count + 3) / 4 * 4)...])
    return Packet(
      interface: try number(body[...], at: 0, octets: 4), nanoseconds: UInt64(high) << 32 | UInt64(low),
      data: Array(body[20..<20 + count]),
      comments: options.filter { $0.code == 1 }.map { String(decoding: $0.value, as: UTF8.self) })
  }

  private static func options(_ bytes: ArraySlice<UInt8>) throws -> [(code: Int, value: [UInt8])] {
    var rest = bytes
    var result: [(code: Int, value: [UInt8])] = []
    while !rest.isEmpty {
      let code = try number(rest, at: 0, octets: 2)
      let length = try number(rest, at: 2, octets: 2)
      rest = rest.dropFirst(4)
      if code == 0 {
        try #require(rest.isEmpty)
        return result
      }
      result.append((code, Array(rest.prefix(length))))
      rest = rest.dropFirst((length + 3) / 4 * 4)
    }
    return result
  }

  private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int, octets: Int) throws -> Int {
    let part = bytes.dropFirst(offset).prefix(octets)
    try #require(part.count == octets)
    return part.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
