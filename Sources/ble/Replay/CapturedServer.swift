import BluetoothTypes
import BluetoothWire
import CoreBluetooth

/// The GATT server of a device, as far as the ATT PDUs of a capture show it.
struct CapturedServer {
  private struct Characteristic {
    let properties: CharacteristicProperties
    let valueHandle: UInt16
    let uuid: BluetoothUUID
  }

  /// The services by their first handle.
  private var services: [UInt16: (end: UInt16, uuid: BluetoothUUID, isPrimary: Bool)] = [:]
  /// The UUIDs of included services, by the handles of the include declarations.
  private var includes: [UInt16: (start: UInt16, uuid: BluetoothUUID?)] = [:]
  /// The characteristics by the handles of their declarations.
  private var characteristics: [UInt16: Characteristic] = [:]
  /// The types of attributes that Find Information Responses have told.
  private var types: [UInt16: BluetoothUUID] = [:]
  /// The values that were read, in order, by handle.
  private var values: [UInt16: [[UInt8]]] = [:]
  /// The values that were notified or indicated, with their times in nanoseconds.
  private var notifications: [UInt16: [(time: Int64, value: [UInt8])]] = [:]
  /// The handles whose values an unencrypted link may not have.
  private var protected: Set<UInt16> = []

  /// The longest sequence of values in a world file.
  private static let maximumSequence = 10_000

  /// True if the capture has shown no attribute.
  var isEmpty: Bool { services.isEmpty && characteristics.isEmpty && notifications.isEmpty && values.isEmpty }
  /// True if the capture has shown services.
  var hasServices: Bool { !services.isEmpty }

  private enum GATTType {
    static let primaryService = BluetoothUUID(0x2800)
    static let secondaryService = BluetoothUUID(0x2801)
    static let include = BluetoothUUID(0x2802)
    static let characteristic = BluetoothUUID(0x2803)
  }

