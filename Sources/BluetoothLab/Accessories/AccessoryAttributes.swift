import BluetoothHost
import BluetoothWire

/// Where an accessory's characteristics stand in its database, and who listens to them.
struct AccessoryAttributes {
  private struct Subscription: Equatable {
    var link: HCI.ConnectionHandle
    var handle: AttributeHandle
  }

  private var paths: [(handle: AttributeHandle, path: CharacteristicPath)] = []
  private var subscriptions: [Subscription] = []

  mutating func add(_ service: AccessoryService, at handles: [AttributeHandle]) {
    for (characteristic, handle) in zip(service.characteristics, handles) {
      paths.append((handle, CharacteristicPath(characteristic.uuid, of: service.uuid)))
    }
  }

  func path(at handle: AttributeHandle) -> CharacteristicPath? { paths.first { $0.handle == handle }?.path }
  func handle(of path: CharacteristicPath) -> AttributeHandle? { paths.first { $0.path == path }?.handle }

  /// What somebody listens to, each once.
  var subscribed: [CharacteristicPath] {
    paths.filter { entry in subscriptions.contains { $0.handle == entry.handle } }.map(\.path)
  }

  func subscribers(of handle: AttributeHandle) -> [HCI.ConnectionHandle] {
    subscriptions.filter { $0.handle == handle }.map(\.link)
  }

  mutating func setSubscription(of link: HCI.ConnectionHandle, to handle: AttributeHandle, _ isOn: Bool) {
    subscriptions.removeAll { $0 == Subscription(link: link, handle: handle) }
    if isOn { subscriptions.append(Subscription(link: link, handle: handle)) }
  }

  mutating func forget(_ link: HCI.ConnectionHandle) { subscriptions.removeAll { $0.link == link } }
}

extension AccessoryService {
  var definition: GATTServiceDefinition {
    GATTServiceDefinition(
      uuid: uuid.value, isPrimary: true, includes: [],
      characteristics: characteristics.map { characteristic in
        let properties = GATTProperties(rawValue: characteristic.properties.rawValue)
        var permissions: GATTPermissions = []
        if properties.contains(.read) { permissions.insert(.readable) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { permissions.insert(.writeable) }
        return GATTCharacteristicDefinition(
          uuid: characteristic.uuid.value, properties: properties, permissions: permissions, value: nil)
      })
  }
}
