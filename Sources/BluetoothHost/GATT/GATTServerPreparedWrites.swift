import BluetoothWire

/// The queue of prepared writes · Vol 3, Part F, 3.4.6.
extension GATTServer {
  /// The maximum number of a client's prepared writes; `maximumPreparedOctets` is the limit for all their octets. Two
  /// values of maximum length fit in the smallest parts.
  static let maximumPreparedParts = 64
  static let maximumPreparedOctets = 2 * ATT.maximumValueLength

  /// Processes Prepare Write · 3.4.6.1.
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

  /// Processes Execute Write · 3.4.6.3: all prepared writes or none.
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

  /// Returns true if the upper layer handles the prepared write at `place`; throws a refusal if it cannot be written.
  private func isDynamic(
    _ place: Int, _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> Bool {
    let part = prepared[place]
    let index = try writable(part.handle, .write, database, context)
    let end = part.offset + part.value.count
    let maximum = Int(database.attributes[index].lengths.maximum)
    guard part.offset <= maximum else { throw Refusal(handle: part.handle, code: .invalidOffset) }
    guard end <= maximum else { throw Refusal(handle: part.handle, code: .invalidAttributeValueLength) }
    guard makesEnough(part.handle, Int(database.attributes[index].lengths.minimum)) else {
      throw Refusal(handle: part.handle, code: .invalidAttributeValueLength)
    }
    switch database.attributes[index].content {
    case .dynamic: return true
    case .stored(let value):
      // The length of the value after the previous prepared writes
      let length = prepared[..<place].reduce(value.count) { length, earlier in
        earlier.handle == part.handle ? max(length, earlier.offset + earlier.value.count) : length
      }
      guard part.offset <= length else { throw Refusal(handle: part.handle, code: .invalidOffset) }
      return false
    case .deviceName, .clientConfiguration, .serverConfiguration, .clientFeatures, .databaseHash:
      guard part.offset == 0 else { throw Refusal(handle: part.handle, code: .invalidOffset) }
      try checkConfiguration(part, database.attributes[index].content)
      return false
    }
  }

  /// Returns false if the prepared writes begin at offset 0 of the value and do not reach the minimum length.
  private func makesEnough(_ handle: AttributeHandle, _ minimum: Int) -> Bool {
    guard minimum > 0 else { return true }
    var (hasBeginning, end) = (false, 0)
    for part in prepared where part.handle == handle {
      if part.offset == 0 { hasBeginning = true }
      end = max(end, part.offset + part.value.count)
    }
    return !hasBeginning || end >= minimum
  }

  /// Returns the length of the value if the prepared writes of an attribute form it contiguously from offset 0; nil:
  /// they change the existing value.
  private func wholeLength(_ handle: AttributeHandle) -> Int? {
    var length = 0
    for part in prepared where part.handle == handle {
      guard part.offset == length else { return nil }
      length += part.value.count
    }
    return length
  }

  private func checkConfiguration(_ part: GATTWritePart, _ content: GATTAttribute.Content) throws(Refusal) {
    switch content {
    case .clientConfiguration(_, let allowed): _ = try Self.subscription(part.value, allowed, part.handle)
    case .serverConfiguration: _ = try Self.broadcast(part.value, part.handle)
    case .clientFeatures: _ = try supported(part.value, part.handle)
    case .stored, .deviceName, .dynamic, .databaseHash: break
    }
  }

  /// Executes the prepared writes of values in the database or in this bearer; all have been checked. A complete
  /// value replaces a longer one, as with Write Request, regardless of the length of the parts, which depends on the
  /// client's MTU.
  mutating func applyPrepared(_ database: inout GATTDatabase, _ context: inout GATTContext) {
    for part in prepared {
      guard let index = database.index(of: part.handle) else { continue }
      if case .stored(let value) = database.attributes[index].content {
        var octets = value.bytes
        guard part.offset <= octets.count else { continue }
        let end = part.offset + part.value.count
        octets.replaceSubrange(part.offset..<min(end, octets.count), with: part.value.bytes)
        if let length = wholeLength(part.handle), end == length { octets.removeSubrange(length...) }
        database.attributes[index].content = .stored(ByteSlice(octets))
      } else {
        try? keep(part.value, at: index, &database, &context)
      }
    }
    prepared.removeAll(keepingCapacity: true)
  }
}
