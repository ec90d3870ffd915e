import BluetoothWire

/// The reason why a service cannot be added.
package enum GATTDatabaseError: Error, Hashable, Sendable {
  /// There are not enough free handles.
  case full
  /// This handle is 0, taken, or not after the handles before it.
  case invalidHandle(AttributeHandle)
  /// There is no service declaration at this handle.
  case unknownService(AttributeHandle)
  /// A value is longer than `ATT.maximumValueLength`, or has a length that its own definition forbids.
  case invalidValueLength
  /// A descriptor that only the database may add, or a descriptor whose value or permissions the specification forbids.
  case invalidDescriptor(BluetoothUUID)
}

/// The addition and removal of services.
extension GATTDatabase {
  /// Adds a service at its handle. A service without one follows all existing services, or fills a gap between them if
  /// too few handles are left at the end.
  package mutating func add(_ service: GATTServiceDefinition) throws(GATTDatabaseError) -> GATTServicePlacement {
    var includes: [GATTAttribute] = []
    for declaration in service.includes {
      guard let index = index(of: declaration), GATTType.isGrouping(attributes[index].type) else {
        throw .unknownService(declaration)
      }
      includes.append(attributes[index])
    }
    try service.check()
    let first = service.handle.map(Int.init) ?? next
    let layout = service.layout(from: first)
    if let handle = layout.misplaced { throw .invalidHandle(handle) }
    let start: Int
    if let handle = service.handle {
      guard isFree(first..<first + layout.count) else { throw .invalidHandle(handle) }
      start = first
      next = max(next, first + layout.count)
    } else if first + layout.count - 1 <= Int(AttributeHandle.max) {
      start = first
      next += layout.count
    } else {
      guard let gap = gap(of: layout.count), service.layout(from: gap) == layout else { throw .full }
      start = gap
    }
    forgetHash()
    return place(service, at: start, includes: includes)
  }

  /// Returns true if no service has one of these handles.
  private func isFree(_ handles: Range<Int>) -> Bool {
    guard let first = AttributeHandle(exactly: handles.lowerBound), first > 0,
      handles.upperBound <= Int(AttributeHandle.max) + 1
    else { return false }
    let index = firstIndex(from: first)
    if index < attributes.count, handles.contains(Int(attributes[index].handle)) { return false }
    // The service before may end with a gap.
    return attributes[..<index].last { GATTType.isGrouping($0.type) }.map { $0.groupEnd < first } ?? true
  }

  /// Removes the service with this declaration and the include declarations that refer to it. Returns the range for
  /// `GATTBearer.databaseChanged`; nil if there is no such service, or if it belongs to the host.
  package mutating func remove(declaration: AttributeHandle) -> ClosedRange<AttributeHandle>? {
    guard !system.range.contains(declaration), let index = index(of: declaration),
      GATTType.isGrouping(attributes[index].type)
    else { return nil }
    let range = declaration...attributes[index].groupEnd
    let reference = declaration.octets
    var changed = range
    let group = index..<indexBehindGroup(at: index)
    includeCount -= attributes[group].count { $0.type == GATTType.include }
    attributes.removeSubrange(group)
    forgetHash()
    if includeCount == 0 { return changed }
    let before = attributes.count
    attributes.removeAll { attribute in
      guard attribute.type == GATTType.include, case .stored(let value) = attribute.content,
        value.prefix(2).bytes == reference
      else { return false }
      changed = min(changed.lowerBound, attribute.handle)...max(changed.upperBound, attribute.handle)
      return true
    }
    includeCount -= before - attributes.count
    return changed
  }

  /// Returns the start of the first free range of `size` handles.
  private func gap(of size: Int) -> Int? {
    var free = 1
    for attribute in attributes {
      if Int(attribute.handle) - free >= size { return free }
      free = max(free, Int(attribute.groupEnd) + 1)
    }
    return free + size - 1 <= Int(AttributeHandle.max) ? free : nil
  }

  // MARK: Placement

  /// Inserts the attributes of `service` at the handles from `start` on. The definition must have been checked, and
  /// the handles must be free.
  mutating func place(
    _ service: GATTServiceDefinition, at start: Int, includes: [GATTAttribute]
  ) -> GATTServicePlacement {
    let end = AttributeHandle(start + service.layout(from: start).count - 1)
    var builder = ServiceBuilder(next: AttributeHandle(start))
    builder.add {
      GATTAttribute(
        readable: service.isPrimary ? GATTType.primaryService : GATTType.secondaryService, at: $0,
        value: service.uuid.attributeValue, groupEnd: end)
    }
    for included in includes {
      builder.add { GATTAttribute(readable: GATTType.include, at: $0, value: included.includeValue) }
    }
    for characteristic in service.characteristics { builder.add(characteristic) }
    builder.resolveFormats(of: service)
    includeCount += includes.count
    attributes.insert(contentsOf: builder.attributes, at: firstIndex(from: AttributeHandle(start)))
    return GATTServicePlacement(
      range: AttributeHandle(start)...end, values: builder.values, descriptors: builder.descriptors)
  }
}

