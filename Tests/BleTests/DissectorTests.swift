import BluetoothDissection
import BluetoothTypes
import BluetoothWire
import Testing

@testable import ble

/// Packets of connections in the words of the specification.
@Suite struct DissectorTests {
  private static let air = CaptureInterface(index: 0, name: "air", link: .linkLayerWithHeader)
  private static let phone = CaptureInterface(index: 1, name: "phone", link: .hciH4WithDirection)
  private static let accessAddress: UInt32 = 0x50C7_A2B4

  /// Numbers packets, and describes them.
  private final class Capture {
    var dissector = Dissector()
    var number = 0

    func describe(_ interface: CaptureInterface, _ octets: [UInt8], comments: [String] = [])
      -> PacketDescription
    {
      number += 1
      return dissector.describe(
        CapturedPacket(
          number: number, time: Int64(number) * 1_000_000, interface: interface, octets: octets,
          originalLength: octets.count, comments: comments))
    }

    /// Describes a data PDU on channel 5. `header` has the LLID in bits 0 and 1, and SN in bit 3.
    func data(
      _ header: UInt8, _ payload: [UInt8], toPeripheral: Bool = true, comments: [String] = []
    ) -> PacketDescription {
      // Channel, levels and reference access address; then the flags: direction, CRC checked and valid.
      let flags: UInt16 = 0x0C01 | (toPeripheral ? 2 : 3) << 7
      let address = withUnsafeBytes(of: DissectorTests.accessAddress.littleEndian) { Array($0) }
      return describe(
        DissectorTests.air,
        [6, 0, 0, 0] + address + [UInt8(flags & 0xFF), UInt8(flags >> 8)] + address + [header, UInt8(payload.count)]
          + payload + [1, 2, 3], comments: comments)
    }

    func acl(_ field: UInt16, _ payload: [UInt8], isFromHost: Bool = true) -> PacketDescription {
      describe(
        DissectorTests.phone,
        [0, 0, 0, isFromHost ? 0 : 1, 2, UInt8(field & 0xFF), UInt8(field >> 8), UInt8(payload.count), 0] + payload)
    }
  }

  /// An L2CAP frame on the channel of the Attribute Protocol.
  private static func att(_ octets: [UInt8]) -> [UInt8] { [UInt8(octets.count), 0, 4, 0] + octets }

  @Test("Words of the specification are made of the names of cases")
  func names() {
    #expect(SpecificationNames.name(of: ATT.Opcode.readByGroupTypeRequest) == "ATT_READ_BY_GROUP_TYPE_REQ")
    #expect(SpecificationNames.name(of: ATT.Opcode.exchangeMTUResponse) == "ATT_EXCHANGE_MTU_RSP")
    #expect(SpecificationNames.name(of: ATT.Opcode.multipleHandleValueNotification) == "ATT_MULTIPLE_HANDLE_VALUE_NTF")
    #expect(SpecificationNames.name(of: LL.ControlOpcode.connectionParamReq) == "LL_CONNECTION_PARAM_REQ")
    #expect(SpecificationNames.name(of: LL.ControlOpcode.minUsedChannelsInd) == "LL_MIN_USED_CHANNELS_IND")
    #expect(SpecificationNames.name(of: SMP.Code.pairingDHKeyCheck) == "Pairing DHKey Check")
    #expect(SpecificationNames.name(of: SMP.Code.identityAddressInformation) == "Identity Address Information")
    #expect(SpecificationNames.title(of: HCI.ErrorCode(rawValue: 0x13)) == "Remote User Terminated Connection (0x13)")
    #expect(SpecificationNames.title(of: HCI.ErrorCode(rawValue: 0x3E)) == "Connection Failed to be Established (0x3E)")
    #expect(SpecificationNames.title(of: HCI.ErrorCode(rawValue: 0xFF)) == "error 0xFF")
    #expect(SpecificationNames.title(of: ATTErrorCode(rawValue: 0x0A)) == "Attribute Not Found (0x0A)")
    #expect(SpecificationNames.title(of: ATTErrorCode(rawValue: 0x80)) == "Application Error (0x80)")
    #expect(SpecificationNames.title(of: ATTErrorCode(rawValue: 0xFB)) == "error 0xFB")
    #expect(SpecificationNames.title(of: ATTErrorCode(rawValue: 0xFE)) == "Procedure Already in Progress (0xFE)")
    #expect(SpecificationNames.title(of: ATTErrorCode(rawValue: 0xFF)) == "Out of Range (0xFF)")
    let error = ATTErrorCode(rawValue: 0x80)
    #expect(SpecificationNames.title(of: error, in: 0x1808) == "Procedure Already in Progress (0x80)")
    #expect(SpecificationNames.title(of: error, in: 0x180D) == "Control Point Not Supported (0x80)")
    #expect(SpecificationNames.title(of: error, in: 0xFFF0) == "Application Error (0x80)")
  }

