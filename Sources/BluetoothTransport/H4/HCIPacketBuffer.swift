import BluetoothWire
import NIOCore

extension ByteBuffer {
  /// Appends the packet as it is on a serial transport: packet indicator first · Vol 4, Part A, 2.
  package mutating func writeHCIPacket(_ packet: HCI.Packet) {
    reserveCapacity(minimumWritableBytes: packet.encodedCount)
    switch packet {
    case .command(let opcode, let parameters):
      writeInteger(HCI.PacketIndicator.command.rawValue)
      writeInteger(opcode.rawValue, endianness: .little)
      writeInteger(UInt8(truncatingIfNeeded: parameters.count))
      write(parameters)
    case .acl(let data):
      writeInteger(HCI.PacketIndicator.acl.rawValue)
      writeInteger(data.handleField, endianness: .little)
      writeInteger(UInt16(truncatingIfNeeded: data.payload.count), endianness: .little)
      write(data.payload)
    case .event(let code, let parameters):
      writeInteger(HCI.PacketIndicator.event.rawValue)
      writeInteger(code)
      writeInteger(UInt8(truncatingIfNeeded: parameters.count))
      write(parameters)
    }
  }

  private mutating func write(_ octets: ByteSlice) {
    octets.withUnsafeBytes { _ = writeBytes($0) }
  }
}