/// The builder of the attributes of one service.
private struct ServiceBuilder {
  /// The handle of the next attribute. It overflows after the last attribute of a full database.
  var next: AttributeHandle
  var attributes: [GATTAttribute] = []
  var values: [AttributeHandle] = []
  var descriptors: [[AttributeHandle]] = []

  init(next: AttributeHandle) { self.next = next }

  mutating func add(_ attribute: (AttributeHandle) -> GATTAttribute) {
    attributes.append(attribute(next))
    next &+= 1
  }

  mutating func add(_ characteristic: GATTCharacteristicDefinition) {
    if let handle = characteristic.handle { next = handle }
    let properties = characteristic.performedProperties
    let permissions = characteristic.permissions
    let value = next + 1
    values.append(value)
    add {
      GATTAttribute(
        readable: GATTType.characteristic, at: $0,
        value: [(characteristic.shownProperties ?? properties).rawValue] + value.octets
          + characteristic.uuid.attributeValue)
    }
    add {
      GATTAttribute(
        characteristic.uuid.attributeForm, at: $0, access: .init(properties, permissions),
        reading: permissions.reading(keySize: characteristic.minimumKeySize),
        writing: permissions.writing(keySize: characteristic.minimumKeySize), lengths: characteristic.lengths,
        content: characteristic.value.map { .stored($0) } ?? .dynamic)
    }
    // A client that may not read the value must not get it by notification or broadcast either.
    var publishing = permissions.reading(keySize: characteristic.minimumKeySize)
    if let allowed = characteristic.allowedSubscription {
      if characteristic.subscriptionNeedsEncryption { publishing.level = max(publishing.level, .encrypted) }
      add {
        GATTAttribute(
          GATTType.clientCharacteristicConfiguration, at: $0, access: [.read, .write], writing: publishing,
          content: .clientConfiguration(of: value, allowed: allowed))
      }
    }
    if properties.contains(.broadcast) {
      add {
        GATTAttribute(
          GATTType.serverCharacteristicConfiguration, at: $0, access: [.read, .write], writing: publishing,
          content: .serverConfiguration(of: value, isBroadcast: false))
      }
    }
    if properties.contains(.extendedProperties) {
      add {
        GATTAttribute(
          readable: GATTType.extendedProperties, at: $0, value: characteristic.extendedProperties.rawValue.octets)
      }
    }
    descriptors.append(characteristic.descriptors.map { add($0) })
  }

  private mutating func add(_ descriptor: GATTDescriptorDefinition) -> AttributeHandle {
    let content: GATTAttribute.Content
    switch descriptor.content {
    case .stored(let value): content = .stored(value)
    case .dynamic: content = .dynamic
    // The handles are known only when all attributes have been placed.
    case .formats: content = .stored(ByteSlice())
    }
    let permissions = descriptor.permissions
    if let handle = descriptor.handle { next = handle }
    let handle = next
    add {
      GATTAttribute(
        descriptor.uuid.attributeForm, at: $0, access: .init(permissions), reading: permissions.reading(keySize: 0),
        writing: permissions.writing(keySize: 0), lengths: descriptor.lengths, content: content)
    }
    return handle
  }

  /// Sets the value of each Characteristic Aggregate Format to the handles that it refers to.
  mutating func resolveFormats(of service: GATTServiceDefinition) {
    for (characteristic, handles) in zip(service.characteristics, descriptors) {
      for (descriptor, handle) in zip(characteristic.descriptors, handles) {
        guard case .formats(let paths) = descriptor.content else { continue }
        let value = paths.flatMap { descriptors[$0.characteristic][$0.descriptor].octets }
        guard let index = attributes.firstIndex(where: { $0.handle == handle }) else { continue }
        attributes[index].content = .stored(ByteSlice(value))
      }
    }
  }
}

extension GATTServiceDefinition {
  /// The number of handles from the declaration to the last attribute, with the gaps between fixed handles. Without a
  /// fixed declaration, the gap before the first fixed handle counts from handle 1.
  package var handleCount: Int { layout(from: Int(handle ?? 1)).count }

