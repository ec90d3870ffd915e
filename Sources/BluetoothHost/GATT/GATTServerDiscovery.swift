import BluetoothWire

/// The requests that search for attributes · Vol 3, Part F, 3.4.3, 3.4.4.1, 3.4.4.9.
extension GATTServer {
  /// Throws a refusal if the range begins at 0 or ends before its start.
  static func check(_ start: AttributeHandle, _ end: AttributeHandle) throws(Refusal) {
    guard start > 0, start <= end else { throw Refusal(handle: start, code: .invalidHandle) }
  }

  /// Answers Find Information · 3.4.3.1 with as many handles as fit, all with types of the same width.
  func findInformation(
    _ start: AttributeHandle, _ end: AttributeHandle, _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> ATT.PDU {
    try Self.check(start, end)
    var index = database.firstIndex(from: start)
    guard index < database.attributes.count, database.attributes[index].handle <= end else {
      throw Refusal(handle: start, code: .attributeNotFound)
    }
    let width = database.attributes[index].type.width
    let size = 2 + width.rawValue
    var writer = ByteWriter(context.pool, capacity: context.mtu)
    while index < database.attributes.count, writer.count + size <= context.mtu - 2 {
      let (handle, type) = (database.attributes[index].handle, database.attributes[index].type)
      guard handle <= end, type.width == width else { break }
      writer.append(handle)
      writer.append(type)
      index += 1
    }
    return .findInformationResponse(
      ATT.InformationList(format: width == .bits16 ? .uuid16 : .uuid128, data: writer.finish()))
  }

  /// Answers Find By Type Value · 3.4.3.3. Values outside the database, and values that this client may not read, are
  /// not compared.
  func findByTypeValue(
    _ start: AttributeHandle, _ end: AttributeHandle, _ type: BluetoothUUID, _ value: ByteSlice,
    _ database: GATTDatabase, _ context: GATTContext
  ) throws(Refusal) -> ATT.PDU {
    try Self.check(start, end)
    var writer = ByteWriter(context.pool, capacity: context.mtu)
    var index = database.firstIndex(from: start)
    while index < database.attributes.count, writer.count + 4 <= context.mtu - 1 {
      defer { index += 1 }
      guard database.attributes[index].handle <= end else { break }
      guard database.attributes[index].type == type, database.attributes[index].readError(context.security) == nil,
        database.value(at: index) == value
      else { continue }
      writer.append(database.attributes[index].handle)
      writer.append(database.attributes[index].groupEnd)
    }
    guard writer.count > 0 else { throw Refusal(handle: start, code: .attributeNotFound) }
    return .findByTypeValueResponse(ATT.HandlesInformationList(data: writer.finish()))
  }

  /// Answers Read By Group Type · 3.4.4.9 with as many services as fit, all with UUIDs of the same width.
  func readByGroupType(
    _ start: AttributeHandle, _ end: AttributeHandle, _ type: BluetoothUUID, _ database: GATTDatabase,
    _ context: GATTContext
  ) throws(Refusal) -> ATT.PDU {
    try Self.check(start, end)
    guard GATTType.isGrouping(type) else { throw Refusal(handle: start, code: .unsupportedGroupType) }
    var size = 0
    var writer = ByteWriter(context.pool, capacity: context.mtu)
    var index = database.firstIndex(from: start)
    while index < database.attributes.count {
      let handle = database.attributes[index].handle
      guard handle <= end else { break }
      let (found, groupEnd) = (database.attributes[index].type, database.attributes[index].groupEnd)
      let content = database.attributes[index].content
      index = GATTType.isGrouping(found) ? database.indexBehindGroup(at: index) : index + 1
      guard found == type, case .stored(let uuid) = content else { continue }
      if size == 0 { size = 4 + uuid.count }
      guard size == 4 + uuid.count, writer.count + size <= context.mtu - 2 else { break }
      writer.append(handle)
      writer.append(groupEnd)
      writer.append(uuid)
    }
    guard size > 0 else { throw Refusal(handle: start, code: .attributeNotFound) }
    return .readByGroupTypeResponse(ATT.GroupDataList(elementSize: size, data: writer.finish()))
  }

  /// Answers Read By Type · 3.4.4.1 with as many values of the same length as fit. If the first value is dynamic, the
  /// upper layer is asked for it; if it is unreadable, the response is an error. A later value of either kind ends
  /// the list.
  mutating func readByType(
    _ start: AttributeHandle, _ end: AttributeHandle, _ type: BluetoothUUID, _ database: inout GATTDatabase,
    _ context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    try Self.check(start, end)
    var size = 0
    var writer = ByteWriter(context.pool, capacity: context.mtu)
    var index = database.firstIndex(from: start)
    while index < database.attributes.count {
      defer { index += 1 }
      let handle = database.attributes[index].handle
      guard handle <= end else { break }
      guard database.attributes[index].type == type else { continue }
      if let code = database.attributes[index].readError(context.security) {
        if size > 0 { break }
        throw Refusal(handle: handle, code: code)
      }
      guard let value = storedValue(at: index, &database, context) else {
        if size > 0 { break }
        ask(.readByType, .readByTypeRequest, handle, offset: 0, &context)
        return nil
      }
      let part = value.prefix(Self.maximumListedValue(context))
      if size == 0 { size = 2 + part.count }
      guard size == 2 + part.count, writer.count + size <= context.mtu - 2 else { break }
      writer.append(handle)
      writer.append(part)
    }
    guard size > 0 else { throw Refusal(handle: start, code: .attributeNotFound) }
    return .readByTypeResponse(ATT.AttributeDataList(elementSize: size, data: writer.finish()))
  }

  /// Returns the response with one value from the upper layer.
  func readByTypeResponse(_ handle: AttributeHandle, _ value: ByteSlice, _ context: GATTContext) -> ATT.PDU {
    let part = value.prefix(Self.maximumListedValue(context))
    var writer = ByteWriter(context.pool, capacity: context.mtu)
    writer.append(handle)
    writer.append(part)
    return .readByTypeResponse(ATT.AttributeDataList(elementSize: 2 + part.count, data: writer.finish()))
  }

  /// Returns the maximum length of a value in a Read By Type Response · 3.4.4.2.
  private static func maximumListedValue(_ context: GATTContext) -> Int { min(context.mtu - 4, 253) }
}
