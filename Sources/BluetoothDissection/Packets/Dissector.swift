// Overview
//
// Captures come from this package, phones, sniffers and other tools. BluetoothDissection reads them all, says in the
// specification's words what each packet is, and tells which devices with which values a capture shows.
//
// The idea: two steps, each fed in order. A `CaptureDecoder` takes octets of a file, recognizes the format and gives
// packets. The `Dissector` below takes the packets: it follows connections, puts fragments together and remembers which
// handle has which attribute type, and gives a `PacketDescription`. `CapturedDevices` uses the same packets to rebuild
// advertising and GATT servers.
//
// Callers: `ble capture` and `ble monitor` show the words; BluetoothLab plays the devices (`DeviceRecording`), and
// BluetoothAir reads them for world files (`DeviceRecording+File.swift`). The module knows no file paths and prints
// nothing.
//
// Invariants:
// - All input is hostile. A file gives elements or an error with its position, never a trap; what can grow (blocks,
//   compressed content, connections, interfaces) has a limit.
// - The words of a packet come from the values of BluetoothWire, never from positions of octets in this module. Only
//   `PacketFields`, the tree of the octets, knows positions.
// - Compressed files are inflated here (`Inflater.swift`, `GzipReader.swift`, `ZipReader.swift`), because a bare Swift
//   machine has no headers of zlib.
//
// Where to begin: `CaptureDecoder.swift` for the formats, this file for packets, `HCIText.swift` and `ATTText.swift`
// for words, `CapturedDevices.swift` for devices.
//
// Formats: pcapng, pcap, btsnoop (RFC 1761), PacketLogger, btsnooz; gzip (RFC 1952), DEFLATE (RFC 1951).

import BluetoothTypes
import BluetoothWire

