import BluetoothAir
import BluetoothDissection
import BluetoothLab
import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

/// The files that `ble clone` writes and `ble serve` reads.
@Suite struct RecordingTests {
  /// The advertising in a file that has these fields.
  private static func octets(of fields: JSONText) throws -> [UInt8] {
    let file = try WorldFile(
      text: FileText.yaml(
        .object([
          (
            "devices",
            .list([
              .object([
                ("name", .text("a")),
                (
                  "accessory",
                  .object([("kind", .text("broadcaster")), ("advertising", .object([("payload", fields)]))])
                ),
              ])
            ])
          )
        ])))
    return try #require(file.members.first?.description).advertising.payload.octets
  }

  @Test(
    "A recorded payload has the octets of the packet",
    arguments: [
      [], [2, 1, 6], [2, 1, 6, 3, 3, 0x1A, 0x18, 2, 0x0A, 0xF6, 4, 9, 0x54, 0x61, 0x67],
      [5, 3, 0x0D, 0x18, 0x0F, 0x18, 3, 2, 0x0A, 0x18],
      // Two lists of one width, and fields that come twice.
      [3, 3, 0x0D, 0x18, 3, 3, 0x0F, 0x18], [2, 1, 6, 2, 0x0A, 0, 2, 1, 4], [2, 1, 6, 5, 0x16, 0x0F, 0x18, 0x64, 0x65],
      [3, 0xFF, 0x4C, 0, 5, 0xFF, 0xFF, 0xFF, 1, 2], [2, 0xFF, 1], [3, 9, 0xC3, 0x28], [3, 0x19, 0x41, 3],
      [2, 0x0A, 0x80],
      [17, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 3, 0x24, 1, 2], [5, 5, 1, 2, 3, 4],
      [5, 5, 0x0D, 0x18, 0, 0],
      [4, 8, 0x79, 0x65, 0x73], [3, 9, 0x31, 0x32], [4, 9, 0x22, 0x5C, 0x0A], [1, 0x24],
    ] as [[UInt8]])
  func payloads(octets: [UInt8]) throws {
    let again = try Self.octets(of: RecordedAdvertising.fields(of: octets))
    #expect(again == octets)
  }

  @Test("A payload beyond 31 octets is recorded up to the last structure that fits")
  func longPayload() throws {
    let octets: [UInt8] = [2, 1, 6, 27, 0xFF] + [UInt8](repeating: 7, count: 26) + [3, 3, 0x0D, 0x18]
    #expect(try Self.octets(of: RecordedAdvertising.fields(of: octets)) == Array(octets.dropLast(4)))
  }

  @Test("The interval of an advertiser is found behind its random delays, and without packets that were missed")
  func intervals() throws {
    for interval in [0.02, 0.1, 0.1525, 0.2, 1.0225, 1.285] {
      // Delays that are evenly distributed over 10 ms, in an order that looks random.
      var time = Duration.zero
      var times: [Duration] = []
      for number in 0..<60 {
        if number % 7 != 3 { times.append(time) }
        time += .seconds(interval + Double(number * 37 % 60) / 6_000)
      }
      #expect(RecordedAdvertising.interval(times) == interval)
    }
    #expect(RecordedAdvertising.interval([.zero, .seconds(1)]) == nil)
    // An unusual interval is rounded to steps of 0.625 ms.
    let unusual = (0..<2_000).map { Duration.seconds(Double($0) * 0.1191) }
    let rounded = try #require(RecordedAdvertising.interval(unusual))
    #expect(abs(rounded - 0.114375) < 1e-9)
  }

