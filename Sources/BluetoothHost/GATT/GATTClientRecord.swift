import BluetoothWire

/// A server's state for one client, kept with the client's bond from one link to the next · Vol 3, Part G, 2.5.2.1,
/// 3.3.3.3, 7.2.
///
/// The host keeps the records of bonded clients in memory by identity address. The owner of the bonds may store a
/// record and restore it in a later host.
package struct GATTClientRecord: Hashable, Sendable {
  package struct Subscription: Hashable, Sendable {
    /// The handle of the characteristic's value.
    package var handle: AttributeHandle
    /// The value of the Client Characteristic Configuration.
    package var bits: UInt16

    package init(handle: AttributeHandle, bits: UInt16) {
      self.handle = handle
      self.bits = bits
    }
  }

  package internal(set) var subscriptions: [Subscription] = []
  /// The value of Client Supported Features.
  package internal(set) var features: UInt8 = 0
  package internal(set) var isChangeAware = true
  /// The range of changed handles that the client has not confirmed; nil: nothing has changed, or the client has not
  /// subscribed to Service Changed.
  package internal(set) var change: ClosedRange<AttributeHandle>?
  /// The Database Hash of the database that this record refers to.
  package internal(set) var databaseHash: [UInt8] = []

  /// Creates the record of a client that has configured nothing.
  package init() {}

  /// Creates a record from stored values.
  package init(
    subscriptions: [Subscription], features: UInt8, isChangeAware: Bool, change: ClosedRange<AttributeHandle>?,
    databaseHash: [UInt8]
  ) {
    self.subscriptions = subscriptions
    self.features = features
    self.isChangeAware = isChangeAware
    self.change = change
    self.databaseHash = databaseHash
  }

  /// Updates the record after the database has changed while the client was disconnected. The caller updates
  /// `databaseHash`.
  mutating func databaseChanged(_ range: ClosedRange<AttributeHandle>, to database: GATTDatabase) {
    isChangeAware = false
    subscriptions.removeAll { database.configuration(of: $0.handle) == nil }
    if isSubscribed(to: database.system.serviceChanged) { change = change.map { $0.union(range) } ?? range }
  }

  func isSubscribed(to value: AttributeHandle) -> Bool { subscriptions.contains { $0.handle == value } }
}

extension ClosedRange<AttributeHandle> {
  /// Returns the smallest range that covers both ranges.
  func union(_ other: ClosedRange<AttributeHandle>) -> ClosedRange<AttributeHandle> {
    Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
  }
}