/// Tells what the packets of a capture are. It follows connections, puts fragments together, and remembers the types of
/// attributes, so it must get all packets of a capture in order.
package struct Dissector {
  /// A connection of a capture.
  package struct LinkKey: Hashable {
    package let interface: Int
    /// The access address on the air, the handle in HCI.
    package let number: UInt32

    package init(interface: Int, number: UInt32) { (self.interface, self.number) = (interface, number) }
  }

  /// The facts about a connection that earlier packets of the capture have shown.
  private struct Link {
    /// The number of the connection in the capture, from 1.
    let id: Int
    /// The number of the last packet.
    var lastPacket = 0
    var lifetime = LinkLifetime()
    var addresses: [DeviceAddress] = []
    /// The fragments of an L2CAP PDU, by direction.
    var fragments: [PacketDescription.Direction?: Fragments] = [:]
    /// The attributes of the two servers, by the direction of the requests to them.
    var attributes: [PacketDescription.Direction?: ATTText] = [:]
    /// The bits of the header and the payload that a retransmission repeats, of the last packet, by direction.
    var lastPDUs: [PacketDescription.Direction: (header: UInt16, payload: ByteSlice)] = [:]
    /// True from LL_START_ENC_REQ on.
    var isEncrypted = false
    /// True if decrypted packets end with their MIC.
    var keepsMIC = false
  }

  private struct Fragments {
    var octets: [UInt8] = []
    var length = 0
  }

  /// The number of connections that are followed at the same time. An access address in a damaged packet looks like
  /// another connection.
  private static let maximumLinks = 4_096

  private var links: [LinkKey: Link] = [:]
  private var lastLink = 0
  /// The number of connections that are followed.
  package var followedLinks: Int { links.count }
  /// The parts of the capture that could not be read, or are damaged.
  package private(set) var notes = CaptureNotes()
  /// The number of packets that were read.
  package private(set) var readableCount = 0

  /// Has seen no packet yet.
  package init() {}

  /// Describes the next packet.
  package mutating func describe(_ packet: CapturedPacket) -> PacketDescription {
    var result = PacketDescription(packet)
    if 0 < packet.originalLength, packet.originalLength < packet.octets.count {
      damaged(
        "a record that is longer than its packet", "malformed record",
        "\(packet.octets.count) octets of a packet of \(packet.originalLength)", &result)
      return result
    }
    switch CapturedContent(packet) {
    case .air(let air): describe(air, isCut: packet.isCut, &result)
    case .hci(let octets, let isFromHost): describe(hci: octets, isFromHost, isCut: packet.isCut, &result)
    case .message(let name, let text):
      result.name = name
      if let text { result.detail = String(received: text).trimmed }
      if name == "Delete Index" || name == "Close Index" { endLinks(of: packet.interface) }
      readableCount += 1
    case .unsupported(let kind):
      notes.add(kind)
      result.name = "packet"
      result.detail = "not read: \(packet.octets.count) octets, \(kind)"
    }
    return result
  }

  /// Notes a part of the file that is not read.
  package mutating func add(unread kind: String) { notes.add(kind) }

  /// Describes a packet that is not read because it is damaged or cut.
  private mutating func damaged(_ kind: String, _ name: String, _ detail: String, _ result: inout PacketDescription) {
    notes.add(kind)
    result.isMalformed = true
    (result.name, result.detail) = (name, detail)
  }

  // MARK: Links

  private mutating func makeLink() -> Link {
    lastLink += 1
    return Link(id: lastLink)
  }

  /// Stores a link, and forgets those without a packet for the longest time if there are too many.
  private mutating func store(_ link: Link, _ key: LinkKey, _ result: inout PacketDescription) {
    result.link = link.id
    links[key] = link
    links[key]?.lastPacket = result.number
    guard links.count > Self.maximumLinks else { return }
    let middle = links.values.map(\.lastPacket).sorted()[Self.maximumLinks / 2]
    links = links.filter { $0.value.lastPacket >= middle }
  }

  private mutating func endLinks(of interface: CaptureInterface) {
    links = links.filter { $0.key.interface != interface.index }
  }

  // MARK: The air

  private mutating func describe(_ air: CapturedAirPacket, isCut: Bool, _ result: inout PacketDescription) {
    result.channel = air.channel
    result.phy = air.phy?.words
    result.power = air.power
    result.payloadLength = air.payload.count
    result.airTime = air.modulation.airTime(payloadOctets: air.payload.count).nanoseconds
    result.hasWrongCRC = air.hasWrongCRC
    switch air.direction {
    case .toPeripheral?: result.direction = .toPeripheral
    case .toCentral?: result.direction = .toCentral
    case nil: break
    }
    result.content = air.isAdvertising ? .advertising : .data
    guard air.isIntact else {
      if !air.isAdvertising { result.connection = air.accessAddress }
      let lengths = "Length \(air.length), but \(air.capturedLength) octets"
      return isCut
        ? damaged("a link layer packet that the capture program has cut", "cut PDU", lengths, &result)
        : damaged("a link layer packet whose Length is wrong", "malformed PDU", lengths, &result)
    }
    readableCount += 1
    guard air.isAdvertising else { return describe(data: air, &result) }
    guard let pdu = try? LL.AdvertisingPDU(header: air.header, payload: air.payload) else {
      result.name = "advertising PDU"
      result.detail = "type \(air.header & 0x0F), invalid: 0x\(air.payload.bytes.digits)"
      return
    }
    let isPeriodic = air.accessAddress != LL.advertisingAccessAddress
    let isSecondary = isPeriodic || air.channel.map { $0 < 37 } ?? false
    let (name, words, addresses) = LinkLayerText.describe(pdu, isSecondary: isSecondary, isPeriodic: isPeriodic)
    result.name = name
    result.addresses = addresses
    result.detail = ([addresses.map(\.description).joined(separator: " → ")] + words).filter { !$0.isEmpty }
      .joined(separator: ", ")
    if let advertisement = LinkLayerText.advertisement(in: pdu, isSecondary: isSecondary), !isPeriodic {
      result.advertising = [advertisement]
    }
    if isPeriodic { result.connection = air.accessAddress }
    if case .connectInd(_, _, let data, _) = pdu, !air.hasWrongCRC {
      result.connection = data.accessAddress
      result.timing = (data.interval, data.latency, data.timeout)
      let key = LinkKey(interface: result.interface.index, number: data.accessAddress)
      // Each CONNECT_IND begins a connection: test tools use one access address for all of theirs.
      var link = makeLink()
      (link.addresses, link.lifetime) = (addresses, LinkLifetime(timeout: data.timeout))
      _ = link.lifetime.isOver(before: air, at: result.time)
      store(link, key, &result)
    }
  }

  private mutating func describe(data air: CapturedAirPacket, _ result: inout PacketDescription) {
    result.connection = air.accessAddress
    let key = LinkKey(interface: result.interface.index, number: air.accessAddress)
    var link = links[key] ?? makeLink()
    if !air.hasWrongCRC, link.lifetime.isOver(before: air, at: result.time) {
      link = makeLink()
      _ = link.lifetime.isOver(before: air, at: result.time)
    }
    defer { store(link, key, &result) }
    result.addresses = link.addresses
    let header = LL.DataHeader(rawValue: air.header)
    if let direction = result.direction, !air.hasWrongCRC {
      // A capture can lack packets, so an equal sequence number alone tells nothing.
      let repeated = air.header & Self.repeatedHeaderBits
      result.isRetransmission = link.lastPDUs[direction].map { $0 == (repeated, air.payload) } ?? false
      link.lastPDUs[direction] = (repeated, air.payload)
    }
    guard !air.payload.isEmpty else {
      result.name = "empty PDU"
      return
    }
    let isMarked = result.comments.contains("encrypted")
    // An encrypted payload is longer than its MIC. LL_PAUSE_ENC_RSP of the central is in plain text · Vol 6, Part B, 5.1.3.2.
    let isEncrypted = link.isEncrypted && air.payload.count > Self.codeLength
    if !air.isDecrypted, isMarked || isEncrypted || air.isEncrypted {
      result.isEncrypted = true
      result.name = "encrypted PDU"
      result.payloadLength = max(0, air.payload.count - 4)
      result.detail = "\(result.payloadLength) octets"
      result.timing = result.comments.lazy.compactMap(Self.timing).first
      return
    }
    switch header.llid {
    case .control:
      result.content = .ll
      guard let pdu = controlPDU(air, &link) else {
        result.name = "LL Control PDU"
        result.detail = "opcode 0x\(air.payload[0].hexadecimal), 0x\(air.payload.dropFirst(1).bytes.digits)"
        return
      }
      result.name = SpecificationNames.name(of: pdu.opcode)
      result.detail = LinkLayerText.words(pdu).joined(separator: ", ")
      guard !air.hasWrongCRC else { return }
      link.lifetime.follow(pdu, in: air)
      switch pdu {
      // A capture that shows what was encrypted has the marks of decrypted packets from here on.
      case .connectionUpdateInd(let timing, _): result.timing = (timing.interval, timing.latency, timing.timeout)
      case .terminateInd(let reason): result.endReason = reason
      case .startEncReq: link.isEncrypted = !air.isDecrypted
      case .pauseEncRsp where result.direction == .toPeripheral: link.isEncrypted = false
      default: break
      }
    case .start, .continuation:
      describe(
        fragment: air.payload, isStart: header.llid == .start, isDecrypted: air.isDecrypted, &link, &result)
    case .reserved:
      result.name = "data PDU"
      result.detail = "LLID 0b00"
    }
  }

  /// Returns the control PDU of a packet; nil: it is none. Some sniffers keep the MIC of a packet that they decrypt.
  private func controlPDU(_ air: CapturedAirPacket, _ link: inout Link) -> LL.ControlPDU? {
    if let pdu = try? LL.ControlPDU(payload: air.payload) { return pdu }
    guard air.isDecrypted, air.payload.count > Self.codeLength,
      let pdu = try? LL.ControlPDU(payload: air.payload.prefix(air.payload.count - Self.codeLength))
    else { return nil }
    link.keepsMIC = true
    return pdu
  }

  /// LLID and SN · Vol 6, Part B, 2.4.
  private static let repeatedHeaderBits: UInt16 = 0x000B
  /// The length of a MIC · Vol 6, Part B, 2.4.
  private static let codeLength = 4

  /// Reads the comment with which a capture of a world tells the parameters in an encrypted packet:
  /// `LL_CONNECTION_UPDATE_IND: interval 15.0 ms, latency 20, timeout 4000 ms`.
  private static func timing(_ comment: String) -> (interval: UInt16, latency: UInt16, timeout: UInt16)? {
    let words = comment.split { $0 == " " || $0 == "," }
    guard words.count == 9, words[0] == "LL_CONNECTION_UPDATE_IND:", let interval = Double(words[2]),
      let latency = UInt16(words[5]), let timeout = UInt32(words[7]),
      let units = UInt16(exactly: (interval / 1.25).rounded())
    else { return nil }
    return (units, latency, UInt16(clamping: timeout / 10))
  }

  // MARK: HCI

  private mutating func describe(
    hci octets: ByteSlice, _ isFromHost: Bool?, isCut: Bool, _ result: inout PacketDescription
  ) {
    result.direction = isFromHost.map { $0 ? .toController : .toHost }
    guard let packet = try? HCI.Packet(h4: octets) else { return describe(undecoded: octets, isCut: isCut, &result) }
    readableCount += 1
    switch packet {
    case .command(let opcode, let parameters):
      result.content = .command
      add(HCIText.describe(command: opcode, parameters), &result)
      if opcode == .reset { endLinks(of: result.interface) }
    case .event(let code, let parameters):
      result.content = .event
      let description = HCIText.describe(event: code, parameters)
      // The addresses of a new connection belong to all its packets.
      if let event = try? HCI.Event(code: code, parameters: parameters) { follow(event, &result) }
      add(description, &result)
      if result.endReason != nil, let number = result.connection {
        links[LinkKey(interface: result.interface.index, number: number)] = nil
      }
    case .acl(let data):
      result.content = .acl
      result.connection = UInt32(data.handle.rawValue)
      result.payloadLength = data.payload.count
      let key = LinkKey(interface: result.interface.index, number: UInt32(data.handle.rawValue))
      var link = links[key] ?? makeLink()
      defer { store(link, key, &result) }
      if result.direction == nil { result.direction = Self.direction(of: data.boundary, link) }
      result.addresses = link.addresses
      describe(
        fragment: data.payload, isStart: data.boundary != .continuing, isDecrypted: false, &link, &result)
    }
  }

  /// Returns the direction of ACL data in a capture without directions: the flags of first fragments differ, and another
  /// one continues the only frame that lacks fragments.
  private static func direction(of boundary: HCI.ACLData.Boundary, _ link: Link) -> PacketDescription.Direction? {
    switch boundary {
    case .firstNonFlushable: .toController
    case .firstFlushable: .toHost
    case .continuing: link.fragments.count == 1 ? link.fragments.first?.key : nil
    }
  }

  /// Describes a packet that is neither a command, nor an event, nor data of an LE link; or whose Length is wrong.
  private mutating func describe(undecoded octets: ByteSlice, isCut: Bool, _ result: inout PacketDescription) {
    func number(_ offset: Int) -> Int { octets.count > offset ? Int(octets[offset]) : 0 }
    let handle = (number(1) | number(2) << 8) & 0x0FFF
    let opcode = HCI.Opcode(rawValue: UInt16(number(1) | number(2) << 8))
    let (name, header, length): (String, Int, Int)
    switch number(0) {
    case 1: (name, header, length) = (opcode.description, 4, number(3))
    case 2: (name, header, length) = ("ACL Data", 5, number(3) | number(4) << 8)
    case 3: (name, header, length) = ("SCO Data", 4, number(3))
    case 4: (name, header, length) = (HCIText.describe(event: UInt8(number(1)), octets.dropFirst(3)).name, 3, number(2))
    case 5: (name, header, length) = ("ISO Data", 5, (number(3) | number(4) << 8) & 0x3FFF)
    default:
      return damaged("an HCI packet of an unknown kind", "HCI packet", "not read: 0x\(octets.bytes.digits)", &result)
    }
    result.content = number(0) == 1 ? .command : number(0) == 4 ? .event : number(0) == 2 ? .acl : .other
    if [2, 3, 5].contains(number(0)), octets.count >= 3 { result.connection = UInt32(handle) }
    guard octets.count == header + length else {
      if let connection = result.connection {
        // A later fragment does not continue the frame of this one.
        links[LinkKey(interface: result.interface.index, number: connection)]?.fragments[result.direction] = nil
      }
      let lengths = "Length \(length), but \(max(0, octets.count - header)) octets"
      return isCut
        ? damaged("an HCI packet that the capture program has cut", name, "cut: \(lengths)", &result)
        : damaged("an HCI packet whose Length is wrong", name, "malformed: \(lengths)", &result)
    }
    readableCount += 1
    (result.name, result.detail) = (name, "\(length) octets")
  }

  private mutating func follow(_ event: HCI.Event, _ result: inout PacketDescription) {
    switch event {
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      guard complete.status.rawValue == 0 else { return }
      let key = LinkKey(interface: result.interface.index, number: UInt32(complete.handle.rawValue))
      var link = makeLink()
      link.addresses = [complete.peer.deviceAddress].compactMap { $0 }
      store(link, key, &result)
      result.timing = (complete.values.interval, complete.values.latency, complete.values.supervisionTimeout)
    case .leConnectionUpdateComplete(let status, _, let values) where status.rawValue == 0:
      result.timing = (values.interval, values.latency, values.supervisionTimeout)
    case .disconnectionComplete(let status, _, let reason) where status.rawValue == 0: result.endReason = reason
    default: break
    }
  }

  private mutating func add(_ description: HCIText.Description, _ result: inout PacketDescription) {
    result.name = description.name
    result.detail = description.detail
    result.addresses = description.addresses
    result.advertising = description.advertising
    guard let handle = description.connection else { return }
    result.connection = UInt32(handle.rawValue)
    let key = LinkKey(interface: result.interface.index, number: UInt32(handle.rawValue))
    guard let link = links[key] ?? (result.endReason == nil ? makeLink() : nil) else { return }
    store(link, key, &result)
    for address in link.addresses where !result.addresses.contains(address) { result.addresses.append(address) }
  }

  // MARK: L2CAP

  private func describe(
    fragment octets: ByteSlice, isStart: Bool, isDecrypted: Bool, _ link: inout Link,
    _ result: inout PacketDescription
  ) {
    let direction = result.direction
    var octets = octets
    var fragments = Fragments()
    if isStart {
      fragments.length = LogicalLink.frameLength(octets) ?? LogicalLink.headerLength
    } else if let former = link.fragments[direction] {
      fragments = former
    } else {
      result.name = "L2CAP fragment"
      result.detail = "\(octets.count) octets, whose beginning was not captured"
      return
    }
    if isDecrypted, octets.count > Self.codeLength {
      // A frame in one packet shows if the sniffer has kept the MIC.
      let rest = fragments.length - fragments.octets.count
      if isStart { link.keepsMIC = octets.count == rest + Self.codeLength || link.keepsMIC && octets.count < rest }
      if link.keepsMIC { octets = octets.prefix(octets.count - Self.codeLength) }
    }
    // A repeated packet has been taken already.
    let isNew = !result.isRetransmission && !result.hasWrongCRC
    if isNew || isStart { fragments.octets += octets.bytes }
    guard fragments.octets.count >= fragments.length else {
      if isNew { link.fragments[direction] = fragments }
      result.name = "L2CAP fragment"
      result.detail = "\(fragments.octets.count) of \(fragments.length) octets"
      return
    }
    if isNew { link.fragments[direction] = nil }
    guard let frame = try? LogicalLink.Frame(ByteSlice(fragments.octets)) else {
      result.name = "L2CAP frame"
      result.detail = "invalid: 0x\(fragments.octets.digits)"
      return
    }
    describe(frame, &link, &result)
  }

  private func describe(_ frame: LogicalLink.Frame, _ link: inout Link, _ result: inout PacketDescription) {
    func invalid(_ name: String) {
      result.name = name
      result.detail = "invalid: 0x\(frame.payload.bytes.digits)"
    }
    switch frame.channel {
    case .attribute:
      result.content = .att
      guard let pdu = try? ATT.PDU.decode(frame.payload) else { return invalid("ATT PDU") }
      result.name = SpecificationNames.name(of: pdu.opcode)
      result.attribute = pdu
      // The attributes are those of the receiver of a request, and of the sender of anything else.
      let server: PacketDescription.Direction? =
        switch pdu.opcode.kind {
        case .request, .command, .confirmation: result.direction
        case .response, .notification, .indication: result.direction?.opposite
        }
      (result.detail, result.handles) = link.attributes[server, default: ATTText()].describe(pdu)
    case .signalling:
      result.content = .l2cap
      guard let signal = try? LogicalLink.Signal(frame.payload) else { return invalid("L2CAP signal") }
      (result.name, result.detail) = LogicalLinkText.describe(signal)
    case .securityManager:
      result.content = .smp
      guard let pdu = try? SMP.PDU.decode(frame.payload) else { return invalid("SMP PDU") }
      (result.name, result.detail) = LogicalLinkText.describe(pdu)
    default:
      result.content = .l2cap
      result.name = "L2CAP channel 0x\(frame.channel.rawValue.hexadecimal)"
      result.detail = "\(frame.payload.count) octets"
    }
  }
}

extension String {
  /// The text without NULs and spaces at its end.
  fileprivate var trimmed: String {
    var text = self[...]
    while let last = text.last, last == "\0" || last.isWhitespace { text.removeLast() }
    return String(text)
  }
}
