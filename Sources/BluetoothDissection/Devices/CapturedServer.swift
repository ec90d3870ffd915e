import BluetoothTypes
import BluetoothWire

/// The GATT server of a device, as far as the ATT PDUs of a capture show it.
package struct CapturedServer: Sendable {
  private struct Declaration {
    let properties: CharacteristicProperties
    let valueHandle: UInt16
    let uuid: BluetoothUUID
  }

  /// The services by their first handle.
  private var services: [UInt16: (end: UInt16, uuid: BluetoothUUID, isPrimary: Bool)] = [:]
  /// The UUIDs of included services, by the handles of the include declarations.
  private var includes: [UInt16: (start: UInt16, uuid: BluetoothUUID?)] = [:]
  /// The characteristics by the handles of their declarations.
  private var characteristics: [UInt16: Declaration] = [:]
  /// The types of attributes that Find Information Responses have told.
  private var types: [UInt16: BluetoothUUID] = [:]
  /// The values that were read, in order, by handle, with the times of the responses in nanoseconds.
  private var values: [UInt16: [(time: Int64, value: [UInt8])]] = [:]
  /// The values that were notified or indicated, with their times in nanoseconds.
  private var notifications: [UInt16: [(time: Int64, value: [UInt8])]] = [:]
  /// The time in nanoseconds at which a client has first subscribed; nil: the capture does not show it.
  package private(set) var subscriptionTime: Int64?
  /// The handles whose values an unencrypted link may not have.
  private var protected: Set<UInt16> = []

  /// The most values of a characteristic that are kept, as in a world file.
  private static let maximumSequence = 10_000

  /// True if the capture has shown no attribute.
  package var isEmpty: Bool { services.isEmpty && characteristics.isEmpty && notifications.isEmpty && values.isEmpty }
  /// True if the capture has shown services.
  package var hasServices: Bool { !services.isEmpty }

  private enum GATTType {
    static let primaryService = BluetoothUUID(0x2800)
    static let secondaryService = BluetoothUUID(0x2801)
    static let include = BluetoothUUID(0x2802)
    static let characteristic = BluetoothUUID(0x2803)
    static let configuration = BluetoothUUID(0x2902)
  }

  /// Has seen no PDU yet.
  package init() {}

  /// Notes the response to a request, or a notification or an indication.
  ///
  /// - Parameters:
  ///   - request: the last request of the client; nil: the capture has not shown it.
  ///   - time: the time of the packet in nanoseconds.
  package mutating func add(_ pdu: ATT.PDU, to request: ATT.PDU?, at time: Int64) {
    switch (pdu, request) {
    case (.readByGroupTypeResponse(let list), .readByGroupTypeRequest(_, _, let type)?):
      for element in list {
        guard let uuid = ATTText.decode(element.value) else { continue }
        services[element.handle] = (element.groupEnd, uuid, type == GATTType.primaryService)
      }
    case (.findByTypeValueResponse(let list), .findByTypeValueRequest(_, _, let type, let value)?):
      guard BluetoothUUID(type) == GATTType.primaryService, let uuid = ATTText.decode(value) else { return }
      for element in list { services[element.found] = (element.groupEnd, uuid, true) }
    case (.readByTypeResponse(let list), .readByTypeRequest(_, _, let type)?):
      for element in list { add(element.value, of: element.handle, type, at: time) }
    case (.findInformationResponse(let list), _):
      for element in list { types[element.handle] = element.type }
    case (.readResponse(let value), .readRequest(let handle)?):
      guard values[handle, default: []].count < Self.maximumSequence else { return }
      values[handle, default: []].append((time, value.bytes))
    case (.readBlobResponse(let part), .readBlobRequest(let handle, let offset)?):
      guard let (time, value) = values[handle]?.popLast() else { return }
      // Octets before the offset may be missing in the capture.
      let isNext = value.count >= Int(offset)
      let whole = isNext ? value.prefix(Int(offset)) + part.bytes : value
      values[handle]?.append((time, Array(whole.prefix(ATT.maximumReadLength))))
    case (.writeResponse, .writeRequest(let handle, let value)?):
      // Bit 0 stands for notifications, bit 1 for indications · Vol 3, Part G, 3.3.3.3.
      guard types[handle] == GATTType.configuration, !value.isEmpty, value[0] & 3 != 0 else { return }
      subscriptionTime = subscriptionTime ?? time
    case (.handleValueNotification(let handle, let value), _), (.handleValueIndication(let handle, let value), _):
      guard notifications[handle, default: []].count < Self.maximumSequence else { return }
      notifications[handle, default: []].append((time, value.bytes))
    case (.multipleHandleValueNotification(let list), _):
      for element in list where notifications[element.handle, default: []].count < Self.maximumSequence {
        notifications[element.handle, default: []].append((time, element.value.bytes))
      }
    case (.errorResponse(_, let handle, let code), _):
      if [.insufficientAuthentication, .insufficientEncryption].contains(code) { protected.insert(handle) }
    default: break
    }
  }

  private mutating func add(_ value: ByteSlice, of handle: UInt16, _ type: BluetoothUUID, at time: Int64) {
    switch type {
    case GATTType.include:
      guard value.count >= 4 else { return }
      includes[handle] = (UInt16(value[0]) | UInt16(value[1]) << 8, ATTText.decode(value.dropFirst(4)))
    case GATTType.characteristic:
      guard value.count >= 5, let uuid = ATTText.decode(value.dropFirst(3)) else { return }
      characteristics[handle] = Declaration(
        properties: CharacteristicProperties(rawValue: value[0]), valueHandle: UInt16(value[1]) | UInt16(value[2]) << 8,
        uuid: uuid)
    default:
      guard values[handle, default: []].count < Self.maximumSequence else { return }
      values[handle, default: []].append((time, value.bytes))
    }
  }

  // MARK: Results

  /// A service, as far as the capture shows it.
  package struct Service: Hashable, Sendable {
    package let uuid: BluetoothUUID
    package let isPrimary: Bool
    /// The included services, in the order of their declarations.
    package let includes: [BluetoothUUID]
    package let characteristics: [Characteristic]
  }

  /// A characteristic, as far as the capture shows it.
  package struct Characteristic: Hashable, Sendable {
    package let uuid: BluetoothUUID
    package let properties: CharacteristicProperties
    /// True if the device has refused a request because the link was not encrypted.
    package let needsEncryption: Bool
    package let descriptors: [Descriptor]
    /// The values that were read, in order, with the times of the responses in nanoseconds.
    package let reads: [Value]
    /// The values that were notified or indicated, in order, with their times in nanoseconds.
    package let updates: [Value]

    /// The first value that a read has given, or else that was notified or indicated; nil: the capture shows none.
    package var value: [UInt8]? { (reads.first ?? updates.first)?.octets }

    /// The median of the times between notified or indicated values, in nanoseconds; nil: there are less than two.
    package var period: Int64? {
      let gaps = zip(updates, updates.dropFirst()).map { $1.time - $0.time }.sorted()
      return gaps.isEmpty ? nil : gaps[gaps.count / 2]
    }
  }

  /// A descriptor of a characteristic.
  package struct Descriptor: Hashable, Sendable {
    package let handle: UInt16
    package let uuid: BluetoothUUID
    /// The value; nil: it was not read.
    package let value: [UInt8]?
  }

  /// A value at a time.
  package struct Value: Hashable, Sendable {
    /// The time in nanoseconds.
    package let time: Int64
    package let octets: [UInt8]
  }

  /// A characteristic that a client has read several times.
  package struct Answers: Hashable, Sendable {
    package let service: BluetoothUUID
    /// The number of this service among those with its UUID, from 0.
    package let instance: Int
    package let characteristic: BluetoothUUID
    /// The answers, in order; at least two.
    package let values: [[UInt8]]

    package init(service: BluetoothUUID, instance: Int = 0, characteristic: BluetoothUUID, values: [[UInt8]]) {
      (self.service, self.instance) = (service, instance)
      (self.characteristic, self.values) = (characteristic, values)
    }
  }

  private typealias Group = (start: UInt16, end: UInt16, uuid: BluetoothUUID, isPrimary: Bool)

  /// The services by their first handles.
  private var groups: [Group] {
    services.map { ($0.key, $0.value.end, $0.value.uuid, $0.value.isPrimary) }.sorted { $0.0 < $1.0 }
  }

  /// The services without those of GAP and GATT, which belong to the host that plays the device.
  private var shown: [Group] { groups.filter { $0.uuid != BluetoothUUID(0x1800) && $0.uuid != BluetoothUUID(0x1801) } }

  private func declarations(_ start: UInt16, _ end: UInt16) -> [(handle: UInt16, Declaration)] {
    characteristics.filter { start < $0.key && $0.key <= end }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The services with their attributes, without those of GAP and GATT.
  package var content: [Service] {
    shown.map { service in
      let declarations = declarations(service.start, service.end)
      return Service(
        uuid: service.uuid, isPrimary: service.isPrimary,
        includes: includes.filter { service.start < $0.key && $0.key <= service.end }.sorted { $0.key < $1.key }
          .compactMap { $0.value.uuid ?? services[$0.value.start]?.uuid },
        characteristics: declarations.enumerated().map { index, declaration in
          let end = index + 1 < declarations.count ? declarations[index + 1].handle - 1 : service.end
          return describe(declaration.1, until: end)
        })
    }
  }

  private func describe(_ characteristic: Declaration, until end: UInt16) -> Characteristic {
    let handle = characteristic.valueHandle
    return Characteristic(
      uuid: characteristic.uuid, properties: characteristic.properties, needsEncryption: protected.contains(handle),
      descriptors: types.filter { handle < $0.key && $0.key <= end }.sorted { $0.key < $1.key }.map { entry in
        Descriptor(handle: entry.key, uuid: entry.value, value: values[entry.key]?.first?.value)
      }, reads: (values[handle] ?? []).map { Value(time: $0.time, octets: $0.value) },
      updates: (notifications[handle] ?? []).map { Value(time: $0.time, octets: $0.value) })
  }

  /// Returns the first value of a characteristic of the GAP service; nil: the capture does not show it.
  private func gapValue(_ uuid: BluetoothUUID) -> [UInt8]? {
    groups.filter { $0.uuid == BluetoothUUID(0x1800) }.flatMap { declarations($0.start, $0.end) }
      .first { $0.1.uuid == uuid }.flatMap { values[$0.1.valueHandle]?.first?.value }
  }

  /// The Device Name of the GAP service · Vol 3, Part C, 12.1; nil: it was not read, or is empty.
  package var deviceName: String? {
    gapValue(BluetoothUUID(0x2A00)).map { String(received: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The Appearance of the GAP service · Vol 3, Part C, 12.2; nil: it was not read.
  package var appearance: UInt16? {
    gapValue(BluetoothUUID(0x2A01)).flatMap { $0.count == 2 ? UInt16($0[0]) | UInt16($0[1]) << 8 : nil }
  }

  /// The characteristics whose values were read several times, with different results.
  package var answers: [Answers] {
    var instances: [BluetoothUUID: Int] = [:]
    return content.flatMap { service -> [Answers] in
      let instance = instances[service.uuid, default: 0]
      instances[service.uuid] = instance + 1
      return service.characteristics.compactMap { characteristic in
        let read = characteristic.reads.map(\.octets)
        guard Set(read).count > 1, characteristic.updates.isEmpty else { return nil }
        return Answers(
          service: service.uuid, instance: instance, characteristic: characteristic.uuid, values: read)
      }
    }
  }

  /// The parts of the server that the capture does not show, a line for each kind.
  package var notes: [String] {
    var notes: [String] = []
    let known = Set(characteristics.values.map(\.valueHandle)).union(types.keys).union(characteristics.keys)
      .union(services.keys).union(includes.keys)
    let strange = Set(values.keys).union(notifications.keys).subtracting(known).sorted()
    if !strange.isEmpty {
      let handles = strange.map { "0x" + $0.hexadecimal }.joined(separator: ", ")
      notes.append("the capture does not show the discovery of the attributes \(handles): left out")
    }
    let unread = shown.flatMap { declarations($0.start, $0.end) }.map(\.1).filter { characteristic in
      characteristic.properties.contains(.read) && values[characteristic.valueHandle] == nil
        && notifications[characteristic.valueHandle] == nil
    }
    if !unread.isEmpty {
      let names = unread.map { SpecificationNames.title(of: $0.uuid) }.joined(separator: ", ")
      notes.append("nobody has read \(names) in the capture: their values are empty")
    }
    return notes
  }
}
