import BluetoothWire

/// The server's notifications and indications, and its record of the client · Vol 3, Part G, 2.5.2, 3.3.3.3, 7.
extension GATTServer {
  /// Sends `bytes` as a notification or an indication, as the client has subscribed to `value`.
  mutating func update(_ value: AttributeHandle, with bytes: ByteSlice, context: inout GATTContext) {
    guard !subscriptions.permitted(value, context.security).isEmpty else {
      context.events.append(.updateSent(value))
      return
    }
    updates.append(value, bytes, order: nextOrder())
  }

  /// Handles a Handle Value Confirmation · Vol 3, Part F, 3.4.7.3.
  mutating func confirm(_ context: inout GATTContext) {
    if updates.confirm(&context) { awareness.changeConfirmed() }
  }

  /// Ends the subscriptions to removed attributes, and sends Service Changed to a client that has subscribed to it
  /// · Vol 3, Part G, 7.1.
  mutating func databaseChanged(
    _ range: ClosedRange<AttributeHandle>, in database: GATTDatabase, context: inout GATTContext
  ) {
    for value in subscriptions.remove(where: { database.index(of: $0) == nil }) {
      context.events.append(.subscriptionChanged(value, []))
    }
    awareness.databaseChanged()
    announce(range, in: database)
  }

  private mutating func announce(_ range: ClosedRange<AttributeHandle>, in database: GATTDatabase) {
    let handle = database.system.serviceChanged
    guard subscriptions[handle].contains(.indication) else { return }
    updates.appendServiceChanged(range, at: handle, order: nextOrder())
  }

  // MARK: Client record

  func clientRecord(_ database: inout GATTDatabase) -> GATTClientRecord {
    var record = GATTClientRecord()
    record.subscriptions = subscriptions.entries.map {
      GATTClientRecord.Subscription(handle: $0.value, bits: $0.subscription.rawValue)
    }
    record.features = features.rawValue
    record.isChangeAware = awareness.isAware
    record.change = updates.unconfirmedChange
    record.databaseHash = database.hash().bytes
    return record
  }

  mutating func restore(
    _ record: GATTClientRecord, _ database: inout GATTDatabase, _ context: inout GATTContext
  ) {
    var inherited = Inheritance()
    inherited.features = GATTClientFeatures(rawValue: record.features).intersection(.known).subtracting(features)
    features.formUnion(inherited.features)
    let isSameDatabase = record.databaseHash == database.hash().bytes
    for entry in record.subscriptions where subscriptions[entry.handle].isEmpty {
      // In a different database, the handle may belong to another attribute. Service Changed is the host's own
      // attribute, and its handle does not change.
      guard isSameDatabase || entry.handle == database.system.serviceChanged,
        let index = database.configuration(of: entry.handle),
        case .clientConfiguration(_, let allowed) = database.attributes[index].content
      else { continue }
      let subscription = GATTSubscription(rawValue: entry.bits).intersection(allowed)
      inherited.subscriptions.append(entry.handle)
      subscribe(to: entry.handle, subscription, database.attributes[index].writing, database, &context)
    }
    if !record.isChangeAware || !isSameDatabase { awareness.databaseChanged() }
    if let range = isSameDatabase ? record.change : 1...AttributeHandle.max { announce(range, in: database) }
    self.inherited = inherited
  }

  /// Removes the restored state, because the client is another device than the one of the record.
  mutating func forgetInherited(_ context: inout GATTContext) {
    guard let inherited else { return }
    self.inherited = nil
    features.subtract(inherited.features)
    for value in subscriptions.remove(where: { inherited.subscriptions.contains($0) }) {
      context.events.append(.subscriptionChanged(value, []))
    }
  }
}
