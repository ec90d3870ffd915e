import BluetoothDissection
import BluetoothWire
import Foundation

/// Writes packets of other captures, with the octets as they were.
final class CaptureOutput {
  /// The format of the written file.
  enum Format: String, CaseIterable, Sendable {
    case pcapng, pcap, btsnoop, packetlogger
    /// A pcap file with the link type of the nRF Sniffer for Bluetooth LE.
    case nrfSniffer = "nrf-sniffer"

    /// The format that a file's name asks for; nil: none.
    init?(path: String) {
      switch (path as NSString).pathExtension.lowercased() {
      case "pcapng", "ntar": self = .pcapng
      case "pcap": self = .pcap
      case "pklg": self = .packetlogger
      case "btsnoop", "snoop", "cfa", "log": self = .btsnoop
      default: return nil
      }
    }
  }

  let format: Format
  private let file: OutputFile
  private var octets: [UInt8] = []
  /// The numbers of the written interfaces in the file.
  private var interfaces: [CaptureInterface: UInt32] = [:]
  /// The interface of a file that has one.
  private var interface: CaptureInterface?
  /// The number of written packets.
  private(set) var count = 0
  /// The number of packets for which the format has no form.
  private(set) var omitted = 0
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

  /// Appends a packet. Messages of a capture program for which the format has no form are left out.
  ///
  /// - Parameter description: the packet in words; nil: only for pcapng.
  /// - Throws: `Failure` if the format can't hold the packet, or if the file can't be written.
  func add(_ packet: CapturedPacket, _ description: PacketDescription? = nil) throws {
    let form =
      switch format {
      case .pcapng, .pcap: packet.linkTypeForm
      case .btsnoop: try packet.btsnoopForm(description?.direction)
      case .packetlogger: try packet.packetLoggerForm(description?.direction)
      case .nrfSniffer: try packet.nordicForm(description ?? PacketDescription(packet), number: count)
      }
    try check(packet.interface)
    guard let form else {
      omitted += 1
      return
    }
    switch format {
    case .pcapng: addBlock(packet, form)
    case .pcap, .nrfSniffer: try addPcapRecord(packet, form)
    case .btsnoop: addBtsnoopRecord(packet, form)
    case .packetlogger: try addPacketLoggerRecord(packet, form)
    }
    count += 1
    if octets.count > 1 << 16 { try flush() }
  }

  /// Checks that the format has a form for the packets of an interface, and writes the header before the first packet.
  private func check(_ interface: CaptureInterface) throws {
    guard self.interface != interface else { return }
    let link = interface.link
    let isPossible =
      switch format {
      case .pcapng, .pcap: link.linkType != nil
      case .btsnoop, .packetlogger: link.isHCI
      case .nrfSniffer: link.isAir
      }
    guard isPossible else {
      let (kind, place) = format == .nrfSniffer ? ("packets on the air", "\"air\"") : ("HCI packets", "an adapter")
      throw Failure(
        "\(format.title) has no form for packets of \"\(interface.title.printable)\" (\(link.text)), "
          + "only for \(kind); choose \(place) with --interface, or write pcapng", status: ExitStatus.usage)
    }
    guard format != .pcapng else { return }
    if let former = self.interface {
      // The messages of a Linux monitor channel name their adapters.
      if former.link.hasAdapters, former.link == link, format != .packetlogger { return }
      throw Failure(
        "a \(format.title) file holds the \(link.isHCI ? "HCI packets of one adapter" : "packets of one interface"): "
          + "choose \"\(former.title.printable)\", \"\(interface.title.printable)\" or another one with --interface",
        status: ExitStatus.usage)
    }
    self.interface = interface
    switch format {
    case .pcap: appendPcapHeader(link.linkType ?? 0)
    case .nrfSniffer: appendPcapHeader(272)
    case .btsnoop: appendBtsnoopHeader(link.datalink)
    case .packetlogger, .pcapng: break
    }
  }

