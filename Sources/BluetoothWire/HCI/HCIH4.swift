extension HCI {
  /// The packet indicator, which distinguishes packet types on a serial transport · Vol 4, Part A, 2.
  package enum PacketIndicator: UInt8, Hashable, Sendable {
    case command = 0x01
    case acl = 0x02
    case event = 0x04
  }
}

extension HCI.ACLData {
  /// The first field of the header: handle, Packet_Boundary_Flag and Broadcast_Flag, which is 0 · Vol 4, Part E,
  /// 5.4.2.
  package var handleField: UInt16 { handle.rawValue & 0x0FFF | UInt16(boundary.rawValue) << 12 }
}

extension HCI.Packet {
  /// The number of octets that `encode` writes.
  package var encodedCount: Int {
    switch self {
    case .command(_, let parameters): return 4 + parameters.count
    case .acl(let data): return 5 + data.payload.count
    case .event(_, let parameters): return 3 + parameters.count
    }
  }

  /// Writes the packet in the format of captures and serial transports, packet indicator first, to the beginning of
  /// `room`. Traps if `room` has fewer than `encodedCount` octets. Returns the number of octets written.
  package func encode(into room: UnsafeMutableRawBufferPointer) -> Int {
    precondition(room.count >= encodedCount, "\(encodedCount) octets in a room for \(room.count)")
    switch self {
    case .command(let opcode, let parameters):
      room[0] = HCI.PacketIndicator.command.rawValue
      room.storeBytes(of: opcode.rawValue.littleEndian, toByteOffset: 1, as: UInt16.self)
      room[3] = UInt8(truncatingIfNeeded: parameters.count)
      return Self.copy(parameters, to: room, at: 4)
    case .acl(let data):
      room[0] = HCI.PacketIndicator.acl.rawValue
      room.storeBytes(of: data.handleField.littleEndian, toByteOffset: 1, as: UInt16.self)
      let count = UInt16(truncatingIfNeeded: data.payload.count)
      room.storeBytes(of: count.littleEndian, toByteOffset: 3, as: UInt16.self)
      return Self.copy(data.payload, to: room, at: 5)
    case .event(let code, let parameters):
      room[0] = HCI.PacketIndicator.event.rawValue
      room[1] = code
      room[2] = UInt8(truncatingIfNeeded: parameters.count)
      return Self.copy(parameters, to: room, at: 3)
    }
  }

  /// Returns the offset of the end of the copied octets.
  private static func copy(_ octets: ByteSlice, to room: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    octets.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: room[offset...]).copyMemory(from: $0) }
    return offset + octets.count
  }

  /// Returns the octets of the packet, packet indicator first, in a storage of `pool`.
  package func h4(in pool: PacketPool) -> ByteSlice {
    let count = encodedCount
    var writer = ByteWriter(pool, capacity: count, headroom: 0)
    _ = writer.append(count: count) { encode(into: $0) }
    return writer.finish()
  }

  /// Decodes `h4` as exactly one packet.
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
