/// Reads btsnoop · RFC 1761, with the datalinks and flags of Bluetooth.
struct BtsnoopReader: CaptureFileReader {
  private static let headerLength = 16
  private static let recordHeaderLength = 24

  let format: CaptureDecoder.Format? = .btsnoop
  private var interfaces = CaptureInterfaces()
  private var link: CaptureLink?
  private var interface: CaptureInterface?
  private var packetCount = 0
  /// The Cumulative Drops of the last record.
  private var drops: UInt32 = 0

  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> CaptureElement? {
    guard let link else {
      guard input.count >= Self.headerLength else { return nil }
      guard input.starts(with: "btsnoop\0".utf8) else { throw CaptureDecoder.notACapture(input) }
      let version = input.uint32(8, bigEndian: true)
      guard version == 1 else { throw input.problem("unknown version \(version) of btsnoop") }
      let link = CaptureLink(datalink: input.uint32(12, bigEndian: true))
      self.link = link
      input.drop(Self.headerLength)
      guard !link.hasAdapters else { return try next(&input) }
      interface = interfaces.add(nil, link)
      return interface.map { .interface($0) }
    }
    guard input.count >= Self.recordHeaderLength else { return nil }
    let length = Int(input.uint32(4, bigEndian: true))
    guard length <= CaptureDecoder.maximumLength else { throw input.problem("a packet of \(length) octets") }
    guard input.count >= Self.recordHeaderLength + length else { return nil }
    let flags = input.uint32(8, bigEndian: true)
    var source = interface
    if link.hasAdapters {
      guard let found = interfaces.adapter(link.adapter([], flags: flags), of: 0, link) else {
        throw input.problem("more adapters than a capture can have")
      }
      if found.isNew { return .interface(found.interface) }
      source = found.interface
    }
    guard let source else { return nil }
    let dropped = input.uint32(12, bigEndian: true)
    if dropped > drops {
      drops = dropped
      return .dropped(source, count: UInt64(dropped))
    }
    packetCount += 1
    let units = Int64(bitPattern: input.number(16, 8, bigEndian: true))
    let packet = CapturedPacket(
      number: packetCount, time: CaptureTime.time(microseconds: units &- CaptureTime.btsnoopEpoch), interface: source,
      octets: input.slice(Self.recordHeaderLength, length), originalLength: Int(input.uint32(0, bigEndian: true)),
      flags: flags)
    input.drop(Self.recordHeaderLength + length)
    return .packet(packet)
  }

  func finish(_ input: CaptureOctets) throws(CaptureProblem) {
    guard link != nil else { throw CaptureProblem(offset: 0, reason: "no capture: too short") }
    if !input.isEmpty { throw input.problem("the file ends within a packet") }
  }
}
