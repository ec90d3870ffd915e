/// Reads the files of Apple's PacketLogger: records of length, seconds, microseconds, type and data. Files of Macs with
/// PowerPC have the most significant octet first; later ones have either order.
struct PacketLoggerReader: CaptureFileReader {
  /// The octets of a record before its data: the three numbers and the type.
  static let headerLength = 13
  /// The octets of a record that its length does not count.
  private static let lengthFieldLength = 4
  /// The octets of a record that its length counts, if it has neither type nor data.
  private static let minimumLength = 8
  private static let maximumLength = 0xFFFF

  let format: CaptureDecoder.Format? = .packetlogger
  private let isBigEndian: Bool
  private var interfaces = CaptureInterfaces()
  private var interface: CaptureInterface?
  private var packetCount = 0

  /// Recognizes the first record; nil: it is none.
  init?(_ input: CaptureOctets) {
    isBigEndian = input[0] == 0 && input[1] == 0
    let length = Int(input.uint32(0, bigEndian: isBigEndian))
    guard length > Self.minimumLength, length <= Self.maximumLength,
      input.uint32(8, bigEndian: isBigEndian) < 1_000_000,
      PacketLoggerType(rawValue: input[12]) != nil
    else { return nil }
  }

  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> CaptureElement? {
    guard let interface else {
      interface = interfaces.add(nil, .packetLogger)
      return interface.map { .interface($0) }
    }
    guard input.count >= Self.lengthFieldLength else { return nil }
    let length = Int(input.uint32(0, bigEndian: isBigEndian))
    guard length >= Self.minimumLength, length <= Self.maximumLength else {
      throw input.problem("a record of \(length) octets")
    }
    guard input.count >= Self.lengthFieldLength + length else { return nil }
    packetCount += 1
    let octets = input.slice(Self.headerLength - 1, length - Self.minimumLength)
    let packet = CapturedPacket(
      number: packetCount,
      time: CaptureTime.time(
        seconds: input.uint32(4, bigEndian: isBigEndian), microseconds: input.uint32(8, bigEndian: isBigEndian)),
      interface: interface, octets: octets, originalLength: octets.count)
    input.drop(Self.lengthFieldLength + length)
    return .packet(packet)
  }
}

/// The types of PacketLogger's records.
package enum PacketLoggerType: UInt8, Sendable {
  case command = 0x00
  case event = 0x01
  case sentACL = 0x02
  case receivedACL = 0x03
  case sentSCO = 0x08
  case receivedSCO = 0x09
  case sentLMP = 0x0A
  case receivedLMP = 0x0B
  case systemLog = 0xF7
  case kernel = 0xF8
  case kernelDebug = 0xF9
  case error = 0xFA
  case power = 0xFB
  case note = 0xFC
  case config = 0xFD
  case newController = 0xFE
}
