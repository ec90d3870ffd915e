import BluetoothHost
import BluetoothWire

/// The contents of a server in a simple form: a dictionary of attributes. It follows the words of the specification and
/// is independent of the server's code.
struct ModelDatabase {
  struct Attribute {
    var type: BluetoothUUID
    var value: [UInt8] = []
    /// The errors of reading and of writing with a response; nil if permitted.
    var readError: ATT.ErrorCode?
    var writeError: ATT.ErrorCode? = .writeNotPermitted
    var takesCommands = false
    /// The supported subscriptions: 1 for notifications, 2 for indications.
    var offers: UInt8 = 0
  }

  struct Service {
    let uuid: BluetoothUUID
    let isPrimary: Bool
    let range: ClosedRange<UInt16>
    var includes: [UInt16: UInt16] = [:]
    var characteristics: [GATTCharacteristic] = []
  }

  /// The services by declaration handle.
  var services: [UInt16: Service] = [
    1: Service(uuid: 0x1800, isPrimary: true, range: 1...9), 10: Service(uuid: 0x1801, isPrimary: true, range: 10...19),
  ]
  var attributes: [UInt16: Attribute] = [:]
  /// The configurations of the only client: from the configuration's handle to the handle of its value.
  var configurations: [UInt16: UInt16] = [:]

  /// Adds a service that the server placed at `start`.
  mutating func add(_ definition: GATTServiceDefinition, at start: UInt16) {
    var handle = start
    var service = (includes: [UInt16: UInt16](), characteristics: [GATTCharacteristic]())
    func next() -> UInt16 {
      handle += 1
      return handle
    }
    for included in definition.includes { service.includes[next()] = included }
    for one in definition.characteristics {
      let declaration = next()
      let value = next()
      service.characteristics.append(
        GATTCharacteristic(declaration: declaration, value: value, properties: one.properties, uuid: one.uuid))
      let mayWrite = one.permissions.contains(.writeable)
      var attribute = Attribute(type: one.uuid, value: one.value?.bytes ?? [])
      if !one.properties.contains(.read) || one.permissions.isDisjoint(with: [.readable, .readEncryptionRequired]) {
        attribute.readError = .readNotPermitted
      } else if one.permissions.contains(.readEncryptionRequired) {
        attribute.readError = .insufficientAuthentication
      }
      if mayWrite && one.properties.contains(.write) { attribute.writeError = nil }
      attribute.takesCommands = mayWrite && one.properties.contains(.writeWithoutResponse)
      attribute.offers = (one.properties.contains(.notify) ? 1 : 0) | (one.properties.contains(.indicate) ? 2 : 0)
      attributes[value] = attribute
      if attribute.offers != 0 {
        let configuration = next()
        attributes[configuration] = Attribute(type: 0x2902, value: [0, 0], writeError: nil)
        configurations[configuration] = value
      }
      if one.properties.contains(.broadcast) {
        attributes[next()] = Attribute(type: 0x2903, value: [0, 0], writeError: nil)
      }
      for descriptor in one.descriptors {
        guard case .stored(let value) = descriptor.content else { continue }
        attributes[next()] = Attribute(type: descriptor.uuid, value: value.bytes)
      }
    }
    services[start] = Service(
      uuid: definition.uuid, isPrimary: definition.isPrimary, range: start...handle, includes: service.includes,
      characteristics: service.characteristics)
  }

  mutating func remove(_ declaration: UInt16) {
    guard let range = services.removeValue(forKey: declaration)?.range else { return }
    attributes = attributes.filter { !range.contains($0.key) }
    configurations = configurations.filter { !range.contains($0.key) }
    for (key, service) in services {
      services[key]?.includes = service.includes.filter { $0.value != declaration }
    }
  }

  /// Clears all subscriptions. A client that is not bonded has none when it reconnects.
  mutating func forgetClient() {
    for handle in configurations.keys { attributes[handle]?.value = [0, 0] }
  }

  /// Returns the client's subscription to this value: 1 for notifications, 2 for indications.
  func subscription(to value: UInt16) -> UInt8 {
    configurations.first { $0.value == value }.flatMap { attributes[$0.key]?.value.first } ?? 0
  }

  // MARK: Results for a client

  var primaryServices: [GATTService] {
    services.values.filter(\.isPrimary).sorted { $0.range.lowerBound < $1.range.lowerBound }.map {
      GATTService(range: $0.range, uuid: $0.uuid)
    }
  }

  func includes(of declaration: UInt16) -> [GATTInclude] {
    guard let service = services[declaration] else { return [] }
    return service.includes.sorted { $0.key < $1.key }.compactMap { handle, included in
      services[included].map {
        GATTInclude(declaration: handle, service: GATTService(range: $0.range, uuid: $0.uuid))
      }
    }
  }

  func descriptors(in range: ClosedRange<UInt16>) -> [GATTDescriptor] {
    range.compactMap { handle in attributes[handle].map { GATTDescriptor(handle: handle, uuid: $0.type) } }
  }

  func read(_ handle: UInt16) -> Result<GATTResponse, GATTError> {
    guard let attribute = attributes[handle] else { return .failure(.att(.invalidHandle)) }
    if let code = attribute.readError { return .failure(.att(code)) }
    return .success(.value(ByteSlice(attribute.value)))
  }

  func readMultiple(_ handles: [UInt16], mtu: Int) -> Result<GATTResponse, GATTError> {
    guard handles.count >= 2, 1 + 2 * handles.count <= mtu else { return .failure(.att(.invalidPDU)) }
    var octets: [UInt8] = []
    for handle in handles {
      guard case .success(.value(let value)) = read(handle) else { return read(handle) }
      octets += value.bytes
    }
    return .success(.value(ByteSlice(octets.prefix(mtu - 1))))
  }

  func readMultipleVariable(_ handles: [UInt16], mtu: Int) -> Result<GATTResponse, GATTError> {
    guard handles.count >= 2, 1 + 2 * handles.count <= mtu else { return .failure(.att(.invalidPDU)) }
    var values: [GATTValue] = []
    var room = mtu - 1
    for handle in handles {
      guard case .success(.value(let value)) = read(handle) else { return read(handle) }
      room -= 2 + value.count
      if room >= 0 { values.append(GATTValue(handle: handle, value: value)) }
    }
    return .success(.values(values))
  }

  /// Returns the reason why a write is refused, or nil if it is permitted.
  func refusal(of handle: UInt16) -> ATT.ErrorCode? {
    guard let attribute = attributes[handle] else { return .invalidHandle }
    return attribute.writeError
  }

  mutating func write(_ handle: UInt16, _ value: [UInt8]) -> Result<GATTResponse, GATTError> {
    guard value.count <= 512 else { return .failure(.att(.invalidAttributeValueLength)) }
    if let code = refusal(of: handle) { return .failure(.att(code)) }
    attributes[handle]?.value = value
    return .success(.done)
  }

  mutating func command(_ handle: UInt16, _ value: [UInt8], mtu: Int) -> Result<GATTResponse, GATTError> {
    guard value.count <= mtu - 3 else { return .failure(.att(.invalidAttributeValueLength)) }
    if attributes[handle]?.takesCommands == true { attributes[handle]?.value = value }
    return .success(.done)
  }

  /// Writes all parts, each a whole value, or none.
  mutating func writeReliably(_ parts: [GATTWritePart]) -> Result<GATTResponse, GATTError> {
    for part in parts { if let code = refusal(of: part.handle) { return .failure(.att(code)) } }
    for part in parts { attributes[part.handle]?.value = part.value.bytes }
    return .success(.done)
  }
}
