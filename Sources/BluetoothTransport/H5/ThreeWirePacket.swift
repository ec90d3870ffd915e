/// A packet of the three-wire UART transport layer · Vol 4, Part D, 4.
package struct ThreeWirePacket: Hashable, Sendable {
  /// The type of a packet. Types 1 to 5 are those of HCI packets · 5.
  package enum Kind: UInt8, Hashable, Sendable {
    case acknowledgment = 0
    case command = 1
    case acl = 2
    case synchronous = 3
    case event = 4
    case isochronous = 5
    case vendorSpecific = 14
    case linkControl = 15

    /// True if a packet of this type must be acknowledged.
    var isReliable: Bool { self == .command || self == .acl || self == .event }
  }

  /// The maximum length of the payload in octets: the field has 12 bits.
  package static let maximumPayload = 4_095
  static let headerLength = 4
  /// The maximum length of a packet in octets, with header and Data Integrity Check.
  static let maximumLength = headerLength + maximumPayload + 2

  package var kind: Kind
  package var payload: [UInt8]
  /// The sequence number, 0 to 7; nil: the packet is unreliable.
  package var sequence: UInt8?
  /// The sequence number of the packet that the sender expects next, 0 to 7.
  package var acknowledgment: UInt8
  package var hasIntegrityCheck: Bool

  package init(
    _ kind: Kind, _ payload: [UInt8] = [], sequence: UInt8? = nil, acknowledgment: UInt8 = 0,
    hasIntegrityCheck: Bool = false
  ) {
    self.kind = kind
    self.payload = payload
    self.sequence = sequence
    self.acknowledgment = acknowledgment
    self.hasIntegrityCheck = hasIntegrityCheck
  }

  /// The octets of the packet, without delimiters and escape octets.
  package var octets: [UInt8] {
    let length = payload.count
    var octets = [
      (sequence ?? 0) & 7 | (acknowledgment & 7) << 3 | (hasIntegrityCheck ? 0x40 : 0) | (sequence == nil ? 0 : 0x80),
      kind.rawValue | UInt8(truncatingIfNeeded: length & 0x0F) << 4, UInt8(truncatingIfNeeded: length >> 4),
    ]
    octets.append(~octets.reduce(0, &+))
    octets += payload
    if hasIntegrityCheck { octets += Self.integrityCheck(of: octets) }
    return octets
  }

  /// Reads a packet. Returns nil if it is damaged, or if its type is unknown or does not fit the reliability.
  package init?(octets: [UInt8]) {
    guard octets.count >= Self.headerLength, octets.prefix(Self.headerLength).reduce(0, &+) == 0xFF,
      let kind = Kind(rawValue: octets[1] & 0x0F)
    else { return nil }
    let hasIntegrityCheck = octets[0] & 0x40 != 0
    let end = Self.headerLength + (Int(octets[1] >> 4) | Int(octets[2]) << 4)
    guard octets.count == end + (hasIntegrityCheck ? 2 : 0) else { return nil }
    if hasIntegrityCheck, Self.integrityCheck(of: octets[..<end]) != Array(octets[end...]) { return nil }
    let isReliable = octets[0] & 0x80 != 0
    switch kind {
    case .isochronous, .vendorSpecific: break
    default: if isReliable != kind.isReliable { return nil }
    }
    self.init(
      kind, Array(octets[Self.headerLength..<end]), sequence: isReliable ? octets[0] & 7 : nil,
      acknowledgment: octets[0] >> 3 & 7, hasIntegrityCheck: hasIntegrityCheck)
  }

  /// Returns the Data Integrity Check: the CRC-CCITT of header and payload with initial value 0xFFFF, its bits reversed,
  /// most significant octet first · Vol 4, Part D, 4.
  static func integrityCheck(of octets: some Sequence<UInt8>) -> [UInt8] {
    // Each octet enters the register with its least significant bit first, so the register holds reversed bits.
    var register: UInt16 = 0xFFFF
    for octet in octets {
      register ^= UInt16(octet)
      for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x8408 }
    }
    var reversed: UInt16 = 0
    for bit in 0..<16 where register & 1 << bit != 0 { reversed |= 0x8000 >> bit }
    return [UInt8(truncatingIfNeeded: reversed >> 8), UInt8(truncatingIfNeeded: reversed)]
  }
}

/// The messages of link control packets · Vol 4, Part D, 8.
enum ThreeWireMessage {
  static let sync: [UInt8] = [0x01, 0x7E]
  static let syncResponse: [UInt8] = [0x02, 0x7D]
  static let config: [UInt8] = [0x03, 0xFC]
  static let configResponse: [UInt8] = [0x04, 0x7B]
  static let wakeup: [UInt8] = [0x05, 0xFA]
  static let woken: [UInt8] = [0x06, 0xF9]
  static let sleep: [UInt8] = [0x07, 0x78]
}

/// The options of a three-wire link, which its ends agree on · Vol 4, Part D, 8.6.
package struct ThreeWireConfiguration: Hashable, Sendable {
  /// The maximum number of packets that wait for an acknowledgment, 1 to 7.
  package var windowSize: UInt8
  /// True if packets have a Data Integrity Check.
  package var hasIntegrityCheck: Bool

  /// The options of an end that sends no configuration field.
  package static let minimum = ThreeWireConfiguration(windowSize: 1, hasIntegrityCheck: false)

  package init(windowSize: UInt8 = 7, hasIntegrityCheck: Bool = true) {
    self.windowSize = min(max(windowSize, 1), 7)
    self.hasIntegrityCheck = hasIntegrityCheck
  }

  /// The configuration field. Out of frame flow control, bit 3, is not supported; the version number in bits 5 to 7 is 0.
  var field: UInt8 { windowSize | (hasIntegrityCheck ? 0x10 : 0) }

  init(field: UInt8) { self.init(windowSize: field & 7, hasIntegrityCheck: field & 0x10 != 0) }

  /// Returns the options that both ends have.
  func common(with other: ThreeWireConfiguration) -> ThreeWireConfiguration {
    ThreeWireConfiguration(
      windowSize: min(windowSize, other.windowSize), hasIntegrityCheck: hasIntegrityCheck && other.hasIntegrityCheck)
  }
}
