import ArgumentParser
import BluetoothCapture
import BluetoothDissection
import BluetoothTypes
import BluetoothWire
import Foundation
import Testing

@testable import ble

/// Capture files: their decoding, their packets in words, and their copies.
@Suite struct CaptureTests {
  // MARK: Files

  private static let command = HCI.Packet.command(opcode: .reset, parameters: ByteSlice())
  private static let event = HCI.Packet.event(code: 0x0E, parameters: ByteSlice([1, 0x03, 0x0C, 0]))
  private static let advertising = LL.AdvertisingPDU.advInd(
    advertiser: DeviceAddress(0xC011_2233_4455, .random), data: ByteSlice([2, 0x01, 6, 3, 0x09, 0x41, 0x7A]),
    usesAlgorithm2: true)

  /// A capture with a packet on the air and two HCI packets.
  private static var pcapng: [UInt8] {
    var writer = PcapngWriter()
    let interface = writer.addInterface(name: "phone", linkType: .hciH4WithDirection)
    writer.hciPacket(command, on: interface, isFromHost: true, at: Instant(nanoseconds: 1_000_000))
    writer.hciPacket(
      event, on: interface, isFromHost: false, at: Instant(nanoseconds: 2_000_000), comments: ["a", "b"])
    let packet = advertising.packet(in: PacketPool())
    writer.airPacket(
      packet, crc: packet.crc, channel: ChannelIndex(38).radioChannel, modulation: .le2M, power: Decibel(-4),
      start: Instant(nanoseconds: 3_000_001), comments: ["tag → phone -60 dBm"])
    return writer.finish()
  }

  private static var btsnoop: [UInt8] {
    var writer = BtsnoopWriter()
    writer.packet(command, isFromHost: true, at: Instant(nanoseconds: 1_000_000))
    writer.packet(event, isFromHost: false, at: Instant(nanoseconds: 2_000_000))
    return writer.takeBytes()
  }

  /// A pcap file with one packet of LINKTYPE_BLUETOOTH_HCI_H4, in this order of octets.
  private static func pcap(bigEndian: Bool) -> [UInt8] {
    func number(_ value: UInt32) -> [UInt8] {
      let octets = withUnsafeBytes(of: value.littleEndian) { Array($0) }
      return bigEndian ? octets.reversed() : octets
    }
    return number(0xA1B2_C3D4) + (bigEndian ? [0, 2, 0, 4] : [2, 0, 4, 0]) + number(0) + number(0) + number(65_535)
      + number(187) + number(5) + number(6) + number(4) + number(4) + [1, 0x03, 0x0C, 0]
  }

  private static func decode(_ octets: [UInt8], piece: Int = .max) throws -> [CaptureElement] {
    try CaptureFixture.decode(octets, piece: piece)
  }

  private static func packets(_ elements: [CaptureElement]) -> [CapturedPacket] { CaptureFixture.packets(elements) }

  @Test("A pcapng file gives its interfaces and packets, in pieces of any length", arguments: [1, 7, 64, Int.max])
  func pcapngFile(piece: Int) throws {
    let elements = try Self.decode(Self.pcapng, piece: piece)
    let names = elements.compactMap { if case .interface(let interface) = $0 { interface.title } else { nil } }
    #expect(names == ["air", "phone"])
    let packets = Self.packets(elements)
    #expect(packets.map(\.number) == [1, 2, 3])
    #expect(packets.map(\.time) == [1_000_000, 2_000_000, 3_000_001])
    #expect(packets[0].octets == [0, 0, 0, 0, 1, 0x03, 0x0C, 0])
    #expect(packets[1].octets == [0, 0, 0, 1, 4, 0x0E, 4, 1, 0x03, 0x0C, 0])
    #expect(packets[1].comments == ["a", "b"])
    guard case .air(let air) = CapturedContent(packets[2]) else {
      Issue.record("no packet on the air")
      return
    }
    #expect(air.channel == 38 && air.phy == .le2M && air.power == -4 && air.isAdvertising && !air.hasWrongCRC)
    #expect(try LL.AdvertisingPDU(header: air.header, payload: air.payload) == Self.advertising)
  }

