import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import BluetoothWire

/// A peripheral manager's session.
struct BlueZPeripheral {
  /// A service that BlueZ has, or gets: an application of its own, because BlueZ takes applications as a whole.
  struct Service {
    let info: LocalServiceInfo
    /// The path of the application.
    let root: String
  }

  /// A request of a central that the app has not answered.
  struct Request {
    let central: PeerHandle
    let responder: DBusResponder
    let isWrite: Bool
  }

  let counters: SessionCounters
  /// The number of states that the session was told.
  var states: UInt32 = 0
  var services: [LocalAttributeID: Service] = [:]
  /// The paths of the characteristics.
  var paths: [LocalAttributeID: String] = [:]
  var requests: [CentralRequestID: Request] = [:]
  /// The centrals that have sent requests, until they disconnect.
  var centrals: [PeerHandle: CentralInfo] = [:]
  /// The paths of the advertisements: those of the sets, and that of `startAdvertising`.
  var advertisements: [LocalSetID?: String] = [:]
  /// The sockets for the updates of each subscribed central.
  var subscribers: [LocalAttributeID: [PeerHandle: BlueZSocket]] = [:]
  /// The characteristics with subscribers that BlueZ does not name.
  var unnamedSubscribers: Set<LocalAttributeID> = []

  init(_ counters: SessionCounters) { self.counters = counters }

  /// The least length of an update that every central takes, as far as the centrals have told.
  var updateLength: Int { centrals.values.map(\.maximumUpdateLength).min() ?? BlueZDevice.defaultWriteLength }
}

/// The objects of a service that BlueZ reads.
enum BlueZApplication {
  /// The handlers of the attributes of one session. They run on the event loop.
  struct Handlers: Sendable {
    let read: @Sendable (LocalAttributeID, DBusCall, DBusResponder) -> Void
    let write: @Sendable (LocalAttributeID, DBusCall, DBusResponder) -> Void
    /// The first central that BlueZ does not name has subscribed, or the last one has unsubscribed.
    let subscribe: @Sendable (LocalAttributeID, Bool) -> Void
    /// A central has subscribed.
    let acquire: @Sendable (LocalAttributeID, DBusCall, DBusResponder) -> Void
  }

  /// Offers a service below the path of its application. Returns the paths of the characteristics.
  ///
  /// - Parameter namesSubscribers: true if BlueZ takes a socket for each subscribed central.
  static func export(
    _ service: LocalServiceInfo, at root: String, on connection: DBusConnection, namesSubscribers: Bool,
    _ handlers: Handlers
  ) -> [LocalAttributeID: String] {
    connection.exportObjectManager(at: root)
    let path = root + "/service"
    let interface = DBusInterface(
      BlueZName.gattService,
      properties: [
        constant("UUID", .string(service.uuid.longText)), constant("Primary", .bool(service.isPrimary)),
      ])
    connection.export([interface], at: path)
    var paths: [LocalAttributeID: String] = [:]
    for (index, characteristic) in service.characteristics.enumerated() {
      let child = "\(path)/char\(index)"
      paths[characteristic.id] = child
      connection.export([declaration(of: characteristic, path, namesSubscribers, handlers)], at: child)
      for (number, descriptor) in characteristic.definition.descriptors.enumerated() {
        guard case .stored(let value) = descriptor.content else { continue }
        connection.export([declaration(of: descriptor.uuid, value.bytes, child)], at: "\(child)/desc\(number)")
      }
    }
    return paths
  }

  private static func constant(_ name: String, _ value: DBusValue) -> DBusProperty {
    DBusProperty(name, value.signature, emits: .constant, get: { value })
  }

