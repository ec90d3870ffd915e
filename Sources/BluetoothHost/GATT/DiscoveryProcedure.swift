import BluetoothWire

/// A discovery in progress with its results so far · Vol 3, Part G, 4.4 to 4.7. It fails if handles do not increase or
/// lie outside the requested range, so that a server cannot keep the client busy for ever.
struct DiscoveryProcedure {
  /// The attributes that a discovery looks for.
  struct Goal {
    let target: GATTDiscovery
    /// The UUID that the discovery is limited to; nil: all UUIDs.
    let uuid: BluetoothUUID?
  }

  /// The maximum number of times that a discovery of the whole database restarts because the database has changed.
  private static let maximumRestarts = 3

  let goal: Goal
  /// True if the database has changed in the range of the discovery since it began.
  private(set) var isStale = false
  private var restarts = 0
  private var services: [GATTService] = []
  private var includes: [GATTInclude] = []
  /// The indices of `includes` whose UUIDs must still be read.
  private var unresolved: [Int] = []
  private var characteristics: [GATTCharacteristic] = []
  private var descriptors: [GATTDescriptor] = []

  /// Creates a discovery without results.
  init(_ goal: Goal) { self.goal = goal }

  /// Returns the step with the first request.
  func first(_ pool: PacketPool) -> GATTProcedure.Step {
    switch goal.target {
    case .primaryServices: return findServices(from: 1, pool)
    case .includedServices(let range): return findIncludes(in: range)
    case .characteristics(let range): return findCharacteristics(in: range)
    case .descriptors(let range): return findDescriptors(in: range)
    }
  }

  /// Returns the step after a response.
  mutating func advance(
    _ procedure: GATTProcedure, with pdu: ATT.PDU, _ pool: PacketPool
  ) -> GATTProcedure.Step {
    switch (procedure, pdu) {
    case (.discoverPrimaryServices, .readByGroupTypeResponse(let list)): found(list, pool)
    case (.discoverPrimaryService(let uuid), .findByTypeValueResponse(let list)): found(list, uuid, pool)
    case (.findIncludedServices(let range), .readByTypeResponse(let list)): foundIncludes(list, in: range)
    case (.readIncludedService(let index), .readResponse(let value)): foundUUID(value, ofInclude: index)
    case (.discoverCharacteristics(let range), .readByTypeResponse(let list)):
      foundCharacteristics(list, in: range)
    case (.discoverDescriptors(let range), .findInformationResponse(let list)): found(list, in: range)
    default: .failed(.invalidResponse)
    }
  }

  /// Returns the step after the last attribute has been found: the result, unless UUIDs must still be read.
  mutating func finish() -> GATTProcedure.Step {
    switch goal.target {
    case .primaryServices: return .done(.services(services))
    case .includedServices: return resolveIncludes()
    case .characteristics:
      // A discovery by UUID finds all characteristics and selects those with the UUID · 4.6.2.
      guard let uuid = goal.uuid else { return .done(.characteristics(characteristics)) }
      return .done(.characteristics(characteristics.filter { $0.uuid == uuid }))
    case .descriptors: return .done(.descriptors(descriptors))
    }
  }

  // MARK: Database changes

  /// Notes a change of the server's attributes in `range`.
  mutating func databaseChanged(_ range: ClosedRange<AttributeHandle>) {
    if goal.target.looks(in: range) { isStale = true }
  }

  /// Continues a discovery during which the database has changed: a discovery of the whole database restarts; any
  /// other fails, because its range may contain other attributes now.
  mutating func restart(_ pool: PacketPool) -> GATTProcedure.Step {
    guard case .primaryServices = goal.target, restarts < Self.maximumRestarts else {
      return .failed(.att(.databaseOutOfSync))
    }
    let restarts = restarts
    self = DiscoveryProcedure(goal)
    self.restarts = restarts + 1
    return first(pool)
  }

  // MARK: Primary services

  private func findServices(from start: AttributeHandle, _ pool: PacketPool) -> GATTProcedure.Step {
    guard let uuid = goal.uuid else {
      return .request(
        .readByGroupTypeRequest(start: start, end: .max, type: GATTType.primaryService), .discoverPrimaryServices)
    }
    var writer = ByteWriter(pool, capacity: 16)
    writer.append(uuid.attributeForm)
    return .request(
      .findByTypeValueRequest(start: start, end: .max, type: 0x2800, value: writer.finish()),
      .discoverPrimaryService(uuid))
  }

  private mutating func found(_ list: ATT.GroupDataList, _ pool: PacketPool) -> GATTProcedure.Step {
    for element in list {
      guard let uuid = BluetoothUUID(attributeValue: element.value) else { return .failed(.invalidResponse) }
      guard add(element.handle, element.groupEnd, uuid) else { return .failed(.invalidHandle) }
    }
    return findFurtherServices(pool)
  }

