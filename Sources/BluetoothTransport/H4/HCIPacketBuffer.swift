import BluetoothWire
import NIOCore

extension ByteBuffer {
  /// Appends the packet in the format of a serial transport: packet indicator first · Vol 4, Part A, 2.
  package mutating func writeHCIPacket(_ packet: HCI.Packet) {
    // One capacity check for the whole packet: checking for each field would cost more than writing a small packet.
    writeWithUnsafeMutableBytes(minimumWritableBytes: packet.encodedCount) { packet.encode(into: $0) }
  }
}
