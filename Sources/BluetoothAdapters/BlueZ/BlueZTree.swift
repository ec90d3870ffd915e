import BluetoothDBus
import BluetoothTypes
import BluetoothWire

/// The names of BlueZ's interfaces that this module uses.
enum BlueZName {
  static let service = "org.bluez"
  static let root = "/org/bluez"
  static let adapter = "org.bluez.Adapter1"
  static let device = "org.bluez.Device1"
  static let gattService = "org.bluez.GattService1"
  static let characteristic = "org.bluez.GattCharacteristic1"
  static let descriptor = "org.bluez.GattDescriptor1"
  static let error = "org.bluez.Error."
  static let properties = "org.freedesktop.DBus.Properties"
  static let objectManager = "org.freedesktop.DBus.ObjectManager"
}

/// A copy of BlueZ's objects: the properties by path and interface.
struct BlueZTree {
  private(set) var objects: [String: [String: [String: DBusValue]]] = [:]

  /// Adds the interfaces of an object: a value `a{sa{sv}}`.
  mutating func add(_ interfaces: DBusValue, at path: String) {
    for (name, properties) in interfaces.entries ?? [:] {
      if let name = name.string { objects[path, default: [:]][name] = properties.options ?? [:] }
    }
  }

  mutating func remove(_ interfaces: [String], at path: String) {
    for name in interfaces { objects[path]?[name] = nil }
    if objects[path]?.isEmpty == true { objects[path] = nil }
  }

  /// Applies the values of a signal PropertiesChanged.
  mutating func change(_ changed: [String: DBusValue], _ invalidated: [String], of interface: String, at path: String) {
    guard objects[path]?[interface] != nil else { return }
    for (name, value) in changed { objects[path]?[interface]?[name] = value }
    for name in invalidated { objects[path]?[interface]?[name] = nil }
  }

  /// Returns the properties of an interface; nil: the object does not have it.
  func properties(_ interface: String, at path: String) -> [String: DBusValue]? { objects[path]?[interface] }

  /// Returns the paths of the objects below `path` with an interface, in order.
  func paths(with interface: String, below path: String) -> [String] {
    let prefix = path + "/"
    return objects.filter { $0.key.hasPrefix(prefix) && $0.value[interface] != nil }.keys.sorted()
  }

  /// The path of the adapter with a name; nil: the first adapter.
  func adapterPath(_ name: String?) -> String? {
    let paths = objects.filter { $0.value[BlueZName.adapter] != nil }.keys
    guard let name else { return paths.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) } }
    return paths.first { $0 == BlueZName.root + "/" + name }
  }

  /// The path of the device to which an attribute belongs: `/org/bluez/hci0/dev_…`.
  static func devicePath(of path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).prefix(5).joined(separator: "/")
  }

  /// The handle in the path of an attribute: four hexadecimal digits at its end.
  static func handle(of path: String) -> UInt16? { UInt16(path.suffix(4), radix: 16) }
}

extension DeviceAddress {
  /// The address in the properties of a device or an adapter.
  init?(properties: [String: DBusValue]) {
    guard let text = properties["Address"]?.string else { return nil }
    let parts = text.split(separator: ":")
    guard parts.count == 6, let value = UInt64(parts.joined(), radix: 16) else { return nil }
    self.init(value, properties["AddressType"]?.string == "random" ? .random : .public)
  }
}

extension CharacteristicProperties {
  /// The flags of a characteristic that are bits of its declaration.
  init(flags: [String]) {
    let bits: [String: CharacteristicProperties] = [
      "broadcast": .broadcast, "read": .read, "write-without-response": .writeWithoutResponse, "write": .write,
      "notify": .notify, "indicate": .indicate, "authenticated-signed-writes": .authenticatedSignedWrites,
      "extended-properties": .extendedProperties,
    ]
    self = flags.reduce(into: []) { result, flag in if let bit = bits[flag] { result.insert(bit) } }
  }
}
