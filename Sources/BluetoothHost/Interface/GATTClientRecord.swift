import BluetoothWire

/// What a server knows of one client, to be kept with the client's bond from one link to the next · Vol 3, Part G, 2.5.2.1,
/// 3.3.3.3, 7.2.
///
/// It is a plain value: the host keeps those of bonded clients in memory by identity address, and whoever keeps bonds may
/// write it down and hand it back to a later host.
package struct GATTClientRecord: Hashable, Sendable, Codable {
  package struct Subscription: Hashable, Sendable, Codable {
    /// The characteristic's value.
    package var handle: AttributeHandle
    /// As in the Client Characteristic Configuration.
    package var bits: UInt16

    package init(handle: AttributeHandle, bits: UInt16) {
      self.handle = handle
      self.bits = bits
    }
  }

  package internal(set) var subscriptions: [Subscription] = []
  /// Client Supported Features.
  package internal(set) var features: UInt8 = 0
  package internal(set) var isChangeAware = true
  /// What has changed without the client's having confirmed it; nil: nothing, or it has not asked to be told.
  package internal(set) var change: ClosedRange<AttributeHandle>?
  /// Database Hash of the database that the rest is about.
  package internal(set) var databaseHash: [UInt8] = []

  /// A client that has configured nothing.
  package init() {}

  /// One that was written down.
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

  /// The database has changed while the client was away. `databaseHash` is left to the caller.
  mutating func databaseChanged(_ range: ClosedRange<AttributeHandle>, to database: GATTDatabase) {
    isChangeAware = false
    subscriptions.removeAll { database.configuration(of: $0.handle) == nil }
    if isSubscribed(to: database.system.serviceChanged) { change = change.map { $0.union(range) } ?? range }
  }

  func isSubscribed(to value: AttributeHandle) -> Bool { subscriptions.contains { $0.handle == value } }
}

extension ClosedRange<AttributeHandle> {
  /// The smallest range that covers both.
  func union(_ other: ClosedRange<AttributeHandle>) -> ClosedRange<AttributeHandle> {
    Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
  }
}
