import BluetoothWire

/// The procedures that read and write values · Vol 3, Part G, 4.8, 4.9, 4.12.
extension GATTClient {
  // MARK: Reading

  /// Handles the first part of a value; a value that fills the response may be longer.
  mutating func read(_ handle: AttributeHandle, _ value: ByteSlice, _ context: GATTContext) -> GATTProcedure.Step {
    guard value.count >= partLength(context) else { return .done(.value(value)) }
    longValue.removeAll(keepingCapacity: true)
    value.withUnsafeBytes { longValue.append(contentsOf: $0) }
    return readBlob(handle)
  }

  mutating func readRest(_ handle: AttributeHandle, _ part: ByteSlice, _ context: GATTContext) -> GATTProcedure.Step {
    part.withUnsafeBytes { longValue.append(contentsOf: $0) }
    // No offset addresses the octets behind the limit, and a truncated value would look complete.
    guard longValue.count <= ATT.maximumReadLength else { return .failed(.att(.invalidAttributeValueLength)) }
    return part.count >= partLength(context) ? readBlob(handle) : longValueRead(context)
  }

  /// Returns the number of octets that fill a response, whether the server has sent it before or after a change of
  /// the MTU.
  private func partLength(_ context: GATTContext) -> Int { min(requestMTU, context.mtu) - 1 }

  private func readBlob(_ handle: AttributeHandle) -> GATTProcedure.Step {
    .request(
      .readBlobRequest(handle: handle, offset: UInt16(truncatingIfNeeded: longValue.count)), .readRest(handle))
  }

  /// Returns true if this error means that the value has no more octets. A server without Read Blob has no long
  /// values.
  static func endsLongRead(_ code: ATT.ErrorCode) -> Bool {
    code == .invalidOffset || code == .attributeNotLong || code == .requestNotSupported
  }

  func longValueRead(_ context: GATTContext) -> GATTProcedure.Step {
    .done(.value(longValue.withUnsafeBytes { ByteSlice($0, in: context.pool) }))
  }

  /// Begins Read Multiple or, if the response is to have a length before each value, Read Multiple Variable.
  mutating func readMultiple(
    _ handles: [AttributeHandle], hasLengths: Bool, _ context: GATTContext
  ) -> GATTProcedure.Step {
    guard handles.count >= 2, handles.count <= (context.mtu - 1) / 2 else { return .failed(.att(.invalidPDU)) }
    var writer = ByteWriter(context.pool, capacity: 2 * handles.count)
    for handle in handles { writer.append(handle) }
    self.handles = handles
    let list = ATT.HandleList(data: writer.finish())
    return hasLengths
      ? .request(.readMultipleVariableRequest(list), .readMultipleVariable)
      : .request(.readMultipleRequest(list), .readMultiple)
  }

  func foundValues(_ list: ATT.LengthValueList) -> GATTProcedure.Step {
    var values: [GATTValue] = []
    for element in list {
      guard values.count < handles.count else { return .failed(.invalidResponse) }
      // The MTU has truncated the last value.
      guard element.value.count == element.length else { break }
      values.append(GATTValue(handle: handles[values.count], value: element.value))
    }
    return .done(.values(values))
  }

  func readByType(_ type: BluetoothUUID, in range: ClosedRange<AttributeHandle>) -> GATTProcedure.Step {
    .request(.readByTypeRequest(start: range.lowerBound, end: range.upperBound, type: type), .readByType(in: range))
  }

  func foundValues(_ list: ATT.AttributeDataList, in range: ClosedRange<AttributeHandle>) -> GATTProcedure.Step {
    var values: [GATTValue] = []
    for element in list {
      guard element.handle > values.last?.handle ?? 0, range.contains(element.handle) else {
        return .failed(.invalidHandle)
      }
      values.append(GATTValue(handle: element.handle, value: element.value))
    }
    return .done(.values(values))
  }

  // MARK: Writing

