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
    var addresses: [DeviceAddress] = []
    /// The fragments of an L2CAP PDU, by direction.
    var fragments: [PacketDescription.Direction?: Fragments] = [:]
    /// The attributes of the two servers, by the direction of the requests to them.
    var attributes: [PacketDescription.Direction?: ATTText] = [:]
    /// The sequence number of the last packet, by direction.
    var sequenceNumbers: [PacketDescription.Direction: Bool] = [:]
    /// True from LL_START_ENC_REQ on.
    var isEncrypted = false
  }

  private struct Fragments {
    var octets: [UInt8] = []
    var length = 0
  }

  private var links: [LinkKey: Link] = [:]

  /// Has seen no packet yet.
  package init() {}

  /// Describes the next packet.
  package mutating func describe(_ packet: CapturedPacket) -> PacketDescription {
    var result = PacketDescription(packet)
    switch CapturedContent(packet) {
    case .air(let air): describe(air, &result)
    case .hci(let octets, let isFromHost): describe(hci: octets, isFromHost, &result)
    case .monitor(let opcode, let octets): describe(monitor: opcode, octets, &result)
    case .unsupported:
      result.name = "packet"
      result.detail = "\(packet.octets.count) octets of \(packet.interface.link.text)"
    }
    return result
  }

  // MARK: The air

  private mutating func describe(_ air: CapturedAirPacket, _ result: inout PacketDescription) {
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
    guard air.isAdvertising else { return describe(data: air, &result) }
    result.content = .advertising
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
      // A connection keeps its link if CONNECT_IND is repeated: the advertiser may have missed the first one.
      links[key, default: Link()].addresses = addresses
    }
  }

  private mutating func describe(data air: CapturedAirPacket, _ result: inout PacketDescription) {
    result.connection = air.accessAddress
    let key = LinkKey(interface: result.interface.index, number: air.accessAddress)
    var link = links[key] ?? Link()
    defer { links[key] = link }
    result.addresses = link.addresses
    let header = LL.DataHeader(rawValue: air.header)
    if let direction = result.direction, !air.hasWrongCRC {
      result.isRetransmission = link.sequenceNumbers[direction] == header.sequenceNumber
      link.sequenceNumbers[direction] = header.sequenceNumber
    }
    result.content = .data
    guard !air.payload.isEmpty else {
      result.name = "empty PDU"
      return
    }
    let isMarked = result.comments.contains("encrypted")
    if !air.isDecrypted, isMarked || link.isEncrypted {
      result.isEncrypted = true
      result.name = "encrypted PDU"
      result.payloadLength = max(0, air.payload.count - 4)
      result.detail = "\(result.payloadLength) octets"
      return
    }
    switch header.llid {
    case .control:
      result.content = .ll
      guard let pdu = try? LL.ControlPDU(payload: air.payload) else {
        result.name = "LL Control PDU"
        result.detail = "opcode 0x\(air.payload[0].hexadecimal), 0x\(air.payload.dropFirst(1).bytes.digits)"
        return
      }
      result.name = SpecificationNames.name(of: pdu.opcode)
      result.detail = LinkLayerText.words(pdu).joined(separator: ", ")
      switch pdu {
      // A capture that shows what was encrypted has the marks of decrypted packets from here on.
      case .connectionUpdateInd(let timing, _): result.timing = (timing.interval, timing.latency, timing.timeout)
      case .terminateInd(let reason): result.endReason = reason
      case .startEncReq: link.isEncrypted = !air.isDecrypted
      case .pauseEncRsp where result.direction == .toPeripheral: link.isEncrypted = false
      default: break
      }
    case .start, .continuation:
      describe(fragment: air.payload, isStart: header.llid == .start, &link, &result)
    case .reserved:
      result.name = "data PDU"
      result.detail = "LLID 0b00"
    }
  }

  // MARK: HCI

  private mutating func describe(hci octets: ByteSlice, _ isFromHost: Bool?, _ result: inout PacketDescription) {
    result.direction = isFromHost.map { $0 ? .toController : .toHost }
    guard let packet = try? HCI.Packet(h4: octets) else {
      result.name = "HCI packet"
      result.detail = "invalid: 0x\(octets.bytes.digits)"
      return
    }
    switch packet {
    case .command(let opcode, let parameters):
      result.content = .command
      add(HCIText.describe(command: opcode, parameters), &result)
    case .event(let code, let parameters):
      result.content = .event
      let description = HCIText.describe(event: code, parameters)
      // The addresses of a new connection belong to all its packets.
      if let event = try? HCI.Event(code: code, parameters: parameters) { follow(event, &result) }
      add(description, &result)
    case .acl(let data):
      result.content = .acl
      result.connection = UInt32(data.handle.rawValue)
      result.payloadLength = data.payload.count
      if result.direction == nil, data.boundary == .firstNonFlushable { result.direction = .toController }
      let key = LinkKey(interface: result.interface.index, number: UInt32(data.handle.rawValue))
      var link = links[key] ?? Link()
      defer { links[key] = link }
      result.addresses = link.addresses
      describe(fragment: data.payload, isStart: data.boundary != .continuing, &link, &result)
    }
  }

  private mutating func follow(_ event: HCI.Event, _ result: inout PacketDescription) {
    switch event {
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      guard complete.status.rawValue == 0 else { return }
      let key = LinkKey(interface: result.interface.index, number: UInt32(complete.handle.rawValue))
      links[key] = Link(addresses: [complete.peer.deviceAddress].compactMap { $0 })
      result.timing = (complete.values.interval, complete.values.latency, complete.values.supervisionTimeout)
    case .leConnectionUpdateComplete(let status, _, let values) where status.rawValue == 0:
      result.timing = (values.interval, values.latency, values.supervisionTimeout)
    case .disconnectionComplete(let status, _, let reason) where status.rawValue == 0: result.endReason = reason
    default: break
    }
  }

  private func add(_ description: HCIText.Description, _ result: inout PacketDescription) {
    result.name = description.name
    result.detail = description.detail
    result.addresses = description.addresses
    result.advertising = description.advertising
    guard let handle = description.connection else { return }
    result.connection = UInt32(handle.rawValue)
    let key = LinkKey(interface: result.interface.index, number: UInt32(handle.rawValue))
    for address in links[key]?.addresses ?? [] where !result.addresses.contains(address) {
      result.addresses.append(address)
    }
  }

  private func describe(monitor opcode: UInt16, _ octets: ByteSlice, _ result: inout PacketDescription) {
    let names: [UInt16: String] = [
      0: "New Index", 1: "Delete Index", 8: "Open Index", 9: "Close Index", 10: "Index Information",
      11: "Vendor Diagnostics", 12: "System Note", 13: "User Logging",
    ]
    result.name = names[opcode] ?? "monitor opcode \(opcode)"
    if opcode == 12 || opcode == 13 { result.detail = octets.validUTF8Prefix.trimmed }
  }

  // MARK: L2CAP

  private func describe(
    fragment octets: ByteSlice, isStart: Bool, _ link: inout Link, _ result: inout PacketDescription
  ) {
    let direction = result.direction
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