  private static func declaration(
    of characteristic: LocalCharacteristicInfo, _ service: String, _ namesSubscribers: Bool, _ handlers: Handlers
  ) -> DBusInterface {
    let (id, definition) = (characteristic.id, characteristic.definition)
    let read = DBusMethod("ReadValue", in: ["options": "a{sv}"], out: ["value": "ay"]) { call, responder in
      guard let value = definition.value?.bytes else { return handlers.read(id, call, responder) }
      answer(value, call, responder)
    }
    let write = DBusMethod("WriteValue", in: ["value": "ay", "options": "a{sv}"]) { handlers.write(id, $0, $1) }
    let start = DBusMethod("StartNotify") { _, responder in
      responder.reply()
      handlers.subscribe(id, true)
    }
    let stop = DBusMethod("StopNotify") { _, responder in
      responder.reply()
      handlers.subscribe(id, false)
    }
    let acquire = DBusMethod("AcquireNotify", in: ["options": "a{sv}"], out: ["fd": "h", "mtu": "q"]) {
      handlers.acquire(id, $0, $1)
    }
    // BlueZ calls Confirm when a central has confirmed an indication.
    let confirm = DBusMethod("Confirm", isNoReply: true) { _, responder in responder.reply() }
    var properties = [
      constant("UUID", .string(definition.uuid.longText)), constant("Service", .path(service)),
      constant("Flags", .strings(flags(of: definition))),
    ]
    if namesSubscribers, !definition.properties.isDisjoint(with: [.notify, .indicate]) {
      // With the property, BlueZ calls AcquireNotify.
      properties.append(constant("NotifyAcquired", .bool(false)))
    }
    return DBusInterface(
      BlueZName.characteristic, methods: [read, write, start, stop, acquire, confirm], properties: properties)
  }

  private static func declaration(of uuid: BluetoothUUID, _ value: [UInt8], _ characteristic: String) -> DBusInterface {
    let read = DBusMethod("ReadValue", in: ["options": "a{sv}"], out: ["value": "ay"]) { answer(value, $0, $1) }
    return DBusInterface(
      BlueZName.descriptor, methods: [read],
      properties: [
        constant("UUID", .string(uuid.longText)), constant("Characteristic", .path(characteristic)),
        constant("Flags", .strings(["read"])),
      ])
  }

  /// Answers a read with the rest of a value from the offset on.
  private static func answer(_ value: [UInt8], _ call: DBusCall, _ responder: DBusResponder) {
    let offset = call.arguments.first?.options?["offset"]?.integer ?? 0
    guard offset <= value.count else { return responder.fail(DBusError(BlueZName.error + "InvalidOffset")) }
    responder.reply([.bytes(Array(value.dropFirst(offset)))])
  }

  /// The flags of a characteristic: its properties, with the security that each kind of access needs.
  static func flags(of definition: GATTCharacteristicDefinition) -> [String] {
    let names: [(CharacteristicProperties, String)] = [
      (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write-without-response"),
      (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
      (.authenticatedSignedWrites, "authenticated-signed-writes"),
    ]
    var flags = names.filter { definition.properties.contains($0.0) }.map(\.1)
    let needs: [(AttributePermissions, String)] = [
      (.readEncryptionRequired, "encrypt-read"), (.readAuthenticationRequired, "encrypt-authenticated-read"),
      (.writeEncryptionRequired, "encrypt-write"), (.writeAuthenticationRequired, "encrypt-authenticated-write"),
      (.readAuthorizationRequired, "authorize"), (.writeAuthorizationRequired, "authorize"),
    ]
    for (need, flag) in needs where definition.permissions.contains(need) && !flags.contains(flag) {
      flags.append(flag)
    }
    if definition.subscriptionNeedsEncryption {
      if definition.properties.contains(.notify) { flags.append("encrypt-notify") }
      if definition.properties.contains(.indicate) { flags.append("encrypt-indicate") }
    }
    return flags
  }

  /// The error by which BlueZ knows a code of ATT. It has names for some of them, and numbers for those of applications.
  static func error(_ code: ATT.ErrorCode) -> DBusError {
    let name =
      switch code {
      case .readNotPermitted, .writeNotPermitted: "NotPermitted"
      case .insufficientAuthorization: "NotAuthorized"
      case .invalidOffset: "InvalidOffset"
      case .invalidAttributeValueLength: "InvalidValueLength"
      case .requestNotSupported: "NotSupported"
      default: "Failed"
      }
    return DBusError(BlueZName.error + name, "0x" + code.rawValue.hexadecimal.lowercased())
  }
}

extension BluetoothUUID {
  /// The complete UUID, which BlueZ accepts for all.
  var longText: String { BluetoothUUID(high: high, low: low).description.lowercased() }
}
