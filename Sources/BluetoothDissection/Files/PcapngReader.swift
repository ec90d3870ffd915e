import BluetoothTypes

/// Reads pcapng · IETF draft-ietf-opsawg-pcapng, with the obsolete Packet Block.
struct PcapngReader: CaptureFileReader {
  private enum Block {
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    static let interfaceDescription: UInt32 = 1
    static let packet: UInt32 = 2
    static let simplePacket: UInt32 = 3
    static let nameResolution: UInt32 = 4
    static let interfaceStatistics: UInt32 = 5
    static let enhancedPacket: UInt32 = 6
    static let decryptionSecrets: UInt32 = 10
  }

  private enum Option {
    static let comment: UInt16 = 1
    static let interfaceName: UInt16 = 2
    static let dropCount: UInt16 = 4
    static let dropped: UInt16 = 5
    static let timeResolution: UInt16 = 9
    static let timeOffset: UInt16 = 14
  }

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

  /// An Interface Description Block.
  private struct Source {
    let number: Int
    let link: CaptureLink
    /// The interface; nil: each adapter has its own.
    var interface: CaptureInterface?
    var clock = Clock()
    /// The largest number of octets of a packet; 0: no limit.
    var snapLength = 0
    /// The packets that were dropped before packets of the interface.
    var drops: UInt64 = 0
  }

  let format: CaptureDecoder.Format? = .pcapng
  private var isBigEndian = false
  /// The interfaces of the current section.
  private var sources: [Source] = []
  private var sourceCount = 0
  private var interfaces = CaptureInterfaces()
  private var packetCount = 0
  /// The elements after the one that `next` has returned.
  private var pending: [CaptureElement] = []
  /// True if packets before the next one were dropped.
  private var hasDropped = false

  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> CaptureElement? {
    while true {
      if !pending.isEmpty { return pending.removeFirst() }
      guard input.count >= 12 else { return nil }
      let isSection = input.number(0, 4, bigEndian: true) == UInt64(Block.sectionHeader)
      if isSection {
        switch input.number(8, 4, bigEndian: true) {
        case 0x1A2B_3C4D: isBigEndian = true
        case 0x4D3C_2B1A: isBigEndian = false
        default: throw input.problem("a section header without a byte-order magic")
        }
      }
      let length = Int(input.uint32(4, bigEndian: isBigEndian))
      guard length >= 12, length % 4 == 0, length <= CaptureDecoder.maximumLength else {
        throw input.problem("a block of \(length) octets")
      }
      guard input.count >= length else { return nil }
      guard input.uint32(length - 4, bigEndian: isBigEndian) == UInt32(length) else {
        throw input.problem("a block with two different lengths")
      }
      let type = isSection ? Block.sectionHeader : input.uint32(0, bigEndian: isBigEndian)
      pending = try elements(ofBlock: type, length, input)
      input.drop(length)
    }
  }

  private mutating func elements(
    ofBlock type: UInt32, _ length: Int, _ input: CaptureOctets
  ) throws(CaptureProblem) -> [CaptureElement] {
    /// Throws if the block can't hold fields of this length.
    func require(_ count: Int) throws(CaptureProblem) {
      guard length >= 12 + count else { throw input.problem("a block that is too short for its type") }
    }
    func number(_ offset: Int) -> UInt32 { input.uint32(offset, bigEndian: isBigEndian) }
    switch type {
    case Block.sectionHeader:
      try require(16)
      let version = input.uint16(12, bigEndian: isBigEndian)
      guard version == 1 else { throw input.problem("unknown version \(version) of pcapng") }
      sources = []
      return []
    case Block.interfaceDescription:
      try require(8)
      return try describe(length, input)
    case Block.packet:
      try require(20)
      let number16 = input.uint16(8, bigEndian: isBigEndian)
      let drops = input.uint16(10, bigEndian: isBigEndian)
      // 0xFFFF: the number of dropped packets is not known.
      if drops != .max { add(drops: UInt64(drops), to: Int(number16)) }
      return try packet(Int(number16), length, input)
    case Block.enhancedPacket:
      try require(20)
      return try packet(Int(number(8)), length, input)
    case Block.simplePacket:
      try require(4)
      let source = try source(0, input)
      let original = Int(number(8))
      let limit = source.snapLength == 0 ? Int.max : source.snapLength
      return try finished(
        source, time: 0, input.slice(12, min(original, length - 16, limit)), originalLength: original, comments: [],
        input)
    case Block.interfaceStatistics:
      try require(12)
      let index = Int(number(8))
      let source = try source(index, input)
      for (code, value) in options(at: 20, until: length - 4, input) where code == Option.dropped && value.count == 8 {
        sources[index].drops = unsigned(value)
        return source.interface.map { [.dropped($0, count: sources[index].drops)] } ?? []
      }
      return []
    // They have no packets.
    case Block.nameResolution, Block.decryptionSecrets: return []
    default: return [.unread("a pcapng block of type 0x\(type.hexadecimal)")]
    }
  }