  /// Notes the response to a request, or a notification or an indication.
  ///
  /// - Parameters:
  ///   - request: the last request of the client; nil: the capture has not shown it.
  ///   - time: the time of the packet in nanoseconds.
  mutating func add(_ pdu: ATT.PDU, to request: ATT.PDU?, at time: Int64) {
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
      for element in list { add(element.value, of: element.handle, type) }
    case (.findInformationResponse(let list), _):
      for element in list { types[element.handle] = element.type }
    case (.readResponse(let value), .readRequest(let handle)?):
      values[handle, default: []].append(value.bytes)
    case (.readBlobResponse(let part), .readBlobRequest(let handle, let offset)?):
      guard let value = values[handle]?.popLast() else { return }
      // Octets before the offset may be missing in the capture.
      let isNext = value.count >= Int(offset)
      values[handle]?.append(isNext ? value.prefix(Int(offset)) + part.bytes : value)
    case (.handleValueNotification(let handle, let value), _), (.handleValueIndication(let handle, let value), _):
      guard notifications[handle, default: []].count < Self.maximumSequence else { return }
      notifications[handle, default: []].append((time, value.bytes))
    case (.multipleHandleValueNotification(let list), _):
      for element in list { notifications[element.handle, default: []].append((time, element.value.bytes)) }
    case (.errorResponse(_, let handle, let code), _):
      if [.insufficientAuthentication, .insufficientEncryption].contains(code) { protected.insert(handle) }
    default: break
    }
  }

  private mutating func add(_ value: ByteSlice, of handle: UInt16, _ type: BluetoothUUID) {
    switch type {
    case GATTType.include:
      guard value.count >= 4 else { return }
      includes[handle] = (UInt16(value[0]) | UInt16(value[1]) << 8, ATTText.decode(value.dropFirst(4)))
    case GATTType.characteristic:
      guard value.count >= 5, let uuid = ATTText.decode(value.dropFirst(3)) else { return }
      characteristics[handle] = Characteristic(
        properties: CharacteristicProperties(rawValue: value[0]), valueHandle: UInt16(value[1]) | UInt16(value[2]) << 8,
        uuid: uuid)
    default: values[handle, default: []].append(value.bytes)
    }
  }

  // MARK: Results

  /// A characteristic that a client has read several times.
  struct Answers: Hashable, Sendable {
    let service: BluetoothUUID
    let characteristic: BluetoothUUID
    /// The answers, in order; at least two.
    let values: [[UInt8]]
  }

  /// The services without those of GAP and GATT, which belong to the adapter.
  private var shown: [(start: UInt16, end: UInt16, uuid: BluetoothUUID, isPrimary: Bool)] {
    services.map { ($0.key, $0.value.end, $0.value.uuid, $0.value.isPrimary) }
      .filter { $0.2 != BluetoothUUID(0x1800) && $0.2 != BluetoothUUID(0x1801) }.sorted { $0.0 < $1.0 }
  }

  private func declarations(_ start: UInt16, _ end: UInt16) -> [(handle: UInt16, Characteristic)] {
    characteristics.filter { start < $0.key && $0.key <= end }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The attributes.
  var tree: GATTTree {
    GATTTree(
      services: shown.map { service in
        let declarations = declarations(service.start, service.end)
        return GATTTree.Service(
          uuid: PublishedForm.uuid(service.uuid), isPrimary: service.isPrimary,
          includes: includes.filter { service.start < $0.key && $0.key <= service.end }.sorted { $0.key < $1.key }
            .compactMap { ($0.value.uuid ?? services[$0.value.start]?.uuid).map { PublishedForm.uuid($0) } },
          characteristics: declarations.enumerated().map { index, declaration in
            let end = index + 1 < declarations.count ? declarations[index + 1].handle - 1 : service.end
            return describe(declaration.1, until: end)
          })
      })
  }

  private func describe(_ characteristic: Characteristic, until end: UInt16) -> GATTTree.Characteristic {
    let handle = characteristic.valueHandle
    let uuid = PublishedForm.uuid(characteristic.uuid)
    let notified = notifications[handle] ?? []
    let value = values[handle]?.first ?? notified.first?.value
    var result = GATTTree.Characteristic(
      uuid: uuid, properties: CBCharacteristicProperties(rawValue: UInt(characteristic.properties.rawValue)),
      value: value.map { .value(ValueText($0, of: uuid)) } ?? .none, needsEncryption: protected.contains(handle),
      descriptors: types.filter { handle < $0.key && $0.key <= end }.sorted { $0.key < $1.key }.map { entry in
        let uuid = PublishedForm.uuid(entry.value)
        return GATTTree.Descriptor(
          uuid: uuid, value: values[entry.key]?.first.map { .value(ValueText($0, of: uuid)) } ?? .none)
      })
    let gaps = zip(notified, notified.dropFirst()).map { $1.time - $0.time }.sorted()
    if !gaps.isEmpty, characteristic.properties.contains(.notify) || characteristic.properties.contains(.indicate) {
      result.sequence = notified.map(\.value)
      // The values keep their order; their distance is the median, as a file has one for all.
      result.period = max(0.001, Double(gaps[gaps.count / 2]) / 1e9)
    }
    return result
  }

  /// The characteristics whose values were read several times, with different results.
  var answers: [Answers] {
    shown.flatMap { service in
      declarations(service.start, service.end).compactMap { _, characteristic in
        let read = values[characteristic.valueHandle] ?? []
        guard Set(read).count > 1, notifications[characteristic.valueHandle] == nil else { return nil }
        return Answers(service: service.uuid, characteristic: characteristic.uuid, values: read)
      }
    }
  }

  /// The parts of the server that the capture does not show, a line for each kind.
  var notes: [String] {
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
      let names = unread.map { KnownNames.title(of: PublishedForm.uuid($0.uuid)) }.joined(separator: ", ")
      notes.append("nobody has read \(names) in the capture: their values are empty")
    }
    return notes
  }
}
