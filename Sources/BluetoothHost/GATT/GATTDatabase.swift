import BluetoothWire

/// Why a service can't be added.
package enum GATTDatabaseError: Error, Hashable, Sendable {
  /// There are not enough handles left.
  case full
  /// No service stands at this handle.
  case unknownService(AttributeHandle)
  /// A value is longer than `ATT.maximumValueLength`.
  case valueTooLong
}

/// The attributes of the local server · Vol 3, Part G, 2.6. One database serves all links.
///
/// It begins with the GAP service (Device Name, Appearance) and the GATT service (Service Changed). Preferred connection
/// parameters are left out because this host has no preference, Central Address Resolution because its absence says
/// truthfully that addresses are not resolved.
package struct GATTDatabase {
  /// By handle, ascending.
  private(set) var attributes: [GATTAttribute] = []
  /// The first handle behind all that was ever used, so that a client that has not yet heard of a change does not find
  /// another attribute under a handle that it knows. It passes 0xFFFF when the handles are used up.
  private var next = 1
  private let deviceNameHandle: AttributeHandle
  /// The value of Service Changed.
  let serviceChangedHandle: AttributeHandle

  /// The longest Device Name · Vol 3, Part C, 12.1.
  static let maximumDeviceNameLength = 248

  /// - Parameter deviceName: at most 248 octets of it are served · Vol 3, Part C, 12.1.
  package init(deviceName: String, appearance: UInt16) {
    // Fixed: declaration 1, characteristics 2 to 5; declaration 6, Service Changed 7 to 9.
    deviceNameHandle = 3
    serviceChangedHandle = 8
    let gap = GATTServiceDefinition(
      uuid: GATTType.gapService, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(
          uuid: GATTType.deviceName, properties: .read, permissions: .readable, value: Self.nameValue(deviceName)),
        GATTCharacteristicDefinition(
          uuid: GATTType.appearance, properties: .read, permissions: .readable, value: ByteSlice(appearance.octets)),
      ])
    let gatt = GATTServiceDefinition(
      uuid: GATTType.gattService, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(
          uuid: GATTType.serviceChanged, properties: .indicate, permissions: [], value: ByteSlice())
      ])
    for service in [gap, gatt] {
      place(service, at: next, includes: [])
      next = attributes.count + 1
    }
  }

  /// The last handle of the services that can't be removed.
  private static let systemEnd: AttributeHandle = 9

  /// Serves another Device Name.
  package mutating func setDeviceName(_ name: String) {
    store(Self.nameValue(name), at: deviceNameHandle)
  }

  private static func nameValue(_ name: String) -> ByteSlice {
    name.utf8Prefix(maximumDeviceNameLength)
  }

  // MARK: Change

  /// Adds a service behind all that are there; in a gap only when no handles are left behind them.
  package mutating func add(_ service: GATTServiceDefinition) throws(GATTDatabaseError) -> GATTServicePlacement {
    var includes: [GATTAttribute] = []
    for declaration in service.includes {
      guard let index = index(of: declaration), GATTType.isGrouping(attributes[index].type) else {
        throw .unknownService(declaration)
      }
      includes.append(attributes[index])
    }
    for characteristic in service.characteristics {
      let values = [characteristic.value] + characteristic.descriptors.map(\.value)
      guard values.allSatisfy({ ($0?.count ?? 0) <= ATT.maximumValueLength }) else { throw .valueTooLong }
    }
    let size = service.attributeCount
    let start: Int
    if next + size - 1 <= Int(AttributeHandle.max) {
      start = next
      next += size
    } else {
      guard let gap = gap(of: size) else { throw .full }
      start = gap
    }
    return place(service, at: start, includes: includes)
  }

  /// Removes the service whose declaration this is, and what includes it elsewhere. The result is the range for
  /// `GATTBearer.databaseChanged`; nil if there is no such service or it is one of the host's own.
  package mutating func remove(declaration: AttributeHandle) -> ClosedRange<AttributeHandle>? {
    guard declaration > Self.systemEnd, let index = index(of: declaration),
      GATTType.isGrouping(attributes[index].type)
    else { return nil }
    let range = declaration...attributes[index].groupEnd
    let reference = declaration.octets
    var changed = range
    attributes.removeAll { attribute in
      if range.contains(attribute.handle) { return true }
      guard attribute.type == GATTType.include, case .stored(let value) = attribute.content,
        value.prefix(2).bytes == reference
      else { return false }
      changed = min(changed.lowerBound, attribute.handle)...max(changed.upperBound, attribute.handle)
      return true
    }
    return changed
  }

  /// Gives a stored attribute another value.
  mutating func store(_ value: ByteSlice, at handle: AttributeHandle) {
    guard let index = index(of: handle) else { return }
    attributes[index].content = .stored(value)
  }

  // MARK: Search

  /// Where the first attribute with a handle of at least `handle` stands in `attributes`.
  func firstIndex(from handle: AttributeHandle) -> Int {
    var low = 0
    var high = attributes.count
    while low < high {
      let middle = (low + high) / 2
      if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Where the attribute with this handle stands in `attributes`.
  func index(of handle: AttributeHandle) -> Int? {
    let index = firstIndex(from: handle)
    return index < attributes.count && attributes[index].handle == handle ? index : nil
  }

  /// The first free range of `size` handles.
  private func gap(of size: Int) -> Int? {
    var free = Int(Self.systemEnd) + 1
    var index = firstIndex(from: AttributeHandle(free))
    while index < attributes.count {
      let attribute = attributes[index]
      if Int(attribute.handle) - free >= size { return free }
      free = max(free, Int(attribute.groupEnd) + 1)
      index += 1
    }
    return free + size - 1 <= Int(AttributeHandle.max) ? free : nil
  }

  // MARK: Placement

  /// Puts the attributes of `service` at the handles from `start` on, which are free.
  @discardableResult
  private mutating func place(
    _ service: GATTServiceDefinition, at start: Int, includes: [GATTAttribute]
  ) -> GATTServicePlacement {
    let end = AttributeHandle(start + service.attributeCount - 1)
    var handle = AttributeHandle(start)
    var new: [GATTAttribute] = []
    var values: [AttributeHandle] = []
    func add(_ attribute: GATTAttribute) {
      new.append(attribute)
      handle &+= 1
    }
    add(
      GATTAttribute(
        readable: service.isPrimary ? GATTType.primaryService : GATTType.secondaryService, at: handle,
        value: service.uuid.attributeValue, groupEnd: end))
    for included in includes {
      add(GATTAttribute(readable: GATTType.include, at: handle, value: included.includeValue))
    }
    for characteristic in service.characteristics {
      let value = handle + 1
      values.append(value)
      add(
        GATTAttribute(
          readable: GATTType.characteristic, at: handle,
          value: [characteristic.properties.rawValue] + value.octets + characteristic.uuid.attributeValue))
      add(
        GATTAttribute(
          characteristic.uuid.attributeForm, at: value,
          access: .init(characteristic.properties, characteristic.permissions),
          content: characteristic.value.map { .stored($0) } ?? .dynamic))
      if let allowed = characteristic.allowedSubscription {
        // Whoever may not read the value without encryption must not get it by notification either.
        let needsEncryption =
          characteristic.subscriptionNeedsEncryption || characteristic.permissions.contains(.readEncryptionRequired)
        add(
          GATTAttribute(
            GATTType.clientCharacteristicConfiguration, at: handle,
            access: needsEncryption ? [.read, .write, .writeNeedsEncryption] : [.read, .write],
            content: .clientConfiguration(of: value, allowed: allowed)))
      }
      for descriptor in characteristic.descriptors {
        add(
          GATTAttribute(
            descriptor.uuid.attributeForm, at: handle, access: .read, content: .stored(descriptor.value)))
      }
    }
    attributes.insert(contentsOf: new, at: firstIndex(from: AttributeHandle(start)))
    return GATTServicePlacement(range: AttributeHandle(start)...end, values: values)
  }
}

extension GATTServiceDefinition {
  /// How many handles it takes.
  fileprivate var attributeCount: Int {
    characteristics.reduce(1 + includes.count) { count, characteristic in
      count + 2 + (characteristic.allowedSubscription == nil ? 0 : 1) + characteristic.descriptors.count
    }
  }
}

extension GATTCharacteristicDefinition {
  /// What a client may put into the Client Characteristic Configuration; nil when the characteristic has none.
  fileprivate var allowedSubscription: GATTSubscription? {
    var allowed: GATTSubscription = []
    if properties.contains(.notify) { allowed.insert(.notification) }
    if properties.contains(.indicate) { allowed.insert(.indication) }
    return allowed.isEmpty ? nil : allowed
  }
}

extension GATTAttribute {
  /// The value of a declaration that includes this service: the UUID only if it is of 16 bits · Vol 3, Part G, 3.2.
  fileprivate var includeValue: [UInt8] {
    var value = handle.octets + groupEnd.octets
    if case .stored(let uuid) = content, uuid.count == 2 { value += uuid.bytes }
    return value
  }
}
