import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// Reads the objects of a client's GATT application · src/gatt-database.c of BlueZ.
struct ApplicationReader {
  /// The reason why an application can't be registered.
  struct Invalid: Error {}

  struct Characteristic {
    let path: String
    var info: LocalCharacteristicInfo
    /// The descriptors, with their values if the properties have them.
    var descriptors: [(path: String, uuid: BluetoothUUID, value: [UInt8]?)] = []
  }

  struct Service {
    let path: String
    let uuid: BluetoothUUID
    let isPrimary: Bool
    let includes: [String]
    var characteristics: [Characteristic] = []
  }

  private(set) var services: [Service] = []

  /// - Parameters:
  ///   - objects: the answer to `GetManagedObjects`.
  ///   - nextID: returns a number for each characteristic.
  init(_ objects: DBusValue, nextID: () -> LocalAttributeID) throws(Invalid) {
    guard let entries = objects.entries else { throw Invalid() }
    var all: [(path: String, interfaces: [DBusValue: DBusValue])] = []
    for (path, interfaces) in entries {
      guard let path = path.path, let interfaces = interfaces.entries else { throw Invalid() }
      all.append((path, interfaces))
    }
    // The order of the paths is that of the attributes.
    all.sort { $0.path.count == $1.path.count ? $0.path < $1.path : $0.path.count < $1.path.count }
    for (path, interfaces) in all {
      guard let values = interfaces[.string(BlueZInterface.service.name)]?.options else { continue }
      services.append(
        Service(
          path: path, uuid: try Self.uuid(values), isPrimary: values["Primary"]?.bool ?? true,
          includes: values["Includes"]?.pathList ?? []))
    }
    for (path, interfaces) in all {
      guard let values = interfaces[.string(BlueZInterface.characteristic.name)]?.options else { continue }
      guard let owner = values["Service"]?.path, let index = services.firstIndex(where: { $0.path == owner }) else {
        throw Invalid()
      }
      let info = LocalCharacteristicInfo(id: nextID(), definition: try Self.definition(values))
      services[index].characteristics.append(Characteristic(path: path, info: info))
    }
    for (path, interfaces) in all {
      guard let values = interfaces[.string(BlueZInterface.descriptor.name)]?.options else { continue }
      try addDescriptor(path, values)
    }
  }

  private mutating func addDescriptor(_ path: String, _ values: [String: DBusValue]) throws(Invalid) {
    guard let owner = values["Characteristic"]?.path else { throw Invalid() }
    let uuid = try Self.uuid(values)
    // The database makes these itself.
    guard ![0x2900, 0x2902, 0x2903].contains(uuid) else { return }
    for index in services.indices {
      guard let place = services[index].characteristics.firstIndex(where: { $0.path == owner }) else { continue }
      let value = values["Value"]?.octets
      services[index].characteristics[place].descriptors.append((path, uuid, value))
      return
    }
    throw Invalid()
  }

  private static func uuid(_ values: [String: DBusValue]) throws(Invalid) -> BluetoothUUID {
    guard let text = values["UUID"]?.string, let uuid = BluetoothUUID(text) else { throw Invalid() }
    return uuid
  }

  /// The properties and permissions that each flag stands for.
  private static let flags: [String: (CharacteristicProperties, AttributePermissions)] = [
    "broadcast": (.broadcast, []),
    "read": (.read, .readable),
    "write-without-response": (.writeWithoutResponse, .writeable),
    "write": (.write, .writeable),
    "notify": (.notify, []),
    "indicate": (.indicate, []),
    "authenticated-signed-writes": (.authenticatedSignedWrites, .writeable),
    "extended-properties": (.extendedProperties, []),
    "reliable-write": (.extendedProperties, .writeable),
    "writable-auxiliaries": (.extendedProperties, []),
    "encrypt-read": (.read, [.readable, .readEncryptionRequired]),
    "encrypt-write": (.write, [.writeable, .writeEncryptionRequired]),
    "encrypt-authenticated-read": (.read, [.readable, .readAuthenticationRequired]),
    "encrypt-authenticated-write": (.write, [.writeable, .writeAuthenticationRequired]),
    "secure-read": (.read, [.readable, .readAuthenticationRequired]),
    "secure-write": (.write, [.writeable, .writeAuthenticationRequired]),
    "encrypt-notify": (.notify, []), "encrypt-authenticated-notify": (.notify, []), "secure-notify": (.notify, []),
    "encrypt-indicate": (.indicate, []), "encrypt-authenticated-indicate": (.indicate, []),
    "secure-indicate": (.indicate, []),
    "authorize": ([], []),
  ]

  private static func definition(_ values: [String: DBusValue]) throws(Invalid) -> GATTCharacteristicDefinition {
    guard let names = values["Flags"]?.texts else { throw Invalid() }
    var properties: CharacteristicProperties = []
    var permissions: AttributePermissions = []
    var extended: GATTExtendedProperties = []
    for name in names {
      guard let flag = flags[name] else { throw Invalid() }
      properties.formUnion(flag.0)
      permissions.formUnion(flag.1)
      if name == "reliable-write" { extended.insert(.reliableWrite) }
      if name == "writable-auxiliaries" { extended.insert(.writableAuxiliaries) }
    }
    if extended.isEmpty { properties.remove(.extendedProperties) }
    let needsEncryption = names.contains { name in
      ["encrypt", "secure"].contains { name.hasPrefix($0) } && (name.hasSuffix("notify") || name.hasSuffix("indicate"))
    }
    return GATTCharacteristicDefinition(
      uuid: try uuid(values), properties: properties, extendedProperties: extended, permissions: permissions,
      minimumKeySize: names.contains { $0.hasPrefix("secure") } ? 16 : 0, value: nil,
      subscriptionNeedsEncryption: needsEncryption)
  }
}

extension ATT.ErrorCode {
  /// The error with which a client's application has answered a request.
  init(_ error: DBusError, isRead: Bool) {
    switch error.name {
    case "org.bluez.Error.NotPermitted": self = isRead ? .readNotPermitted : .writeNotPermitted
    case "org.bluez.Error.NotAuthorized": self = .insufficientAuthorization
    case "org.bluez.Error.InvalidOffset": self = .invalidOffset
    case "org.bluez.Error.InvalidValueLength": self = .invalidAttributeValueLength
    case "org.bluez.Error.NotSupported": self = .requestNotSupported
    case "org.bluez.Error.InProgress": self = ATT.ErrorCode(rawValue: 0xFE)
    case "org.bluez.Error.ImproperlyConfigured": self = ATT.ErrorCode(rawValue: 0xFD)
    case "org.bluez.Error.Failed":
      // An application error is the text of its number.
      let digits = error.message.hasPrefix("0x") ? error.message.dropFirst(2) : error.message[...]
      let code = UInt8(digits, radix: 16).flatMap { 0x80...0x9F ~= $0 ? $0 : nil }
      self = code.map { ATT.ErrorCode(rawValue: $0) } ?? .unlikelyError
    default: self = .unlikelyError
    }
  }
}
