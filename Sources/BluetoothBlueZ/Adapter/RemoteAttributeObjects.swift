import BluetoothDBus
import BluetoothDaemon
import BluetoothWire

/// The options of a read or a write.
struct AttributeOptions {
  var offset = 0
  var type: String?

  /// Returns nil if an option has another type than BlueZ wants. Unknown options are ignored.
  init?(_ value: DBusValue?) {
    guard let options = value?.options else { return nil }
    for (name, value) in options {
      switch (name.lowercased(), value.content) {
      case ("offset", .uint16(let offset)): self.offset = Int(offset)
      case ("type", .string(let type)): self.type = type
      case ("offset", _), ("type", _): return nil
      default: break
      }
    }
  }
}

/// An attribute of a device as an object.
class RemoteAttributeObject {
  let id: RemoteAttributeID
  let uuid: BluetoothUUID
  let path: String
  /// The calls that wait for the value.
  var readers: [(offset: Int, answer: BusAnswer)] = []
  /// The call that waits for the end of a write.
  var writer: BusAnswer?

  init(_ id: RemoteAttributeID, _ uuid: BluetoothUUID, path: String) {
    self.id = id
    self.uuid = uuid
    self.path = path
  }

  /// Returns true if an attribute of a later link has the same object.
  func isSame(as other: RemoteAttributeObject) -> Bool { path == other.path && uuid == other.uuid }

  /// Fails the calls that wait.
  func fail(_ context: ServerContext, _ error: DBusError) {
    for reader in readers { context.fail(reader.answer, error) }
    readers.removeAll()
    context.fail(writer.take(), error)
  }

  /// The last four digits of a path.
  static func digits(_ handle: UInt16) -> String { handle.hexadecimal.lowercased() }
}

final class RemoteServiceObject: RemoteAttributeObject {
  let info: RemoteServiceInfo
  var includes: [RemoteAttributeID] = []

  init(_ info: RemoteServiceInfo, in device: String) {
    self.info = info
    super.init(info.id, info.uuid, path: "\(device)/service\(RemoteAttributeObject.digits(info.id.handle))")
  }

  func properties(device: String, includes: [String]) -> [String: DBusValue] {
    [
      "Handle": .uint16(id.handle), "UUID": .uuid(info.uuid), "Device": .path(device), "Primary": .bool(info.isPrimary),
      "Includes": .paths(includes.sorted()),
    ]
  }

  /// True if BlueZ itself uses the service, and lets clients only read it · `ExportClaimedServices` of BlueZ.
  var isClaimed: Bool { [0x1800, 0x180A, 0x180F].contains(info.uuid) }
}

final class RemoteCharacteristicObject: RemoteAttributeObject {
  let info: RemoteCharacteristicInfo
  let isClaimed: Bool
  private let service: String
  /// The clients that have subscribed, and those whose calls wait for the subscription.
  var subscribers: Set<String> = []
  var starting: [String: BusAnswer] = [:]
  /// The client that waits for the socket of `AcquireNotify`.
  var acquiringClient: String?
  /// True if the device sends values.
  var isSubscribed = false
  let notifies: Bool
  var notifySocket: (any BusSocket)?
  var writeSocket: (any BusSocket)?
  /// The values without response that wait for credits, with the calls that have brought them.
  var waitingWrites: [(value: [UInt8], answer: BusAnswer?)] = []

  init(_ info: RemoteCharacteristicInfo, in owner: RemoteServiceObject) {
    self.info = info
    isClaimed = owner.isClaimed
    service = owner.path
    notifies = !info.properties.isDisjoint(with: [.notify, .indicate])
    // The path has the handle of the declaration, which precedes the value · Vol 3, Part G, 3.3.
    super.init(info.id, info.uuid, path: "\(owner.path)/char\(RemoteAttributeObject.digits(info.id.handle &- 1))")
  }

  override func isSame(as other: RemoteAttributeObject) -> Bool {
    super.isSame(as: other) && (other as? RemoteCharacteristicObject)?.info.properties == info.properties
  }

  func properties(mtu: Int) -> [String: DBusValue] {
    var values: [String: DBusValue] = [
      "Handle": .uint16(id.handle &- 1), "UUID": .uuid(info.uuid), "Service": .path(service),
      "Flags": .strings(info.properties.busFlags), "MTU": .uint16(UInt16(mtu)),
    ]
    if notifies { values["Notifying"] = .bool(false) }
    if info.properties.contains(.notify) { values["NotifyAcquired"] = .bool(false) }
    if info.properties.contains(.writeWithoutResponse) { values["WriteAcquired"] = .bool(false) }
    return values
  }

  func closeNotifySocket() { notifySocket.take()?.close() }
  func closeWriteSocket() { writeSocket.take()?.close() }

  func closeSockets() {
    closeNotifySocket()
    closeWriteSocket()
  }

  override func fail(_ context: ServerContext, _ error: DBusError) {
    super.fail(context, error)
    for answer in starting.values { context.fail(answer, error) }
    starting.removeAll()
    acquiringClient = nil
    for write in waitingWrites { context.fail(write.answer, error) }
    waitingWrites.removeAll()
  }
}

final class RemoteDescriptorObject: RemoteAttributeObject {
  private let characteristic: String

  init(_ info: RemoteDescriptorInfo, in owner: RemoteCharacteristicObject) {
    characteristic = owner.path
    super.init(info.id, info.uuid, path: "\(owner.path)/desc\(RemoteAttributeObject.digits(info.id.handle))")
  }

  func properties() -> [String: DBusValue] {
    [
      "Handle": .uint16(id.handle), "UUID": .uuid(uuid), "Characteristic": .path(characteristic),
    ]
  }
}

extension CharacteristicProperties {
  private static let flagNames: [(CharacteristicProperties, String)] = [
    (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write-without-response"), (.write, "write"),
    (.notify, "notify"), (.indicate, "indicate"), (.authenticatedSignedWrites, "authenticated-signed-writes"),
    (.extendedProperties, "extended-properties"),
  ]

  /// The names of the properties in `Flags`.
  var busFlags: [String] { Self.flagNames.filter { contains($0.0) }.map { $0.1 } }

  /// Creates the properties that `Flags` of a client's characteristic name.
  init(busFlags names: [String]) {
    self = Self.flagNames.filter { names.contains($0.1) }.reduce(into: []) { $0.formUnion($1.0) }
  }
}
