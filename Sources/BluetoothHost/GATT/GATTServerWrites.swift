import BluetoothWire

/// The requests and commands that write · Vol 3, Part F, 3.4.5.
extension GATTServer {
  /// Returns the index of an attribute that this link may write in this way; throws a refusal if there is none.
  func writable(
    _ handle: AttributeHandle, _ way: GATTAttribute.Access, _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> Int {
    guard let index = database.index(of: handle) else { throw Refusal(handle: handle, code: .invalidHandle) }
    if let code = database.attributes[index].writeError(way, context.security) {
      throw Refusal(handle: handle, code: code)
    }
    return index
  }

  /// Processes Write · 3.4.5.1.
  mutating func write(
    _ handle: AttributeHandle, _ value: ByteSlice, _ database: inout GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    let index = try writable(handle, .write, database, context)
    guard database.attributes[index].allowsLength(value.count) else {
      throw Refusal(handle: handle, code: .invalidAttributeValueLength)
    }
    guard case .dynamic = database.attributes[index].content else {
      try keep(value, at: index, &database, &context)
      return .writeResponse
    }
    let request = makePending(.write, .writeRequest, handle)
    context.events.append(
      .writeRequested(request, GATTWriteParts(GATTWritePart(handle: handle, offset: 0, value: value))))
    return nil
  }

  /// Processes Write Command and Signed Write Command · 3.4.5.3, 3.4.5.4. Invalid commands are ignored.
  mutating func receiveCommand(_ octets: ByteSlice, database: inout GATTDatabase, context: inout GATTContext) {
    if !awareness.isAware, features.contains(.robustCaching) { return }
    switch try? ATT.PDU.decode(octets) {
    case .writeCommand(let handle, let value)?:
      command(handle, value, .writeCommand, &database, &context)
    case .signedWriteCommand(let handle, let value, let signature)?:
      // Signed writes are ignored on an encrypted link, which does not need them · Vol 3, Part C, 10.4.2.
      guard context.security.level == .none, (try? writable(handle, .signedWrite, database, context)) != nil,
        signatureVerifier?.verify(signature, of: octets.prefix(octets.count - ATT.signatureLength)) == true
      else { return }
      command(handle, value, .signedWrite, &database, &context)
    default: break
    }
  }

  private mutating func command(
    _ handle: AttributeHandle, _ value: ByteSlice, _ way: GATTAttribute.Access, _ database: inout GATTDatabase,
    _ context: inout GATTContext
  ) {
    guard let index = database.index(of: handle) else { return }
    // One copy for all accesses
    let attribute = database.attributes[index]
    guard attribute.writeError(way, context.security) == nil, attribute.allowsLength(value.count) else { return }
    if case .dynamic = attribute.content {
      context.events.append(
        .writeRequested(nil, GATTWriteParts(GATTWritePart(handle: handle, offset: 0, value: value))))
    } else {
      try? keep(value, at: index, &database, &context)
    }
  }

  /// Writes a value in the database or in this bearer. The received bytes are stored without a copy.
  mutating func keep(
    _ value: ByteSlice, at index: Int, _ database: inout GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) {
    let handle = database.attributes[index].handle
    switch database.attributes[index].content {
    case .dynamic, .deviceName, .databaseHash: break
    case .stored: database.attributes[index].content = .stored(value)
    case .clientConfiguration(let characteristic, let allowed):
      let subscription = try Self.subscription(value, allowed, handle)
      disinherit(characteristic, for: subscription)
      subscribe(to: characteristic, subscription, database.attributes[index].writing, database, &context)
    case .serverConfiguration(let characteristic, let isBroadcast):
      let configured = try Self.broadcast(value, handle)
      guard configured != isBroadcast else { break }
      database.attributes[index].content = .serverConfiguration(of: characteristic, isBroadcast: configured)
      context.events.append(.broadcastChanged(characteristic, configured))
    case .clientFeatures:
      features = try supported(value, handle)
      inherited?.features = []
    }
  }

  // MARK: Client configurations

  /// Returns the Client Characteristic Configuration in the two octets of `value` · Vol 3, Part G, 3.3.3.3. Throws a
  /// refusal for reserved bits and for bits without the corresponding property.
  static func subscription(
    _ value: ByteSlice, _ allowed: GATTSubscription, _ handle: AttributeHandle
  ) throws(Refusal) -> GATTSubscription {
    let subscription = GATTSubscription(rawValue: try bits(value, handle))
    guard subscription.isSubset(of: allowed) else { throw Refusal(handle: handle, code: .cccdImproperlyConfigured) }
    return subscription
  }

  /// Returns the only bit of a Server Characteristic Configuration · Vol 3, Part G, 3.3.3.4.
  static func broadcast(_ value: ByteSlice, _ handle: AttributeHandle) throws(Refusal) -> Bool {
    let bits = try bits(value, handle)
    guard bits <= 1 else { throw Refusal(handle: handle, code: .valueNotAllowed) }
    return bits == 1
  }

  private static func bits(_ value: ByteSlice, _ handle: AttributeHandle) throws(Refusal) -> UInt16 {
    guard value.count == 2 else { throw Refusal(handle: handle, code: .invalidAttributeValueLength) }
    return UInt16(value[0]) | UInt16(value[1]) << 8
  }

  /// Returns the new Client Supported Features. A client must not clear bits; unknown bits are ignored
  /// · Vol 3, Part G, 7.2.
  func supported(_ value: ByteSlice, _ handle: AttributeHandle) throws(Refusal) -> GATTClientFeatures {
    guard value.count == 1 else { throw Refusal(handle: handle, code: .invalidAttributeValueLength) }
    let claimed = GATTClientFeatures(rawValue: value[0]).intersection(.known)
    guard claimed.isSuperset(of: features) else { throw Refusal(handle: handle, code: .valueNotAllowed) }
    return claimed
  }

  mutating func subscribe(
    to value: AttributeHandle, _ subscription: GATTSubscription, _ requirement: GATTRequirement,
    _ database: GATTDatabase, _ context: inout GATTContext
  ) {
    guard subscriptions[value] != subscription else { return }
    subscriptions.set(value, subscription, requirement)
    // The subscription to Service Changed concerns only the host.
    if value != database.system.serviceChanged { context.events.append(.subscriptionChanged(value, subscription)) }
  }
}