  @Test("Values that a file can't have are left out of a recording, which says so, and a description is made readable")
  func unusualValues() throws {
    func value(_ octets: [UInt8], _ uuid: String) -> GATTTree.Value {
      .value(ValueText(octets, of: CBUUID(string: uuid)))
    }
    let descriptors = [
      GATTTree.Descriptor(uuid: CBUUID(string: "2901"), value: value([0x41, 0xFF, 0x42, 0], "2901")),
      GATTTree.Descriptor(uuid: CBUUID(string: "2908"), value: value(Array(repeating: 1, count: 513), "2908")),
    ]
    let tree = GATTTree(services: [
      GATTTree.Service(
        uuid: CBUUID(string: "FFE0"), isPrimary: true, includes: [],
        characteristics: [
          GATTTree.Characteristic(
            uuid: CBUUID(string: "FFE1"), properties: .read, value: value(Array(repeating: 1, count: 765), "FFE1"),
            descriptors: descriptors),
          GATTTree.Characteristic(
            uuid: CBUUID(string: "FFE2"), properties: .read, value: value(Array(repeating: 1, count: 512), "FFE2"),
            descriptors: []),
        ])
    ])
    var advertising = RecordedAdvertising()
    advertising.add(.advInd, [2, 1, 6], isConnectable: true, at: .zero)
    let recording = RecordingFile(named: "a", advertising, tree)
    #expect(recording.notes == ["the file can't describe values of more than 512 octets: left out FFE1"])
    let service = try #require(try WorldFile(text: recording.yaml).members.first?.description?.services.first)
    #expect(service.characteristics.map { $0.values.map(\.count) } == [[], [512]])
    #expect(service.characteristics[0].descriptors.count == 1)
  }

  @Test("A recorded tree is a file that describes the same services")
  func tree() throws {
    func value(_ octets: [UInt8], _ uuid: String) -> GATTTree.Value {
      .value(ValueText(octets, of: CBUUID(string: uuid)))
    }
    let own = "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C002"
    let tree = GATTTree(services: [
      GATTTree.Service(
        uuid: CBUUID(string: "180F"), isPrimary: true, includes: [CBUUID(string: "180A"), CBUUID(string: "1815")],
        characteristics: [
          GATTTree.Characteristic(
            uuid: CBUUID(string: "2A19"), properties: [.read, .notify, .authenticatedSignedWrites],
            value: value([87], "2A19"),
            descriptors: [
              GATTTree.Descriptor(uuid: CBUUID(string: "2902"), value: value([0, 0], "2902")),
              GATTTree.Descriptor(uuid: CBUUID(string: "2901"), value: value(Array("main: 50 %".utf8), "2901")),
              // A device that repeats a descriptor: the file has the first one.
              GATTTree.Descriptor(uuid: CBUUID(string: "2901"), value: value(Array("again".utf8), "2901")),
              GATTTree.Descriptor(uuid: CBUUID(string: "2904"), value: value([4, 0, 0xAD, 0x27, 1, 1, 0], "2904")),
              GATTTree.Descriptor(uuid: CBUUID(string: "2908"), value: value([1, 2], "2908")),
            ]),
          GATTTree.Characteristic(
            uuid: CBUUID(string: "2A19"), properties: .read, value: .none, descriptors: []),
          GATTTree.Characteristic(
            uuid: CBUUID(string: own), properties: .authenticatedSignedWrites, value: .none, descriptors: []),
        ]),
      GATTTree.Service(
        uuid: CBUUID(string: "180A"), isPrimary: true, includes: [],
        characteristics: [
          GATTTree.Characteristic(
            uuid: CBUUID(string: own), properties: [.read, .write], value: value(Array("no".utf8), own),
            needsEncryption: true, descriptors: []),
          GATTTree.Characteristic(
            uuid: CBUUID(string: "2A29"), properties: .read, value: value([0x41, 0], "2A29"), descriptors: []),
        ]),
    ])
    var advertising = RecordedAdvertising()
    advertising.add(.advInd, [2, 1, 6], isConnectable: true, at: .zero)
    advertising.add(.scanRsp, [2, 9, 0x41], isConnectable: true, at: .zero)
    let recording = RecordingFile(named: "a \"b\"", advertising, tree)
    #expect(recording.counts.services == 2)
    #expect(recording.counts.characteristics == 5)
    #expect(recording.counts.values == 3)
    #expect(recording.notes.count == 1, "\(recording.notes)")
    for text in [recording.yaml, recording.json] {
      let file = try WorldFile(text: text)
      #expect(file.members.map(\.name) == ["a \"b\""])
      let description = try #require(file.members.first?.description)
      #expect(description.advertising.payload.octets == [2, 1, 6])
      #expect(description.advertising.scanResponse.octets == [2, 9, 0x41])
      // The included service comes first.
      #expect(description.services.map(\.uuid) == ["180A", "180F"])
      #expect(description.services[1].includes == [0])
      let first = description.services[0].characteristics
      #expect(first.map(\.values) == [[Array("no".utf8)], [[0x41, 0]]])
      #expect(first.map(\.protection) == [.encrypted, .none])
      let level = try #require(description.services[1].characteristics.first)
      #expect(description.services[1].characteristics.map { "\($0.uuid)" } == ["2A19", "2A19", own])
      #expect(level.properties == [.read, .notify, .authenticatedSignedWrites])
      #expect(level.values == [[87]])
      #expect(level.descriptors.count == 3)
      #expect(level.descriptors.contains(.other("2908", [1, 2])))
      #expect(level.descriptors.contains(.userDescription("main: 50 %")))
    }
    #expect(recording.yaml.contains("uuid: \"2A19\"  # Battery Level\n"))
  }

