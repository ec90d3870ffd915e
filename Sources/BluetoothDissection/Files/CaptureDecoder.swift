/// Decodes a capture file piece by piece: pcapng (IETF draft-ietf-opsawg-pcapng), pcap (IETF draft-ietf-opsawg-pcap) or
/// btsnoop (RFC 1761 with Bluetooth's numbers).
///
/// Octets go in with `append`, elements come out of `next`. An invalid file gives an error, never a trap.
package struct CaptureDecoder {
  /// The format of a capture file.
  package enum Format: String, Sendable, CaseIterable {
    case pcapng, pcap, btsnoop
  }

  /// The largest block or record, in octets.
  package static let maximumLength = 16 << 20

  /// Times are within ±126 years, so that sums and differences of two of them can't overflow.
  private static let times: ClosedRange<Int64> = -4_000_000_000_000_000_000...4_000_000_000_000_000_000

  /// The time stamp of 1970-01-01 in btsnoop files, in microseconds.
  private static let btsnoopEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

  private struct Clock {
    /// The units of a time stamp in a second.
    var unitsPerSecond: UInt64 = 1_000_000
    /// The seconds to add to a time stamp.
    var offset: Int64 = 0

    /// Returns the time in nanoseconds.
    func nanoseconds(_ units: UInt64) -> Int64 {
      let product = units.multipliedFullWidth(by: 1_000_000_000)
      guard product.high < unitsPerSecond else { return .max }
      let time = Int64(clamping: unitsPerSecond.dividingFullWidth(product).quotient)
      return time.addingReportingOverflow(offset.multipliedReportingOverflow(by: 1_000_000_000).partialValue)
        .partialValue
    }
  }

  private var octets: [UInt8] = []
  /// The position of the next octet in `octets`.
  private var position = 0
  /// The number of octets of the file before `octets`.
  private var passed = 0
  /// The format; nil: the file has not told it yet.
  package private(set) var format: Format?
  private var isBigEndian = false
  /// The interfaces of the current section, with their clocks.
  private var interfaces: [(interface: CaptureInterface, clock: Clock)] = []
  private var interfaceCount = 0
  private var packetCount = 0
  /// Interfaces of formats with one interface, which no block announces.
  private var announced: [CaptureInterface] = []

  /// Has read nothing yet.
  package init() {}

  /// Appends the next octets of the file.
  package mutating func append(_ more: some Collection<UInt8>) {
    if position > 1 << 16 {
      octets.removeFirst(position)
      passed += position
      position = 0
    }
    octets.append(contentsOf: more)
  }

  /// Returns the next element; nil: more octets are needed.
  package mutating func next() throws(CaptureProblem) -> CaptureElement? {
    if format == nil {
      guard try readHeader() else { return nil }
    }
    if !announced.isEmpty { return .interface(announced.removeFirst()) }
    switch format {
    case .pcapng: return try nextBlock()
    case .pcap: return try nextPcapRecord()
    case .btsnoop: return try nextBtsnoopRecord()
    case nil: return nil
    }
  }

  /// Checks that the file has ended after a complete element.
  package func finish() throws(CaptureProblem) {
    guard format != nil else {
      throw CaptureProblem(offset: 0, reason: octets.isEmpty ? "the file is empty" : "no capture: too short")
    }
    if position < octets.count { throw problem("the file ends within a packet") }
  }

  private func problem(_ reason: String) -> CaptureProblem {
    CaptureProblem(offset: passed + position, reason: reason)
  }

  private static func bounded(_ time: Int64) -> Int64 { min(max(time, times.lowerBound), times.upperBound) }

  // MARK: Numbers

  private var available: Int { octets.count - position }

  /// Returns the number of `count` octets at an offset from the position.
  private func number(_ offset: Int, _ count: Int, bigEndian: Bool) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<count {
      let octet = octets[position + offset + (bigEndian ? index : count - 1 - index)]
      result = result << 8 | UInt64(octet)
    }
    return result
  }

  private func uint16(_ offset: Int) -> UInt16 { UInt16(truncatingIfNeeded: number(offset, 2, bigEndian: isBigEndian)) }
  private func uint32(_ offset: Int) -> UInt32 { UInt32(truncatingIfNeeded: number(offset, 4, bigEndian: isBigEndian)) }

  private func slice(_ offset: Int, _ count: Int) -> [UInt8] {
    Array(octets[position + offset..<position + offset + count])
  }

  // MARK: Headers

  /// Reads the file's header. Returns false if more octets are needed.
  private mutating func readHeader() throws(CaptureProblem) -> Bool {
    guard available >= 4 else { return false }
    switch number(0, 4, bigEndian: true) {
    case 0x0A0D_0D0A: format = .pcapng
    case 0xA1B2_C3D4, 0xA1B2_3C4D, 0xD4C3_B2A1, 0x4D3C_B2A1:
      guard available >= 24 else { return false }
      isBigEndian = octets[position] == 0xA1
      let isNanoseconds = uint32(0) == 0xA1B2_3C4D
      // The upper bits tell the length of a frame check sequence.
      let link = CaptureLink(linkType: uint32(20) & 0x03FF_FFFF)
      format = .pcap
      add(
        CaptureInterface(index: 0, name: nil, link: link),
        Clock(unitsPerSecond: isNanoseconds ? 1_000_000_000 : 1_000_000))
      position += 24
    case 0x6274_736E:
      guard available >= 16 else { return false }
      isBigEndian = true
      guard slice(0, 8) == Array("btsnoop\0".utf8) else { throw notACapture }
      guard uint32(8) == 1 else { throw problem("unknown version \(uint32(8)) of btsnoop") }
      format = .btsnoop
      add(CaptureInterface(index: 0, name: nil, link: CaptureLink(datalink: uint32(12))), Clock())
      position += 16
    default: throw notACapture
    }
    return true
  }

  private var notACapture: CaptureProblem { problem("no capture: expected pcapng, pcap or btsnoop") }

  private mutating func add(_ interface: CaptureInterface, _ clock: Clock) {
    interfaces.append((interface, clock))
    interfaceCount += 1
    announced.append(interface)
  }

  // MARK: pcapng

  private enum Block {
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    static let interfaceDescription: UInt32 = 1
    static let simplePacket: UInt32 = 3
    static let interfaceStatistics: UInt32 = 5
    static let enhancedPacket: UInt32 = 6
  }

  private mutating func nextBlock() throws(CaptureProblem) -> CaptureElement? {
    while available >= 12 {
      let isSection = number(0, 4, bigEndian: true) == UInt64(Block.sectionHeader)
      if isSection {
        switch number(8, 4, bigEndian: true) {
        case 0x1A2B_3C4D: isBigEndian = true
        case 0x4D3C_2B1A: isBigEndian = false
        default: throw problem("a section header without a byte-order magic")
        }
      }
      let length = Int(uint32(4))
      guard length >= 12, length % 4 == 0, length <= Self.maximumLength else {
        throw problem("a block of \(length) octets")
      }
      guard available >= length else { return nil }
      guard uint32(length - 4) == UInt32(length) else { throw problem("a block with two different lengths") }
      let element = try element(ofBlock: isSection ? Block.sectionHeader : uint32(0), length)
      position += length
      if let element { return element }
    }
    return nil
  }

  private mutating func element(ofBlock type: UInt32, _ length: Int) throws(CaptureProblem) -> CaptureElement? {
    /// Throws if the block can't hold fields of this length.
    func require(_ count: Int) throws(CaptureProblem) {
      guard length >= 12 + count else { throw problem("a block that is too short for its type") }
    }
    switch type {
    case Block.sectionHeader:
      try require(16)
      guard uint16(12) == 1 else { throw problem("unknown version \(uint16(12)) of pcapng") }
      interfaces = []
      return nil
    case Block.interfaceDescription:
      try require(8)
      var name: String?
      var clock = Clock()
      for (code, value) in options(at: 16, until: length - 4) {
        switch (code, value.count) {
        case (2, _): name = String(decoding: value, as: UTF8.self)
        case (9, 1): clock.unitsPerSecond = try unitsPerSecond(value[0])
        case (14, 8):
          let bytes = isBigEndian ? value : value.reversed()
          clock.offset = Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
        default: break
        }
      }
      let interface = CaptureInterface(
        index: interfaceCount, name: name, link: CaptureLink(linkType: UInt32(uint16(8))))
      interfaces.append((interface, clock))
      interfaceCount += 1
      return .interface(interface)
    case Block.enhancedPacket:
      try require(20)
      let (interface, clock) = try described(Int(uint32(8)))
      let count = Int(uint32(20))
      let padded = count + (-count & 3)
      guard count <= length, 32 + padded <= length else { throw problem("a packet that is longer than its block") }
      packetCount += 1
      let units = UInt64(uint32(12)) << 32 | UInt64(uint32(16))
      var packet = CapturedPacket(
        number: packetCount, time: Self.bounded(clock.nanoseconds(units)), interface: interface,
        octets: slice(28, count),
        originalLength: Int(uint32(24)))
      for (code, value) in options(at: 28 + padded, until: length - 4) where code == 1 {
        packet.comments.append(String(decoding: value, as: UTF8.self))
      }
      return .packet(packet)
    case Block.simplePacket:
      try require(4)
      let (interface, _) = try described(0)
      let original = Int(uint32(8))
      packetCount += 1
      return .packet(
        CapturedPacket(
          number: packetCount, time: 0, interface: interface, octets: slice(12, min(original, length - 16)),
          originalLength: original))
    case Block.interfaceStatistics:
      try require(12)
      let (interface, _) = try described(Int(uint32(8)))
      for (code, value) in options(at: 20, until: length - 4) where code == 5 && value.count == 8 {
        let bytes = isBigEndian ? value : value.reversed()
        return .dropped(interface, count: bytes.reduce(0) { $0 << 8 | UInt64($1) })
      }
      return nil
    default: return nil
    }
  }

  private func described(_ index: Int) throws(CaptureProblem) -> (CaptureInterface, Clock) {
    guard interfaces.indices.contains(index) else {
      throw problem("a packet of interface \(index), which no block describes")
    }
    return interfaces[index]
  }

  /// Returns the units of a second for the option if_tsresol.
  private func unitsPerSecond(_ resolution: UInt8) throws(CaptureProblem) -> UInt64 {
    let exponent = Int(resolution & 0x7F)
    if resolution & 0x80 != 0 {
      guard exponent < 64 else { throw problem("a resolution of 2 to the power of −\(exponent) seconds") }
      return 1 << UInt64(exponent)
    }
    guard exponent < 20 else { throw problem("a resolution of 10 to the power of −\(exponent) seconds") }
    return (0..<exponent).reduce(1) { units, _ in units * 10 }
  }

  /// Returns the options from an offset in the block on. Octets that are no option end the list.
  private func options(at offset: Int, until end: Int) -> [(code: UInt16, value: [UInt8])] {
    var result: [(UInt16, [UInt8])] = []
    var offset = offset
    while offset + 4 <= end {
      let (code, count) = (uint16(offset), Int(uint16(offset + 2)))
      guard code != 0, offset + 4 + count <= end else { break }
      result.append((code, slice(offset + 4, count)))
      offset += 4 + count + (-count & 3)
    }
    return result
  }

  // MARK: pcap and btsnoop

  private mutating func nextPcapRecord() throws(CaptureProblem) -> CaptureElement? {
    guard available >= 16 else { return nil }
    let length = Int(uint32(8))
    guard length <= Self.maximumLength else { throw problem("a packet of \(length) octets") }
    guard available >= 16 + length else { return nil }
    let (interface, clock) = interfaces[0]
    packetCount += 1
    let time = Int64(uint32(0)) * 1_000_000_000 + clock.nanoseconds(UInt64(uint32(4)))
    let packet = CapturedPacket(
      number: packetCount, time: Self.bounded(time), interface: interface, octets: slice(16, length),
      originalLength: Int(uint32(12)))
    position += 16 + length
    return .packet(packet)
  }

  private mutating func nextBtsnoopRecord() throws(CaptureProblem) -> CaptureElement? {
    guard available >= 24 else { return nil }
    let length = Int(uint32(4))
    guard length <= Self.maximumLength else { throw problem("a packet of \(length) octets") }
    guard available >= 24 + length else { return nil }
    packetCount += 1
    let microseconds = Int64(bitPattern: number(16, 8, bigEndian: true)) &- Self.btsnoopEpoch
    let packet = CapturedPacket(
      number: packetCount, time: Self.bounded(microseconds.multipliedReportingOverflow(by: 1_000).partialValue),
      interface: interfaces[0].interface, octets: slice(24, length), originalLength: Int(uint32(0)), flags: uint32(8))
    position += 24 + length
    return .packet(packet)
  }
}
