/// The blocks of a pcapng file · IETF draft-ietf-opsawg-pcapng, 3 and 4. All numbers are little-endian; options and
/// data are padded to 32 bits, and each block repeats its length at the end.
enum PcapngBlock {
  private static let sectionHeaderType: UInt32 = 0x0A0D_0D0A
  private static let interfaceDescriptionType: UInt32 = 1
  private static let interfaceStatisticsType: UInt32 = 5
  private static let enhancedPacketType: UInt32 = 6
  private static let byteOrderMagic: UInt32 = 0x1A2B_3C4D

  private enum Option {
    static let endOfOptions: UInt16 = 0
    static let comment: UInt16 = 1
    static let interfaceName: UInt16 = 2
    static let userApplication: UInt16 = 4
    static let droppedByInterface: UInt16 = 5
    static let timeResolution: UInt16 = 9
  }

  /// The resolution of time stamps: units of 10 to the power of −9 seconds, nanoseconds.
  private static let timeResolutionExponent: UInt8 = 9

  /// Appends a Section Header Block · 4.1, version 1.0, with an unspecified section length (−1).
  static func appendSectionHeader(application: String, to output: inout [UInt8]) {
    appendBlock(sectionHeaderType, to: &output) { output in
      output.append(littleEndian: byteOrderMagic)
      output.append(littleEndian: UInt16(1))
      output.append(littleEndian: UInt16(0))
      output.append(littleEndian: Int64(-1))
      appendOption(Option.userApplication, application.utf8, to: &output)
      appendEndOfOptions(to: &output)
    }
  }

  /// Appends an Interface Description Block · 4.2. Packets are never truncated.
  static func appendInterface(name: String, linkType: LinkType, to output: inout [UInt8]) {
    appendBlock(interfaceDescriptionType, to: &output) { output in
      output.append(littleEndian: linkType.rawValue)
      output.append(littleEndian: UInt16(0))
      output.append(littleEndian: UInt32(0))
      appendOption(Option.interfaceName, name.utf8, to: &output)
      appendOption(Option.timeResolution, CollectionOfOne(timeResolutionExponent), to: &output)
      appendEndOfOptions(to: &output)
    }
  }

  /// Appends an Enhanced Packet Block · 4.3, with one comment option for each of `comments`.
  static func appendPacket(
    interface: UInt32, nanoseconds: UInt64, data: [UInt8], comments: [String], to output: inout [UInt8]
  ) {
    appendBlock(enhancedPacketType, to: &output) { output in
      output.append(littleEndian: interface)
      output.append(littleEndian: UInt32(truncatingIfNeeded: nanoseconds >> 32))
      output.append(littleEndian: UInt32(truncatingIfNeeded: nanoseconds))
      output.append(littleEndian: UInt32(truncatingIfNeeded: data.count))
      output.append(littleEndian: UInt32(truncatingIfNeeded: data.count))
      output.append(contentsOf: data)
      appendPadding(after: data.count, to: &output)
      guard !comments.isEmpty else { return }
      for comment in comments { appendOption(Option.comment, comment.utf8, to: &output) }
      appendEndOfOptions(to: &output)
    }
  }

  /// Appends an Interface Statistics Block · 4.6, with the number of packets that were dropped for lack of room.
  static func appendStatistics(interface: UInt32, nanoseconds: UInt64, dropped: UInt64, to output: inout [UInt8]) {
    appendBlock(interfaceStatisticsType, to: &output) { output in
      output.append(littleEndian: interface)
      output.append(littleEndian: UInt32(truncatingIfNeeded: nanoseconds >> 32))
      output.append(littleEndian: UInt32(truncatingIfNeeded: nanoseconds))
      appendOption(
        Option.droppedByInterface, withUnsafeBytes(of: dropped.littleEndian) { Array($0) }, to: &output)
      appendEndOfOptions(to: &output)
    }
  }

  private static func appendBlock(_ type: UInt32, to output: inout [UInt8], body: (inout [UInt8]) -> Void) {
    let start = output.count
    output.append(littleEndian: type)
    output.append(littleEndian: UInt32(0))
    body(&output)
    let length = UInt32(truncatingIfNeeded: output.count - start + 4)
    output.append(littleEndian: length)
    for octet in 0..<4 { output[start + 4 + octet] = UInt8(truncatingIfNeeded: length >> (8 * octet)) }
  }

  /// Appends an option. Its length field has 16 bits, so a longer value is truncated.
  private static func appendOption(_ code: UInt16, _ value: some Collection<UInt8>, to output: inout [UInt8]) {
    let value = value.prefix(Int(UInt16.max))
    output.append(littleEndian: code)
    output.append(littleEndian: UInt16(truncatingIfNeeded: value.count))
    output.append(contentsOf: value)
    appendPadding(after: value.count, to: &output)
  }

  private static func appendEndOfOptions(to output: inout [UInt8]) {
    output.append(littleEndian: Option.endOfOptions)
    output.append(littleEndian: UInt16(0))
  }

  private static func appendPadding(after count: Int, to output: inout [UInt8]) {
    for _ in 0..<(-count & 3) { output.append(0) }
  }
}
