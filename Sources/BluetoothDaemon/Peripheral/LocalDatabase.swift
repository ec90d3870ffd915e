import BluetoothHost
import BluetoothWire

/// The services of all apps, with their positions in the host's database.
struct LocalDatabase {
  struct Service {
    let session: PeripheralSessionID
    let id: LocalAttributeID
    let range: ClosedRange<AttributeHandle>
    let definition: LocalServiceInfo
    var characteristicCount: Int { definition.characteristics.count }
  }

  struct Characteristic {
    let session: PeripheralSessionID
    let id: LocalAttributeID
    /// The handle of the characteristic's value.
    let handle: AttributeHandle
    /// True if the characteristic has indications and no notifications.
    let isOnlyIndicated: Bool
    /// The links whose clients have subscribed, in the order of their subscriptions.
    var subscribers: [HCI.ConnectionHandle] = []
  }

  private struct Key: Hashable {
    let session: PeripheralSessionID
    let id: LocalAttributeID
  }

  /// All services, in the order in which they were added.
  private(set) var services: [Service] = []
  /// All characteristics, service by service.
  private(set) var characteristics: [Characteristic] = []
  private var servicesByID: [Key: Service] = [:]
  private var byHandle: [AttributeHandle: Int] = [:]
  private var byID: [Key: Int] = [:]

  func service(_ id: LocalAttributeID, of session: PeripheralSessionID) -> Service? {
    servicesByID[Key(session: session, id: id)]
  }

  func characteristic(_ id: LocalAttributeID, of session: PeripheralSessionID) -> Int? {
    byID[Key(session: session, id: id)]
  }

  /// Returns the type of a characteristic; nil: it has been removed.
  func uuid(of id: LocalAttributeID, of session: PeripheralSessionID) -> BluetoothUUID? {
    guard let index = characteristic(id, of: session) else { return nil }
    let handle = characteristics[index].handle
    let service = services.first { $0.range.contains(handle) }
    return service?.definition.characteristics.first { $0.id == id }?.definition.uuid
  }

  func characteristic(at handle: AttributeHandle) -> Int? { byHandle[handle] }

  mutating func add(_ service: LocalServiceInfo, of session: PeripheralSessionID, at placement: GATTServicePlacement) {
    let entry = Service(
      session: session, id: service.id, range: placement.range, definition: service)
    services.append(entry)
    servicesByID[Key(session: session, id: service.id)] = entry
    for (characteristic, handle) in zip(service.characteristics, placement.values) {
      byHandle[handle] = characteristics.count
      byID[Key(session: session, id: characteristic.id)] = characteristics.count
      let properties = characteristic.definition.properties
      characteristics.append(
        Characteristic(
          session: session, id: characteristic.id, handle: handle,
          isOnlyIndicated: properties.contains(.indicate) && !properties.contains(.notify)))
    }
  }

  /// Removes the service with this declaration and returns its characteristics.
  ///
  /// Complexity: O(n) in the number of services and characteristics added after this one. All services of a session are
  /// removed in the order that makes it O(1).
  mutating func remove(_ declaration: AttributeHandle) -> [Characteristic] {
    guard let index = services.lastIndex(where: { $0.range.lowerBound == declaration }) else { return [] }
    let service = services.remove(at: index)
    servicesByID[Key(session: service.session, id: service.id)] = nil
    guard service.characteristicCount > 0,
      let last = characteristics.lastIndex(where: { service.range.contains($0.handle) })
    else { return [] }
    let places = last - service.characteristicCount + 1...last
    let removed = Array(characteristics[places])
    characteristics.removeSubrange(places)
    for characteristic in removed {
      byHandle[characteristic.handle] = nil
      byID[Key(session: characteristic.session, id: characteristic.id)] = nil
    }
    for place in places.lowerBound..<characteristics.count {
      let characteristic = characteristics[place]
      byHandle[characteristic.handle] = place
      byID[Key(session: characteristic.session, id: characteristic.id)] = place
    }
    return removed
  }

  mutating func removeAll() { self = LocalDatabase() }

  /// Adds a subscription. Returns true if the client was not subscribed before.
  mutating func subscribe(_ connection: HCI.ConnectionHandle, to index: Int) -> Bool {
    guard !characteristics[index].subscribers.contains(connection) else { return false }
    characteristics[index].subscribers.append(connection)
    return true
  }

  /// Removes a subscription. Returns true if the client was subscribed.
  mutating func unsubscribe(_ connection: HCI.ConnectionHandle, from index: Int) -> Bool {
    guard let place = characteristics[index].subscribers.firstIndex(of: connection) else { return false }
    characteristics[index].subscribers.remove(at: place)
    return true
  }
}

/// The UUIDs of services that the system itself provides and that apps may not publish.
///
/// Apple refuses them only in their 16-bit form; the 128-bit form of the same UUID passes.
enum ReservedService {
  private static let values: [UInt16] = [
    0x1800,  // Generic Access
    0x1801,  // Generic Attribute
    0x1805,  // Current Time
    0x180A,  // Device Information
    0x180F,  // Battery
    0x1812,  // Human Interface Device
    0x181E,  // Bond Management
  ]

  static func contains(_ uuid: BluetoothUUID) -> Bool {
    guard uuid.width == .bits16, let value = uuid.shortValue else { return false }
    return values.contains(value)
  }
}
