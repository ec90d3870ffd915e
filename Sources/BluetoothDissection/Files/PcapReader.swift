/// Reads pcap · IETF draft-ietf-opsawg-pcap.
struct PcapReader: CaptureFileReader {
  private static let headerLength = 24
  private static let recordHeaderLength = 16

  let format: CaptureDecoder.Format? = .pcap
  private var isBigEndian = false
  private var isNanoseconds = false
  private var interfaces = CaptureInterfaces()
  private var link: CaptureLink?
  private var interface: CaptureInterface?
  private var packetCount = 0

  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> CaptureElement? {
    guard let link else {
      guard input.count >= Self.headerLength else { return nil }
      isBigEndian = input[0] == 0xA1
      isNanoseconds = input.uint32(0, bigEndian: isBigEndian) == 0xA1B2_3C4D
      // The upper bits tell the length of a frame check sequence.
      let link = CaptureLink(linkType: input.uint32(20, bigEndian: isBigEndian) & 0x03FF_FFFF)
      self.link = link
      input.drop(Self.headerLength)
      guard !link.hasAdapters else { return try next(&input) }
      interface = interfaces.add(nil, link)
      return interface.map { .interface($0) }
    }
    guard input.count >= Self.recordHeaderLength else { return nil }
    let length = Int(input.uint32(8, bigEndian: isBigEndian))
    guard length <= CaptureDecoder.maximumLength else { throw input.problem("a packet of \(length) octets") }
    guard input.count >= Self.recordHeaderLength + length else { return nil }
    let octets = input.slice(Self.recordHeaderLength, length)
    var source = interface
    if link.hasAdapters {
      guard let found = interfaces.adapter(link.adapter(octets, flags: nil), of: 0, link) else {
        throw input.problem("more adapters than a capture can have")
      }
      if found.isNew { return .interface(found.interface) }
      source = found.interface
    }
    guard let source else { return nil }
    packetCount += 1
    let fraction = Int64(input.uint32(4, bigEndian: isBigEndian)) * (isNanoseconds ? 1 : 1_000)
    let time = Int64(input.uint32(0, bigEndian: isBigEndian)) * 1_000_000_000 + fraction
    let packet = CapturedPacket(
      number: packetCount, time: CaptureTime.bounded(time), interface: source, octets: octets,
      originalLength: Int(input.uint32(12, bigEndian: isBigEndian)))
    input.drop(Self.recordHeaderLength + length)
    return .packet(packet)
  }

  func finish(_ input: CaptureOctets) throws(CaptureProblem) {
    guard link != nil else { throw CaptureProblem(offset: 0, reason: "no capture: too short") }
    if !input.isEmpty { throw input.problem("the file ends within a packet") }
  }
}
