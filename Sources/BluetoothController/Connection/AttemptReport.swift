import BluetoothWire

/// The number of connections that this device has created with one peer in one role, and of those that were never
/// established: no packet of the peer arrived · Vol 6, Part B, 4.5.
package struct AttemptReport: Hashable, Sendable {
  /// The identity address of the peer if it is known, else the address on the air.
  package let peer: DeviceAddress
  package let isCentral: Bool
  /// The connections created by a CONNECT_IND or an AUX_CONNECT_REQ that a central has sent or a peripheral received.
  package var created = 0
  /// The connections that ended before they were established.
  package var failed = 0
}

/// The connection attempts of a controller, by peer and role.
struct AttemptTable {
  /// The maximum number of entries. The oldest one is removed, because peers may change their addresses without end.
  static let limit = 256

  private(set) var entries: [AttemptReport] = []

  mutating func noteCreation(of connection: borrowing Connection) {
    update(connection) { $0.created += 1 }
  }

  mutating func noteFailure(of connection: borrowing Connection) {
    update(connection) { $0.failed += 1 }
  }

  private mutating func update(_ connection: borrowing Connection, _ change: (inout AttemptReport) -> Void) {
    let (peer, isCentral) = (connection.peer, connection.role == .central)
    if let index = entries.firstIndex(where: { $0.peer == peer && $0.isCentral == isCentral }) {
      return change(&entries[index])
    }
    if entries.count >= Self.limit { entries.removeFirst() }
    entries.append(AttemptReport(peer: peer, isCentral: isCentral))
    change(&entries[entries.count - 1])
  }
}
