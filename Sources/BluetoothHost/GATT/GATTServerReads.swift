import BluetoothWire

/// The requests that read by handle · Vol 3, Part F, 3.4.4.3 to 3.4.4.12.
extension GATTServer {
  /// The value that the database or this bearer has; nil: it has to be asked for.
  func storedValue(of attribute: GATTAttribute, _ context: GATTContext) -> ByteSlice? {
    switch attribute.content {
    case .stored(let value): return value
    case .dynamic: return nil
    case .clientConfiguration(let value, _):
      var writer = ByteWriter(context.pool, capacity: 2)
      writer.append(subscriptions[value].rawValue)
      return writer.finish()
    }
  }

  /// The attribute, if there is one and this link may read it.
  private func readable(
    _ handle: AttributeHandle, _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> GATTAttribute {
    guard let index = database.index(of: handle) else { throw Refusal(handle: handle, code: .invalidHandle) }
    if let code = database.attributes[index].readError(isEncrypted: context.isEncrypted) {
      throw Refusal(handle: handle, code: code)
    }
    return database.attributes[index]
  }

  /// Read · 3.4.4.3
  mutating func read(
    _ handle: AttributeHandle, _ database: GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    let attribute = try readable(handle, database, context)
    guard let value = storedValue(of: attribute, context) else {
      ask(.read, .readRequest, handle, offset: 0, &context)
      return nil
    }
    return .readResponse(value: value.prefix(context.mtu - 1))
  }

  /// Read Blob · 3.4.4.5. A value that is not long is read all the same, as the specification allows.
  mutating func readBlob(
    _ handle: AttributeHandle, _ offset: Int, _ database: GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    let attribute = try readable(handle, database, context)
    guard offset <= ATT.maximumValueLength else { throw Refusal(handle: handle, code: .invalidOffset) }
    guard let value = storedValue(of: attribute, context) else {
      ask(.readBlob, .readBlobRequest, handle, offset: offset, &context)
      return nil
    }
    guard offset <= value.count else { throw Refusal(handle: handle, code: .invalidOffset) }
    return .readBlobResponse(value: value.dropFirst(offset).prefix(context.mtu - 1))
  }

  /// How far a Read Multiple or Read Multiple Variable request has come.
  struct ReadMultiple {
    let handles: ATT.HandleList
    let isVariable: Bool
    var next = 0
    var collected: [UInt8] = []

    init(handles: ATT.HandleList, isVariable: Bool) {
      self.handles = handles
      self.isVariable = isVariable
    }

    mutating func append(_ value: ByteSlice) {
      let value = value.prefix(ATT.maximumValueLength)
      if isVariable { collected += UInt16(value.count).octets }
      value.withUnsafeBytes { collected.append(contentsOf: $0) }
      next += 1
    }
  }

  /// Read Multiple, Read Multiple Variable · 3.4.4.7, 3.4.4.11: goes on until a value has to be asked for.
  mutating func readMultiple(
    _ state: ReadMultiple, _ database: GATTDatabase, _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    var state = state
    if state.next == 0 {
      for handle in state.handles { _ = try readable(handle, database, context) }
    }
    let limit = context.mtu - 1
    while state.next < state.handles.count, state.collected.count < limit {
      let handle = state.handles[state.next]
      let attribute = try readable(handle, database, context)
      guard let value = storedValue(of: attribute, context) else {
        let opcode: ATT.Opcode = state.isVariable ? .readMultipleVariableRequest : .readMultipleRequest
        ask(.readMultiple(state), opcode, handle, offset: 0, &context)
        return nil
      }
      state.append(value)
    }
    let values = state.collected.withUnsafeBytes { octets in
      ByteSlice(UnsafeRawBufferPointer(rebasing: octets.prefix(limit)), in: context.pool)
    }
    return state.isVariable
      ? .readMultipleVariableResponse(ATT.LengthValueList(data: values)) : .readMultipleResponse(values: values)
  }
}
