import BluetoothWire

/// The identity and the statistics of one connection of this controller.
package struct LinkReport: Hashable, Sendable {
  package var handle: HCI.ConnectionHandle
  /// The access address of the connection; both ends share it, and it is almost always unique.
  package var accessAddress: UInt32
  package var isCentral: Bool
  package var isConnected: Bool
  package var statistics: LinkStatistics

  init(_ connection: borrowing Connection, isConnected: Bool) {
    handle = connection.handle
    accessAddress = connection.accessAddress
    isCentral = connection.role == .central
    self.isConnected = isConnected
    statistics = connection.statistics
  }
}
