import BluetoothWire

/// The requests that look for attributes · Vol 3, Part F, 3.4.3, 3.4.4.1, 3.4.4.9.
extension GATTServer {
  /// A range that does not begin at 0 and does not end before it begins.
  static func check(_ start: AttributeHandle, _ end: AttributeHandle) throws(Refusal) {
    guard start > 0, start <= end else { throw Refusal(handle: start, code: .invalidHandle) }
  }

  /// Find Information · 3.4.3.1: as many handles with types of one width as fit.
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

  /// Find By Type Value · 3.4.3.3. Values that are not in the database, or not for everybody, are not compared.
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

  /// Read By Group Type · 3.4.4.9: as many services with UUIDs of one width as fit.
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

  /// Read By Type · 3.4.4.1: as many values of one length as fit. The first one may have to be asked for, or may refuse
  /// to be read; a later one of that kind ends the list.
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

  /// The response for one value that was asked for.
  func readByTypeResponse(_ handle: AttributeHandle, _ value: ByteSlice, _ context: GATTContext) -> ATT.PDU {
    let part = value.prefix(Self.maximumListedValue(context))
    var writer = ByteWriter(context.pool, capacity: context.mtu)
    writer.append(handle)
    writer.append(part)
    return .readByTypeResponse(ATT.AttributeDataList(elementSize: 2 + part.count, data: writer.finish()))
  }

  /// As much of a value as a Read By Type Response holds · 3.4.4.2.
  private static func maximumListedValue(_ context: GATTContext) -> Int { min(context.mtu - 4, 253) }
}
