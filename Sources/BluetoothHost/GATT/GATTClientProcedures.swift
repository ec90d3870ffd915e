import BluetoothWire

/// The first step of each procedure and the steps after each response · Vol 3, Part G, 4.
extension GATTClient {
  mutating func begin(_ request: GATTRequest, owner: Owner, _ context: GATTContext) -> GATTProcedure.Step {
    switch request {
    case .read(let handle): return .request(.readRequest(handle: handle), .read(handle))
    case .write(let handle, let value): return write(handle, value, context)
    case .writeWithoutResponse(let handle, let value): return writeWithoutResponse(handle, value, context)
    case .signedWriteWithoutResponse(let handle, let value): return signedWrite(handle, value, context)
    case .reliableWrite(let parts): return reliableWrite(parts, context)
    case .readMultiple(let handles): return readMultiple(handles, hasLengths: false, context)
    case .readMultipleVariable(let handles): return readMultiple(handles, hasLengths: true, context)
    case .readByType(let type, let range): return readByType(type, in: range)
    case .discoverPrimaryServices, .discoverPrimaryService, .findIncludedServices, .discoverCharacteristics,
      .discoverCharacteristic, .discoverDescriptors:
      return beginDiscovery(request, owner: owner, context)
    }
  }

  private mutating func beginDiscovery(_ request: GATTRequest, owner: Owner, _ context: GATTContext)
    -> GATTProcedure.Step
  {
    if let (target, uuid) = request.discovery, let known = discover(target, only: uuid, for: owner) {
      return .done(known)
    }
    return discovery?.first(context.pool) ?? .failed(.invalidResponse)
  }

  /// Begins a task of cache validation that is not a `GATTRequest`: reads the Database Hash.
  func begin(_ task: DatabaseCacheValidator.Task) -> GATTProcedure.Step {
    readByType(GATTType.databaseHash, in: 1...AttributeHandle.max)
  }

  /// Returns the step after the response to the request in progress. The response has the right opcode.
  mutating func advance(
    _ procedure: GATTProcedure, with pdu: ATT.PDU, _ context: inout GATTContext
  ) -> GATTProcedure.Step {
    switch (procedure, pdu) {
    case (.read(let handle), .readResponse(let value)): return read(handle, value, context)
    case (.write, .writeResponse), (.executeWrite, .executeWriteResponse): return .done(.done)
    case (.exchangeMTU, .exchangeMTUResponse(let mtu)):
      context.agreeMTU(with: mtu)
      return .done(.done)
    case (.discoverPrimaryServices, .readByGroupTypeResponse), (.discoverPrimaryService, .findByTypeValueResponse),
      (.findIncludedServices, .readByTypeResponse), (.readIncludedService, .readResponse),
      (.discoverCharacteristics, .readByTypeResponse), (.discoverDescriptors, .findInformationResponse):
      return discovery?.advance(procedure, with: pdu, context.pool) ?? .failed(.invalidResponse)
    case (.readRest(let handle), .readBlobResponse(let part)): return readRest(handle, part, context)
    case (.readByType(let range), .readByTypeResponse(let list)): return foundValues(list, in: range)
    case (.readMultiple, .readMultipleResponse(let values)): return .done(.value(values))
    case (.readMultipleVariable, .readMultipleVariableResponse(let list)): return foundValues(list)
    case (.prepareWrite(let part, let octets), .prepareWriteResponse(let handle, let offset, let value)):
      return prepared(part, octets, (handle, offset, value), context)
    case (.cancelWrite(let error), _): return .failed(error)
    default: return .failed(.invalidResponse)
    }
  }

  /// Returns the step after an error response to the request in progress.
  mutating func refused(_ procedure: GATTProcedure, _ code: ATT.ErrorCode, _ context: GATTContext) -> GATTProcedure.Step
  {
    switch procedure {
    case .discoverPrimaryServices where code == .attributeNotFound,
      .discoverPrimaryService where code == .attributeNotFound,
      .findIncludedServices where code == .attributeNotFound,
      .discoverCharacteristics where code == .attributeNotFound,
      .discoverDescriptors where code == .attributeNotFound:
      return discovery?.finish() ?? .failed(.att(code))
    case .readRest where Self.endsLongRead(code): return longValueRead(context)
    case .prepareWrite: return cancelWrite(.att(code))
    case .cancelWrite(let error): return .failed(error)
    default: return .failed(.att(code))
    }
  }
}

extension GATTClient {
  /// Returns true if the procedure in progress uses handles in `range`, unless it covers the whole database.
  /// Discoveries do not count; see `DiscoveryProcedure.isStale`.
  func names(_ range: ClosedRange<AttributeHandle>, _ procedure: GATTProcedure) -> Bool {
    switch procedure {
    case .read(let handle), .readRest(let handle), .write(let handle), .writeWithoutResponse(let handle):
      return range.contains(handle)
    case .readByType(let own): return own != 1...AttributeHandle.max && own.overlaps(range)
    case .readMultiple, .readMultipleVariable: return handles.contains { range.contains($0) }
    case .prepareWrite, .executeWrite: return writes.contains { range.contains($0.handle) }
    case .exchangeMTU, .cancelWrite, .discoverPrimaryServices, .discoverPrimaryService, .findIncludedServices,
      .readIncludedService, .discoverCharacteristics, .discoverDescriptors:
      return false
    }
  }
}