  private mutating func describe(_ length: Int, _ input: CaptureOctets) throws(CaptureProblem) -> [CaptureElement] {
    var name: String?
    var source = Source(
      number: sourceCount, link: CaptureLink(linkType: UInt32(input.uint16(8, bigEndian: isBigEndian))))
    source.snapLength = Int(input.uint32(12, bigEndian: isBigEndian))
    for (code, value) in options(at: 16, until: length - 4, input) {
      switch (code, value.count) {
      case (Option.interfaceName, _): name = String(decoding: value, as: UTF8.self)
      case (Option.timeResolution, 1): source.clock.unitsPerSecond = try unitsPerSecond(value[0], input)
      case (Option.timeOffset, 8): source.clock.offset = Int64(bitPattern: unsigned(value))
      default: break
      }
    }
    if !source.link.hasAdapters {
      guard let interface = interfaces.add(name, source.link) else { throw tooManyInterfaces(input) }
      source.interface = interface
    }
    guard sources.count < Int(UInt16.max) else { throw tooManyInterfaces(input) }
    sources.append(source)
    sourceCount += 1
    return source.interface.map { [.interface($0)] } ?? []
  }

  private func tooManyInterfaces(_ input: CaptureOctets) -> CaptureProblem {
    input.problem("more interfaces than a capture can have")
  }

  /// Returns the packet of an Enhanced Packet Block, or of a Packet Block, whose fields from the time on are the same.
  private mutating func packet(
    _ index: Int, _ length: Int, _ input: CaptureOctets
  ) throws(CaptureProblem) -> [CaptureElement] {
    let clock = try source(index, input).clock
    let count = Int(input.uint32(20, bigEndian: isBigEndian))
    let padded = count + (-count & 3)
    guard count <= length, 32 + padded <= length else { throw input.problem("a packet that is longer than its block") }
    let units =
      UInt64(input.uint32(12, bigEndian: isBigEndian)) << 32 | UInt64(input.uint32(16, bigEndian: isBigEndian))
    var comments: [String] = []
    for (code, value) in options(at: 28 + padded, until: length - 4, input) {
      switch (code, value.count) {
      case (Option.comment, _): comments.append(String(decoding: value, as: UTF8.self))
      case (Option.dropCount, 8): add(drops: unsigned(value), to: index)
      default: break
      }
    }
    let source = sources[index]
    let reported = source.drops
    let elements = try finished(
      source, time: CaptureTime.bounded(clock.nanoseconds(units)), input.slice(28, count),
      originalLength: Int(input.uint32(24, bigEndian: isBigEndian)), comments: comments, input)
    guard hasDropped, let interface = source.interface else { return elements }
    hasDropped = false
    return [.dropped(interface, count: reported)] + elements
  }

  private mutating func add(drops: UInt64, to index: Int) {
    guard drops > 0, sources.indices.contains(index) else { return }
    let (sum, isOver) = sources[index].drops.addingReportingOverflow(drops)
    sources[index].drops = isOver ? .max : sum
    hasDropped = true
  }

  private mutating func finished(
    _ source: Source, time: Int64, _ octets: [UInt8], originalLength: Int, comments: [String], _ input: CaptureOctets
  ) throws(CaptureProblem) -> [CaptureElement] {
    var elements: [CaptureElement] = []
    var interface = source.interface
    if interface == nil {
      guard let found = interfaces.adapter(source.link.adapter(octets, flags: nil), of: source.number, source.link)
      else { throw tooManyInterfaces(input) }
      if found.isNew { elements.append(.interface(found.interface)) }
      interface = found.interface
    }
    guard let interface else { return [] }
    packetCount += 1
    let packet = CapturedPacket(
      number: packetCount, time: time, interface: interface, octets: octets, originalLength: originalLength,
      comments: comments)
    return elements + [.packet(packet)]
  }

  private func source(_ index: Int, _ input: CaptureOctets) throws(CaptureProblem) -> Source {
    guard sources.indices.contains(index) else {
      throw input.problem("a packet of interface \(index), which no block describes")
    }
    return sources[index]
  }

  // MARK: Options

  private func unsigned(_ octets: [UInt8]) -> UInt64 {
    (isBigEndian ? octets : octets.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns the units of a second for the option if_tsresol.
  private func unitsPerSecond(_ resolution: UInt8, _ input: CaptureOctets) throws(CaptureProblem) -> UInt64 {
    let exponent = Int(resolution & 0x7F)
    if resolution & 0x80 != 0 {
      guard exponent < 64 else { throw input.problem("a resolution of 2 to the power of −\(exponent) seconds") }
      return 1 << UInt64(exponent)
    }
    guard exponent < 20 else { throw input.problem("a resolution of 10 to the power of −\(exponent) seconds") }
    return (0..<exponent).reduce(1) { units, _ in units * 10 }
  }

  /// Returns the options from an offset in the block on. Octets that are no option end the list.
  private func options(at offset: Int, until end: Int, _ input: CaptureOctets) -> [(code: UInt16, value: [UInt8])] {
    var result: [(UInt16, [UInt8])] = []
    var offset = offset
    while offset + 4 <= end {
      let code = input.uint16(offset, bigEndian: isBigEndian)
      let count = Int(input.uint16(offset + 2, bigEndian: isBigEndian))
      guard code != 0, offset + 4 + count <= end else { break }
      result.append((code, input.slice(offset + 4, count)))
      offset += 4 + count + (-count & 3)
    }
    return result
  }
}
