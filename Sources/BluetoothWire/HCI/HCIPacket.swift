/// The Host Controller Interface · Vol 4, Part E.
package enum HCI {
  /// An error code of the controller · Vol 1, Part F.
  package typealias ErrorCode = HCIErrorCode

  /// A packet between a host and a controller · Vol 4, Part E, 5.4. Synchronous and isochronous data are not
  /// supported: the project implements only LE asynchronous data.
  package enum Packet: Hashable, Sendable {
    /// HCI Command packet · 5.4.1; `parameters` holds at most 255 octets.
    case command(opcode: Opcode, parameters: ByteSlice)
    /// HCI ACL Data packet · 5.4.2.
    case acl(ACLData)
    /// HCI Event packet · 5.4.4; `parameters` holds at most 255 octets.
    case event(code: UInt8, parameters: ByteSlice)
  }

  /// An opcode: the group in the upper 6 bits, the command in the lower 10 · 5.4.1.
  package struct Opcode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
  }

  /// The handle of a connection between host and controller: 12 bits, 0x0000 to 0x0EFF · 5.3.1.
  package struct ConnectionHandle: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// The largest handle.
    package static let maximum = ConnectionHandle(rawValue: 0x0EFF)
  }

  /// A fragment of an L2CAP PDU between host and controller · 5.4.2.
  package struct ACLData: Hashable, Sendable {
    /// The Packet_Boundary_Flag for LE-U · 5.4.2.
    package enum Boundary: UInt8, Hashable, Sendable {
      /// The first fragment of a PDU from host to controller.
      case firstNonFlushable = 0b00
      /// A continuation fragment.
      case continuing = 0b01
      /// The first fragment of a PDU from controller to host.
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
