/// Cuts what arrives over a serial transport into HCI packets · Vol 4, Part A.
///
/// Octets may come in any portions. A packet that lies in one portion is a view of it; only one that was cut is copied, so
/// at most one packet of the longest kind is kept. Nothing on the line says where a packet begins: after an indicator that
/// does not exist, or a length out of range, everything is passed over up to the Reset that makes both sides begin anew ·
/// Vol 4, Part A, 4.
package struct H4Decoder {
  /// Who reads.
  package enum Side: Hashable, Sendable {
    /// It gets events and data.
    case host
    /// It gets commands and data.
    case controller
  }

  package enum Output: Hashable, Sendable {
    case packet(HCI.Packet)
    /// It is not known any more where packets begin. A host has to reset its controller, a controller to report Hardware
    /// Error; then the decoder finds the Command Complete event, or the command, of that Reset.
    case synchronizationLost
  }

  /// Lengths of headers, indicator included; those of synchronous and isochronous data, which are passed over.
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
  /// The packet that is not complete; while searching, the last octets.
  private var kept: [UInt8] = []
  private var isSearching = false

  /// Packets that were complete but could not be read, or that carry what Low Energy's host does not have.
  package private(set) var dropped = 0

  /// - Parameter maximumACLLength: what a longer ACL packet announces is out of range. Some controllers send whole frames,
  ///   however short the packets are that they take themselves.
  package init(for side: Side, maximumACLLength: Int = 4_096, pool: PacketPool) {
    self.side = side
    self.maximumACLLength = maximumACLLength
    self.pool = pool
  }

  /// How many octets wait for more of them. A stream that ends while there are some was cut.
  package var keptCount: Int { kept.count }

  /// Takes octets off the front of `octets`, up to the end of the first packet that is complete with them; nil: all are
  /// taken, and none is.
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

  /// nil: it is not complete, or it was dropped.
  private mutating func nextPacket(_ octets: inout ByteSlice) -> Result<HCI.Packet?, OutOfRange> {
    guard let header = headerLength(kept.first ?? octets[0]) else { return .failure(OutOfRange()) }
    if kept.isEmpty, octets.count >= header {
      guard let total = length(octets.prefix(header)) else {
        // The same octets are passed over as where the header was cut.
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

  /// Takes octets until `count` are kept. The result says whether they are.
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

  /// How long the packet with this header is, all in all; nil: longer than there are any.
  private func length(_ header: ByteSlice) -> Int? {
    // The last octet of a header, or the last two, tell the length.
    let last = Int(header[header.count - 1])
    let both = Int(header[header.count - 2]) | last << 8
    switch header[0] {
    case HCI.PacketIndicator.acl.rawValue: return both <= maximumACLLength ? header.count + both : nil
    case Self.isochronousIndicator:
      // 14 bits, and two that are reserved · Vol 4, Part E, 5.4.5.
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

  /// What both sides begin anew with; nil: any octet.
  private static func mark(for side: Side) -> [UInt8?] {
    switch side {
    // Command Complete for Reset, however many commands may be sent, whatever the status.
    case .host: [0x04, 0x0E, 0x04, nil, 0x03, 0x0C, nil]
    case .controller: [0x01, 0x03, 0x0C, 0x00]
    }
  }

  private mutating func search(_ octets: inout ByteSlice) -> HCI.Packet? {
    let mark = Self.mark(for: side)
    while !octets.isEmpty {
      kept.append(octets[0])
      octets = octets.dropFirst(1)
      // The longest beginning of the mark that the last octets are.
      while !zip(kept, mark).allSatisfy({ $1 == nil || $0 == $1 }) { kept.removeFirst() }
      guard kept.count == mark.count else { continue }
      isSearching = false
      defer { kept.removeAll(keepingCapacity: true) }
      return packet(kept.withUnsafeBytes { ByteSlice($0, in: pool) })
    }
    return nil
  }
}
