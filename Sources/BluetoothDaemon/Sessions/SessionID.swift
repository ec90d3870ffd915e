import BluetoothWire

/// The role of a session: that of a central manager or of a peripheral manager.
package protocol SessionRole: Sendable {}

/// The role of a central manager's session.
package enum CentralRole: SessionRole {}

/// The role of a peripheral manager's session.
package enum PeripheralRole: SessionRole {}

/// The identifier of a session of one adapter. It identifies no later session.
package struct SessionID<Role: SessionRole>: Hashable, Sendable {
  package let key: SlotKey
  package init(key: SlotKey) { self.key = key }
}

package typealias CentralSessionID = SessionID<CentralRole>
package typealias PeripheralSessionID = SessionID<PeripheralRole>

/// A session of either role.
enum AnySession: Hashable {
  case central(CentralSessionID)
  case peripheral(PeripheralSessionID)

  var key: SlotKey {
    switch self {
    case .central(let session): session.key
    case .peripheral(let session): session.key
    }
  }

  /// Returns the session of the same role with another key.
  func other(_ key: SlotKey) -> AnySession {
    switch self {
    case .central: .central(CentralSessionID(key: key))
    case .peripheral: .peripheral(PeripheralSessionID(key: key))
    }
  }

  /// Returns true if both sessions have the same role.
  func hasRole(of other: AnySession) -> Bool { other.other(key) == self }
}
