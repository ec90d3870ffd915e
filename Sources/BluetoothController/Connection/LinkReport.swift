import BluetoothWire

/// The identity and the statistics of one connection of this controller.
package struct LinkReport: Hashable, Sendable {
  package var handle: HCI.ConnectionHandle
  /// The access address of the connection; both ends share it, and it is almost always unique.
  package var accessAddress: UInt32
  /// The identity address of the peer if it is known, else the address on the air.
  package var peer: DeviceAddress
  package var isCentral: Bool
  package var isConnected: Bool
  /// The reason why the connection has ended; nil: it has not, or the controller was reset.
  package var reason: HCI.ErrorCode?
  /// True if a packet of the peer has arrived.
  package var isEstablished: Bool
  package var values: HCI.ConnectionValues
  /// The PHYs of the next packets of this device and of its peer.
  package var transmitPHY: RadioPHY
  package var receivePHY: RadioPHY
  package var isEncrypted: Bool
  package var statistics: ConnectionStatistics

  init(_ connection: borrowing Connection, isConnected: Bool) {
    handle = connection.handle
    accessAddress = connection.accessAddress
    peer = connection.peer
    isCentral = connection.role == .central
    self.isConnected = isConnected
    reason = connection.reasonForEnd
    isEstablished = connection.isEstablished
    values = connection.values
    (transmitPHY, receivePHY) = (connection.phys.transmit, connection.phys.receive)
    isEncrypted = connection.encryption.isOn
    statistics = connection.statistics
  }
}