  @Test("A btsnoop file gives the packets of one adapter with directions and times")
  func btsnoopFile() throws {
    let packets = Self.packets(try Self.decode(Self.btsnoop, piece: 5))
    #expect(packets.map(\.time) == [1_000_000, 2_000_000])
    let directions = packets.map { packet -> Bool? in
      if case .hci(_, let isFromHost) = CapturedContent(packet) { isFromHost } else { nil }
    }
    #expect(directions == [true, false])
  }

  @Test("A pcap file is read in both orders of octets", arguments: [false, true])
  func pcapFile(bigEndian: Bool) throws {
    let packets = Self.packets(try Self.decode(Self.pcap(bigEndian: bigEndian)))
    #expect(packets.map(\.time) == [5_000_006_000])
    var dissector = Dissector()
    let names = packets.map { dissector.describe($0).name }
    #expect(names == ["Reset"])
  }

  @Test("A capture that ends within a packet is an error with its offset", arguments: [0, 1, 2])
  func truncated(kind: Int) {
    let file = [Self.pcapng, Self.btsnoop, Self.pcap(bigEndian: false)][kind]
    let whole = (try? Self.packets(Self.decode(file)).count) ?? 0
    #expect(whole > 0)
    var failures = 0
    for length in 0..<file.count {
      do {
        #expect(try Self.packets(Self.decode(Array(file[..<length]))).count <= whole)
      } catch let problem as CaptureProblem {
        failures += 1
        #expect(problem.offset <= length)
      } catch {
        Issue.record("\(error)")
      }
    }
    // Between two packets, a file may end.
    #expect(failures >= file.count - whole - 4)
  }

  /// The result of reading octets: the packets in words, or the error.
  private static func reading(_ octets: [UInt8], piece: Int = .max) throws -> Result<[String], CaptureProblem> {
    let packets: [CapturedPacket]
    do { packets = Self.packets(try decode(octets, piece: piece)) } catch let problem as CaptureProblem {
      return .failure(problem)
    }
    var dissector = Dissector()
    return .success(
      packets.map { packet in
        let description = dissector.describe(packet)
        return "\(packet.number) \(packet.time) \(packet.octets) \(packet.comments) \(description.name)"
      })
  }

