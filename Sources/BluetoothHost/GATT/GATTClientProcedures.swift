import BluetoothWire

/// The first step of each procedure and the steps after each response · Vol 3, Part G, 4.
extension GATTClient {
  mutating func begin(_ request: GATTRequest, owner: Owner, _ context: GATTContext) -> Step {
    switch request {
    case .read(let handle): return .request(.readRequest(handle: handle), .read(handle))
    case .write(let handle, let value): return write(handle, value, context)
    case .writeWithoutResponse(let handle, let value): return writeWithoutResponse(handle, value, context)
    case .signedWriteWithoutResponse(let handle, let value): return signedWrite(handle, value, context)
    case .reliableWrite(let parts): return reliableWrite(parts, context)
    case .readMultiple(let handles): return readMultiple(handles, context)
    case .readByType(let type, let range): return readByType(type, in: range)
    case .discoverPrimaryServices, .discoverPrimaryService, .findIncludedServices, .discoverCharacteristics,
      .discoverCharacteristic, .discoverDescriptors:
      return beginDiscovery(request, owner: owner, context)
    }
  }

  private mutating func beginDiscovery(_ request: GATTRequest, owner: Owner, _ context: GATTContext) -> Step {
    if let (target, uuid) = request.discovery, let known = discover(target, only: uuid, for: owner) {
      return .done(known)
    }
    switch request {
    case .discoverPrimaryService(let uuid): return discoverPrimaryService(uuid, from: 1, context)
    case .findIncludedServices(let range): return findIncludedServices(in: range)
    case .discoverCharacteristics(let range), .discoverCharacteristic(_, let range):
      return discoverCharacteristics(in: range)
    case .discoverDescriptors(let range): return discoverDescriptors(in: range)
    default: return discoverPrimaryServices(from: 1)
    }
  }

  /// Begins a task of cache validation that is not a `GATTRequest`: reads the Database Hash.
  func begin(_ task: DatabaseCacheValidator.Task) -> Step {
    readByType(GATTType.databaseHash, in: 1...AttributeHandle.max)
  }

  /// Returns the step after the response to the request in progress. The response has the right opcode.
  mutating func advance(
    _ procedure: Procedure, with pdu: ATT.PDU, _ context: inout GATTContext
  ) -> Step {
    switch (procedure, pdu) {
    case (.read(let handle), .readResponse(let value)): return read(handle, value, context)
    case (.write, .writeResponse), (.executeWrite, .executeWriteResponse): return .done(.done)
    case (.exchangeMTU, .exchangeMTUResponse(let mtu)):
      context.agreeMTU(with: mtu)
      return .done(.done)
    case (.discoverPrimaryServices, .readByGroupTypeResponse(let list)): return found(list)
    case (.discoverPrimaryService(let uuid), .findByTypeValueResponse(let list)): return found(list, uuid, context)
    case (.findIncludedServices(let range), .readByTypeResponse(let list)): return foundIncludes(list, in: range)
    case (.readIncludedService(let index), .readResponse(let value)): return foundUUID(value, ofInclude: index)
    case (.discoverCharacteristics(let range), .readByTypeResponse(let list)):
      return foundCharacteristics(list, in: range)
    case (.discoverDescriptors(let range), .findInformationResponse(let list)):
      return found(list, in: range)
    case (.readRest(let handle), .readBlobResponse(let part)): return readRest(handle, part, context)
    case (.readByType(let range), .readByTypeResponse(let list)): return foundValues(list, in: range)
    case (.readMultiple, .readMultipleResponse(let values)): return .done(.value(values))
    case (.prepareWrite(let part, let octets), .prepareWriteResponse(let handle, let offset, let value)):
      return prepared(part, octets, (handle, offset, value), context)
    case (.cancelWrite(let error), _): return .failed(error)
    default: return .failed(.invalidResponse)
    }
  }

  /// Returns the step after an error response to the request in progress.
  mutating func refused(_ procedure: Procedure, _ code: ATT.ErrorCode, _ context: GATTContext) -> Step {
    switch procedure {
    case .discoverPrimaryServices where code == .attributeNotFound,
      .discoverPrimaryService where code == .attributeNotFound:
      return .done(.services(found.services))
    case .findIncludedServices where code == .attributeNotFound: return resolveIncludes()
    case .discoverCharacteristics where code == .attributeNotFound: return characteristicsFound()
    case .discoverDescriptors where code == .attributeNotFound: return .done(.descriptors(found.descriptors))
    case .readRest where Self.endsLongRead(code): return longValueRead(context)
    case .prepareWrite: return cancelWrite(.att(code))
    case .cancelWrite(let error): return .failed(error)
    default: return .failed(.att(code))
    }
  }
}

extension GATTClient {
  /// Returns true if the procedure in progress uses handles in `range`, unless it covers the whole database.
  /// Discoveries do not count; see `Discovery.isStale`.
  func names(_ range: ClosedRange<AttributeHandle>, _ procedure: Procedure) -> Bool {
    switch procedure {
    case .read(let handle), .readRest(let handle), .write(let handle), .writeWithoutResponse(let handle):
      return range.contains(handle)
    case .readByType(let own): return own != 1...AttributeHandle.max && own.overlaps(range)
    case .readMultiple: return handles.contains { range.contains($0) }
    case .prepareWrite, .executeWrite: return writes.contains { range.contains($0.handle) }
    case .exchangeMTU, .cancelWrite, .discoverPrimaryServices, .discoverPrimaryService, .findIncludedServices,
      .readIncludedService, .discoverCharacteristics, .discoverDescriptors:
      return false
    }
  }
}

extension GATTRequest {
  /// The target and the UUID of a discovery; nil: the request is not a discovery.
  var discovery: (target: GATTDiscovery, uuid: BluetoothUUID?)? {
    switch self {
    case .discoverPrimaryServices: return (.primaryServices, nil)
    case .discoverPrimaryService(let uuid): return (.primaryServices, uuid)
    case .findIncludedServices(let range): return (.includedServices(in: range), nil)
    case .discoverCharacteristics(let range): return (.characteristics(in: range), nil)
    case .discoverCharacteristic(let uuid, let range): return (.characteristics(in: range), uuid)
    case .discoverDescriptors(let range): return (.descriptors(in: range), nil)
    case .read, .readByType, .readMultiple, .write, .writeWithoutResponse, .signedWriteWithoutResponse,
      .reliableWrite:
      return nil
    }
  }

  /// Returns true if the request uses handles in `range`, unless it covers the whole database.
  func names(_ range: ClosedRange<AttributeHandle>) -> Bool {
    switch self {
    case .discoverPrimaryServices, .discoverPrimaryService: return false
    case .findIncludedServices(let own), .discoverCharacteristics(let own), .discoverCharacteristic(_, let own),
      .discoverDescriptors(let own), .readByType(_, let own):
      return own != 1...AttributeHandle.max && own.overlaps(range)
    case .read(let handle), .write(let handle, _), .writeWithoutResponse(let handle, _),
      .signedWriteWithoutResponse(let handle, _):
      return range.contains(handle)
    case .readMultiple(let handles): return handles.contains { range.contains($0) }
    case .reliableWrite(let parts): return parts.contains { range.contains($0.handle) }
    }
  }
}

extension GATTDiscovery {
  /// Returns true if the discovery covers attributes in `range`.
  func looks(in range: ClosedRange<AttributeHandle>) -> Bool {
    switch self {
    case .primaryServices: return true
    case .includedServices(let own), .characteristics(let own), .descriptors(let own): return own.overlaps(range)
    }
  }
}