  @Test("A recorded tree has services with one UUID, a writable description, and aggregate formats of its parts")
  func repeatedServices() throws {
    func descriptor(_ uuid: String, _ octets: [UInt8], handle: UInt16) -> GATTTree.Descriptor {
      let type = CBUUID(string: uuid)
      return GATTTree.Descriptor(uuid: type, value: .value(ValueText(octets, of: type)), handle: handle)
    }
    func characteristic(_ uuid: String, _ descriptors: [GATTTree.Descriptor]) -> GATTTree.Characteristic {
      GATTTree.Characteristic(uuid: CBUUID(string: uuid), properties: .read, value: .none, descriptors: descriptors)
    }
    let format: [UInt8] = [4, 0, 0, 0x27, 1, 0, 0]
    func service(_ first: UInt16) -> GATTTree.Service {
      let described = [
        descriptor("2900", [2, 0], handle: first), descriptor("2901", Array("Roof".utf8), handle: first + 1),
        descriptor("2904", format, handle: first + 2),
      ]
      return GATTTree.Service(
        uuid: CBUUID(string: "1815"), isPrimary: true, includes: [],
        characteristics: [
          characteristic("2A58", described),
          characteristic("2A56", [descriptor("2904", format, handle: first + 4)]),
          characteristic("2A5A", [descriptor("2905", [24, 0, 22, 0], handle: first + 6)]),
        ])
    }
    var advertising = RecordedAdvertising()
    advertising.add(.advInd, [2, 1, 6], isConnectable: true, at: .zero)
    let recording = RecordingFile(named: "a", advertising, GATTTree(services: [service(10), service(20)]))
    #expect(recording.counts.services == 2 && recording.counts.characteristics == 6)
    // The first aggregate format has the parts of the second service.
    #expect(recording.notes.count == 1, "\(recording.notes)")
    for text in [recording.yaml, recording.json] {
      let services = try #require(try WorldFile(text: text).members.first?.description).services
      #expect(services.map(\.uuid) == ["1815", "1815"])
      for service in services {
        #expect(service.characteristics[0].descriptors.first == .userDescription("Roof", isWritable: true))
      }
      #expect(services[0].characteristics[2].descriptors.isEmpty)
      #expect(services[1].characteristics[2].descriptors == [.aggregateFormat(["2A56", "2A58"])])
    }
  }