  @Test("A value is shown with the characteristic that discovery has told, in both directions")
  func attributes() {
    let capture = Capture()
    #expect(capture.data(0b10, Self.att([0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28])).name == "ATT_READ_BY_TYPE_REQ")
    let response = capture.data(
      0b1010, Self.att([0x09, 7, 2, 0, 0x10, 3, 0, 0x19, 0x2A]), toPeripheral: false)
    #expect(response.detail == "0x0003 Battery Level (2A19)")
    let notification = capture.data(0b10, Self.att([0x1B, 3, 0, 87]), toPeripheral: false)
    #expect(notification.name == "ATT_HANDLE_VALUE_NTF")
    #expect(notification.detail == "0x0003 Battery Level (2A19): 0x57 (87 %)")
    #expect(notification.handles == [3] && notification.content == .att)
    // The central's server has attributes of its own.
    #expect(capture.data(0b1010, Self.att([0x1B, 3, 0, 87])).detail == "0x0003: 0x57")
  }

  @Test("An L2CAP PDU in fragments is shown with its last fragment, and a repeated fragment is not taken twice")
  func fragments() {
    let capture = Capture()
    let frame = Self.att([0x12, 9, 0, 1, 2, 3, 4])
    #expect(capture.data(0b10, Array(frame[..<6])).detail == "6 of 11 octets")
    let repeated = capture.data(0b10, Array(frame[..<6]))
    #expect(repeated.isRetransmission && repeated.fullDetail == "6 of 11 octets, retransmission")
    let last = capture.data(0b1001, Array(frame[6...]))
    #expect(last.name == "ATT_WRITE_REQ" && last.detail == "0x0009: 0x01020304")
    #expect(capture.data(0b0001, [1, 2]).detail == "2 octets, whose beginning was not captured")
    // The same between host and controller: a first and a continuing fragment.
    #expect(capture.acl(0x0040, Array(frame[..<6])).content == .acl)
    #expect(capture.acl(0x1040, Array(frame[6...])).detail == "0x0009: 0x01020304")
  }

  @Test("Encrypted packets are not taken for anything else")
  func encrypted() {
    let capture = Capture()
    #expect(capture.data(0b11, [0x05]).name == "LL_START_ENC_REQ")
    let packet = capture.data(0b1010, [1, 2, 3, 4, 5, 6, 7], toPeripheral: false)
    #expect(packet.name == "encrypted PDU" && packet.detail == "3 octets" && packet.isEncrypted)
    let marked = Capture()
    #expect(marked.data(0b10, [1, 2, 3, 4, 5], comments: ["a → b -50 dBm", "encrypted"]).isEncrypted)
    #expect(marked.data(0b1010, [], comments: ["a → b -50 dBm"]).name == "empty PDU")
  }

  @Test("A new connection tells the addresses of its packets and its interval")
  func connection() {
    let capture = Capture()
    let event: [UInt8] =
      [0x3E, 19, 0x01, 0, 0x40, 0, 0, 1, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0, 24, 0, 0, 0, 200, 0, 0]
    let complete = capture.describe(Self.phone, [0, 0, 0, 1, 4] + event)
    #expect(complete.name == "LE Connection Complete")
    #expect(complete.detail == "central of C0:11:22:33:44:55 (random), interval 30 ms, latency 0, timeout 2000 ms")
    #expect(complete.timing?.interval == 24)
    let packet = capture.acl(0x0040, Self.att([0x0A, 3, 0]))
    #expect(packet.addresses.map(\.digits) == ["C0:11:22:33:44:55"])
    #expect(packet.connectionText == "0x0040" && packet.direction == .toController)
    #expect(packet.line == "2\t0.002000\tphone\tto controller\t0x0040\tATT_READ_REQ\t0x0003")
  }

  // MARK: The lifetime of connections

  private static func air(_ packets: [[UInt8]]) throws -> (packets: [PacketDescription], notes: [String]) {
    try CaptureFixture.describe(CaptureFixture.pcap(256, packets))
  }

