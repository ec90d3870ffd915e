import BluetoothWire

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
    case .read, .readByType, .readMultiple, .readMultipleVariable, .write, .writeWithoutResponse,
      .signedWriteWithoutResponse, .reliableWrite:
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
    case .readMultiple(let handles), .readMultipleVariable(let handles): return handles.contains { range.contains($0) }
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