  @Test("Whatever a device has, the file of its clone can be read, in both forms, and has the same values")
  func randomDevices() throws {
    for seed in 0..<300 as Range<UInt64> {
      var random = RandomStream(seed: seed)
      let device = RandomDevice(&random)
      var advertising = RecordedAdvertising()
      advertising.add(.advInd, device.payload, isConnectable: true, at: .zero)
      advertising.add(.scanRsp, device.response, isConnectable: true, at: .zero)
      let recording = RecordingFile(named: device.name, advertising, device.tree)
      var descriptions: [PeripheralDescription] = []
      for (format, text) in [("w.yaml", recording.yaml), ("w.json", recording.json)] {
        let file: WorldFile
        do throws(WorldFileFailure) { file = try WorldFile(text: text, named: format) } catch {
          Issue.record("seed \(seed): \(error)")
          continue
        }
        let member = try #require(file.members.first)
        let isNamed = 1...248 ~= device.name.utf8.count
        #expect(!isNamed || member.name == device.name, "seed \(seed)")
        let description = try #require(member.description)
        descriptions.append(description)
        for (found, sent) in [
          (description.advertising.payload.octets, device.payload),
          (description.advertising.scanResponse.octets, device.response),
        ] { #expect(found == sent, "seed \(seed)") }
        let values = description.services.flatMap(\.characteristics).map(\.values)
        #expect(values.allSatisfy { $0.allSatisfy(device.values.contains) }, "seed \(seed)")
        #expect(description.services.count == recording.counts.services, "seed \(seed)")
        #expect(values.count == recording.counts.characteristics, "seed \(seed)")
        let texts = Set(
          description.services.flatMap(\.characteristics).flatMap(\.descriptors).compactMap(\.text))
        let unknown = texts.subtracting(device.descriptions)
        #expect(unknown.isEmpty, "seed \(seed)")
      }
      #expect(descriptions.first == descriptions.last, "seed \(seed)")
    }
  }

  @Test("A device without a name, or with one that is too long, has a name in the file, and a note tells it")
  func names() throws {
    var advertising = RecordedAdvertising()
    advertising.add(.advInd, [3, 9, 0xFF, 0xFE], isConnectable: true, at: .zero)
    let long = String(repeating: "ü", count: 200)
    for (name, expected, notes) in [("", "device", 1), (long, String(long.prefix(124)), 0)] {
      let recording = RecordingFile(named: name, advertising, GATTTree(services: []))
      #expect(recording.notes.count == notes)
      for text in [recording.yaml, recording.json] {
        let member = try #require(try WorldFile(text: text).members.first)
        #expect(member.name == expected)
        #expect(member.description?.advertising.payload.octets == [3, 9, 0xFF, 0xFE])
      }
    }
  }

  @Test("The output of a program is text, octets, or a value as on the command line")
  func outputs() throws {
    let octets = Array("u8:7\r\n".utf8)
    #expect(try ShellProgram.value(of: octets, .text) == Array("u8:7".utf8))
    #expect(try ShellProgram.value(of: octets, .octets) == octets)
    #expect(try ShellProgram.value(of: octets, .value) == [7])
    #expect(try ShellProgram.value(of: [], .text).isEmpty)
    #expect(throws: ShellProgram.NoValue.self) { try ShellProgram.value(of: Array("7".utf8), .value) }
    #expect(throws: ShellProgram.NoValue.self) {
      try ShellProgram.value(of: [UInt8](repeating: 0, count: 513), .octets)
    }
  }

  @Test("The output of a command that fails is no value")
  func commands() throws {
    #expect(try ShellProgram("printf 'a b'").output(within: 3_600) == Array("a b".utf8))
    let failure = #expect(throws: ShellProgram.NoValue.self) { try ShellProgram("exit 3").output(within: 3_600) }
    #expect(failure?.reason == "has ended with status 3")
    let stopped = ShellProgram("echo a")
    stopped.stop()
    #expect(throws: ShellProgram.NoValue.self) { try stopped.output(within: 3_600) }
  }

  @Test("Each line of a program is a value, also a last one without a line break")
  func lines() async throws {
    let reasons = NIOLockedValueBox<[String]>([])
    var lines: [String] = []
    for await line in ShellProgram("printf 'a\\n\\nb c'; exit 2").lines({ reason in
      reasons.withLockedValue { $0.append(reason) }
    }) {
      lines.append(String(decoding: line, as: UTF8.self))
    }
    #expect(lines == ["a", "", "b c"])
    #expect(reasons.withLockedValue { $0 } == ["has ended with status 2"])
  }
}

extension AccessoryDescriptor {
  /// The text of a Characteristic User Description; nil for other descriptors.
  fileprivate var text: String? { if case .userDescription(let text, _) = self { text } else { nil } }
}

/// A device whose parts are of any kind, as of a peer that means harm.
private struct RandomDevice {
  let name: String
  let payload: [UInt8]
  let response: [UInt8]
  private(set) var tree = GATTTree(services: [])
  /// All values, and all texts of descriptions, that the device has.
  private(set) var values: Set<[UInt8]> = []
  private(set) var descriptions: Set<String> = []

