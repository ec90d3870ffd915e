import BluetoothDissection
import BluetoothWire
import Foundation

/// Writes packets of other captures, with the octets as they were.
final class CaptureOutput {
  /// The format of the written file.
  enum Format: String, CaseIterable, Sendable {
    case pcapng, btsnoop

    /// The format that a file's name asks for; nil: none.
    init?(path: String) {
      switch (path as NSString).pathExtension.lowercased() {
      case "pcapng", "ntar": self = .pcapng
      case "btsnoop", "snoop", "cfa", "log": self = .btsnoop
      default: return nil
      }
    }
  }

  let format: Format
  private let file: OutputFile
  private var octets: [UInt8] = []
  /// The numbers of the written interfaces in the file, by their index in the capture that was read.
  private var interfaces: [Int: UInt32] = [:]
  /// The interface and the datalink of a btsnoop file, which has one.
  private var datalink: (interface: CaptureInterface, number: UInt32)?
  /// The number of written packets.
  private(set) var count = 0
  /// The number of octets of the file so far.
  private var size = 0

  /// True while the octets go to a regular file. A FIFO or the standard output may lead to the terminal.
  var isRegular: Bool { file.isRegular }

  private static let btsnoopEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

  /// Creates the file; `-` is the standard output.
  ///
  /// - Throws: `Failure` if it can't be created.
  init(path: String, format: Format) throws {
    self.format = format
    // The capture that is read may have secrets.
    file = try OutputFile(path, isPrivate: true)
    guard format == .pcapng else { return }
    octets.append(contentsOf: [0x0A, 0x0D, 0x0D, 0x0A])
    append(UInt32(28))
    append(UInt32(0x1A2B_3C4D))
    append(UInt16(1))
    append(UInt16(0))
    append(Int64(-1))
    append(UInt32(28))
  }

  /// Appends a packet.
  ///
  /// - Throws: `Failure` if the format can't hold the packet, or if the file can't be written.
  func add(_ packet: CapturedPacket) throws {
    switch format {
    case .pcapng: addBlock(packet)
    case .btsnoop: try addRecord(packet)
    }
    count += 1
    if octets.count > 1 << 16 { try flush() }
  }

  /// Writes what is left, and gives the file its name.
  func finish() throws {
    if format == .btsnoop, datalink == nil { appendBtsnoopHeader(1002) }
    try flush()
    try file.finish()
  }

  /// Returns a record of the finished file.
  ///
  /// - Parameters:
  ///   - kind: the kind of the record.
  ///   - source: the capture that was read.
  ///   - total: the number of packets that were read.
  func record(_ kind: String, of source: String, total: Int) -> JSONRecord {
    var record = JSONRecord(kind)
    record.add("file", source)
    record.add("output", file.path)
    record.add("format", format.rawValue)
    record.add("packets", total)
    record.add("written", count)
    record.add("octets", size)
    return record
  }

  private func flush() throws {
    try file.write(octets)
    size += octets.count
    octets.removeAll(keepingCapacity: true)
  }

