import BluetoothWire

/// The procedures that read and write values · Vol 3, Part G, 4.8, 4.9, 4.12.
extension GATTClient {
  // MARK: Reading

  /// After the first part: a value that fills it may be longer.
  mutating func read(_ handle: AttributeHandle, _ value: ByteSlice, _ context: GATTContext) -> Step {
    guard value.count >= context.mtu - 1, value.count < ATT.maximumValueLength else {
      return .done(.value(value.prefix(ATT.maximumValueLength)))
    }
    longValue.removeAll(keepingCapacity: true)
    value.withUnsafeBytes { longValue.append(contentsOf: $0) }
    return readBlob(handle)
  }

  mutating func readRest(_ handle: AttributeHandle, _ part: ByteSlice, _ context: GATTContext) -> Step {
    part.withUnsafeBytes { longValue.append(contentsOf: $0) }
    guard part.count >= context.mtu - 1, longValue.count < ATT.maximumValueLength else {
      return longValueRead(context)
    }
    return readBlob(handle)
  }

  private func readBlob(_ handle: AttributeHandle) -> Step {
    .request(
      .readBlobRequest(handle: handle, offset: UInt16(truncatingIfNeeded: longValue.count)), .readRest(handle))
  }

  /// Whether the server says with this code that the value has no more octets. One that has no Read Blob has no long
  /// values.
  static func endsLongRead(_ code: ATT.ErrorCode) -> Bool {
    code == .invalidOffset || code == .attributeNotLong || code == .requestNotSupported
  }

  func longValueRead(_ context: GATTContext) -> Step {
    let value = longValue.withUnsafeBytes { octets in
      ByteSlice(UnsafeRawBufferPointer(rebasing: octets.prefix(ATT.maximumValueLength)), in: context.pool)
    }
    return .done(.value(value))
  }

  // MARK: Writing

  func write(_ handle: AttributeHandle, _ value: ByteSlice, _ context: GATTContext) -> Step {
    guard value.count <= ATT.maximumValueLength else { return .failed(.att(.invalidAttributeValueLength)) }
    if value.count <= context.mtu - 3 { return .request(.writeRequest(handle: handle, value: value), .write) }
    return prepareWrite(handle, value, after: 0..<0, context)
  }

  /// Prepares the part behind `part`; when there is none, writes all of them.
  func prepareWrite(
    _ handle: AttributeHandle, _ value: ByteSlice, after part: Range<Int>, _ context: GATTContext
  ) -> Step {
    let start = part.upperBound
    guard start < value.count else { return .request(.executeWriteRequest(.write), .executeWrite) }
    let next = start..<min(value.count, start + context.mtu - 5)
    return .request(
      .prepareWriteRequest(handle: handle, offset: UInt16(start), value: value[next]),
      .prepareWrite(handle, value, part: next))
  }

  /// Has the server forget the parts, then fails with `error`.
  func cancelWrite(_ error: GATTError) -> Step {
    .request(.executeWriteRequest(.cancel), .cancelWrite(error))
  }
}
