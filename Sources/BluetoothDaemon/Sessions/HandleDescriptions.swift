import BluetoothWire

extension PeerHandle: CustomStringConvertible {
  package var description: String { "peer \(index)" }
}

extension RemoteAttributeID: CustomStringConvertible {
  package var description: String { "attribute 0x" + handle.hexadecimal }
}
