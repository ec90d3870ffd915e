import BluetoothRadio
import BluetoothWire

/// The content of a transmission, in the detail by which faults select packets.
struct AirContent {
  enum Kind: Equatable {
    case advertising(UInt8)
    case control(UInt8)
    /// The first fragment of an L2CAP frame.
    case frame(channel: UInt16, attribute: Attribute?)
    /// A continuation fragment of an L2CAP frame, or content that can't be identified.
    case other
    case empty
  }

  struct Attribute: Equatable {
    var opcode: UInt8
    var handle: UInt16?
  }

  let kind: Kind

  init(_ packet: AirPacket) {
    let plain = packet.plainPayload ?? packet.payload
    if packet.isAdvertising {
      kind = .advertising(UInt8(packet.header & 0x0F))
      return
    }
    switch LL.DataHeader(rawValue: packet.header).llid {
    case .control: kind = plain.isEmpty ? .other : .control(plain[0])
    case .start: kind = Self.frame(plain)
    case .continuation: kind = plain.isEmpty ? .empty : .other
    case .reserved: kind = .other
    }
  }

  /// The fixed channel of the Attribute Protocol · Vol 3, Part A, 2.1.
  private static let attributeChannel: UInt16 = 0x0004

  private static func frame(_ octets: ByteSlice) -> Kind {
    var reader = ByteReader(octets)
    guard (try? reader.uint16()) != nil, let channel = try? reader.uint16() else { return .other }
    guard channel == attributeChannel, let opcode = try? reader.uint8() else {
      return .frame(channel: channel, attribute: nil)
    }
    return .frame(channel: channel, attribute: Attribute(opcode: opcode, handle: handle(behind: opcode, in: &reader)))
  }

  /// Returns the handle of the attribute that the PDU refers to, if it refers to exactly one · Vol 3, Part F, 3.4.
  private static func handle(behind opcode: UInt8, in reader: inout ByteReader) -> UInt16? {
    switch ATT.Opcode(rawValue: opcode) {
    case .errorResponse:
      guard (try? reader.uint8()) != nil else { return nil }
      return try? reader.uint16()
    case .readRequest, .readBlobRequest, .writeRequest, .prepareWriteRequest, .prepareWriteResponse,
      .handleValueNotification, .handleValueIndication, .writeCommand, .signedWriteCommand:
      return try? reader.uint16()
    default: return nil
    }
  }

  func matches(_ pattern: AirMatch.Content) -> Bool {
    func fits<T: Equatable>(_ expected: T?, _ actual: T?) -> Bool { expected == nil || expected == actual }
    switch (pattern, kind) {
    case (.anything, _), (.empty, .empty): return true
    case (.advertising(let expected), .advertising(let type)): return fits(expected, type)
    case (.control(let expected), .control(let opcode)): return fits(expected, opcode)
    case (.channel(let expected), .frame(let channel, _)): return expected == channel
    case (.attribute(let opcode, let handle), .frame(_, let attribute?)):
      return fits(opcode, attribute.opcode) && fits(handle, attribute.handle)
    default: return false
    }
  }

  /// A description for logs, such as `ATT handleValueNotification of attribute 0x000C`.
  var description: String {
    switch kind {
    case .advertising(let type):
      LL.AdvertisingPDUType(rawValue: type).map { "advertising PDU \($0)" } ?? "advertising PDU 0x\(type.hexadecimal)"
    case .control(let opcode):
      LL.ControlOpcode(rawValue: opcode).map { "LL Control PDU \($0)" } ?? "LL Control PDU 0x\(opcode.hexadecimal)"
    case .frame(let channel, nil): "L2CAP frame on channel 0x\(channel.hexadecimal)"
    case .frame(_, let attribute?):
      (ATT.Opcode(rawValue: attribute.opcode).map { "ATT \($0)" } ?? "ATT PDU 0x\(attribute.opcode.hexadecimal)")
        + (attribute.handle.map { " of attribute 0x\($0.hexadecimal)" } ?? "")
    case .other: "data PDU"
    case .empty: "empty PDU"
    }
  }
}

/// The content of an HCI packet, in the detail by which faults select packets.
struct HCIContent {
  private let packet: HCI.Packet

  init(_ packet: HCI.Packet) { self.packet = packet }

  /// LE Meta event · Vol 4, Part E, 7.7.65.
  private static let leMetaEvent: UInt8 = 0x3E

  func matches(_ pattern: HCIMatch.Content) -> Bool {
    switch (pattern, packet) {
    case (.anything, _), (.data, .acl): true
    case (.command(let expected), .command(let opcode, _)): expected == nil || expected == opcode.rawValue
    case (.event(let expected, let subevent), .event(let code, let parameters)):
      (expected == nil || expected == code)
        && (subevent == nil || code == Self.leMetaEvent && parameters.prefix(1) == subevent.map { ByteSlice([$0]) })
    default: false
    }
  }

  var description: String {
    switch packet {
    case .command(let opcode, _): "HCI command 0x\(opcode.rawValue.hexadecimal)"
    case .event(Self.leMetaEvent, let parameters):
      "LE event 0x\((parameters.isEmpty ? 0 : parameters[0]).hexadecimal)"
    case .event(let code, _): "HCI event 0x\(code.hexadecimal)"
    case .acl(let data): "ACL data of \(data.payload.count) octets"
    }
  }
}
