import ArgumentParser
import BluetoothDissection
import BluetoothWire
import Foundation
import Testing

@testable import ble

/// Copies of captures in the formats of other tools.
@Suite struct CaptureConversionTests {
  private typealias Fixture = CaptureFixture

  /// Returns the octets of a copy of all packets of a file, and the number of packets that were left out.
  private static func convert(_ file: [UInt8], _ format: CaptureOutput.Format) throws -> (octets: [UInt8], omitted: Int)
  {
    let path = NSTemporaryDirectory() + "/ble-tests-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let output = try CaptureOutput(path: path, format: format)
    var dissector = Dissector()
    for packet in Fixture.packets(try Fixture.decode(file)) { try output.add(packet, dissector.describe(packet)) }
    try output.finish()
    return (Array(try Data(contentsOf: URL(fileURLWithPath: path))), output.omitted)
  }

  private static func lines(_ file: [UInt8]) throws -> [String] { try Fixture.describe(file).packets.map(\.line) }

  private static let air: [UInt8] = Fixture.pcap(
    256,
    [
      Fixture.withPseudoHeader(Fixture.connectInd, channel: 0),
      Fixture.withPseudoHeader(Fixture.data(0b10, Fixture.mtuRequest), channel: 6, direction: 2),
      // LE 2M, decrypted, with the MIC checked and valid.
      Fixture.withPseudoHeader(
        Fixture.data(0b1010, Fixture.att([0x03, 23, 0])), channel: 6, direction: 3, flags: 0x7008),
      // AUX_SYNC_IND on channel 20 with another access address.
      Fixture.withPseudoHeader(
        Fixture.packet(0x1234_5678, 0x07, [1, 0]), channel: 22, direction: 1),
    ])

  private static let hci: [UInt8] = Fixture.btsnoop(
    1002,
    [
      (2, [1, 0x03, 0x0C, 0]), (3, [4, 0x0E, 4, 1, 0x03, 0x0C, 0]), (0, [2, 0x40, 0, 7, 0] + Fixture.mtuRequest),
      (1, [2, 0x40, 0x20, 7, 0] + Fixture.mtuRequest), (1, [3, 0x41, 0, 1, 9]),
    ])

  @Test("Packets on the air keep channel, level, direction, PHY and content in the nRF Sniffer's form")
  func nordic() throws {
    let (copy, omitted) = try Self.convert(Self.air, .nrfSniffer)
    #expect(try Self.lines(copy) == Self.lines(Self.air) && omitted == 0)
    let packets = try Fixture.describe(copy).packets
    #expect(packets.map(\.power) == [-50, -50, -50, -50])
    #expect(packets.map(\.phy) == ["LE 1M", "LE 1M", "LE 2M", "LE 1M"])
    // The link type; the header of the second packet: its length, version 3, the counter, a data packet, and 10 octets
    // with CRC and direction, channel, level, event counter and time in microseconds.
    #expect(copy[20] == 0x10 && copy[21] == 0x01)
    let second = Fixture.packets(try Fixture.decode(copy))[1].octets
    let header: [UInt8] = [0, 26, 0, 3, 1, 0, 6, 10, 0x03, 5, 50, 0, 0]
    #expect(Array(second[..<17]) == header + Fixture.littleEndian(UInt32(1_010_000)))
    let flags = Fixture.packets(try Fixture.decode(copy)).map { $0.octets[8] }
    // The last: AUX_SYNC_IND.
    #expect(flags == [0x01, 0x03, 0x1D, 0x05])
    // A file of the sniffer stays as it is.
    #expect(try Self.convert(copy, .nrfSniffer).octets == copy)
    #expect(Fixture.packets(try Fixture.decode(try Self.convert(copy, .pcapng).octets))[1].octets == second)
  }

  @Test(
    "The nRF Sniffer's form refuses packets that lack what it tells",
    arguments: [
      (Fixture.pcap(251, [Fixture.connectInd]), "packet 1 has no channel, which the nRF Sniffer tells"),
      (
        Fixture.pcap(256, [[0, 5] + Fixture.withPseudoHeader(Fixture.connectInd, channel: 0).dropFirst(2)]),
        "packet 1 has a level of 5 dBm, and the nRF Sniffer tells −255 to 0 dBm"
      ),
      (
        Fixture.pcap(256, [Fixture.withPseudoHeader(Fixture.data(1, []), channel: 6)]),
        "packet 1 has no direction, which the nRF Sniffer tells"
      ),
      (
        CaptureConversionTests.hci,
        "nrf-sniffer has no form for packets of \"hci\" (HCI), only for packets on the air; choose \"air\" with "
          + "--interface, or write pcapng"
      ),
    ] as [([UInt8], String)])
  func refusals(file: [UInt8], reason: String) {
    let failure = #expect(throws: Failure.self) { try Self.convert(file, .nrfSniffer) }
    #expect(failure?.description == reason && failure?.status == ExitStatus.usage)
  }

