import BluetoothWire

/// The octets of a packet, and the tree of their fields with their places.
///
/// The tree is for people who compare octets with the specification; the meaning of the whole packet is in its
/// `PacketDescription`. Octets that have no field of their own, such as the parameters of HCI packets, are one field.
package struct PacketFields: Sendable {
  /// A field: its place in the octets, and its parts.
  package struct Field: Sendable {
    package var name: String
    package var value: String
    package var range: Range<Int>
    package var parts: [Field] = []
  }

  /// The octets without the pseudo-header of a file: access address, PDU and CRC without whitening on the air, H4 in HCI.
  package let octets: [UInt8]
  package private(set) var fields: [Field] = []

  /// Creates the tree of a captured packet; nil: the packet is neither on the air nor of HCI.
  package init?(_ packet: CapturedPacket, isEncrypted: Bool) {
    switch CapturedContent(packet) {
    case .air(let air):
      self.init(air.octets, isAdvertising: air.isAdvertising, isCoded: air.phy == .leCoded, isEncrypted: isEncrypted)
    case .hci(let octets, _): self.init(hci: octets.bytes)
    case .message, .unsupported: return nil
    }
  }

  /// Creates the tree of a packet on the air.
  package init(_ packet: AirPacket) {
    self.init(LL.airBytes(of: packet), isAdvertising: packet.isAdvertising, isCoded: false, isEncrypted: false)
  }

  /// - Parameters:
  ///   - isCoded: true if an octet with the Coding Indicator precedes the header.
  ///   - isEncrypted: true if the payload is encrypted.
  private init(_ octets: some Sequence<UInt8>, isAdvertising: Bool, isCoded: Bool, isEncrypted: Bool) {
    self.octets = Array(octets)
    let header = isCoded ? 5 : 4
    guard self.octets.count >= header + 2 else {
      fields = [field("Octets", 0..<self.octets.count)]
      return
    }
    fields.append(
      Field(name: "Access address", value: "0x" + UInt32(truncatingIfNeeded: number(0, 4)).hexadecimal, range: 0..<4))
    if isCoded { fields.append(whole("Coding Indicator", 4, 1)) }
    let end = max(header + 2, self.octets.count - 3)
    if isAdvertising {
      addAdvertising(header, end)
    } else {
      addData(header, end, isEncrypted: isEncrypted)
    }
    fields.append(field("CRC", end..<self.octets.count))
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

  private func bits(_ name: String, _ value: some CustomStringConvertible, at offset: Int, _ count: Int = 1) -> Field {
    Field(name: name, value: "\(value)", range: offset..<offset + count)
  }

  private func address(_ name: String, _ offset: Int) -> Field {
    let text = octets[offset..<offset + 6].reversed().map(\.hexadecimal).joined(separator: ":")
    return Field(name: name, value: text, range: offset..<offset + 6)
  }

  // MARK: Advertising · Vol 6, Part B, 2.3

  private mutating func addAdvertising(_ start: Int, _ end: Int) {
    let (first, payload) = (octets[start], start + 2)
    let type = LL.AdvertisingPDUType(rawValue: first & 0x0F)
    fields.append(
      Field(
        name: "Header", value: hexadecimal(start..<payload), range: start..<payload,
        parts: [
          bits("PDU type", type.map { "\($0)" } ?? "\(first & 0x0F)", at: start),
          bits("ChSel", first >> 5 & 1, at: start),
          bits("TxAdd", first >> 6 & 1 == 1 ? "random" : "public", at: start),
          bits("RxAdd", first >> 7 & 1 == 1 ? "random" : "public", at: start), whole("Length", start + 1, 1),
        ]))
    let length = end - payload
    var field = Field(name: "Payload", value: "\(length) octets", range: payload..<end)
    switch type {
    case .advInd, .advNonconnInd, .advScanInd, .scanRsp:
      if length >= 6 { field.parts = [address("AdvA", payload)] + structures(payload + 6, end) }
    case .advDirectInd:
      if length >= 12 { field.parts = [address("AdvA", payload), address("TargetA", payload + 6)] }
    case .scanReq: if length >= 12 { field.parts = [address("ScanA", payload), address("AdvA", payload + 6)] }
    case .connectInd: if length >= 34 { field.parts = connection(payload) }
    case .extended: field.parts = extended(payload, end)
    case .auxConnectRsp, nil: break
    }
    fields.append(field)
  }

  private func connection(_ start: Int) -> [Field] {
    let data = start + 12
    var parts = [address("InitA", start), address("AdvA", start + 6)]
    parts.append(
      bits(
        "Access address of the connection", "0x" + UInt32(truncatingIfNeeded: number(data, 4)).hexadecimal, at: data, 4)
    )
    parts.append(field("CRCInit", data + 4..<data + 7))
    parts.append(whole("WinSize", data + 7, 1))
    parts.append(whole("WinOffset", data + 8, 2))
    parts.append(bits("Interval", "\(Double(number(data + 10, 2)) * 1.25) ms", at: data + 10, 2))
    parts.append(whole("Latency", data + 12, 2))
    parts.append(bits("Timeout", "\(number(data + 14, 2) * 10) ms", at: data + 14, 2))
    parts.append(field("Channel map", data + 16..<data + 21))
    parts.append(bits("Hop", octets[data + 21] & 0x1F, at: data + 21))
    parts.append(bits("SCA", octets[data + 21] >> 5, at: data + 21))
    return parts
  }

  private func extended(_ start: Int, _ end: Int) -> [Field] {
    guard end > start else { return [] }
    let data = start + 1 + Int(octets[start] & 0x3F)
    guard data <= end else { return [] }
    return [field("Extended header", start..<data)] + structures(data, end)
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

  private mutating func addData(_ start: Int, _ end: Int, isEncrypted: Bool) {
    let raw = UInt16(number(start, 2))
    let header = LL.DataHeader(rawValue: raw)
    var payload = start + 2
    var parts = [bits("LLID", "\(header.llid)", at: start)]
    for (name, shift) in [("NESN", UInt16(2)), ("SN", 3), ("MD", 4), ("CP", 5)] {
      parts.append(bits(name, raw >> shift & 1, at: start))
    }
    parts.append(whole("Length", start + 1, 1))
    // The CTEInfo field follows the header if CP is set.
    if raw & 0x20 != 0, payload < end {
      parts.append(whole("CTEInfo", payload, 1))
      payload += 1
    }
    fields.append(Field(name: "Header", value: hexadecimal(start..<payload), range: start..<payload, parts: parts))
    guard end > payload else { return }
    var field = Field(name: "Payload", value: "\(end - payload) octets", range: payload..<end)
    if isEncrypted, end - payload > 4 {
      field.parts = [self.field("Encrypted", payload..<end - 4), self.field("MIC", end - 4..<end)]
      return fields.append(field)
    }
    switch header.llid {
    case .control:
      let opcode = LL.ControlOpcode(rawValue: octets[payload])
      field.parts = [
        bits("Opcode", opcode.map { SpecificationNames.name(of: $0) } ?? octets[payload].hexadecimal, at: payload)
      ]
      if end > payload + 1 { field.parts.append(self.field("CtrData", payload + 1..<end)) }
    case .start: field.parts = frame(payload, end)
    case .continuation, .reserved: field.parts = [self.field("Fragment", payload..<end)]
    }
    fields.append(field)
  }

  /// Returns the fields of the first fragment of an L2CAP PDU · Vol 3, Part A, 3.1.
  private func frame(_ start: Int, _ end: Int) -> [Field] {
    guard end - start >= 4 else { return [field("Fragment", start..<end)] }
    let channel = number(start + 2, 2)
    let names = [4: "ATT", 5: "L2CAP signalling", 6: "SMP"]
    var parts = [
      whole("L2CAP length", start, 2),
      bits("Channel", names[channel] ?? "0x" + UInt16(channel).hexadecimal, at: start + 2, 2),
    ]
    let data = start + 4
    guard end > data else { return parts }
    switch channel {
    case 4: parts += attribute(data, end)
    case 5:
      guard end - data >= 4 else { return parts + [field("Information", data..<end)] }
      parts += [field("Code", data..<data + 1), whole("Identifier", data + 1, 1), whole("Length", data + 2, 2)]
      if end > data + 4 { parts.append(field("Data", data + 4..<end)) }
    case 6:
      parts.append(field("Code", data..<data + 1))
      if end > data + 1 { parts.append(field("Data", data + 1..<end)) }
    default: parts.append(field("Information", data..<end))
    }
    return parts
  }

  private func handle(_ name: String, _ offset: Int) -> Field {
    bits(name, "0x" + UInt16(number(offset, 2)).hexadecimal, at: offset, 2)
  }

  /// Returns the fields of an ATT PDU · Vol 3, Part F, 3.4.
  private func attribute(_ start: Int, _ end: Int) -> [Field] {
    let opcode = ATT.Opcode(rawValue: octets[start])
    var parts = [
      bits("Opcode", opcode.map { SpecificationNames.name(of: $0) } ?? octets[start].hexadecimal, at: start)
    ]
    let data = start + 1
    guard end > data else { return parts }
    switch opcode {
    case .readRequest, .readBlobRequest, .writeRequest, .prepareWriteRequest, .prepareWriteResponse,
      .handleValueNotification, .handleValueIndication, .writeCommand, .signedWriteCommand:
      guard end >= data + 2 else { break }
      parts.append(handle("Handle", data))
      if end > data + 2 { parts.append(field("Value", data + 2..<end)) }
      return parts
    case .findInformationRequest, .readByTypeRequest, .readByGroupTypeRequest, .findByTypeValueRequest:
      guard end >= data + 4 else { break }
      parts += [handle("Starting handle", data), handle("Ending handle", data + 2)]
      if end > data + 4 { parts.append(field("Type", data + 4..<end)) }
      return parts
    case .exchangeMTURequest, .exchangeMTUResponse:
      guard end >= data + 2 else { break }
      return parts + [whole("MTU", data, 2)]
    case .errorResponse:
      guard end >= data + 4 else { break }
      return parts + [field("Request", data..<data + 1), handle("Handle", data + 1), field("Error", data + 3..<end)]
    default: break
    }
    parts.append(field("Parameters", data..<end))
    return parts
  }

  // MARK: HCI · Vol 4, Part E, 5.4

  private init(hci octets: [UInt8]) {
    self.octets = octets
    let kinds: [UInt8: (name: String, header: Int)] = [
      1: ("HCI Command", 4), 2: ("HCI ACL Data", 5), 3: ("HCI SCO Data", 4), 4: ("HCI Event", 3),
      5: ("HCI ISO Data", 5),
    ]
    guard let first = octets.first, let kind = kinds[first], octets.count >= kind.header else {
      fields = [field("Octets", 0..<octets.count)]
      return
    }
    fields.append(bits("Packet", kind.name, at: 0))
    let start = kind.header
    switch first {
    case 1:
      let opcode = UInt16(number(1, 2))
      fields.append(
        Field(
          name: "Opcode", value: HCI.Opcode(rawValue: opcode).description, range: 1..<3,
          parts: [bits("OGF", opcode >> 10, at: 1, 2), bits("OCF", opcode & 0x03FF, at: 1, 2)]))
      fields.append(whole("Length", 3, 1))
    case 4:
      fields.append(field("Event code", 1..<2))
      fields.append(whole("Length", 2, 1))
    default:
      let word = UInt16(number(1, 2))
      fields.append(bits("Handle", "0x" + (word & 0x0FFF).hexadecimal, at: 1, 2))
      fields.append(bits("Flags", word >> 12, at: 2))
      fields.append(whole("Length", 3, first == 3 ? 1 : 2))
      if first == 2, octets.count > start {
        var data = Field(name: "Data", value: "\(octets.count - start) octets", range: start..<octets.count)
        // Packet_Boundary_Flag 1 continues a PDU.
        data.parts = word >> 12 & 3 == 1 ? [field("Fragment", start..<octets.count)] : frame(start, octets.count)
        fields.append(data)
        return
      }
    }
    guard octets.count > start else { return }
    var parameters = field("Parameters", start..<octets.count)
    // LE Meta, whose first parameter is the subevent code.
    if first == 4, octets[1] == 0x3E {
      parameters.parts = [field("Subevent code", start..<start + 1)]
      if octets.count > start + 1 { parameters.parts.append(field("Data", start + 1..<octets.count)) }
    }
    fields.append(parameters)
  }
}

extension PacketFields {
  /// The tree in lines, two spaces deeper for the parts of a field, and then the octets, 16 on each line.
  package var lines: [String] {
    func lines(_ fields: [Field], _ depth: Int) -> [String] {
      fields.flatMap { field in
        [String(repeating: "  ", count: depth) + "\(field.name): \(field.value)"] + lines(field.parts, depth + 1)
      }
    }
    return lines(fields, 1) + dump
  }

  /// The octets as hexadecimal digits and as characters, 16 on each line.
  private var dump: [String] {
    stride(from: 0, to: octets.count, by: 16).map { start in
      let row = octets[start..<min(start + 16, octets.count)]
      var digits = ""
      for index in start..<start + 16 {
        if index == start + 8 { digits += " " }
        digits += index < row.endIndex ? " " + octets[index].hexadecimal : "   "
      }
      let characters = row.map { 0x20...0x7E ~= $0 ? String(UnicodeScalar($0)) : "." }.joined()
      return "  \(UInt16(truncatingIfNeeded: start).hexadecimal) \(digits)  \(characters)"
    }
  }
}
