/// Splits the stream of a serial transport into HCI packets · Vol 4, Part A.
///
/// The stream may arrive in chunks of any size. A packet that lies within one chunk is a view of it. Only a packet
/// that spans chunks is copied, so at most one packet of the maximum length is buffered. Nothing in the stream marks
/// the start of a packet. After an invalid packet indicator or length, the decoder therefore skips all octets up to
/// the Reset that resynchronizes both sides · Vol 4, Part A, 4.
package struct H4Decoder {
  /// The side that reads the stream.
  package enum Side: Hashable, Sendable {
    /// Receives events and data.
    case host
    /// Receives commands and data.
    case controller
  }

  package enum Output: Hashable, Sendable {
    case packet(HCI.Packet)
    /// Packet boundaries have been lost. A host must reset its controller; a controller must report Hardware Error. The
    /// decoder then searches for the Command Complete event of that Reset (host) or the Reset command (controller).
    case synchronizationLost
  }

  /// Lengths of packet headers in octets, including the packet indicator. Synchronous and isochronous data packets
  /// are skipped.
  private enum Header {
    static let command = 4
    static let acl = 5
    static let synchronous = 4
    static let event = 3
    static let isochronous = 5
  }
  private static let synchronousIndicator: UInt8 = 0x03
  private static let isochronousIndicator: UInt8 = 0x05

  private let side: Side
  private let pool: PacketPool
  private let maximumACLLength: Int
  /// The octets of an incomplete packet. While searching, the latest octets that match the beginning of the
  /// resynchronization packet.
  private var kept: [UInt8] = []
  private var isSearching = false

  /// The number of complete packets that could not be decoded, including synchronous and isochronous data packets.
  package private(set) var dropped = 0

  /// Creates a decoder.
  ///
  /// - Parameter maximumACLLength: the maximum payload of an ACL packet in octets; a longer one is treated as loss of
  ///   synchronization. Some controllers send whole frames, although they accept only short packets.
  package init(for side: Side, maximumACLLength: Int = 4_096, pool: PacketPool) {
    self.side = side
    self.maximumACLLength = maximumACLLength
    self.pool = pool
  }

  /// The number of octets buffered of an incomplete packet. If it is not 0 when the stream ends, the last packet was
  /// truncated.
  package var keptCount: Int { kept.count }

  /// Removes octets from the front of `octets` up to the end of the first complete packet, and returns it. Returns
  /// nil if all octets were removed without completing a packet.
  package mutating func next(_ octets: inout ByteSlice) -> Output? {
    while !octets.isEmpty {
      if isSearching {
        if let packet = search(&octets) { return .packet(packet) }
        continue
      }
      switch nextPacket(&octets) {
      case .success(let packet?): return .packet(packet)
      case .success(nil): continue
      case .failure: return lose()
      }
    }
    return nil
  }

  private struct OutOfRange: Error {}

  /// Reads up to the end of one packet. Succeeds with nil if the packet is incomplete or was dropped; fails if the
  /// packet indicator or the length is invalid.
  private mutating func nextPacket(_ octets: inout ByteSlice) -> Result<HCI.Packet?, OutOfRange> {
    guard let header = headerLength(kept.first ?? octets[0]) else { return .failure(OutOfRange()) }
    if kept.isEmpty, octets.count >= header {
      guard let total = length(octets.prefix(header)) else {
        // Skips the same octets as if the header had spanned chunks.
        octets = octets.dropFirst(header)
        return .failure(OutOfRange())
      }
      if octets.count >= total {
        defer { octets = octets.dropFirst(total) }
        return .success(packet(octets.prefix(total)))
      }
    }
    guard keep(header, of: &octets) else { return .success(nil) }
    guard let total = length(ByteSlice(kept.prefix(header))) else { return .failure(OutOfRange()) }
    guard keep(total, of: &octets) else { return .success(nil) }
    defer { kept.removeAll(keepingCapacity: true) }
    return .success(packet(kept.withUnsafeBytes { ByteSlice($0, in: pool) }))
  }

  /// Moves octets to the buffer until it holds `count`. Returns true if it does.
  private mutating func keep(_ count: Int, of octets: inout ByteSlice) -> Bool {
    guard kept.count < count else { return true }
    let part = octets.prefix(count - kept.count)
    part.withUnsafeBytes { kept.append(contentsOf: $0) }
    octets = octets.dropFirst(part.count)
    return kept.count == count
  }

  private func headerLength(_ indicator: UInt8) -> Int? {
    switch (HCI.PacketIndicator(rawValue: indicator), side) {
    case (.command?, .controller): Header.command
    case (.event?, .host): Header.event
    case (.acl?, _): Header.acl
    case (nil, _) where indicator == Self.synchronousIndicator: Header.synchronous
    case (nil, _) where indicator == Self.isochronousIndicator: Header.isochronous
    default: nil
    }
  }

  /// Returns the total length of the packet with this header; nil if it exceeds the maximum.
  private func length(_ header: ByteSlice) -> Int? {
    // The length field is the last octet of the header, or its last two octets.
    let last = Int(header[header.count - 1])
    let both = Int(header[header.count - 2]) | last << 8
    switch header[0] {
    case HCI.PacketIndicator.acl.rawValue: return both <= maximumACLLength ? header.count + both : nil
    case Self.isochronousIndicator:
      // A field of 14 bits, followed by two reserved bits · Vol 4, Part E, 5.4.5.
      let length = both & 0x3FFF
      return length <= maximumACLLength ? header.count + length : nil
    default: return header.count + last
    }
  }

  private mutating func packet(_ octets: ByteSlice) -> HCI.Packet? {
    guard let packet = try? HCI.Packet(h4: octets) else {
      dropped += 1
      return nil
    }
    return packet
  }

  // MARK: Synchronization

  private mutating func lose() -> Output {
    isSearching = true
    kept.removeAll(keepingCapacity: true)
    return .synchronizationLost
  }

  /// Returns the packet that resynchronizes both sides; nil stands for any octet.
  private static func mark(for side: Side) -> [UInt8?] {
    switch side {
    // Command Complete for Reset, with any number of allowed commands and any status.
    case .host: [0x04, 0x0E, 0x04, nil, 0x03, 0x0C, nil]
    case .controller: [0x01, 0x03, 0x0C, 0x00]
    }
  }

  private mutating func search(_ octets: inout ByteSlice) -> HCI.Packet? {
    let mark = Self.mark(for: side)
    while !octets.isEmpty {
      kept.append(octets[0])
      octets = octets.dropFirst(1)
      // Keeps the longest suffix of the octets that is a prefix of the mark.
      while !zip(kept, mark).allSatisfy({ $1 == nil || $0 == $1 }) { kept.removeFirst() }
      guard kept.count == mark.count else { continue }
      isSearching = false
      defer { kept.removeAll(keepingCapacity: true) }
      return packet(kept.withUnsafeBytes { ByteSlice($0, in: pool) })
    }
    return nil
  }
}