  @Test("A damaged capture gives the same packets or the same error, whatever the pieces in which it is read")
  func damaged() throws {
    var random = RandomStream(seed: 21)
    for file in [Self.pcapng, Self.btsnoop, Self.pcap(bigEndian: true)] {
      let whole = try Self.reading(file).get()
      var (unchanged, changed, refused) = (0, 0, 0)
      for _ in 0..<2_000 {
        var octets = file
        for _ in 0...(random.next() % 3) {
          octets[Int(random.next() % UInt64(octets.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        let pieces = try Self.reading(octets, piece: 1 + Int(random.next() % 16))
        switch (try Self.reading(octets), pieces) {
        case (.success(let packets), .success(let same)):
          #expect(packets == same)
          // A damaged length may join packets, but no octet is in two of them.
          #expect(packets.count <= whole.count)
          if packets == whole { unchanged += 1 } else { changed += 1 }
        case (.failure(let problem), .failure(let same)):
          #expect(problem.description == same.description)
          #expect((0...octets.count).contains(problem.offset))
          refused += 1
        case (let one, let other): Issue.record("\(one) as a whole, \(other) in pieces")
        }
      }
      // The damage reaches both the packets and the structure of the file.
      #expect(changed > 100 && refused > 100 && unchanged > 0, "\(unchanged), \(changed), \(refused)")
    }
  }

  @Test("Times beyond all bounds give statistics and a picture")
  func times() throws {
    var file = Self.pcapng
    // The upper half of the time of the last packet, the largest one.
    let type: [UInt8] = [6, 0, 0, 0]
    let last = try #require(file.indices.dropLast(32).last { Array(file[$0..<$0 + 4]) == type && $0 % 4 == 0 })
    for offset in 12..<20 { file[last + offset] = 0xFF }
    var dissector = Dissector()
    var statistics = CaptureStatistics()
    var plot = CapturePlot()
    for packet in Self.packets(try Self.decode(file)) {
      let description = dissector.describe(packet)
      plot.add(description, statistics.add(packet, description))
    }
    #expect(statistics.packets == 3 && statistics.end > 3_000_000_000_000_000_000)
    #expect(plot.svg("times").hasSuffix("</svg>\n"))
  }

  @Test("Octets of another format are no capture")
  func foreign() {
    let problem = #expect(throws: CaptureProblem.self) { try Self.decode(Array("devices: []\n".utf8)) }
    #expect(
      problem?.description == "offset 0: no capture: expected pcapng, pcap, btsnoop, PacketLogger or an Android bug "
        + "report, plain or in gzip or zip")
    #expect(throws: CaptureProblem.self) { try Self.decode([]) }
  }

  // MARK: Copies

  private static func temporary(_ name: String) -> String {
    NSTemporaryDirectory() + "/ble-tests-\(UUID().uuidString)-\(name)"
  }

  private static func copy(_ packets: [CapturedPacket], _ format: CaptureOutput.Format) throws -> [CapturedPacket] {
    let path = temporary("copy")
    defer { try? FileManager.default.removeItem(atPath: path) }
    let output = try CaptureOutput(path: path, format: format)
    for packet in packets { try output.add(packet) }
    try output.finish()
    return Self.packets(try decode(Array(try Data(contentsOf: URL(fileURLWithPath: path)))))
  }

  @Test("A copy in pcapng has the same octets, times, names and comments")
  func copies() throws {
    let packets = Self.packets(try Self.decode(Self.pcapng))
    let copies = try Self.copy(packets, .pcapng)
    #expect(copies.map(\.octets) == packets.map(\.octets))
    #expect(copies.map(\.time) == packets.map(\.time))
    #expect(copies.map(\.comments) == packets.map(\.comments))
    #expect(copies.map(\.interface.title) == ["phone", "phone", "air"])
  }

  @Test("HCI packets keep octets, direction and microseconds from pcapng to btsnoop and back")
  func conversion() throws {
    let packets = Self.packets(try Self.decode(Self.pcapng)).filter { $0.interface.title == "phone" }
    let snooped = try Self.copy(packets, .btsnoop)
    #expect(snooped.map(\.octets) == packets.map { Array($0.octets.dropFirst(4)) })
    // Bit 0: received; bit 1: a command or an event.
    #expect(snooped.map(\.flags) == [2, 3])
    let back = try Self.copy(snooped, .pcapng)
    #expect(back.map(\.octets) == packets.map(\.octets))
    #expect(back.map(\.time) == packets.map(\.time))
  }

  @Test("A refusal shows control characters of a name as escapes")
  func refusedNames() {
    let name = "a\u{1B}[2J\nb"
    var packets: [CapturedPacket] = []
    for (index, link) in [CaptureLink.hciH4, .hciH4, .linkLayer].enumerated() {
      let interface = CaptureInterface(index: index, name: name, link: link)
      packets.append(
        CapturedPacket(number: 1, time: 0, interface: interface, octets: [1, 3, 0x0C, 0], originalLength: 4))
    }
    for refused in [Array(packets[..<2]), [packets[2]]] {
      let failure = #expect(throws: Failure.self) { try Self.copy(refused, .btsnoop) }
      #expect(failure?.description.contains(name.printable) == true)
      #expect(failure?.description.unicodeScalars.contains { $0.value < 0x20 } == false)
    }
  }

  @Test("btsnoop refuses packets on the air, and a second adapter")
  func refusals() throws {
    let packets = Self.packets(try Self.decode(Self.pcapng))
    let air = #expect(throws: Failure.self) { try Self.copy([packets[2]], .btsnoop) }
    #expect(air?.description.contains("no form for packets of \"air\"") == true)
    var other = PcapngWriter()
    let interface = other.addInterface(name: "tablet", linkType: .hciH4WithDirection)
    let second = other.addInterface(name: "phone", linkType: .hciH4WithDirection)
    other.hciPacket(Self.command, on: interface, isFromHost: true, at: .zero)
    other.hciPacket(Self.command, on: second, isFromHost: true, at: .zero)
    let both = Self.packets(try Self.decode(other.finish()))
    let failure = #expect(throws: Failure.self) { try Self.copy(both, .btsnoop) }
    #expect(failure?.description.contains("\"tablet\", \"phone\"") == true)
  }

  @Test("A copy that fails leaves the former file as it was, and no other file")
  func replaces() throws {
    let folder = Self.temporary("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/former"
    try Data("former".utf8).write(to: URL(fileURLWithPath: path))
    let packets = Self.packets(try Self.decode(Self.pcapng))
    do {
      let output = try CaptureOutput(path: path, format: .btsnoop)
      try output.add(packets[0])
      #expect(throws: Failure.self) { try output.add(packets[2]) }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("former".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["former"])
    let output = try CaptureOutput(path: path, format: .btsnoop)
    try output.finish()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: Array("btsnoop\0".utf8)))
  }

  /// Returns the failure of a conversion of a file with these octets, and the octets of the copy; nil: there is none.
  private static func convert(_ octets: [UInt8], _ options: [String] = []) throws -> (Failure?, copy: [UInt8]?) {
    let (path, copy) = (temporary("capture"), temporary("copy.pcapng"))
    defer { for path in [path, copy] { try? FileManager.default.removeItem(atPath: path) } }
    try Data(octets).write(to: URL(fileURLWithPath: path))
    let verb = try CaptureCommand.Convert.parse([path, copy] + options)
    var failure: Failure?
    do { try verb.run() } catch let error as Failure { failure = error }
    return (failure, FileManager.default.contents(atPath: copy).map { Array($0) })
  }

  @Test("The progress of a capture in a file is that of its octets, until its end or its first error")
  func progress() throws {
    // Several reads of 256 KiB.
    let octets = Array(repeatElement(Self.pcapng, count: 3_000).joined())
    let path = Self.temporary("large.pcapng")
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(octets).write(to: URL(fileURLWithPath: path))
    let input = try CaptureInput(path: path)
    #expect(input.progress == nil)
    input.showProgress()
    #expect(input.progress?.total == UInt64(octets.count))
    var positions: [UInt64] = []
    while try input.next() != nil {
      #expect(input.progress != nil)
      if positions.last != input.position { positions.append(input.position) }
    }
    let reads = UInt64(octets.count - 1) / 262_144 + 1
    #expect(positions == (1...reads).map { min($0 * 262_144, UInt64(octets.count)) })
    #expect(reads > 1)
    #expect(input.progress == nil)
    // No capture.
    try Data([1, 2, 3, 4, 5, 6, 7, 8]).write(to: URL(fileURLWithPath: path))
    let wrong = try CaptureInput(path: path)
    wrong.showProgress()
    #expect(wrong.progress != nil)
    #expect(throws: Failure.self) { try wrong.next() }
    #expect(wrong.progress == nil)
  }

  @Test("A capture that is no regular file shows no progress, and neither does a copy to such a file")
  func noProgress() throws {
    let input = try CaptureInput(path: "/dev/null")
    input.showProgress()
    #expect(input.progress == nil)
    #expect(try !CaptureOutput(path: "-", format: .pcapng).isRegular)
    #expect(try !CaptureOutput(path: "/dev/null", format: .pcapng).isRegular)
    #expect(try CaptureOutput(path: Self.temporary("copy.pcapng"), format: .pcapng).isRegular)
  }

  @Test("The packets before the cut of a capture are used, and then the cut is a failure")
  func cut() throws {
    let octets = Array(Self.btsnoop.dropLast(3))
    let path = Self.temporary("cut.btsnoop")
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(octets).write(to: URL(fileURLWithPath: path))
    let report = try CaptureReport(path, Self.filter([]))
    #expect(report.statistics.packets == 1)
    #expect(report.cut?.status == ExitStatus.ambiguous)
    let (failure, copy) = try Self.convert(octets)
    #expect(failure?.status == ExitStatus.ambiguous)
    #expect(failure?.description.hasSuffix("the file ends within a packet") == true)
    #expect(Self.packets(try Self.decode(try #require(copy))).count == 1)
    // Without a complete packet, there is nothing to use.
    #expect(try Self.convert(Array(octets.prefix(30))).copy == nil)
  }

  @Test("A capture that ends within a packet and lacks what a verb looks for gives the status of the cut")
  func missingInCut() throws {
    let octets = Array(Self.pcapng.dropLast(3))
    let (failure, copy) = try Self.convert(octets, ["--interface", "phonne"])
    #expect(failure?.status == ExitStatus.ambiguous)
    #expect(failure?.description.hasSuffix("the file ends within a packet") == true)
    #expect(copy == nil)
    let (path, output) = (Self.temporary("cut.pcapng"), Self.temporary("plain.pcapng"))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(octets).write(to: URL(fileURLWithPath: path))
    // The packets before the cut have no LL_ENC_REQ.
    let decrypt = try CaptureCommand.Decrypt.parse([path, output, "--ltk", String(repeating: "12", count: 16)])
    let cut = #expect(throws: Failure.self) { try decrypt.run() }
    #expect(cut?.status == ExitStatus.ambiguous)
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  @Test("A name that no interface of a capture has is a failure with the nearest name, and writes no file")
  func unknownInterface() throws {
    let (failure, copy) = try Self.convert(Self.pcapng, ["--interface", "phonne"])
    #expect(failure?.status == ExitStatus.notFound)
    #expect(failure?.description.hasSuffix("has no interface \"phonne\"; did you mean \"phone\"?") == true)
    #expect(copy == nil)
    #expect(try Self.convert(Self.pcapng, ["--interface", "phone"]).copy != nil)
  }

  // MARK: Filters

  private static func filter(_ arguments: [String]) throws -> PacketFilter {
    try PacketFilter(try PacketFilterOptions.parse(arguments))
  }

  @Test(
    "A filter admits a packet that has one value of each option",
    arguments: [
      ([], [1, 2, 3]), (["--interface", "phone"], [1, 2]), (["--channel", "38"], [3]), (["--channel", "37"], []),
      (["--protocol", "event", "--protocol", "advertising"], [2, 3]), (["--name", "adv_"], [3]),
      (["--address", "c0:11:22:33:44:55"], [3]), (["--address", "C01122334456"], []),
      (["--from", "0.002"], [2, 3]), (["--to", "0.002"], [1]), (["--interface", "air", "--name", "Reset"], []),
      (["--handle", "0x0012"], []), (["--connection", "64"], []),
    ] as [([String], [Int])])
  func filters(arguments: [String], numbers: [Int]) throws {
    let filter = try Self.filter(arguments)
    var dissector = Dissector()
    let shown = Self.packets(try Self.decode(Self.pcapng)).map { dissector.describe($0) }.filter { filter.admits($0) }
    #expect(shown.map(\.number) == numbers)
  }

  @Test(
    "A filter that can't be read is refused",
    arguments: [
      ["--channel", "40"], ["--address", "C0:11"], ["--handle", "65536"], ["--protocol", "atp"], ["--connection", "x"],
    ])
  func wrongFilters(arguments: [String]) {
    #expect(throws: (any Error).self) { try PacketFilterOptions.parse(arguments) }
  }
}