  /// Writes what is left, and gives the file its name.
  func finish() throws {
    if interface == nil {
      switch format {
      case .btsnoop: appendBtsnoopHeader(1002)
      case .pcap: appendPcapHeader(256)
      case .nrfSniffer: appendPcapHeader(272)
      case .packetlogger, .pcapng: break
      }
    }
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

  private func addBlock(_ packet: CapturedPacket, _ form: CapturedPacket.Form) {
    let number = interfaces[packet.interface] ?? describe(packet.interface)
    let content = form.octets
    let start = beginBlock(6)
    let time = UInt64(clamping: packet.time)
    append(number)
    append(UInt32(truncatingIfNeeded: time >> 32))
    append(UInt32(truncatingIfNeeded: time))
    append(UInt32(truncatingIfNeeded: content.count))
    append(UInt32(truncatingIfNeeded: form.originalLength))
    octets.append(contentsOf: content)
    pad(content.count)
    for comment in packet.comments { appendOption(1, Array(comment.utf8)) }
    if !packet.comments.isEmpty { append(UInt32(0)) }
    endBlock(start)
  }

  /// Appends an Interface Description Block. Returns its number.
  private func describe(_ interface: CaptureInterface) -> UInt32 {
    let number = UInt32(interfaces.count)
    interfaces[interface] = number
    let start = beginBlock(1)
    append(UInt16(truncatingIfNeeded: interface.link.linkType ?? 0))
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

  private func addBtsnoopRecord(_ packet: CapturedPacket, _ form: CapturedPacket.Form) {
    append(bigEndian: UInt32(truncatingIfNeeded: form.originalLength))
    append(bigEndian: UInt32(form.octets.count))
    append(bigEndian: form.flags)
    append(bigEndian: UInt32(0))
    append(bigEndian: Self.btsnoopEpoch &+ packet.time / 1_000)
    octets.append(contentsOf: form.octets)
  }

  // MARK: pcap

  private func appendPcapHeader(_ linkType: UInt32) {
    // Nanoseconds, version 2.4, no time zone, no limit of lengths.
    append(UInt32(0xA1B2_3C4D))
    append(UInt16(2))
    append(UInt16(4))
    append(UInt64(0))
    append(UInt32(CaptureDecoder.maximumLength))
    append(linkType)
  }

  private func addPcapRecord(_ packet: CapturedPacket, _ form: CapturedPacket.Form) throws {
    let (seconds, nanoseconds) = try time(of: packet)
    append(seconds)
    append(nanoseconds)
    append(UInt32(form.octets.count))
    append(UInt32(truncatingIfNeeded: form.originalLength))
    octets.append(contentsOf: form.octets)
  }

  // MARK: PacketLogger

  private func addPacketLoggerRecord(_ packet: CapturedPacket, _ form: CapturedPacket.Form) throws {
    let (seconds, nanoseconds) = try time(of: packet)
    append(bigEndian: UInt32(8 + form.octets.count))
    append(bigEndian: seconds)
    append(bigEndian: nanoseconds / 1_000)
    octets.append(contentsOf: form.octets)
  }

  /// Returns the seconds since 1970, and the nanoseconds after them.
  private func time(of packet: CapturedPacket) throws -> (seconds: UInt32, nanoseconds: UInt32) {
    guard packet.time >= 0, let seconds = UInt32(exactly: packet.time / 1_000_000_000) else {
      throw Failure(
        "the time of packet \(packet.number) is not between 1970 and 2106, as in \(format.title)",
        status: ExitStatus.usage)
    }
    return (seconds, UInt32(packet.time % 1_000_000_000))
  }
}

extension CaptureOutput.Format {
  /// The name in messages.
  fileprivate var title: String {
    switch self {
    case .pcapng: "pcapng"
    case .pcap: "pcap"
    case .btsnoop: "btsnoop"
    case .packetlogger: "PacketLogger"
    case .nrfSniffer: "nrf-sniffer"
    }
  }
}

extension CaptureLink {
  /// The LINKTYPE number with which the packets are written to pcapng and pcap; nil: there is none.
  fileprivate var linkType: UInt32? {
    switch self {
    case .hciH4: 187
    case .hciH4WithDirection, .btsnoopH4, .btsnoopUnencapsulated, .btsnoopBCSP, .btsnoopThreeWire, .packetLogger: 201
    case .linkLayer: 251
    case .linkLayerWithHeader: 256
    case .nordicSniffer: 272
    case .linuxMonitor, .btsnoopMonitor: 254
    case .other(let number): number <= UInt16.max ? number : nil
    case .otherDatalink: nil
    }
  }

  /// The datalink number with which HCI packets are written to btsnoop.
  fileprivate var datalink: UInt32 {
    switch self {
    case .btsnoopUnencapsulated: 1001
    case .linuxMonitor, .btsnoopMonitor: 2001
    default: 1002
    }
  }
}