  init(_ random: inout RandomStream) {
    // A parser of YAML drops a byte order mark at the beginning of a text.
    name = String(Self.text(&random).unicodeScalars.drop { $0 == "\u{FEFF}" })
    (payload, response) = (Self.structures(&random), Self.structures(&random))
    var services: [GATTTree.Service] = []
    // Some devices exceed the limits of a file.
    let isLarge = Int.random(in: 0..<30, using: &random) == 0
    for _ in 0..<Int.random(in: 0...(isLarge ? 130 : 4), using: &random) {
      let count = Int.random(in: 0...(isLarge ? 30 : 5), using: &random)
      let characteristics = (0..<count).map { _ in characteristic(&random) }
      services.append(
        GATTTree.Service(
          uuid: Self.uuid(&random), isPrimary: Bool.random(using: &random),
          includes: services.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }.map(\.uuid),
          characteristics: characteristics))
    }
    tree = GATTTree(services: services)
  }

  private mutating func characteristic(_ random: inout RandomStream) -> GATTTree.Characteristic {
    let uuid = Self.uuid(&random)
    let octets = Bool.random(using: &random) ? Array(Self.text(&random).utf8) : Self.octets(512, &random)
    values.insert(octets)
    let types = ["2900", "2901", "2901", "2902", "2904", "2905", "2803", "2908"]
    let descriptors = (0..<Int.random(in: 0...14, using: &random)).map { _ in
      let type = CBUUID(string: types.randomElement(using: &random) ?? "2901")
      let text = Self.text(&random)
      if type == CBUUID(string: "2901") { descriptions.insert(Self.withoutMark(text)) }
      let content = type == CBUUID(string: "2901") ? Array(text.utf8) : Self.octets(9, &random)
      return GATTTree.Descriptor(
        uuid: type, value: .value(ValueText(content, of: type)), handle: UInt16.random(in: 1...20, using: &random))
    }
    return GATTTree.Characteristic(
      uuid: uuid, properties: CBCharacteristicProperties(rawValue: UInt.random(in: 0...255, using: &random)),
      value: .value(ValueText(octets, of: uuid)), needsEncryption: Bool.random(using: &random),
      descriptors: descriptors)
  }

  private static func withoutMark(_ text: String) -> String {
    text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
  }

  private static func uuid(_ random: inout RandomStream) -> CBUUID {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: CBUUID(data: Data(octets(exactly: 16, &random)))
    case 1: CBUUID(data: Data(octets(exactly: 4, &random)))
    case 2: CBUUID(string: ["1800", "1801", "2A00", "E123", "2A19", "1E10"].randomElement(using: &random) ?? "2A19")
    default: CBUUID(data: Data(octets(exactly: 2, &random)))
    }
  }

  /// Returns AD structures of at most 31 octets.
  private static func structures(_ random: inout RandomStream) -> [UInt8] {
    var result: [UInt8] = []
    while result.count < 29, Int.random(in: 0..<4, using: &random) > 0 {
      let types: [UInt8] = [1, 2, 3, 5, 7, 8, 9, 9, 0x0A, 0x16, 0x19, 0x21, 0xFF, 0x24]
      let room = 29 - result.count
      var data = octets(room, &random)
      let type = types.randomElement(using: &random) ?? 9
      if type == 9, Bool.random(using: &random) { data = Array(text(&random).utf8Prefix(room).bytes) }
      result += [UInt8(data.count + 1), type] + data
    }
    return result
  }

  private static func octets(_ maximum: Int, _ random: inout RandomStream) -> [UInt8] {
    octets(exactly: Int.random(in: 0...max(0, maximum), using: &random), &random)
  }

  private static func octets(exactly count: Int, _ random: inout RandomStream) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// Returns a text with characters that have a meaning in files, to terminals or to readers of Unicode.
  private static func text(_ random: inout RandomStream) -> String {
    let parts: [String] = [
      "a", "Z", "7", " ", "-", ":", "#", "&", "*", "!", "?", "|", ">", "%", "@", "`", "'", "\"", "\\", "{", "}", "[",
      "]",
      ",", "~", "null", "yes", "0x1F", "1e5", ".inf", "---", "\n", "\r", "\t", "\u{0}", "\u{7}", "\u{1B}[31m", "\u{7F}",
      "\u{85}", "\u{9B}2J", "\u{A0}", "\u{AD}", "\u{200D}", "\u{202E}", "\u{2028}", "\u{2066}", "\u{FEFF}",
      "\u{E000}", "\u{E001}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{1F600}", "\u{E0001}", "\u{F0000}", "\u{10FFFF}",
      "é", "e\u{301}", "心",
    ]
    let count = Int.random(in: 0...(Int.random(in: 0..<20, using: &random) == 0 ? 60 : 8), using: &random)
    return (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
  }
}
