/// Decodes a capture file piece by piece: pcapng (IETF draft-ietf-opsawg-pcapng), pcap (IETF draft-ietf-opsawg-pcap),
/// btsnoop (RFC 1761 with Bluetooth's numbers), Apple's PacketLogger, and the btsnooz section of an Android bug report;
/// also within gzip (RFC 1952) or a zip archive.
///
/// Octets go in with `append`, elements come out of `next`. An invalid file gives an error, never a trap.
package struct CaptureDecoder {
  /// The format of a capture file.
  package enum Format: String, Sendable, CaseIterable {
    case pcapng, pcap, btsnoop, packetlogger, btsnooz
  }

  /// The largest block or record, in octets.
  package static let maximumLength = 16 << 20
  /// The number of octets to which a compressed file may grow.
  package static let maximumInflatedLength = 1 << 30
  /// The number of compressed files of which each may hold the next.
  private static let maximumDepth = 3

  private var input = CaptureOctets()
  private var reader: (any CaptureFileReader)?
  private let inflatedLimit: Int
  private let depth: Int

  /// Has read nothing yet.
  ///
  /// - Parameter inflatedLimit: the number of octets to which a compressed file may grow.
  package init(inflatedLimit: Int = maximumInflatedLength) { self.init(inflatedLimit: inflatedLimit, depth: 0) }

  /// - Parameter depth: the number of compressed files around this one.
  init(inflatedLimit: Int, depth: Int) { (self.inflatedLimit, self.depth) = (inflatedLimit, depth) }

  /// The format; nil: the file has not told it yet.
  package var format: Format? { reader?.format }

  /// Appends the next octets of the file.
  package mutating func append(_ more: some Collection<UInt8>) { input.append(more) }

  /// Returns the next element; nil: more octets are needed.
  package mutating func next() throws(CaptureProblem) -> CaptureElement? {
    if reader == nil { reader = try recognize() }
    return try reader?.next(&input)
  }

  /// Checks that the file has ended after a complete element.
  package func finish() throws(CaptureProblem) {
    guard let reader else {
      throw CaptureProblem(offset: 0, reason: input.isEmpty ? "the file is empty" : "no capture: too short")
    }
    try reader.finish(input)
  }

  /// Returns the reader for the first octets of the file; nil: more octets are needed.
  private func recognize() throws(CaptureProblem) -> (any CaptureFileReader)? {
    guard input.count >= 4 else { return nil }
    switch input.number(0, 4, bigEndian: true) {
    case 0x0A0D_0D0A: return PcapngReader()
    case 0xA1B2_C3D4, 0xA1B2_3C4D, 0xD4C3_B2A1, 0x4D3C_B2A1: return PcapReader()
    case 0x6274_736E: return BtsnoopReader()
    case 0x504B_0304, 0x504B_0506, 0x504B_0708:
      guard depth < Self.maximumDepth else { throw input.problem("too many compressed files, one within another") }
      return ZipReader(limit: inflatedLimit, depth: depth)
    case 0x1F8B_0800...0x1F8B_08FF:
      guard depth < Self.maximumDepth else { throw input.problem("too many compressed files, one within another") }
      return GzipReader(limit: inflatedLimit, depth: depth)
    default: break
    }
    if BtsnoozReader.isText(input) { return BtsnoozReader(isText: true) }
    // The first octets of these formats are no constants.
    guard input.count >= PacketLoggerReader.headerLength else { return nil }
    if let reader = PacketLoggerReader(input) { return reader }
    if BtsnoozReader.isFile(input) { return BtsnoozReader(isText: false) }
    throw Self.notACapture(input)
  }

  static func notACapture(_ input: CaptureOctets) -> CaptureProblem {
    CaptureProblem(
      offset: input.offset,
      reason: "no capture: expected pcapng, pcap, btsnoop, PacketLogger or an Android bug report, plain or in gzip "
        + "or zip")
  }
}