  private func append<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { octets.append(contentsOf: $0) }
  }

  private func append<T: FixedWidthInteger>(bigEndian value: T) {
    withUnsafeBytes(of: value.bigEndian) { octets.append(contentsOf: $0) }
  }

  // MARK: pcapng

  private func addBlock(_ packet: CapturedPacket) {
    let number = interfaces[packet.interface.index] ?? describe(packet.interface)
    let content = packet.pcapngContent
    let start = beginBlock(6)
    let time = UInt64(clamping: packet.time)
    append(number)
    append(UInt32(truncatingIfNeeded: time >> 32))
    append(UInt32(truncatingIfNeeded: time))
    append(UInt32(truncatingIfNeeded: content.count))
    append(UInt32(truncatingIfNeeded: max(packet.originalLength + content.count - packet.octets.count, content.count)))
    octets.append(contentsOf: content)
    pad(content.count)
    for comment in packet.comments { appendOption(1, Array(comment.utf8)) }
    if !packet.comments.isEmpty { append(UInt32(0)) }
    endBlock(start)
  }

  /// Appends an Interface Description Block. Returns its number.
  private func describe(_ interface: CaptureInterface) -> UInt32 {
    let number = UInt32(interfaces.count)
    interfaces[interface.index] = number
    let start = beginBlock(1)
    append(interface.link.pcapngLinkType)
    append(UInt16(0))
    append(UInt32(0))
    if let name = interface.name { appendOption(2, Array(name.utf8)) }
    // Nanoseconds.
    appendOption(9, [9])
    append(UInt32(0))
    endBlock(start)
    return number
  }

  private func appendOption(_ code: UInt16, _ value: [UInt8]) {
    let value = value.prefix(Int(UInt16.max))
    append(code)
    append(UInt16(value.count))
    octets.append(contentsOf: value)
    pad(value.count)
  }

  private func pad(_ count: Int) { octets.append(contentsOf: repeatElement(0, count: -count & 3)) }

  private func beginBlock(_ type: UInt32) -> Int {
    let start = octets.count
    append(type)
    append(UInt32(0))
    return start
  }

  private func endBlock(_ start: Int) {
    let length = UInt32(octets.count - start + 4)
    append(length)
    for index in 0..<4 { octets[start + 4 + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
  }

  // MARK: btsnoop

  private func appendBtsnoopHeader(_ datalink: UInt32) {
    octets.append(contentsOf: "btsnoop\0".utf8)
    append(bigEndian: UInt32(1))
    append(bigEndian: datalink)
  }

  private func addRecord(_ packet: CapturedPacket) throws {
    if let datalink {
      guard datalink.interface == packet.interface else {
        throw Failure(
          "a btsnoop file holds the HCI packets of one adapter: choose \"\(datalink.interface.title.printable)\", "
            + "\"\(packet.interface.title.printable)\" or another one with --interface", status: ExitStatus.usage)
      }
    } else {
      let number: UInt32 =
        switch packet.interface.link {
        case .hciH4, .hciH4WithDirection, .btsnoopH4: 1002
        case .btsnoopUnencapsulated: 1001
        case .linuxMonitor, .btsnoopMonitor: 2001
        case .linkLayer, .linkLayerWithHeader, .other:
          throw Failure(
            "btsnoop has no form for packets of \"\(packet.interface.title.printable)\" (\(packet.interface.link.text)), "
              + "only for HCI packets; choose an adapter with --interface, or write pcapng", status: ExitStatus.usage)
        }
      datalink = (packet.interface, number)
      appendBtsnoopHeader(number)
    }
    let (content, flags) = packet.btsnoopContent
    append(bigEndian: UInt32(content.count))
    append(bigEndian: UInt32(content.count))
    append(bigEndian: flags)
    append(bigEndian: UInt32(0))
    append(bigEndian: Self.btsnoopEpoch &+ packet.time / 1_000)
    octets.append(contentsOf: content)
  }
}

extension CaptureLink {
  /// The LINKTYPE number with which the packets are written to a pcapng file.
  fileprivate var pcapngLinkType: UInt16 {
    switch self {
    case .hciH4: 187
    case .hciH4WithDirection, .btsnoopH4, .btsnoopUnencapsulated: 201
    case .linkLayer: 251
    case .linkLayerWithHeader: 256
    case .linuxMonitor, .btsnoopMonitor: 254
    case .other(let number): UInt16(truncatingIfNeeded: number)
    }
  }
}

extension CapturedPacket {
  /// The octets for a pcapng file.
  fileprivate var pcapngContent: [UInt8] {
    switch interface.link {
    case .btsnoopH4: [0, 0, 0, UInt8(truncatingIfNeeded: (flags ?? 0) & 1)] + octets
    case .btsnoopUnencapsulated:
      [0, 0, 0, UInt8(truncatingIfNeeded: (flags ?? 0) & 1), CapturedContent.indicator(flags ?? 0)] + octets
    case .btsnoopMonitor:
      // Adapter, then opcode: two numbers of 16 bits, which the flags hold in this order.
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (flags ?? 0) >> $0) } + octets
    default: octets
    }
  }

  /// The octets and the flags for a btsnoop file.
  fileprivate var btsnoopContent: ([UInt8], UInt32) {
    switch interface.link {
    case .hciH4WithDirection:
      let content = Array(octets.dropFirst(4))
      return (content, UInt32(octets.count > 3 ? octets[3] & 1 : 0) | (content.first == 0x02 ? 0 : 0x02))
    case .hciH4:
      let isFromController = octets.first == 0x04
      return (octets, (isFromController ? 1 : 0) | (octets.first == 0x02 ? 0 : 0x02))
    case .linuxMonitor:
      return (Array(octets.dropFirst(4)), octets.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    default: return (octets, flags ?? 0)
    }
  }
}
