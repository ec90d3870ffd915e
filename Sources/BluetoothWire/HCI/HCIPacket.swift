/// The Host Controller Interface · Vol 4, Part E.
package enum HCI {
  /// One packet between a host and a controller · Vol 4, Part E, 5.4. Synchronous and isochronous data do not occur:
  /// the system has Low Energy's asynchronous data only.
  package enum Packet: Hashable, Sendable {
    /// HCI Command packet · 5.4.1; `parameters` holds at most 255 octets.
    case command(opcode: Opcode, parameters: ByteSlice)
    /// HCI ACL Data packet · 5.4.2.
    case acl(ACLData)
    /// HCI Event packet · 5.4.4; `parameters` holds at most 255 octets.
    case event(code: UInt8, parameters: ByteSlice)
  }

  /// A command's number: group in the upper 6 bits, command in the lower 10 · 5.4.1.
  package struct Opcode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
  }

  /// What names a connection between host and controller: 12 bits, 0x0000 to 0x0EFF · 5.3.1.
  package struct ConnectionHandle: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// The largest.
    package static let maximum = ConnectionHandle(rawValue: 0x0EFF)
  }

  /// A part of an L2CAP PDU on its way between host and controller · 5.4.2.
  package struct ACLData: Hashable, Sendable {
    /// Packet_Boundary_Flag of LE-U · 5.4.2.
    package enum Boundary: UInt8, Hashable, Sendable {
      /// First part, host to controller.
      case firstNonFlushable = 0b00
      /// A further part.
      case continuing = 0b01
      /// First part, controller to host.
      case firstFlushable = 0b10
    }

    package var handle: ConnectionHandle
    package var boundary: Boundary
    package var payload: ByteSlice

    package init(handle: ConnectionHandle, boundary: Boundary, payload: ByteSlice) {
      self.handle = handle
      self.boundary = boundary
      self.payload = payload
    }
  }
}

extension HCI.ConnectionHandle: CustomStringConvertible {
  package var description: String { "0x" + rawValue.hexadecimal }
}
