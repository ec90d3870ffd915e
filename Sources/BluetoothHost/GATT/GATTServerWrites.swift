import BluetoothWire

/// The requests and commands that write · Vol 3, Part F, 3.4.5, 3.4.6.
extension GATTServer {
  /// How many prepared writes a client may have waiting, and how many octets in all: two of the longest values in the
  /// smallest parts.
  static let maximumPreparedParts = 64
  static let maximumPreparedOctets = 2 * ATT.maximumValueLength

  /// The attribute, if there is one and this link may write it in this way.
  private func writable(
    _ handle: AttributeHandle, _ way: GATTAttribute.Access, _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> GATTAttribute {
    guard let index = database.index(of: handle) else { throw Refusal(handle: handle, code: .invalidHandle) }
    if let code = database.attributes[index].writeError(way, isEncrypted: context.isEncrypted) {
      throw Refusal(handle: handle, code: code)
    }
    return database.attributes[index]
  }

  /// Write · 3.4.5.1
  mutating func write(
    _ handle: AttributeHandle, _ value: ByteSlice, _ database: inout GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    let attribute = try writable(handle, .write, database, context)
    guard value.count <= ATT.maximumValueLength else {
      throw Refusal(handle: handle, code: .invalidAttributeValueLength)
    }
    switch attribute.content {
    case .stored:
      database.store(ByteSlice(value.bytes), at: handle)
      return .writeResponse
    case .clientConfiguration(let characteristic, let allowed):
      let subscription = try Self.subscription(value, allowed, handle)
      subscribe(to: characteristic, subscription, database, &context)
      return .writeResponse
    case .dynamic:
      let request = makePending(.write, .writeRequest, handle)
      context.events.append(
        .writeRequested(request, GATTWriteParts(GATTWritePart(handle: handle, offset: 0, value: value))))
      return nil
    }
  }

  /// Write Command · 3.4.5.3: whatever can't be done is ignored. So is a Signed Write Command, for which no client has
  /// given a key.
  mutating func receiveCommand(_ octets: ByteSlice, database: inout GATTDatabase, context: inout GATTContext) {
    guard case .writeCommand(let handle, let value) = try? ATT.PDU.decode(octets),
      value.count <= ATT.maximumValueLength,
      let attribute = try? writable(handle, .writeCommand, database, context)
    else { return }
    switch attribute.content {
    case .stored: database.store(ByteSlice(value.bytes), at: handle)
    case .clientConfiguration: break
    case .dynamic:
      context.events.append(
        .writeRequested(nil, GATTWriteParts(GATTWritePart(handle: handle, offset: 0, value: value))))
    }
  }

  /// Prepare Write · 3.4.6.1
  mutating func prepareWrite(
    _ part: GATTWritePart, _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> ATT.PDU {
    _ = try writable(part.handle, .write, database, context)
    let octets = prepared.reduce(part.value.count) { $0 + $1.value.count }
    guard prepared.count < Self.maximumPreparedParts, octets <= Self.maximumPreparedOctets else {
      throw Refusal(handle: part.handle, code: .prepareQueueFull)
    }
    prepared.append(part)
    return .prepareWriteResponse(handle: part.handle, offset: UInt16(part.offset), value: part.value)
  }

  /// Execute Write · 3.4.6.3: all parts or none.
  mutating func executeWrite(
    _ flags: ATT.ExecuteWriteFlags, _ database: inout GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    guard flags == .write else {
      prepared.removeAll(keepingCapacity: true)
      return .executeWriteResponse
    }
    var dynamic: [GATTWritePart] = []
    do throws(Refusal) {
      for index in prepared.indices {
        if try isDynamic(index, database, context) { dynamic.append(prepared[index]) }
      }
    } catch {
      prepared.removeAll(keepingCapacity: true)
      throw error
    }
    guard let first = dynamic.first else {
      applyPrepared(&database, &context)
      return .executeWriteResponse
    }
    let request = makePending(.executeWrite, .executeWriteRequest, first.handle)
    context.events.append(.writeRequested(request, GATTWriteParts(dynamic)))
    return nil
  }

  /// Whether the prepared part at `index` is for whoever stands above; throws when it can't be written.
  private func isDynamic(
    _ index: Int, _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> Bool {
    let part = prepared[index]
    let attribute = try writable(part.handle, .write, database, context)
    guard part.offset <= ATT.maximumValueLength else { throw Refusal(handle: part.handle, code: .invalidOffset) }
    guard part.offset + part.value.count <= ATT.maximumValueLength else {
      throw Refusal(handle: part.handle, code: .invalidAttributeValueLength)
    }
    switch attribute.content {
    case .dynamic: return true
    case .stored(let value):
      // What the parts before this one will have made of the value.
      let length = prepared[..<index].reduce(value.count) { length, earlier in
        earlier.handle == part.handle ? max(length, earlier.offset + earlier.value.count) : length
      }
      guard part.offset <= length else { throw Refusal(handle: part.handle, code: .invalidOffset) }
      return false
    case .clientConfiguration(_, let allowed):
      guard part.offset == 0 else { throw Refusal(handle: part.handle, code: .invalidOffset) }
      _ = try Self.subscription(part.value, allowed, part.handle)
      return false
    }
  }

  /// Writes the prepared parts that the database and this bearer keep themselves; all have been checked.
  mutating func applyPrepared(_ database: inout GATTDatabase, _ context: inout GATTContext) {
    for part in prepared {
      guard let index = database.index(of: part.handle) else { continue }
      switch database.attributes[index].content {
      case .dynamic: break
      case .stored(let value):
        var octets = value.bytes
        guard part.offset <= octets.count else { continue }
        let end = part.offset + part.value.count
        octets.replaceSubrange(part.offset..<min(end, octets.count), with: part.value.bytes)
        database.store(ByteSlice(octets), at: part.handle)
      case .clientConfiguration(let characteristic, let allowed):
        guard let subscription = try? Self.subscription(part.value, allowed, part.handle) else { continue }
        subscribe(to: characteristic, subscription, database, &context)
      }
    }
    prepared.removeAll(keepingCapacity: true)
  }

  // MARK: Client Characteristic Configuration

  /// The configuration in the two octets of `value` · Vol 3, Part G, 3.3.3.3. Bits that are reserved, or for which the
  /// characteristic has no property, are refused.
  private static func subscription(
    _ value: ByteSlice, _ allowed: GATTSubscription, _ handle: AttributeHandle
  ) throws(Refusal) -> GATTSubscription {
    guard value.count == 2 else { throw Refusal(handle: handle, code: .invalidAttributeValueLength) }
    let subscription = GATTSubscription(rawValue: UInt16(value[0]) | UInt16(value[1]) << 8)
    guard subscription.isSubset(of: allowed) else { throw Refusal(handle: handle, code: .cccdImproperlyConfigured) }
    return subscription
  }

  private mutating func subscribe(
    to value: AttributeHandle, _ subscription: GATTSubscription, _ database: GATTDatabase,
    _ context: inout GATTContext
  ) {
    guard subscriptions[value] != subscription else { return }
    subscriptions[value] = subscription
    // Service Changed is the host's own affair.
    if value != database.serviceChangedHandle { context.events.append(.subscriptionChanged(value, subscription)) }
  }

  /// Ends the subscriptions to what has gone, and tells a client that asked for it · Vol 3, Part G, 7.1.
  mutating func databaseChanged(
    _ range: ClosedRange<AttributeHandle>, in database: GATTDatabase, context: inout GATTContext
  ) {
    for value in subscriptions.remove(where: { database.index(of: $0) == nil }) {
      context.events.append(.subscriptionChanged(value, []))
    }
    guard subscriptions[database.serviceChangedHandle].contains(.indication) else { return }
    updates.appendServiceChanged(range, at: database.serviceChangedHandle, order: nextOrder(), pool: context.pool)
  }

  // MARK: Updates

  /// Sends `bytes` in the way in which the client has subscribed to `value`.
  mutating func update(_ value: AttributeHandle, with bytes: ByteSlice, context: inout GATTContext) {
    guard !subscriptions[value].isEmpty else {
      context.events.append(.updateSent(value))
      return
    }
    updates.append(value, bytes, order: nextOrder())
  }
}
