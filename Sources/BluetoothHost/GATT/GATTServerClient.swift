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
    reportEnd(of: subscriptions.remove { database.index(of: $0) == nil }, &context)
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
      let requirement = database.attributes[index].writing
      inherited.subscriptions.append(entry.handle)
      if entry.handle == database.system.serviceChanged || requirement.refusal(for: context.security) == nil {
        subscribe(to: entry.handle, subscription, requirement, database, &context)
      } else {
        // The upper layer may send a value as soon as it knows the subscription; the value would be dropped.
        subscriptions.set(entry.handle, subscription, requirement)
        inherited.unreported.append(entry.handle)
      }
    }
    if !record.isChangeAware || !isSameDatabase { awareness.databaseChanged() }
    if let range = isSameDatabase ? record.change : 1...AttributeHandle.max { announce(range, in: database) }
    self.inherited = inherited
  }

  /// Removes the restored state, because the client is another device than the one of the record.
  mutating func forgetInherited(_ context: inout GATTContext) {
    guard let inherited else { return }
    features.subtract(inherited.features)
    reportEnd(of: subscriptions.remove { inherited.subscriptions.contains($0) }, &context)
    self.inherited = nil
  }

  /// Reports the restored subscriptions whose values may now be sent, once the key of the bond has encrypted the link.
  mutating func securityChanged(_ context: inout GATTContext) {
    guard context.security.isBonded, let unreported = inherited?.unreported else { return }
    for value in unreported {
      let subscription = subscriptions.permitted(value, context.security)
      guard !subscription.isEmpty else { continue }
      inherited?.unreported.removeAll { $0 == value }
      context.events.append(.subscriptionChanged(value, subscription))
    }
  }

  /// Notes that the client itself configures a characteristic on this link. A first subscription is reported even if it
  /// equals the restored one: many clients subscribe on each link, and wait for what follows a subscription.
  mutating func disinherit(_ value: AttributeHandle, for subscription: GATTSubscription) {
    guard let inherited, inherited.subscriptions.contains(value) else { return }
    self.inherited?.subscriptions.removeAll { $0 == value }
    self.inherited?.unreported.removeAll { $0 == value }
    // The end of a restored subscription is reported if the subscription has been.
    if !subscription.isEmpty || inherited.unreported.contains(value) { _ = subscriptions.remove { $0 == value } }
  }

  /// Reports the end of subscriptions, except for those that have not been reported.
  private mutating func reportEnd(of values: [AttributeHandle], _ context: inout GATTContext) {
    for value in values {
      if inherited?.unreported.contains(value) ?? false {
        inherited?.unreported.removeAll { $0 == value }
      } else {
        context.events.append(.subscriptionChanged(value, []))
      }
    }
  }
}
