import BluetoothWire
import NIOCore

extension ByteBuffer {
  /// Appends the packet as it is on a serial transport: packet indicator first · Vol 4, Part A, 2.
  package mutating func writeHCIPacket(_ packet: HCI.Packet) {
    // One look for room for all of it: a small packet's octets cost less than asking for each of them.
    writeWithUnsafeMutableBytes(minimumWritableBytes: packet.encodedCount) { packet.encode(into: $0) }
  }
}
