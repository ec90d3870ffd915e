import BluetoothWire
import Requirements
import Testing

@testable import BluetoothCapture

@Suite struct PcapngWriterTests {
  static let packet = AirPacket(
    accessAddress: 0x8E89_BED6, crcInit: 0x555555, header: 0x0300, payload: [0x01, 0x02, 0x03])

  @Test("A new capture is a section header and the interface of the air, octet by octet")
  func header() {
    var writer = PcapngWriter()
    let bytes = writer.takeBytes()
    let section: [UInt8] =
      [0x0A, 0x0D, 0x0D, 0x0A, 0x38, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0]
      + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 4, 0, 19, 0] + Array("swift-corebluetooth".utf8) + [0]
      + [0, 0, 0, 0, 0x38, 0, 0, 0]
    let interface: [UInt8] =
      [1, 0, 0, 0, 0x28, 0, 0, 0, 0x00, 0x01, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0]
      + Array("air".utf8) + [0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0x28, 0, 0, 0]
    #expect(bytes == section + interface)
  }

  @Test("A section that begins later lists all interfaces, and holds the packets that were held back")
  func laterSection() {
    var writer = PcapngWriter()
    let interface = writer.addInterface(name: "phone", linkType: .hciH4WithDirection)
    let beginning = writer.takeBytes()
    writer.hciPacket(
      .command(opcode: .reset, parameters: []), on: interface, isFromHost: true, at: Instant(nanoseconds: 1))
    writer.beginSection()
    let later = writer.finish()
    #expect(later.starts(with: beginning))
    #expect(later.count > beginning.count)
    var other = PcapngWriter()
    other.beginSection()
    var untouched = PcapngWriter()
    #expect(other.takeBytes() == untouched.takeBytes())
  }

  @Test(
    "A packet on the air is written with its pseudo header, access address and CRC, octet by octet",
    .requirement("L043", "L069"))
  func airPacket() {
    var writer = PcapngWriter()
    _ = writer.takeBytes()
    writer.airPacket(
      Self.packet, crc: 0x563412, channel: RadioChannel(39), modulation: .le1M, power: Decibel(-4),
      start: Instant(nanoseconds: 0x1_0000_0002), comments: ["ok"])
    let expected: [UInt8] = [
      // Block type, length, interface, time (high, low), captured and original length.
      6, 0, 0, 0, 0x44, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 22, 0, 0, 0, 22, 0, 0, 0,
      // RF channel, −4 dBm, noise, access address offenses, reference access address, flags.
      39, 0xFC, 0, 0, 0xD6, 0xBE, 0x89, 0x8E, 0x13, 0x0C,
      // Access address, PDU, CRC, padding.
      0xD6, 0xBE, 0x89, 0x8E, 0x00, 0x03, 1, 2, 3, 0x12, 0x34, 0x56, 0, 0,
      // Comment, end of options, length.
      1, 0, 2, 0, 0x6F, 0x6B, 0, 0, 0, 0, 0, 0, 0x44, 0, 0, 0,
    ]
    let bytes = writer.finish()
    #expect(bytes == expected)
  }

  @Test(
    "The flags contain the PHY and the direction",
    arguments: [
      (Modulation.le1M, AirDirection.centralToPeripheral, 0x0D13), (.le2M, .peripheralToCentral, 0x4D93),
      (.codedS8, .unspecified, 0x8C13), (.codedS2, .unspecified, 0x8C13), (.le1M, .auxiliaryAdvertising, 0x0C93),
    ] as [(Modulation, AirDirection, Int)])
  func flags(modulation: Modulation, direction: AirDirection, flags: Int) throws {
    var writer = PcapngWriter()
    writer.airPacket(
      Self.packet, crc: 0, channel: RadioChannel(0), modulation: modulation, power: Decibel(0), start: .zero,
      direction: direction)
    let data = try #require(CaptureReader(writer.finish()).packets.first).data
    #expect(Int(data[8]) | Int(data[9]) << 8 == flags)
    // Only a coded packet has a coding indicator, after the access address.
    #expect(data.count == (modulation.phy == .leCoded ? 23 : 22))
    if modulation.phy == .leCoded { #expect(data[14] == (modulation == .codedS2 ? 1 : 0)) }
  }

  @Test(
    "Power is rounded to whole dBm and clamped to an octet",
    arguments: [
      (Decibel(rounding: -90.6), -91), (Decibel(rounding: 7.5), 8), (Decibel(500), 127), (Decibel(-500), -128),
    ]
      as [(Decibel, Int8)])
  func power(power: Decibel, octet: Int8) throws {
    var writer = PcapngWriter()
    writer.airPacket(Self.packet, crc: 0, channel: RadioChannel(0), modulation: .le1M, power: power, start: .zero)
    let data = try #require(CaptureReader(writer.finish()).packets.first).data
    #expect(data[1] == UInt8(bitPattern: octet))
  }

  @Test("Commands, data and events are written as H4 after their direction", .requirement("L069"))
  func hci() throws {
    var writer = PcapngWriter()
    let phone = writer.addInterface(name: "phone", linkType: .hciH4WithDirection)
    writer.hciPacket(
      .command(opcode: HCI.Opcode(rawValue: 0x0C03), parameters: []), on: phone, isFromHost: true, at: .zero)
    writer.hciPacket(
      .event(code: 0x0E, parameters: [1, 3, 0x0C, 0]), on: phone, isFromHost: false, at: .zero)
    let attribute: ByteSlice = [3, 0, 4, 0, 0x0A, 3, 0]
    writer.hciPacket(
      .acl(
        HCI.ACLData(handle: HCI.ConnectionHandle(rawValue: 0x0040), boundary: .firstFlushable, payload: attribute)),
      on: phone, isFromHost: false, at: .zero)
    let capture = try CaptureReader(writer.finish())
    #expect(capture.interfaces.last == CaptureReader.Interface(linkType: 201, name: "phone", timeResolution: 9))
    #expect(
      capture.packets.map(\.data) == [
        [0, 0, 0, 0, 0x01, 0x03, 0x0C, 0],
        [0, 0, 0, 1, 0x04, 0x0E, 4, 1, 3, 0x0C, 0],
        [0, 0, 0, 1, 0x02, 0x40, 0x20, 7, 0, 3, 0, 4, 0, 0x0A, 3, 0],
      ])
    #expect(capture.packets.allSatisfy { $0.interface == 1 })
  }

  @Test("Packets are written in order of time, and packets of equal time in the order in which they were added")
  func order() throws {
    var writer = PcapngWriter()
    let phone = writer.addInterface(name: "phone", linkType: .hciH4WithDirection)
    let opcodes: [(UInt16, Int64)] = [(1, 100), (2, 300), (3, 200), (4, 300), (5, 0)]
    for (opcode, time) in opcodes {
      writer.hciPacket(
        .command(opcode: HCI.Opcode(rawValue: opcode), parameters: []), on: phone, isFromHost: true,
        at: Instant(nanoseconds: time))
    }
    let capture = try CaptureReader(writer.finish())
    #expect(capture.packets.map { $0.data[5] } == [5, 1, 3, 2, 4])
  }

  @Test("A packet is held back until no earlier packet can follow")
  func reordering() throws {
    var writer = PcapngWriter()
    _ = writer.takeBytes()
    writer.airPacket(Self.packet, crc: 0, channel: RadioChannel(0), modulation: .le1M, power: Decibel(0), start: .zero)
    let early = writer.takeBytes()
    #expect(early.isEmpty)
    let later = Instant.zero + PcapngWriter.reorderingTime + .nanoseconds(1)
    writer.airPacket(Self.packet, crc: 0, channel: RadioChannel(0), modulation: .le1M, power: Decibel(0), start: later)
    let settled = writer.takeBytes()
    #expect(try CaptureReader(settled).packets.map(\.nanoseconds) == [0])
    let capture = try CaptureReader(writer.finish())
    #expect(capture.packets.count == 1)
  }

  @Test("A comment can be added to a packet until the packet is written")
  func lateComment() throws {
    var writer = PcapngWriter()
    let record = writer.airPacket(
      Self.packet, crc: 0, channel: RadioChannel(0), modulation: .le1M, power: Decibel(0), start: .zero,
      comments: ["first"])
    let isAdded = writer.add(comment: "second", to: record)
    #expect(isAdded)
    let capture = try CaptureReader(writer.finish())
    #expect(capture.packets.map(\.comments) == [["first", "second"]])
    let isAddedLate = writer.add(comment: "third", to: record)
    #expect(!isAddedLate)
  }

  @Test("A comment that is too long for an option is truncated, and the file stays valid")
  func longComment() throws {
    var writer = PcapngWriter()
    writer.airPacket(
      Self.packet, crc: 0, channel: RadioChannel(0), modulation: .le1M, power: Decibel(0), start: .zero,
      comments: [String(repeating: "x", count: 70_000)])
    let capture = try CaptureReader(writer.finish())
    #expect(capture.packets.first?.comments.first?.utf8.count == 65_535)
  }

  @Test("The pending count includes all bytes that have not been taken, held back or not")
  func pendingCount() {
    var writer = PcapngWriter()
    #expect(writer.pendingCount > 0)
    _ = writer.takeBytes()
    #expect(writer.pendingCount == 0)
    writer.airPacket(Self.packet, crc: 0, channel: RadioChannel(0), modulation: .le1M, power: Decibel(0), start: .zero)
    #expect(writer.pendingCount >= 22)
    _ = writer.finish()
    #expect(writer.pendingCount == 0)
  }

  @Test("Packets dropped for lack of room are counted in a comment of the next packet and at the end of the file")
  func dropping() throws {
    var writer = PcapngWriter()
    let host = writer.addInterface(name: "host", linkType: .hciH4WithDirection)
    func add(at milliseconds: Int64) {
      writer.airPacket(
        Self.packet, crc: 0, channel: RadioChannel(39), modulation: .le1M, power: Decibel(0),
        start: .zero + .milliseconds(milliseconds), comments: ["\(milliseconds)"])
      writer.hciPacket(
        .event(code: 0x0E, parameters: []), on: host, isFromHost: false, at: .zero + .milliseconds(milliseconds))
    }
    for time: Int64 in [0, 100, 200] { add(at: time) }
    // The packets at 200 ms are held back.
    writer.dropPackets()
    #expect(writer.newlyDropped == 4)
    add(at: 300)
    var bytes = writer.takeBytes()
    #expect(writer.newlyDropped == 0)
    add(at: 400)
    writer.dropPackets(all: true)
    bytes += writer.finish()
    let file = try CaptureReader(bytes)
    #expect(file.interfaces.map(\.name) == ["air", "host"])
    #expect(file.packets.map(\.comments) == [["200", "not captured: 4 packets before this one"], []])
    #expect(file.dropped == [0: 4, 1: 4])
  }
}
