import BluetoothDissection
import BluetoothWire

/// The octets of a packet on the air, and the tree of their fields.
struct PacketFields {
  /// A field: its place in the octets, and its parts.
  struct Field {
    var name: String
    var value: String
    var range: Range<Int>
    var parts: [Field] = []

    var pageText: JSONText {
      var fields = PageFields()
      fields.add("name", name)
      fields.add("value", value)
      fields.add("from", .whole(range.lowerBound))
      fields.add("to", .whole(range.upperBound))
      if !parts.isEmpty { fields.add("fields", .list(parts.map(\.pageText))) }
      return fields.object
    }
  }

  /// Access address, PDU and CRC, without whitening.
  let octets: [UInt8]
  private(set) var fields: [Field] = []

  private static let pdu = 4
  private static let payload = 6

  init(_ packet: AirPacket) {
    octets = LL.airBytes(of: packet)
    fields.append(Field(name: "Access address", value: "0x\(packet.accessAddress.linkText)", range: 0..<4))
    let end = octets.count - 3
    if packet.isAdvertising {
      addAdvertising(packet, end)
    } else {
      addData(packet, end)
    }
    fields.append(Field(name: "CRC", value: hexadecimal(end..<octets.count), range: end..<octets.count))
  }

  private func hexadecimal(_ range: Range<Int>) -> String {
    range.isEmpty ? "" : octets[range].map(\.hexadecimal).joined()
  }

  private func number(_ offset: Int, _ count: Int) -> Int {
    (0..<count).reduce(0) { $0 | Int(octets[offset + $1]) << (8 * $1) }
  }

  private func field(_ name: String, _ range: Range<Int>) -> Field {
    Field(name: name, value: hexadecimal(range), range: range)
  }

  /// Returns a field for a little-endian number.
  private func whole(_ name: String, _ offset: Int, _ count: Int) -> Field {
    Field(name: name, value: "\(number(offset, count))", range: offset..<offset + count)
  }

  private func address(_ name: String, _ offset: Int) -> Field {
    let text = octets[offset..<offset + 6].reversed().map(\.hexadecimal).joined(separator: ":")
    return Field(name: name, value: text, range: offset..<offset + 6)
  }

  // MARK: Advertising · Vol 6, Part B, 2.3

  private mutating func addAdvertising(_ packet: AirPacket, _ end: Int) {
    let type = LL.AdvertisingPDUType(rawValue: UInt8(packet.header & 0x0F))
    fields.append(
      Field(
        name: "Header", value: hexadecimal(4..<6), range: 4..<6,
        parts: [
          Field(name: "PDU type", value: type.map { "\($0)" } ?? "\(packet.header & 0x0F)", range: 4..<5),
          Field(name: "ChSel", value: "\(packet.header >> 5 & 1)", range: 4..<5),
          Field(name: "TxAdd", value: packet.header >> 6 & 1 == 1 ? "random" : "public", range: 4..<5),
          Field(name: "RxAdd", value: packet.header >> 7 & 1 == 1 ? "random" : "public", range: 4..<5),
          whole("Length", 5, 1),
        ]))
    var payload = field("Payload", Self.payload..<end)
    payload.value = "\(end - Self.payload) octets"
    let length = end - Self.payload
    switch type {
    case .advInd, .advNonconnInd, .advScanInd, .scanRsp:
      if length >= 6 { payload.parts = [address("AdvA", Self.payload)] + structures(Self.payload + 6, end) }
    case .advDirectInd:
      if length >= 12 { payload.parts = [address("AdvA", Self.payload), address("TargetA", Self.payload + 6)] }
    case .scanReq:
      if length >= 12 { payload.parts = [address("ScanA", Self.payload), address("AdvA", Self.payload + 6)] }
    case .connectInd: if length >= 34 { payload.parts = connection(Self.payload) }
    case .extended: payload.parts = extended(end)
    case .auxConnectRsp, nil: break
    }
    fields.append(payload)
  }

  private func connection(_ start: Int) -> [Field] {
    let data = start + 12
    var parts = [address("InitA", start), address("AdvA", start + 6)]
    parts.append(field("Access address of the connection", data..<data + 4))
    parts.append(field("CRCInit", data + 4..<data + 7))
    parts.append(whole("WinSize", data + 7, 1))
    parts.append(whole("WinOffset", data + 8, 2))
    parts.append(
      Field(name: "Interval", value: "\(Double(number(data + 10, 2)) * 1.25) ms", range: data + 10..<data + 12))
    parts.append(whole("Latency", data + 12, 2))
    parts.append(Field(name: "Timeout", value: "\(number(data + 14, 2) * 10) ms", range: data + 14..<data + 16))
    parts.append(field("Channel map", data + 16..<data + 21))
    parts.append(Field(name: "Hop", value: "\(octets[data + 21] & 0x1F)", range: data + 21..<data + 22))
    parts.append(Field(name: "SCA", value: "\(octets[data + 21] >> 5)", range: data + 21..<data + 22))
    return parts
  }

