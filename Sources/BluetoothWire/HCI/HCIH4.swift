extension HCI {
  /// The octet that tells packets apart on a serial transport · Vol 4, Part A, 2.
  package enum PacketIndicator: UInt8, Hashable, Sendable {
    case command = 0x01
    case acl = 0x02
    case event = 0x04
  }
}

extension HCI.ACLData {
  /// The first field of its header: handle, Packet_Boundary_Flag and Broadcast_Flag, which is 0 · Vol 4, Part E, 5.4.2.
  package var handleField: UInt16 { handle.rawValue & 0x0FFF | UInt16(boundary.rawValue) << 12 }
}

extension HCI.Packet {
  /// Octets of the indicator and of the header that belongs to it.
  private static let aclHeader = 5

  /// How many octets `encode` writes.
  package var encodedCount: Int {
    switch self {
    case .command(_, let parameters): return 4 + parameters.count
    case .acl(let data): return Self.aclHeader + data.payload.count
    case .event(_, let parameters): return 3 + parameters.count
    }
  }

  /// Appends the packet as it is in captures and on serial transports: packet indicator first.
  package func encode(into writer: inout ByteWriter) {
    switch self {
    case .command(let opcode, let parameters):
      writer.append(HCI.PacketIndicator.command.rawValue)
      writer.append(opcode.rawValue)
      writer.append(UInt8(truncatingIfNeeded: parameters.count))
      writer.append(parameters)
    case .acl(let data):
      writer.append(HCI.PacketIndicator.acl.rawValue)
      writer.append(data.handleField)
      writer.append(UInt16(truncatingIfNeeded: data.payload.count))
      writer.append(data.payload)
    case .event(let code, let parameters):
      writer.append(HCI.PacketIndicator.event.rawValue)
      writer.append(code)
      writer.append(UInt8(truncatingIfNeeded: parameters.count))
      writer.append(parameters)
    }
  }

  /// The octets of the packet, packet indicator first, in a storage of `pool`.
  package func h4(in pool: PacketPool) -> ByteSlice {
    var writer = ByteWriter(pool, capacity: encodedCount, headroom: 0)
    encode(into: &writer)
    return writer.finish()
  }

  /// The one packet that `h4` holds from its first octet to its last.
  package init(h4: ByteSlice) throws(DecodingError) {
    var reader = ByteReader(h4)
    let octet = try reader.uint8()
    switch HCI.PacketIndicator(rawValue: octet) {
    case .command:
      let opcode = HCI.Opcode(rawValue: try reader.uint16())
      self = .command(opcode: opcode, parameters: try reader.take(Int(try reader.uint8())))
    case .acl:
      let field = try reader.uint16()
      // Packet_Boundary_Flag 0b11 and broadcasts do not occur on LE-U · Vol 4, Part E, 5.4.2.
      guard let boundary = HCI.ACLData.Boundary(rawValue: UInt8(truncatingIfNeeded: field >> 12 & 0b11)) else {
        throw .invalid(field: "Packet_Boundary_Flag")
      }
      guard field >> 14 == 0 else { throw .invalid(field: "Broadcast_Flag") }
      let payload = try reader.take(Int(try reader.uint16()))
      let handle = HCI.ConnectionHandle(rawValue: field & 0x0FFF)
      self = .acl(HCI.ACLData(handle: handle, boundary: boundary, payload: payload))
    case .event:
      let code = try reader.uint8()
      self = .event(code: code, parameters: try reader.take(Int(try reader.uint8())))
    case nil:
      throw .unknown(code: UInt16(octet))
    }
    try reader.end()
  }
}
