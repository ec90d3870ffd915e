import BluetoothWire

/// The attributes of the local server · Vol 3, Part G, 2.6. All links share one database.
///
/// It begins with the GAP service (Device Name, Appearance, Central Address Resolution, and Peripheral Preferred
/// Connection Parameters if they have values) and the GATT service (Service Changed, Client Supported Features, Database Hash, Server
/// Supported Features).
package struct GATTDatabase: Sendable {
  /// The handles of the values that the host maintains itself, in the order of the handles.
  struct SystemHandles {
    var appearance: AttributeHandle = 0
    var centralAddressResolution: AttributeHandle = 0
    var serviceChanged: AttributeHandle = 0
    /// The handles of the services that cannot be removed.
    var range: ClosedRange<AttributeHandle> = 0...0
  }

  /// The attributes in ascending order of their handles. Only `GATTDatabase` changes them.
  var attributes: [GATTAttribute] = []
  /// The first handle after all handles that were ever used. New services begin here, so that a client that has not
  /// yet heard of a change does not find another attribute at a known handle. The value exceeds 0xFFFF when the
  /// handles are used up.
  var next = 1
  /// The number of include declarations. If it is 0, a service can be removed without a search of all other services.
  var includeCount = 0
  private(set) var system = SystemHandles()
  /// The declaration and the value of the Peripheral Preferred Connection Parameters. Their handles stay free while
  /// there are no specific values: clients complain about a value without any.
  private var parameterAttributes: [GATTAttribute] = []
  /// The value of Device Name.
  private(set) var deviceName = ByteSlice()
  /// The Database Hash, if it has been computed since the last change.
  private var knownHash: ByteSlice?

  /// The maximum length of the Device Name in octets · Vol 3, Part C, 12.1.
  static let maximumDeviceNameLength = 248

  /// The two standard services with the default values, created once so that databases share the memory of their
  /// attributes.
  private static let standard = GATTDatabase(firstHandle: 1)

  /// The handles of the GAP and the GATT service, unless they have been moved.
  package static var systemHandles: ClosedRange<AttributeHandle> { standard.system.range }

  /// Creates a database with the GAP and the GATT service.
  ///
  /// - Parameters:
  ///   - deviceName: The Device Name; the server returns at most 248 octets of it · Vol 3, Part C, 12.1.
  ///   - firstHandle: The handle of the declaration of the GAP service; the GATT service follows.
  package init(deviceName: String, appearance: UInt16, firstHandle: AttributeHandle = 1) {
    self = firstHandle == 1 ? Self.standard : GATTDatabase(firstHandle: firstHandle)
    setDeviceName(deviceName)
    if appearance != 0 { store(ByteSlice(appearance.octets), at: system.appearance) }
  }

  private init(firstHandle: AttributeHandle) {
    next = Int(firstHandle)
    func readable(_ uuid: BluetoothUUID, _ value: ByteSlice) -> GATTCharacteristicDefinition {
      GATTCharacteristicDefinition(uuid: uuid, properties: .read, permissions: .readable, value: value)
    }
    let gap = place(
      [
        readable(GATTType.deviceName, ByteSlice()),
        readable(GATTType.appearance, [0, 0]),
        readable(GATTType.preferredConnectionParameters, ByteSlice()),
        readable(GATTType.centralAddressResolution, [0]),
      ], GATTType.gapService)
    let gatt = place(
      [
        GATTCharacteristicDefinition(
          uuid: GATTType.serviceChanged, properties: .indicate, permissions: [], value: ByteSlice()),
        GATTCharacteristicDefinition(
          uuid: GATTType.clientSupportedFeatures, properties: [.read, .write], permissions: [.readable, .writeable],
          value: nil, lengths: 1...1),
        GATTCharacteristicDefinition(
          uuid: GATTType.databaseHash, properties: .read, permissions: .readable, value: nil),
        // No Enhanced ATT bearers
        readable(GATTType.serverSupportedFeatures, [0]),
      ], GATTType.gattService)
    if let index = index(of: gap.values[0]) { attributes[index].content = .deviceName }
    if let index = index(of: gatt.values[1]) { attributes[index].content = .clientFeatures }
    if let index = index(of: gatt.values[2]) { attributes[index].content = .databaseHash }
    system = SystemHandles(
      appearance: gap.values[1], centralAddressResolution: gap.values[3], serviceChanged: gatt.values[0],
      range: gap.range.lowerBound...gatt.range.upperBound)
    let parameters = firstIndex(from: gap.values[2]) - 1
    parameterAttributes = Array(attributes[parameters...parameters + 1])
    setPreferredParameters(nil)
  }

  private mutating func place(
    _ characteristics: [GATTCharacteristicDefinition], _ uuid: BluetoothUUID
  ) -> GATTServicePlacement {
    let service = GATTServiceDefinition(uuid: uuid, isPrimary: true, includes: [], characteristics: characteristics)
    let placement = place(service, at: next, includes: [])
    next = Int(placement.range.upperBound) + 1
    return placement
  }

  // MARK: Values of the GAP service

  /// Sets the Device Name.
  package mutating func setDeviceName(_ name: String) {
    deviceName = name.utf8Prefix(Self.maximumDeviceNameLength)
  }

  /// Sets the Peripheral Preferred Connection Parameters; nil: no specific values, and no such characteristic
  /// · Vol 3, Part C, 12.3. Returns the range of its handles for `GATTBearer.databaseChanged`.
  @discardableResult
  package mutating func setPreferredParameters(_ parameters: LinkParameters?) -> ClosedRange<AttributeHandle> {
    let handles = parameterAttributes[0].handle...parameterAttributes[1].handle
    attributes.removeAll { handles.contains($0.handle) }
    if let parameters {
      attributes.insert(contentsOf: parameterAttributes, at: firstIndex(from: handles.lowerBound))
      store(
        ByteSlice(
          parameters.minimumInterval.octets + parameters.maximumInterval.octets + parameters.latency.octets
            + parameters.supervisionTimeout.octets), at: handles.upperBound)
    }
    forgetHash()
    return handles
  }

  /// Sets Central Address Resolution: true if a peripheral may address this device, as a central, with a private
  /// address · Vol 3, Part C, 12.4.
  package mutating func setCentralAddressResolution(_ isSupported: Bool) {
    store([isSupported ? 1 : 0], at: system.centralAddressResolution)
  }

  // MARK: Values

  /// Returns the value that the database stores, regardless of access permissions; nil: it stores none for this
  /// attribute.
  @inline(__always)
  func value(at index: Int) -> ByteSlice? {
    switch attributes[index].content {
    case .stored(let value): value
    case .deviceName: deviceName
    default: nil
    }
  }

  /// Sets the value of a stored attribute.
  mutating func store(_ value: ByteSlice, at handle: AttributeHandle) {
    guard let index = index(of: handle) else { return }
    attributes[index].content = .stored(value)
  }

  /// Returns the Database Hash · Vol 3, Part G, 7.3.1. It is computed on the first request after a change.
  mutating func hash() -> ByteSlice {
    if let knownHash { return knownHash }
    let hash = ByteSlice(GATTDatabaseHash.value(of: attributes))
    knownHash = hash
    return hash
  }

  mutating func forgetHash() { knownHash = nil }

  /// The characteristics that clients have configured to be broadcast, in the order of their handles
  /// · Vol 3, Part G, 2.7.
  package var broadcasts: [GATTBroadcast] {
    var service: BluetoothUUID?
    var result: [GATTBroadcast] = []
    for attribute in attributes {
      if GATTType.isGrouping(attribute.type), case .stored(let value) = attribute.content {
        service = BluetoothUUID(attributeValue: value)
      }
      guard case .serverConfiguration(let handle, isBroadcast: true) = attribute.content, let service,
        let index = index(of: handle)
      else { continue }
      var value: ByteSlice?
      if case .stored(let stored) = attributes[index].content { value = stored }
      result.append(GATTBroadcast(service: service, handle: handle, value: value))
    }
    return result
  }

  /// Returns the index of the Client Characteristic Configuration of the characteristic with this value handle.
  func configuration(of value: AttributeHandle) -> Int? {
    guard var index = index(of: value) else { return nil }
    repeat {
      index += 1
    } while index < attributes.count && !attributes[index].isConfiguration(of: value)
      && attributes[index].type != GATTType.characteristic && !GATTType.isGrouping(attributes[index].type)
    return index < attributes.count && attributes[index].isConfiguration(of: value) ? index : nil
  }

  // MARK: Search

  /// Returns the index in `attributes` of the first attribute with a handle of at least `handle`.
  func firstIndex(from handle: AttributeHandle) -> Int {
    // Try two likely positions first: without removals there is no gap, and after removals most attributes follow all
    // gaps.
    guard let last = attributes.last?.handle, handle <= last else { return attributes.count }
    let likely = Int(handle) - 1
    if likely >= 0, likely < attributes.count, attributes[likely].handle == handle { return likely }
    let behindGaps = likely - (Int(last) - attributes.count)
    if behindGaps >= 0, attributes[behindGaps].handle == handle { return behindGaps }
    var low = 0
    var high = attributes.count
    while low < high {
      let middle = (low + high) / 2
      if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the index in `attributes` of the attribute with this handle.
  func index(of handle: AttributeHandle) -> Int? {
    let index = firstIndex(from: handle)
    return index < attributes.count && attributes[index].handle == handle ? index : nil
  }

  /// Returns the index in `attributes` of the attribute after the group that begins at `index`.
  func indexBehindGroup(at index: Int) -> Int {
    let end = attributes[index].groupEnd
    return end == .max ? attributes.count : firstIndex(from: end + 1)
  }
}

extension GATTAttribute {
  fileprivate func isConfiguration(of value: AttributeHandle) -> Bool {
    if case .clientConfiguration(value, _) = content { return true }
    return false
  }
}
