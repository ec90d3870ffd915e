import BluetoothWire

/// Why a service can't be added.
package enum GATTDatabaseError: Error, Hashable, Sendable {
  /// There are not enough handles left.
  case full
  /// No service stands at this handle.
  case unknownService(AttributeHandle)
  /// A value is longer than `ATT.maximumValueLength`.
  case valueTooLong
}

/// The attributes of the local server · Vol 3, Part G, 2.6. One database serves all links.
package struct GATTDatabase {
  /// - Parameter deviceName: at most 248 octets of it are served · Vol 3, Part C, 12.1.
  package init(deviceName: String, appearance: UInt16) {}

  /// Adds a service behind all that are there.
  package mutating func add(_ service: GATTServiceDefinition) throws(GATTDatabaseError) -> GATTServicePlacement {
    throw .full
  }

  /// Removes the service whose declaration this is. The result is the range for `GATTBearer.databaseChanged`.
  package mutating func remove(declaration: AttributeHandle) -> ClosedRange<AttributeHandle>? { nil }
}
