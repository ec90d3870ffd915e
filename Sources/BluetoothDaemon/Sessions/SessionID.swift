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
