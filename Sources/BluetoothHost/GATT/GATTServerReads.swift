import BluetoothWire

/// The requests that read by handle · Vol 3, Part F, 3.4.4.3 to 3.4.4.8, 3.4.4.11, 3.4.4.12.
extension GATTServer {
  /// Returns the value in the database or in this bearer; nil: the upper layer has it.
  mutating func storedValue(at index: Int, _ database: inout GATTDatabase, _ context: GATTContext) -> ByteSlice? {
    switch database.attributes[index].content {
    case .stored(let value): return value
    case .deviceName: return database.deviceName
    case .dynamic: return nil
    case .clientConfiguration(let value, _): return Self.octets(subscriptions[value].rawValue, context)
    case .serverConfiguration(_, let isBroadcast): return Self.octets(isBroadcast ? 1 : 0, context)
    case .clientFeatures:
      var writer = ByteWriter(context.pool, capacity: 1)
      writer.append(features.rawValue)
      return writer.finish()
    case .databaseHash:
      awareness.hashRead()
      return database.hash()
    }
  }

  private static func octets(_ value: UInt16, _ context: GATTContext) -> ByteSlice {
    var writer = ByteWriter(context.pool, capacity: 2)
    writer.append(value)
    return writer.finish()
  }

  /// Returns the index of an attribute that this link may read; throws a refusal if there is none.
  private func readable(
    _ handle: AttributeHandle, _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> Int {
    guard let index = database.index(of: handle) else { throw Refusal(handle: handle, code: .invalidHandle) }
    if let code = database.attributes[index].readError(context.security) { throw Refusal(handle: handle, code: code) }
    return index
  }

  /// Processes Read · 3.4.4.3.
  mutating func read(
    _ handle: AttributeHandle, _ database: inout GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    guard let index = database.index(of: handle) else { throw Refusal(handle: handle, code: .invalidHandle) }
    // One copy for all accesses
    let attribute = database.attributes[index]
    if let code = attribute.readError(context.security) { throw Refusal(handle: handle, code: code) }
    if case .stored(let value) = attribute.content { return .readResponse(value: value.prefix(context.mtu - 1)) }
    guard let value = storedValue(at: index, &database, context) else {
      ask(.read, .readRequest, handle, offset: 0, &context)
      return nil
    }
    return .readResponse(value: value.prefix(context.mtu - 1))
  }

  /// Processes Read Blob · 3.4.4.5. Short values are permitted, as in the specification. No state is kept between two
  /// requests: the response depends on the offset alone.
  mutating func readBlob(
    _ handle: AttributeHandle, _ offset: Int, _ database: inout GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    let index = try readable(handle, database, context)
    guard offset <= ATT.maximumValueLength else { throw Refusal(handle: handle, code: .invalidOffset) }
    guard let value = storedValue(at: index, &database, context) else {
      ask(.readBlob, .readBlobRequest, handle, offset: offset, &context)
      return nil
    }
    guard offset <= value.count else { throw Refusal(handle: handle, code: .invalidOffset) }
    return .readBlobResponse(value: value.dropFirst(offset).prefix(context.mtu - 1))
  }

  /// The progress of a Read Multiple or a Read Multiple Variable request.
  struct ReadMultiple {
    let handles: ATT.HandleList
    /// True for Read Multiple Variable: its response has a length before each value.
    let hasLengths: Bool
    var next = 0
    var collected: [UInt8] = []

    init(handles: ATT.HandleList, hasLengths: Bool) {
      self.handles = handles
      self.hasLengths = hasLengths
    }

    var opcode: ATT.Opcode { hasLengths ? .readMultipleVariableRequest : .readMultipleRequest }

    mutating func append(_ value: ByteSlice) {
      let value = value.prefix(ATT.maximumValueLength)
      if hasLengths { withUnsafeBytes(of: UInt16(value.count).littleEndian) { collected.append(contentsOf: $0) } }
      value.withUnsafeBytes { collected.append(contentsOf: $0) }
      next += 1
    }
  }

  /// Continues Read Multiple · 3.4.4.7 or Read Multiple Variable · 3.4.4.11 until the upper layer must be asked for a
  /// value. The MTU may truncate the last value and its length.
  mutating func readMultiple(
    _ state: ReadMultiple, _ database: inout GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    var state = state
    if state.next == 0 {
      for handle in state.handles { _ = try readable(handle, database, context) }
    }
    let limit = context.mtu - 1
    while state.next < state.handles.count, state.collected.count < limit {
      let handle = state.handles[state.next]
      let index = try readable(handle, database, context)
      guard let value = storedValue(at: index, &database, context) else {
        ask(.readMultiple(state), state.opcode, handle, offset: 0, &context)
        return nil
      }
      state.append(value)
    }
    let values = state.collected.withUnsafeBytes { octets in
      ByteSlice(UnsafeRawBufferPointer(rebasing: octets.prefix(limit)), in: context.pool)
    }
    return state.hasLengths
      ? .readMultipleVariableResponse(ATT.LengthValueList(data: values)) : .readMultipleResponse(values: values)
  }
}