  /// Returns the number of handles from the declaration, at `start`, to the last attribute of the service, and the first
  /// fixed handle that is not after the attributes before it; nil: the handles are in order.
  func layout(from start: Int) -> (count: Int, misplaced: AttributeHandle?) {
    var count = 1 + includes.count
    var misplaced: AttributeHandle?
    func skip(to handle: AttributeHandle?) {
      guard let handle else { return }
      if Int(handle) >= start + count { count = Int(handle) - start } else { misplaced = misplaced ?? handle }
    }
    for characteristic in characteristics {
      skip(to: characteristic.handle)
      let properties = characteristic.performedProperties
      count += 2 + (characteristic.allowedSubscription == nil ? 0 : 1)
      count += (properties.contains(.broadcast) ? 1 : 0) + (properties.contains(.extendedProperties) ? 1 : 0)
      for descriptor in characteristic.descriptors {
        skip(to: descriptor.handle)
        count += 1
      }
    }
    return (count, misplaced)
  }

  fileprivate func check() throws(GATTDatabaseError) {
    for characteristic in characteristics {
      try Self.check(characteristic.value, characteristic.lengths)
      for descriptor in characteristic.descriptors {
        if case .stored(let value) = descriptor.content { try Self.check(value, descriptor.lengths) }
        guard isAllowed(descriptor, characteristic) else { throw .invalidDescriptor(descriptor.uuid) }
      }
    }
  }

  private static func check(_ value: ByteSlice?, _ lengths: ClosedRange<Int>) throws(GATTDatabaseError) {
    guard 0...ATT.maximumValueLength ~= lengths.lowerBound, lengths.upperBound <= ATT.maximumValueLength,
      value.map({ lengths.contains($0.count) }) ?? true
    else { throw .invalidValueLength }
  }

  private func isAllowed(_ descriptor: GATTDescriptorDefinition, _ owner: GATTCharacteristicDefinition) -> Bool {
    switch (descriptor.uuid, descriptor.content) {
    case (GATTType.extendedProperties, _), (GATTType.clientCharacteristicConfiguration, _),
      (GATTType.serverCharacteristicConfiguration, _),
      // Clients would take this descriptor for the beginning of a service, an include or a characteristic.
      (GATTType.primaryService, _), (GATTType.secondaryService, _), (GATTType.include, _), (GATTType.characteristic, _):
      return false
    case (GATTType.userDescription, .stored), (GATTType.userDescription, .dynamic):
      return !descriptor.permissions.allowWriting || owner.extendedProperties.contains(.writableAuxiliaries)
    case (GATTType.presentationFormat, .stored(let value)):
      return value.count == Self.formatLength && descriptor.permissions == .readable
    case (GATTType.presentationFormat, _): return false
    case (GATTType.aggregateFormat, .formats(let paths)):
      return descriptor.permissions == .readable && !paths.isEmpty && paths.count <= ATT.maximumValueLength / 2
        && paths.allSatisfy { isFormat($0) }
    case (GATTType.aggregateFormat, _): return false
    case (_, .formats): return false
    default: return true
    }
  }

  /// The length of Format, Exponent, Unit, Name Space and Description in octets · Vol 3, Part G, 3.3.3.5.
  private static let formatLength = 7

  private func isFormat(_ path: GATTDescriptorPath) -> Bool {
    guard characteristics.indices.contains(path.characteristic) else { return false }
    let descriptors = characteristics[path.characteristic].descriptors
    return descriptors.indices.contains(path.descriptor)
      && descriptors[path.descriptor].uuid == GATTType.presentationFormat
  }
}

extension GATTCharacteristicDefinition {
  /// The operations, including the Extended Properties bit if there are extended properties.
  fileprivate var performedProperties: CharacteristicProperties {
    extendedProperties.isEmpty ? properties : properties.union(.extendedProperties)
  }

  /// The permitted values of the Client Characteristic Configuration; nil: the characteristic has none.
  fileprivate var allowedSubscription: GATTSubscription? {
    var allowed: GATTSubscription = []
    if properties.contains(.notify) { allowed.insert(.notification) }
    if properties.contains(.indicate) { allowed.insert(.indication) }
    return allowed.isEmpty ? nil : allowed
  }
}

extension GATTAttribute {
  /// The value of an include declaration for this service; it contains only 16-bit UUIDs · Vol 3, Part G, 3.2.
  fileprivate var includeValue: [UInt8] {
    var value = handle.octets + groupEnd.octets
    if case .stored(let uuid) = content, uuid.count == 2 { value += uuid.bytes }
    return value
  }
}