  /// A data PDU with a pseudo-header, on channel 5.
  private static func data(_ header: UInt8, _ payload: [UInt8], toPeripheral: Bool = true, length: Int? = nil)
    -> [UInt8]
  {
    CaptureFixture.withPseudoHeader(
      CaptureFixture.data(header, payload, length: length), channel: 6, direction: toPeripheral ? 2 : 3)
  }

  private static let connectInd = CaptureFixture.withPseudoHeader(CaptureFixture.connectInd, channel: 0)

  @Test("A second CONNECT_IND with the same access address begins a connection without encryption and fragments")
  func repeatedAccessAddress() throws {
    let frame = CaptureFixture.mtuRequest
    let packets = try Self.air([
      Self.connectInd, Self.data(0b10, Array(frame[..<5])), Self.data(0b11, [0x05], toPeripheral: false),
      Self.data(0b1010, [1, 2, 3, 4, 5]), Self.connectInd, Self.data(0b01, Array(frame[5...])),
      Self.data(0b1010, frame),
    ]).packets
    #expect(
      packets.map(\.name) == [
        "CONNECT_IND", "L2CAP fragment", "LL_START_ENC_REQ", "encrypted PDU", "CONNECT_IND", "L2CAP fragment",
        "ATT_EXCHANGE_MTU_REQ",
      ])
    #expect(packets[5].detail == "2 octets, whose beginning was not captured")
    #expect(packets.map(\.link) == [1, 1, 1, 1, 2, 2, 2])
    var statistics = CaptureStatistics()
    for packet in packets {
      statistics.add(
        CapturedPacket(number: packet.number, time: packet.time, interface: Self.air, octets: [], originalLength: 0),
        packet)
    }
    #expect(statistics.connections.map(\.isEncrypted) == [true, false])
    #expect(statistics.connections.map(\.toPeripheral.packets) == [2, 2])
  }

  @Test("LL_TERMINATE_IND ends a connection after its repetitions and its acknowledgement, and no state is kept")
  func termination() throws {
    let request = CaptureFixture.mtuRequest
    let packets = try Self.air([
      Self.connectInd, Self.data(0b0011, [0x05], toPeripheral: false), Self.data(0b1010, [1, 2, 3, 4, 5]),
      // The peripheral ends the link after encryption was paused.
      Self.data(0b0011, [0x0B]), Self.data(0b1011, [0x02, 0x13], toPeripheral: false),
      Self.data(0b1011, [0x02, 0x13], toPeripheral: false), Self.data(0b0001, []), Self.data(0b1010, request),
      Self.data(0b0001, []),
    ]).packets
    #expect(packets[5].isRetransmission && packets[5].endReason?.rawValue == 0x13)
    #expect(packets.map(\.link) == [1, 1, 1, 1, 1, 1, 1, 2, 2])
    #expect(packets[6].addresses.count == 2 && packets[7].addresses.isEmpty)
    #expect(packets[7].name == "ATT_EXCHANGE_MTU_REQ")
  }

  @Test("A silence longer than the supervision timeout ends a connection on the air", arguments: [100, 101])
  func supervisionTimeout(silence: Int) throws {
    var octets = CaptureFixture.pcap(
      256,
      [Self.connectInd, Self.data(0b0011, [0x05], toPeripheral: false), Self.data(0b0010, CaptureFixture.mtuRequest)])
    // The third packet is 10 ms after the second, which has the time 1.01 s: seconds and microseconds of the record.
    let record =
      octets.count
      - CaptureFixture.withPseudoHeader(CaptureFixture.data(0, CaptureFixture.mtuRequest), channel: 0).count - 16
    let microseconds = 10_000 + silence * 10_000
    octets.replaceSubrange(
      record..<record + 8,
      with: CaptureFixture.littleEndian(UInt32(1 + microseconds / 1_000_000), UInt32(microseconds % 1_000_000)))
    let last = try #require(try CaptureFixture.describe(octets).packets.last)
    // The supervision timeout is 1 s.
    #expect(last.name == (silence > 100 ? "ATT_EXCHANGE_MTU_REQ" : "encrypted PDU"))
    #expect(last.link == (silence > 100 ? 2 : 1))
  }

  @Test(
    "Disconnection Complete, and a reset of the controller, end the connections of a host", arguments: [false, true])
  func disconnection(isReset: Bool) {
    let capture = Capture()
    let frame = Self.att([0x12, 9, 0, 1, 2, 3, 4])
    #expect(capture.acl(0x0040, Array(frame[..<6])).link == 1)
    let end: [UInt8] = isReset ? [0, 0, 0, 0, 1, 0x03, 0x0C, 0] : [0, 0, 0, 1, 4, 0x05, 4, 0, 0x40, 0, 0x13]
    #expect(capture.describe(Self.phone, end).link == (isReset ? nil : 1))
    let rest = capture.acl(0x1040, Array(frame[6...]))
    #expect(rest.link == 2 && rest.detail == "5 octets, whose beginning was not captured")
  }

  // MARK: Lengths

  @Test("A packet whose Length differs from its octets is malformed, and no request", arguments: [5, 7, 114])
  func lengths(length: Int) throws {
    let (packets, notes) = try Self.air([
      Self.connectInd, Self.data(0b0010, CaptureFixture.mtuRequest, length: length),
      Self.data(0b1010, CaptureFixture.mtuRequest),
    ])
    #expect(packets[1].isMalformed == (length != 7) && (packets[1].attribute == nil) == (length != 7))
    #expect(packets[1].name == (length == 7 ? "ATT_EXCHANGE_MTU_REQ" : "malformed PDU"))
    if length != 7 { #expect(packets[1].detail == "Length \(length), but 7 octets") }
    #expect(packets[2].name == "ATT_EXCHANGE_MTU_REQ" && !packets[2].isRetransmission)
    #expect(notes == (length == 7 ? [] : ["not read: a link layer packet whose Length is wrong"]))
  }

  @Test("A packet that the capture program has cut is told as such, if its PDU is not complete")
  func cutPackets() {
    func describe(_ interface: CaptureInterface, _ octets: [UInt8], original: Int) -> PacketDescription {
      var dissector = Dissector()
      return dissector.describe(
        CapturedPacket(number: 1, time: 0, interface: interface, octets: octets, originalLength: original))
    }
    let packet = Self.data(0b10, CaptureFixture.mtuRequest)
    let cut = describe(Self.air, Array(packet.dropLast(6)), original: packet.count)
    #expect(cut.name == "cut PDU" && cut.detail == "Length 7, but 4 octets" && cut.isMalformed)
    // Without the CRC, the PDU is complete.
    let whole = describe(Self.air, Array(packet.dropLast(2)), original: packet.count)
    #expect(whole.name == "ATT_EXCHANGE_MTU_REQ" && whole.detail == "MTU 247")
    let contradiction = describe(Self.air, packet, original: packet.count - 1)
    #expect(contradiction.name == "malformed record" && contradiction.isMalformed && contradiction.attribute == nil)
    let acl: [UInt8] = [0, 0, 0, 0, 2, 0x40, 0, 7, 0] + CaptureFixture.mtuRequest
    let hci = describe(Self.phone, Array(acl.dropLast(3)), original: acl.count)
    #expect(hci.name == "ACL Data" && hci.detail == "cut: Length 7, but 4 octets" && hci.connectionText == "0x0040")
    let wrong = describe(Self.phone, Array(acl.dropLast(3)), original: acl.count - 3)
    #expect(wrong.detail == "malformed: Length 7, but 4 octets")
    let command = describe(Self.phone, [0, 0, 0, 0, 1, 0x03, 0x0C, 9], original: 8)
    #expect(command.name == "Reset" && command.content == .command && command.isMalformed)
  }

  @Test("The CTEInfo field between header and payload is skipped")
  func cteInfo() throws {
    let octets = [0b10_0010, 7, 0x14] + CaptureFixture.mtuRequest
    let packet = CaptureFixture.littleEndian(CaptureFixture.accessAddress) + octets + [1, 2, 3]
    let described = try Self.air([CaptureFixture.withPseudoHeader(packet, channel: 6, direction: 2)]).packets
    #expect(described.map(\.name) == ["ATT_EXCHANGE_MTU_REQ"])
  }

  @Test("A packet with the sequence number of the one before and another payload is no retransmission")
  func missingPackets() throws {
    let packets = try Self.air([
      Self.data(0b10, CaptureFixture.mtuRequest), Self.data(0b10, CaptureFixture.mtuRequest),
      // The packet between them was not captured.
      Self.data(0b10, CaptureFixture.att([0x0A, 3, 0])),
    ]).packets
    #expect(packets.map(\.isRetransmission) == [false, true, false])
  }

  @Test("A capture with any number of access addresses needs memory for a limited number of them")
  func manyLinks() {
    var dissector = Dissector()
    var last: PacketDescription?
    var statistics = CaptureStatistics()
    for number in 0..<70_000 {
      let octets = CaptureFixture.littleEndian(UInt32(number)) + [1, 0, 1, 2, 3]
      let packet = CapturedPacket(
        number: number + 1, time: 0, interface: Self.air,
        octets: CaptureFixture.withPseudoHeader(octets, channel: 6, direction: 2), originalLength: 19)
      let description = dissector.describe(packet)
      statistics.add(packet, description)
      last = description
    }
    #expect(last?.link == 70_000)
    #expect(dissector.followedLinks <= 4_096)
    #expect(statistics.connections.count == 65_536 && statistics.omittedConnections == 70_000 - 65_536)
  }

  @Test("A capture with any number of advertisers gives a limited number of devices")
  func manyDevices() throws {
    var dissector = Dissector()
    var devices = CapturedDevices()
    for number in 0..<65_537 {
      #expect(!devices.isIncomplete)
      let address = CaptureFixture.littleEndian(UInt32(number)) + [0, 0xC0]
      let octets = CaptureFixture.withPseudoHeader(
        CaptureFixture.packet(LL.advertisingAccessAddress, 0x40, address), channel: 0)
      devices.add(
        dissector.describe(
          CapturedPacket(
            number: number + 1, time: 0, interface: Self.air, octets: octets, originalLength: octets.count)))
    }
    #expect(devices.isIncomplete && devices.all.count == 65_536)
  }

  @Test("The comment of a world tells the receptions of a packet")
  func receptions() {
    let capture = Capture()
    let good = capture.data(0b01, [], comments: ["strap → my phone -60 dBm, tablet corrupt -89 dBm"])
    #expect(good.receptions?.map(\.receiver) == ["my phone", "tablet"])
    #expect(good.receptions?.map(\.isIntact) == [true, false])
    #expect(good.level == -60 && !good.isLost)
    let bad = capture.data(0b1001, [], comments: ["strap → phone missed -91 dBm"])
    #expect(bad.isLost && bad.level == nil)
    #expect(capture.data(0b0001, [], comments: ["strap → nobody"]).isLost)
  }

  @Test("A level that no receiver can have is none, so that the axis of a picture has few numbers")
  func absurdLevels() {
    let capture = Capture()
    for level in [Int.min, -1_001, 1_001, .max] {
      let packet = capture.data(0b01, [], comments: ["strap → phone \(level) dBm, tablet -60 dBm"])
      #expect(packet.receptions?.map(\.receiver) == ["tablet"])
      #expect(packet.level == -60)
    }
  }

  @Test("Statistics count events, losses and retransmissions of a connection")
  func statistics() {
    let capture = Capture()
    var statistics = CaptureStatistics()
    statistics.add(Self.air)
    func add(_ description: PacketDescription) {
      let packet = CapturedPacket(
        number: description.number, time: description.time, interface: Self.air, octets: [1, 2, 3], originalLength: 3)
      statistics.add(packet, description)
    }
    // Each packet is 1 ms after the one before, and begins an event.
    add(capture.data(0b10, Self.att([0x0A, 3, 0]), comments: ["a → b corrupt -90 dBm"]))
    add(capture.data(0b10, Self.att([0x0A, 3, 0]), comments: ["a → b -80 dBm"]))
    add(capture.data(0b01, [], toPeripheral: false, comments: ["b → a -80 dBm"]))
    add(capture.data(0b1011, [0x02, 0x13], comments: ["a → b -80 dBm"]))
    #expect(statistics.packets == 4 && statistics.octets == 12)
    let connection = statistics.connections[0]
    #expect(statistics.connections.count == 1)
    #expect(connection.toPeripheral.packets == 3 && connection.toPeripheral.retransmissions == 1)
    #expect(connection.toPeripheral.lost == 1 && connection.toPeripheral.octets == 7)
    #expect(connection.toCentral.packets == 1 && connection.toCentral.octets == 0)
    #expect(connection.endReason == HCIErrorCode(rawValue: 0x13))
    #expect(statistics.channels[5]?.data == 4 && statistics.channels[5]?.lost == 1)
  }

  /// The octets of an event, and what is shown of it.
  private static let events: [(octets: [UInt8], name: String, detail: String, connection: String?)] = [
    ([0x3E, 5, 0x1F, 0, 0x40, 0, 7], "LE Request Peer SCA Complete", "clock accuracy 7", "0x0040"),
    ([0x3E, 5, 0x1F, 0x1A, 0x40, 0, 0], "LE Request Peer SCA Complete", "Unsupported Remote Feature (0x1A)", "0x0040"),
    ([0x3E, 6, 0x0C, 0, 0x40, 0, 2, 1], "LE PHY Update Complete", "transmit LE 2M, receive LE 1M", "0x0040"),
    ([0x3E, 6, 0x12, 0, 1, 0x40, 0, 3], "LE Advertising Set Terminated", "3 events", "0x0040"),
    ([0x3E, 6, 0x12, 0x3C, 1, 0, 0, 0], "LE Advertising Set Terminated", "Advertising Timeout (0x3C)", nil),
    ([0x30, 3, 0, 0x40, 0], "Encryption Key Refresh Complete", "Success", "0x0040"),
    ([8, 4, 0, 0x40, 0, 1], "Encryption Change", "on", "0x0040"),
    ([5, 4, 0, 0x40, 0, 0x13], "Disconnection Complete", "Remote User Terminated Connection (0x13)", "0x0040"),
    ([0x13, 5, 1, 0x40, 0, 2, 0], "Number Of Completed Packets", "2", "0x0040"),
    ([0x0F, 4, 0x0C, 1, 0x0D, 0x20], "Command Status", "LE Create Connection, Command Disallowed (0x0C)", nil),
    ([0x0E, 6, 1, 5, 0x14, 2, 0x40, 0], "Command Complete", "Read RSSI, Unknown Connection Identifier (0x02)", nil),
    ([0x0E, 3, 1, 0, 0], "Command Complete", "", nil),
    ([0x3E, 0x0D, 5, 0x40, 0, 8, 7, 6, 5, 4, 3, 2, 1, 0x0A, 0x0B], "LE Long Term Key Request", "", "0x0040"),
    ([0x3E, 3, 0xF0, 1, 2], "event 0x3E", "subevent 0xF0, 0x0102", nil),
    ([0xFF, 1, 0x2A], "event 0xFF", "0x2A", nil),
  ]

  @Test("The words of an HCI event follow from its fields", arguments: events)
  func fields(octets: [UInt8], name: String, detail: String, connection: String?) {
    let event = Capture().describe(Self.phone, [0, 0, 0, 1, 4] + octets)
    #expect(event.name == name && event.detail == detail)
    #expect(event.connectionText == connection)
  }

  @Test("The words of an HCI command follow from its fields, and show no key")
  func commandFields() {
    func detail(_ octets: [UInt8]) -> String { Capture().describe(Self.phone, [0, 0, 0, 0, 1] + octets).detail }
    #expect(detail([0x0C, 0x20, 2, 1, 0]) == "on")
    #expect(detail([0x0C, 0x20, 2, 1, 1]) == "on, no duplicates")
    #expect(detail([0x06, 0x04, 3, 0x40, 0, 0x13]) == "Remote User Terminated Connection (0x13)")
    #expect(detail([0x31, 0x20, 3, 2, 2, 0]) == "transmit LE 2M, receive any")
    #expect(detail([0x5F, 0x20, 1, 1]) == "less accurate")
    // LE Encrypt, and LE Long Term Key Request Reply.
    #expect(detail([0x17, 0x20, 32] + [UInt8](repeating: 0x5A, count: 32)).isEmpty)
    #expect(detail([0x1A, 0x20, 18] + [UInt8](repeating: 0x5A, count: 18)).isEmpty)
  }

  @Test("The largest numbers that a packet and a file can have are shown")
  func largeNumbers() {
    // LE Channel Selection Algorithm, with a number that is not assigned.
    let event = Capture().describe(Self.phone, [0, 0, 0, 1, 4, 0x3E, 4, 0x14, 0, 0, 0xFF])
    #expect(event.detail.contains("#256"), "\(event.name) \(event.detail)")
    var statistics = CaptureStatistics()
    statistics.add(Self.air)
    statistics.set(dropped: .max, on: Self.air)
    statistics.set(dropped: .max, on: Self.air)
    #expect(statistics.interfaces[0].dropped == .max)
  }

  @Test("The numbers along an axis are round")
  func axis() {
    let seconds = AxisTicks(from: 0, to: 10.5, about: 10)
    #expect(seconds.values.map { seconds.text($0) } == ["0", "2", "4", "6", "8", "10"])
    let levels = AxisTicks(from: -60, to: -40, about: 4)
    #expect(levels.values.map { levels.text($0) } == ["-60", "-55", "-50", "-45", "-40"])
    let parts = AxisTicks(from: 0, to: 0.03, about: 3)
    #expect(parts.values.map { parts.text($0) } == ["0.00", "0.01", "0.02", "0.03"])
  }
}
