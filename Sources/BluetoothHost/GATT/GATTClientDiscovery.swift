import BluetoothWire

/// The discovery procedures · Vol 3, Part G, 4.4 to 4.7. A procedure fails if handles do not increase or lie outside
/// the requested range, so that a server cannot keep the client busy for ever.
extension GATTClient {
  // MARK: Primary services

  func discoverPrimaryServices(from start: AttributeHandle) -> Step {
    .request(
      .readByGroupTypeRequest(start: start, end: .max, type: GATTType.primaryService), .discoverPrimaryServices)
  }

  mutating func found(_ list: ATT.GroupDataList) -> Step {
    for element in list {
      guard let uuid = BluetoothUUID(attributeValue: element.value),
        add(element.handle, element.groupEnd, uuid)
      else { return .failed(.invalidResponse) }
    }
    guard let last = found.services.last?.range.upperBound, last < .max else {
      return .done(.services(found.services))
    }
    return discoverPrimaryServices(from: last + 1)
  }

  func discoverPrimaryService(
    _ uuid: BluetoothUUID, from start: AttributeHandle, _ context: GATTContext
  ) -> Step {
    var writer = ByteWriter(context.pool, capacity: 16)
    writer.append(uuid.attributeForm)
    return .request(
      .findByTypeValueRequest(start: start, end: .max, type: 0x2800, value: writer.finish()),
      .discoverPrimaryService(uuid))
  }

  mutating func found(
    _ list: ATT.HandlesInformationList, _ uuid: BluetoothUUID, _ context: GATTContext
  ) -> Step {
    for element in list {
      guard add(element.found, element.groupEnd, uuid) else { return .failed(.invalidResponse) }
    }
    guard let last = found.services.last?.range.upperBound, last < .max else {
      return .done(.services(found.services))
    }
    return discoverPrimaryService(uuid, from: last + 1, context)
  }

  /// Adds a service that was found. Returns false if it does not follow the previous services.
  private mutating func add(_ start: AttributeHandle, _ end: AttributeHandle, _ uuid: BluetoothUUID) -> Bool {
    let previous = found.services.last?.range.upperBound ?? 0
    guard start > previous, end >= start else { return false }
    found.services.append(GATTService(range: start...end, uuid: uuid))
    return true
  }

  // MARK: Included services

  func findIncludedServices(in range: ClosedRange<AttributeHandle>) -> Step {
    .request(
      .readByTypeRequest(start: range.lowerBound, end: range.upperBound, type: GATTType.include),
      .findIncludedServices(in: range))
  }

  mutating func foundIncludes(_ list: ATT.AttributeDataList, in range: ClosedRange<AttributeHandle>) -> Step {
    for element in list {
      var reader = ByteReader(element.value)
      guard element.handle > found.includes.last?.declaration ?? 0, range.contains(element.handle),
        element.value.count == 4 || element.value.count == 6,
        let first = try? reader.uint16(), let last = try? reader.uint16(), first > 0, last >= first
      else { return .failed(.invalidResponse) }
      let uuid = BluetoothUUID(attributeValue: reader.rest())
      if uuid == nil { found.unresolved.append(found.includes.count) }
      found.includes.append(
        GATTInclude(
          declaration: element.handle, service: GATTService(range: first...last, uuid: uuid ?? BluetoothUUID(0))))
    }
    guard let last = found.includes.last?.declaration, last < range.upperBound else { return resolveIncludes() }
    return findIncludedServices(in: last + 1...range.upperBound)
  }

  /// Reads the next 128-bit UUID, which an include declaration does not contain · 4.5.1.
  mutating func resolveIncludes() -> Step {
    guard let index = found.unresolved.popLast() else { return .done(.includedServices(found.includes)) }
    return .request(
      .readRequest(handle: found.includes[index].service.range.lowerBound), .readIncludedService(index))
  }

  mutating func foundUUID(_ value: ByteSlice, ofInclude index: Int) -> Step {
    guard let uuid = BluetoothUUID(attributeValue: value), found.includes.indices.contains(index) else {
      return .failed(.invalidResponse)
    }
    found.includes[index].service.uuid = uuid
    return resolveIncludes()
  }

  // MARK: Characteristics

  func discoverCharacteristics(in range: ClosedRange<AttributeHandle>) -> Step {
    .request(
      .readByTypeRequest(start: range.lowerBound, end: range.upperBound, type: GATTType.characteristic),
      .discoverCharacteristics(in: range))
  }

  mutating func foundCharacteristics(_ list: ATT.AttributeDataList, in range: ClosedRange<AttributeHandle>) -> Step {
    for element in list {
      var reader = ByteReader(element.value)
      guard element.handle > found.characteristics.last?.declaration ?? 0, range.contains(element.handle),
        let properties = try? reader.uint8(), let value = try? reader.uint16(), value > element.handle,
        value <= range.upperBound,
        let uuid = BluetoothUUID(attributeValue: reader.rest())
      else { return .failed(.invalidResponse) }
      found.characteristics.append(
        GATTCharacteristic(
          declaration: element.handle, value: value, properties: GATTProperties(rawValue: properties), uuid: uuid))
    }
    guard let last = found.characteristics.last?.declaration, last < range.upperBound else {
      return characteristicsFound()
    }
    return discoverCharacteristics(in: last + 1...range.upperBound)
  }

  /// Returns all characteristics found, or those with the requested UUID · 4.6.2.
  func characteristicsFound() -> Step {
    guard let uuid = discovery?.uuid else { return .done(.characteristics(found.characteristics)) }
    return .done(.characteristics(found.characteristics.filter { $0.uuid == uuid }))
  }

  // MARK: Descriptors

  func discoverDescriptors(in range: ClosedRange<AttributeHandle>) -> Step {
    .request(
      .findInformationRequest(start: range.lowerBound, end: range.upperBound),
      .discoverDescriptors(in: range))
  }

  mutating func found(_ list: ATT.InformationList, in range: ClosedRange<AttributeHandle>) -> Step {
    for element in list {
      guard element.handle > found.descriptors.last?.handle ?? 0, range.contains(element.handle) else {
        return .failed(.invalidResponse)
      }
      found.descriptors.append(GATTDescriptor(handle: element.handle, uuid: element.type))
    }
    guard let last = found.descriptors.last?.handle, last < range.upperBound else {
      return .done(.descriptors(found.descriptors))
    }
    return discoverDescriptors(in: last + 1...range.upperBound)
  }
}