  private mutating func found(
    _ list: ATT.HandlesInformationList, _ uuid: BluetoothUUID, _ pool: PacketPool
  ) -> GATTProcedure.Step {
    for element in list {
      guard add(element.found, element.groupEnd, uuid) else { return .failed(.invalidHandle) }
    }
    return findFurtherServices(pool)
  }

  private mutating func findFurtherServices(_ pool: PacketPool) -> GATTProcedure.Step {
    guard let last = services.last?.range.upperBound, last < .max else { return finish() }
    return findServices(from: last + 1, pool)
  }

  /// Adds a service that was found. Returns false if it does not follow the previous services.
  private mutating func add(_ start: AttributeHandle, _ end: AttributeHandle, _ uuid: BluetoothUUID) -> Bool {
    let previous = services.last?.range.upperBound ?? 0
    guard start > previous, end >= start else { return false }
    services.append(GATTService(range: start...end, uuid: uuid))
    return true
  }

  // MARK: Included services

  private func findIncludes(in range: ClosedRange<AttributeHandle>) -> GATTProcedure.Step {
    .request(
      .readByTypeRequest(start: range.lowerBound, end: range.upperBound, type: GATTType.include),
      .findIncludedServices(in: range))
  }

  private mutating func foundIncludes(
    _ list: ATT.AttributeDataList, in range: ClosedRange<AttributeHandle>
  ) -> GATTProcedure.Step {
    for element in list {
      var reader = ByteReader(element.value)
      guard element.value.count == 4 || element.value.count == 6, let first = try? reader.uint16(),
        let last = try? reader.uint16()
      else { return .failed(.invalidResponse) }
      guard element.handle > includes.last?.declaration ?? 0, range.contains(element.handle), first > 0, last >= first
      else { return .failed(.invalidHandle) }
      let uuid = BluetoothUUID(attributeValue: reader.rest())
      if uuid == nil { unresolved.append(includes.count) }
      includes.append(
        GATTInclude(
          declaration: element.handle, service: GATTService(range: first...last, uuid: uuid ?? BluetoothUUID(0))))
    }
    guard let last = includes.last?.declaration, last < range.upperBound else { return resolveIncludes() }
    return findIncludes(in: last + 1...range.upperBound)
  }

  /// Reads the next 128-bit UUID, which an include declaration does not contain · 4.5.1.
  private mutating func resolveIncludes() -> GATTProcedure.Step {
    guard let index = unresolved.popLast() else { return .done(.includedServices(includes)) }
    return .request(.readRequest(handle: includes[index].service.range.lowerBound), .readIncludedService(index))
  }

  private mutating func foundUUID(_ value: ByteSlice, ofInclude index: Int) -> GATTProcedure.Step {
    guard let uuid = BluetoothUUID(attributeValue: value), includes.indices.contains(index) else {
      return .failed(.invalidResponse)
    }
    includes[index].service.uuid = uuid
    return resolveIncludes()
  }

  // MARK: Characteristics

  private func findCharacteristics(in range: ClosedRange<AttributeHandle>) -> GATTProcedure.Step {
    .request(
      .readByTypeRequest(start: range.lowerBound, end: range.upperBound, type: GATTType.characteristic),
      .discoverCharacteristics(in: range))
  }

  private mutating func foundCharacteristics(
    _ list: ATT.AttributeDataList, in range: ClosedRange<AttributeHandle>
  ) -> GATTProcedure.Step {
    for element in list {
      var reader = ByteReader(element.value)
      guard let properties = try? reader.uint8(), let value = try? reader.uint16(),
        let uuid = BluetoothUUID(attributeValue: reader.rest())
      else { return .failed(.invalidResponse) }
      guard element.handle > characteristics.last?.declaration ?? 0, range.contains(element.handle),
        value > element.handle, value <= range.upperBound
      else { return .failed(.invalidHandle) }
      characteristics.append(
        GATTCharacteristic(
          declaration: element.handle, value: value, properties: CharacteristicProperties(rawValue: properties),
          uuid: uuid))
    }
    guard let last = characteristics.last?.declaration, last < range.upperBound else { return finish() }
    return findCharacteristics(in: last + 1...range.upperBound)
  }

  // MARK: Descriptors

  private func findDescriptors(in range: ClosedRange<AttributeHandle>) -> GATTProcedure.Step {
    .request(
      .findInformationRequest(start: range.lowerBound, end: range.upperBound), .discoverDescriptors(in: range))
  }

  private mutating func found(
    _ list: ATT.InformationList, in range: ClosedRange<AttributeHandle>
  ) -> GATTProcedure.Step {
    for element in list {
      guard element.handle > descriptors.last?.handle ?? 0, range.contains(element.handle) else {
        return .failed(.invalidHandle)
      }
      descriptors.append(GATTDescriptor(handle: element.handle, uuid: element.type))
    }
    guard let last = descriptors.last?.handle, last < range.upperBound else { return finish() }
    return findDescriptors(in: last + 1...range.upperBound)
  }
}