  private func extended(_ end: Int) -> [Field] {
    guard end > Self.payload else { return [] }
    let length = Int(octets[Self.payload] & 0x3F)
    let data = Self.payload + 1 + length
    guard data <= end else { return [] }
    var parts = [field("Extended header", Self.payload..<data)]
    parts.append(contentsOf: structures(data, end))
    return parts
  }

  /// Returns the AD structures · Vol 3, Part C, 11.
  private func structures(_ start: Int, _ end: Int) -> [Field] {
    var result: [Field] = []
    var start = start
    while start < end {
      let length = Int(octets[start])
      guard length > 0, start + 1 + length <= end else {
        result.append(field("Not a structure", start..<end))
        break
      }
      let range = start..<start + 1 + length
      let type = Self.name(ofType: octets[start + 1])
      var structure = Field(name: type, value: hexadecimal(start + 2..<range.upperBound), range: range)
      structure.parts = [whole("Length", start, 1), field("Type", start + 1..<start + 2)]
      if length > 1 { structure.parts.append(field("Data", start + 2..<range.upperBound)) }
      result.append(structure)
      start = range.upperBound
    }
    return result
  }

  /// The names of the types of AD structures · Assigned Numbers, 2.3.
  private static func name(ofType type: UInt8) -> String {
    switch ADType(rawValue: type) {
    case .flags: "Flags"
    case .incompleteServices16, .incompleteServices32, .incompleteServices128: "Incomplete list of services"
    case .completeServices16, .completeServices32, .completeServices128: "Complete list of services"
    case .shortenedLocalName: "Shortened local name"
    case .completeLocalName: "Complete local name"
    case .txPowerLevel: "TX power level"
    case .solicitedServices16, .solicitedServices32, .solicitedServices128: "Solicited services"
    case .serviceData16, .serviceData32, .serviceData128: "Service data"
    case .appearance: "Appearance"
    case .manufacturerData: "Manufacturer specific data"
    default: "AD structure 0x\(type.hexadecimal)"
    }
  }

  // MARK: Data · Vol 6, Part B, 2.4

  private mutating func addData(_ packet: AirPacket, _ end: Int) {
    let header = LL.DataHeader(rawValue: packet.header)
    func bit(_ name: String, _ shift: UInt16) -> Field {
      Field(name: name, value: "\(packet.header >> shift & 1)", range: 4..<5)
    }
    fields.append(
      Field(
        name: "Header", value: hexadecimal(4..<6), range: 4..<6,
        parts: [
          Field(name: "LLID", value: "\(header.llid)", range: 4..<5), bit("NESN", 2), bit("SN", 3), bit("MD", 4),
          whole("Length", 5, 1),
        ]))
    guard end > Self.payload else { return }
    var payload = Field(name: "Payload", value: "\(end - Self.payload) octets", range: Self.payload..<end)
    switch header.llid {
    case .control:
      let opcode = LL.ControlOpcode(rawValue: octets[Self.payload])
      payload.parts = [
        Field(
          name: "Opcode", value: opcode.map { SpecificationNames.name(of: $0) } ?? hexadecimal(6..<7), range: 6..<7)
      ]
      if end > 7 { payload.parts.append(field("CtrData", 7..<end)) }
    case .start: payload.parts = frame(end)
    case .continuation, .reserved: payload.parts = [field("Fragment", Self.payload..<end)]
    }
    fields.append(payload)
  }

  /// Returns the fields of the first fragment of an L2CAP PDU · Vol 3, Part A, 3.1.
  private func frame(_ end: Int) -> [Field] {
    guard end - Self.payload >= 4 else { return [field("Fragment", Self.payload..<end)] }
    let channel = number(8, 2)
    var parts = [whole("L2CAP length", 6, 2)]
    let names = [4: "ATT", 5: "L2CAP signalling", 6: "SMP"]
    parts.append(Field(name: "Channel", value: names[channel] ?? "\(channel)", range: 8..<10))
    guard end > 10 else { return parts }
    guard channel == 4 else { return parts + [field("Information", 10..<end)] }
    let opcode = ATT.Opcode(rawValue: octets[10])
    parts.append(
      Field(
        name: "Opcode", value: opcode.map { SpecificationNames.name(of: $0) } ?? hexadecimal(10..<11), range: 10..<11))
    switch opcode {
    case .readRequest, .readBlobRequest, .writeRequest, .prepareWriteRequest, .prepareWriteResponse,
      .handleValueNotification, .handleValueIndication, .writeCommand, .signedWriteCommand:
      guard end >= 13 else { break }
      parts.append(Field(name: "Handle", value: "0x" + UInt16(number(11, 2)).hexadecimal, range: 11..<13))
      if end > 13 { parts.append(field("Value", 13..<end)) }
      return parts
    default: break
    }
    if end > 11 { parts.append(field("Parameters", 11..<end)) }
    return parts
  }
}