  @Test("HCI packets keep octets, direction and time in a file of PacketLogger and back")
  func packetLogger() throws {
    let (copy, omitted) = try Self.convert(Self.hci, .packetlogger)
    #expect(omitted == 0)
    #expect(copy[..<20] == [0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0x0C, 0, 0, 0, 0, 15])
    #expect(try Self.lines(copy) == Self.lines(Self.hci))
    #expect(try Self.convert(copy, .btsnoop).octets == Self.hci)
    // A note has no form in btsnoop, and keeps its form in PacketLogger.
    let noted = copy + Fixture.packetLogger(bigEndian: true, [(0xFC, Array("a note".utf8))])
    let snooped = try Self.convert(noted, .btsnoop)
    #expect(snooped.octets == Self.hci && snooped.omitted == 1)
    #expect(try Self.convert(noted, .packetlogger).octets == noted)
  }

  @Test("Packets of several adapters of a Linux monitor channel stay together in btsnoop, and not in PacketLogger")
  func monitor() throws {
    let file = Fixture.btsnoop(
      2001, [(2, [0x03, 0x0C, 0]), (1 << 16 | 2, [0x03, 0x0C, 0]), (0xFFFF_000C, Array("note".utf8))])
    #expect(try Self.convert(file, .btsnoop).octets == file)
    let pcap = try Self.convert(file, .pcap).octets
    #expect(try Self.lines(pcap) == Self.lines(file))
    #expect(try Self.convert(pcap, .btsnoop).octets == file)
    let failure = #expect(throws: Failure.self) { try Self.convert(file, .packetlogger) }
    #expect(
      failure?.description.hasPrefix("a PacketLogger file holds the HCI packets of one adapter: choose \"hci0\"")
        == true)
  }

  @Test("H4 without directions gets those of its packets in btsnoop")
  func bareH4() throws {
    let plain = Fixture.packets(try Fixture.decode(Self.hci)).map(\.octets)
    let copy = try Self.convert(Fixture.pcap(187, Array(plain[..<4])), .btsnoop).octets
    #expect(Fixture.packets(try Fixture.decode(copy)).map(\.flags) == [2, 3, 0, 1])
    let failure = #expect(throws: Failure.self) { try Self.convert(Fixture.pcap(187, [plain[4]]), .btsnoop) }
    #expect(failure?.description == "packet 1 has no direction, which btsnoop tells")
  }

  @Test("A copy keeps the length that a packet had before it was cut, and PacketLogger refuses it")
  func cut() throws {
    let packet = CapturedPacket(
      number: 7, time: 0, interface: CaptureInterface(index: 0, name: nil, link: .hciH4WithDirection),
      octets: [0, 0, 0, 1, 4, 0x0E, 4, 1], originalLength: 11)
    for format in [CaptureOutput.Format.pcapng, .pcap, .btsnoop] {
      let path = NSTemporaryDirectory() + "/ble-tests-\(UUID().uuidString)"
      defer { try? FileManager.default.removeItem(atPath: path) }
      let output = try CaptureOutput(path: path, format: format)
      try output.add(packet)
      try output.finish()
      let copy = Fixture.packets(try Fixture.decode(Array(try Data(contentsOf: URL(fileURLWithPath: path)))))
      #expect(copy.map { $0.originalLength - $0.octets.count } == [3])
    }
    let failure = #expect(throws: Failure.self) { try packet.packetLoggerForm(nil) }
    #expect(failure?.description == "packet 7 is cut, which a file of PacketLogger can't tell")
  }

  // MARK: Verbs

  /// Runs a verb on a file with these octets. Returns its failure; nil: it has succeeded.
  private static func run(_ octets: [UInt8], _ verb: (String) throws -> any ParsableCommand) throws -> Failure? {
    let path = NSTemporaryDirectory() + "/ble-tests-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(octets).write(to: URL(fileURLWithPath: path))
    do {
      var command = try verb(path)
      try command.run()
      return nil
    } catch let failure as Failure { return failure }
  }

  @Test("A capture of which no packet can be read ends show and stats with the status of a wrong file")
  func unreadable() throws {
    let file = Fixture.pcap(147, [[1, 2, 3], [4]])
    for failure in [
      try Self.run(file) { try CaptureCommand.Show.parse([$0]) },
      try Self.run(file) { try CaptureCommand.Show.parse([$0, "--protocol", "att"]) },
      try Self.run(file) { try CaptureCommand.Stats.parse([$0]) },
    ] {
      #expect(failure?.status == ExitStatus.ambiguous)
      #expect(failure?.description.hasSuffix(": no packet can be read") == true)
    }
    // Each packet can be read.
    #expect(try Self.run(Self.hci) { try CaptureCommand.Show.parse([$0]) } == nil)
  }
}