  mutating func write(_ handle: AttributeHandle, _ value: ByteSlice, _ context: GATTContext) -> GATTProcedure.Step {
    guard value.count <= ATT.maximumValueLength else { return .failed(.att(.invalidAttributeValueLength)) }
    if value.count <= context.mtu - 3 { return .request(.writeRequest(handle: handle, value: value), .write(handle)) }
    return reliableWrite([GATTWritePart(handle: handle, offset: 0, value: value)], context)
  }

  func writeWithoutResponse(_ handle: AttributeHandle, _ value: ByteSlice, _ context: GATTContext) -> GATTProcedure.Step
  {
    guard value.count <= context.mtu - 3 else { return .failed(.att(.invalidAttributeValueLength)) }
    return .request(.writeCommand(handle: handle, value: value), .writeWithoutResponse(handle))
  }

  /// Signs and sends a value. The signature is made immediately before sending, because signatures are counted and no
  /// other request may be sent in between. A value that is too long for a signature or cannot be signed needs an
  /// encrypted link, which carries it without a signature.
  mutating func signedWrite(_ handle: AttributeHandle, _ value: ByteSlice, _ context: GATTContext) -> GATTProcedure.Step
  {
    if context.security.level > .none { return writeWithoutResponse(handle, value, context) }
    guard value.count <= context.mtu - 3 else { return .failed(.att(.invalidAttributeValueLength)) }
    guard value.count <= context.mtu - 3 - ATT.signatureLength else {
      return .failed(.att(.insufficientAuthentication))
    }
    var writer = ByteWriter(context.pool)
    writer.append(ATT.Opcode.signedWriteCommand.rawValue)
    writer.append(handle)
    writer.append(value)
    guard let signature = signatureMaker?.sign(writer.finish()) else {
      return .failed(.att(.insufficientAuthentication))
    }
    return .request(
      .signedWriteCommand(handle: handle, value: value, signature: signature), .writeWithoutResponse(handle))
  }

  mutating func reliableWrite(_ parts: [GATTWritePart], _ context: GATTContext) -> GATTProcedure.Step {
    for part in parts {
      guard part.offset >= 0, part.offset + part.value.count <= ATT.maximumValueLength else {
        return .failed(.att(.invalidAttributeValueLength))
      }
    }
    guard !parts.isEmpty else { return .done(.done) }
    writes = parts
    return prepare(0, from: 0, context)
  }

  /// Prepares as much of a part's value as fits, from `start` on.
  private func prepare(_ part: Int, from start: Int, _ context: GATTContext) -> GATTProcedure.Step {
    let write = writes[part]
    let octets = start..<min(write.value.count, start + context.mtu - 5)
    return .request(
      .prepareWriteRequest(
        handle: write.handle, offset: UInt16(truncatingIfNeeded: write.offset + start), value: write.value[octets]),
      .prepareWrite(part, octets))
  }

  /// Handles the echo of a prepared write: prepares the next piece, or executes all writes after the last one.
  func prepared(
    _ part: Int, _ octets: Range<Int>, _ echo: (handle: AttributeHandle, offset: UInt16, value: ByteSlice),
    _ context: GATTContext
  ) -> GATTProcedure.Step {
    let write = writes[part]
    guard echo.handle == write.handle, Int(echo.offset) == write.offset + octets.lowerBound,
      echo.value == write.value[octets]
    else { return cancelWrite(.invalidResponse) }
    if octets.upperBound < write.value.count { return prepare(part, from: octets.upperBound, context) }
    if part + 1 < writes.count { return prepare(part + 1, from: 0, context) }
    return .request(.executeWriteRequest(.write), .executeWrite)
  }

  /// Cancels the prepared writes on the server and then fails with `error`.
  func cancelWrite(_ error: GATTError) -> GATTProcedure.Step {
    .request(.executeWriteRequest(.cancel), .cancelWrite(error))
  }
}
