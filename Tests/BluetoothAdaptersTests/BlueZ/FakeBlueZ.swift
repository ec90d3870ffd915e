import BluetoothDBus
import BluetoothTransport
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

@testable import BluetoothAdapters

/// A BlueZ of one adapter and one device, on a private bus. Its objects appear in the order of BlueZ.
final class FakeBlueZ: Sendable {
  struct State {
    var isPowered = true
    var isDiscovering = false
    var filter: [String: DBusValue] = [:]
    var isConnected = false
    var isResolved = false
    var rssi: Int16?
    /// The error of the next call of Connect.
    var connectError: DBusError?
    var value: [UInt8] = [1]
    var isNotifying = false
    /// True if the characteristics have sockets.
    var hasSockets = false
    /// The ends of the sockets that this BlueZ has, by the name of the method.
    var sockets: [String: BlueZSocket] = [:]
    var agent: (client: String, path: String, capability: String)?
    /// The calls that have come, in order.
    var calls: [String] = []
    /// The paths of the advertisement and of the applications of clients, with the clients.
    var advertisement: (client: String, path: String)?
    var applications: [(client: String, path: String)] = []
  }

  static let adapter = "/org/bluez/hci0"
  static let device = adapter + "/dev_C0_11_22_33_44_55"
  static let service = device + "/service000a"
  static let control = service + "/char000b"
  static let measurement = service + "/char000d"
  static let description = measurement + "/desc0010"
  static let command = service + "/char0012"

  let connection: DBusConnection
  let state = NIOLockedValueBox(State())
  /// The packets that have come by sockets.
  let packets = EventLog<[UInt8]>()
  let loop = MultiThreadedEventLoopGroup.singleton.next()

  init(on address: String) async throws {
    connection = try await DBusConnection.open(.address(address))
    connection.exportObjectManager(at: "/")
    connection.export([agentManager], at: "/org/bluez")
    connection.export([adapterInterface, gattManager, advertisingManager], at: Self.adapter)
    guard try await connection.requestName("org.bluez") else { throw DBusError("org.example.Taken") }
  }

  var calls: [String] { state.withLockedValue { $0.calls } }

  private func note(_ call: DBusCall) {
    state.withLockedValue { $0.calls.append(call.member) }
  }

  private func change(_ names: [String], of interface: String, at path: String, _ body: (inout State) -> Void) {
    state.withLockedValue { body(&$0) }
    connection.propertiesChanged(names, of: interface, at: path)
  }

  private func value(_ body: @escaping @Sendable (State) -> DBusValue?) -> @Sendable () -> DBusValue? {
    { [state] in state.withLockedValue { body($0) } }
  }

  // MARK: The adapter

  func setPower(_ isOn: Bool) {
    change(["Powered"], of: "org.bluez.Adapter1", at: Self.adapter) { $0.isPowered = isOn }
  }

  private var adapterInterface: DBusInterface {
    DBusInterface(
      "org.bluez.Adapter1",
      methods: [
        DBusMethod("SetDiscoveryFilter", in: ["filter": "a{sv}"]) { [weak self] call, responder in
          self?.note(call)
          self?.state.withLockedValue { $0.filter = call.arguments[0].options ?? [:] }
          responder.reply()
        },
        DBusMethod("StartDiscovery") { [weak self] call, responder in
          self?.note(call)
          responder.reply()
          self?.change(["Discovering"], of: "org.bluez.Adapter1", at: Self.adapter) { $0.isDiscovering = true }
          self?.addDevice()
        },
        DBusMethod("StopDiscovery") { [weak self] call, responder in
          self?.note(call)
          self?.change(["Discovering"], of: "org.bluez.Adapter1", at: Self.adapter) { $0.isDiscovering = false }
          responder.reply()
        },
      ],
      properties: [
        DBusProperty("Address", "s", get: { .string("00:1B:DC:07:32:EF") }),
        DBusProperty("AddressType", "s", get: { .string("public") }),
        DBusProperty("Manufacturer", "q", get: { .uint16(0x05F1) }),
        DBusProperty("Powered", "b", get: value { .bool($0.isPowered) }),
        DBusProperty("Discovering", "b", get: value { .bool($0.isDiscovering) }),
      ])
  }

  private var agentManager: DBusInterface {
    DBusInterface(
      "org.bluez.AgentManager1",
      methods: [
        DBusMethod("RegisterAgent", in: ["agent": "o", "capability": "s"]) { [weak self] call, responder in
          let (path, capability) = (call.arguments[0].path ?? "", call.arguments[1].string ?? "")
          self?.state.withLockedValue { $0.agent = (call.sender, path, capability) }
          responder.reply()
        },
        DBusMethod("RequestDefaultAgent", in: ["agent": "o"]) { [weak self] call, responder in
          self?.note(call)
          responder.reply()
        },
        DBusMethod("UnregisterAgent", in: ["agent": "o"]) { [weak self] call, responder in
          self?.note(call)
          self?.state.withLockedValue { $0.agent = nil }
          responder.reply()
        },
      ])
  }

  /// Calls the agent that a client has registered.
  @discardableResult
  func ask(_ member: String, _ arguments: [DBusValue]) async throws -> DBusReply {
    guard let agent = state.withLockedValue({ $0.agent }) else { throw DBusError("org.example.NoAgent") }
    return try await connection.call(member, of: "org.bluez.Agent1", at: agent.path, on: agent.client, arguments)
  }

  private var gattManager: DBusInterface {
    DBusInterface(
      "org.bluez.GattManager1",
      methods: [
        DBusMethod("RegisterApplication", in: ["application": "o", "options": "a{sv}"]) { [weak self] call, responder in
          self?.note(call)
          self?.state.withLockedValue { $0.applications.append((call.sender, call.arguments[0].path ?? "")) }
          responder.reply()
        },
        DBusMethod("UnregisterApplication", in: ["application": "o"]) { [weak self] call, responder in
          self?.note(call)
          self?.state.withLockedValue { $0.applications.removeAll { $0.path == call.arguments[0].path } }
          responder.reply()
        },
      ])
  }

  private var advertisingManager: DBusInterface {
    DBusInterface(
      "org.bluez.LEAdvertisingManager1",
      methods: [
        DBusMethod("RegisterAdvertisement", in: ["advertisement": "o", "options": "a{sv}"]) {
          [weak self] call, responder in
          self?.note(call)
          self?.state.withLockedValue { $0.advertisement = (call.sender, call.arguments[0].path ?? "") }
          responder.reply()
        },
        DBusMethod("UnregisterAdvertisement", in: ["advertisement": "o"]) { [weak self] call, responder in
          self?.note(call)
          self?.state.withLockedValue { $0.advertisement = nil }
          responder.reply()
        },
      ])
  }

  // MARK: The device

  /// The device sends a packet.
  func advertise(_ rssi: Int16) {
    change(["RSSI"], of: "org.bluez.Device1", at: Self.device) { $0.rssi = rssi }
  }

  func addDevice() {
    state.withLockedValue { $0.rssi = -60 }
    connection.export([deviceInterface], at: Self.device)
  }

  func removeDevice() { connection.unexport(at: Self.device) }

  private var deviceInterface: DBusInterface {
    DBusInterface(
      "org.bluez.Device1",
      methods: [
        DBusMethod("Connect") { [weak self] call, responder in
          self?.note(call)
          self?.connect(responder)
        },
        DBusMethod("Disconnect") { [weak self] call, responder in
          self?.note(call)
          self?.disconnect()
          responder.reply()
        },
      ],
      properties: [
        DBusProperty("Address", "s", get: { .string("C0:11:22:33:44:55") }),
        DBusProperty("AddressType", "s", get: { .string("random") }),
        DBusProperty("Name", "s", get: { .string("strap") }),
        DBusProperty("RSSI", "n", get: value { $0.rssi.map { .int16($0) } }),
        DBusProperty("TxPower", "n", get: { .int16(4) }),
        DBusProperty("UUIDs", "as", get: { .strings(["0000180d-0000-1000-8000-00805f9b34fb"]) }),
        DBusProperty(
          "ManufacturerData", "a{qv}",
          get: { .dictionary([.uint16(0x004C): .variant(.bytes([2, 21]))], key: "q", value: "v") }),
        DBusProperty("Connected", "b", get: value { .bool($0.isConnected) }),
        DBusProperty("ServicesResolved", "b", get: value { .bool($0.isResolved) }),
        DBusProperty("Paired", "b", get: { .bool(false) }),
      ])
  }

  private func connect(_ responder: DBusResponder) {
    let error = state.withLockedValue { state in
      defer { state.connectError = nil }
      return state.connectError
    }
    if let error { return responder.fail(error) }
    change(["Connected"], of: "org.bluez.Device1", at: Self.device) { $0.isConnected = true }
    addAttributes()
    change(["ServicesResolved"], of: "org.bluez.Device1", at: Self.device) { $0.isResolved = true }
    responder.reply()
  }

  /// The link ends.
  func disconnect() {
    change(["Connected", "ServicesResolved"], of: "org.bluez.Device1", at: Self.device) { state in
      (state.isConnected, state.isResolved, state.isNotifying) = (false, false, false)
    }
  }

  // MARK: Attributes

  private func uuid(_ digits: String) -> DBusProperty {
    DBusProperty("UUID", "s", get: { .string("0000\(digits)-0000-1000-8000-00805f9b34fb") })
  }

  func addAttributes() {
    let service = DBusInterface(
      "org.bluez.GattService1",
      properties: [uuid("180d"), DBusProperty("Primary", "b", get: { .bool(true) })])
    connection.export([service], at: Self.service)
    connection.export([characteristic("2a39", ["read", "write", "write-without-response"])], at: Self.control)
    connection.export([characteristic("2a37", ["read", "notify"])], at: Self.measurement)
    if state.withLockedValue({ $0.hasSockets }) {
      connection.export([characteristic("2a3a", ["write-without-response"])], at: Self.command)
    }
    let read = DBusMethod("ReadValue", in: ["options": "a{sv}"], out: ["value": "ay"]) { $1.reply([.bytes([7])]) }
    connection.export(
      [DBusInterface("org.bluez.GattDescriptor1", methods: [read], properties: [uuid("2901")])], at: Self.description)
  }

  func removeService() { connection.unexport(at: Self.service) }

  /// The device sends a notification.
  func notify(_ value: [UInt8]) {
    guard let socket = state.withLockedValue({ $0.sockets["AcquireNotify"] }) else {
      return report(value, at: Self.measurement)
    }
    loop.execute { socket.send(value) }
  }

  /// A method that gives a client a socket, unless another client has one.
  private func acquire(_ name: String) -> DBusMethod {
    DBusMethod(name, in: ["options": "a{sv}"], out: ["fd": "h", "mtu": "q"]) { [weak self] call, responder in
      guard let self else { return }
      note(call)
      guard state.withLockedValue({ $0.sockets[name] }) == nil, let (own, other) = makePacketSocketPair() else {
        return responder.fail(DBusError("org.bluez.Error.NotPermitted", "\(name.dropFirst(7)) acquired"))
      }
      let socket = BlueZSocket(
        own, on: loop, receive: { [weak self] in self?.packets.add($0) },
        ended: { [weak self] in self?.state.withLockedValue { $0.sockets[name] = nil } })
      state.withLockedValue { $0.sockets[name] = socket }
      responder.reply([.fileDescriptor(DBusFileDescriptor(owning: other)), .uint16(185)])
    }
  }

  private func report(_ value: [UInt8], at path: String) {
    connection.emit(
      "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: path,
      [.string("org.bluez.GattCharacteristic1"), .properties(["Value": .bytes(value)]), .strings([])])
  }

  private func acquired(_ name: String, _ isPossible: Bool) -> @Sendable () -> DBusValue? {
    value { isPossible && $0.hasSockets ? .bool($0.sockets[name] != nil) : nil }
  }

  private func characteristic(_ digits: String, _ flags: [String]) -> DBusInterface {
    DBusInterface(
      "org.bluez.GattCharacteristic1",
      methods: [
        DBusMethod("ReadValue", in: ["options": "a{sv}"], out: ["value": "ay"]) { [weak self] call, responder in
          guard let self else { return }
          note(call)
          let value = state.withLockedValue { $0.value }
          guard !value.isEmpty else {
            return responder.fail(DBusError("org.bluez.Error.Failed", "Operation failed with ATT error: 0x81"))
          }
          report(value, at: call.path)
          responder.reply([.bytes(value)])
        },
        DBusMethod("WriteValue", in: ["value": "ay", "options": "a{sv}"]) { [weak self] call, responder in
          let type = call.arguments[1].options?["type"]?.string ?? ""
          let value = call.arguments[0].octets ?? []
          self?.state.withLockedValue { $0.calls.append("WriteValue \(type) \(value)") }
          guard value != [0] else {
            return responder.fail(DBusError("org.bluez.Error.NotPermitted", "Write not permitted"))
          }
          responder.reply()
        },
        DBusMethod("StartNotify") { [weak self] call, responder in
          self?.note(call)
          self?.state.withLockedValue { $0.isNotifying = true }
          responder.reply()
        },
        DBusMethod("StopNotify") { [weak self] call, responder in
          self?.note(call)
          self?.state.withLockedValue { $0.isNotifying = false }
          responder.reply()
        },
        acquire("AcquireNotify"), acquire("AcquireWrite"),
      ],
      properties: [
        DBusProperty("NotifyAcquired", "b", get: acquired("AcquireNotify", flags.contains("notify"))),
        DBusProperty("WriteAcquired", "b", get: acquired("AcquireWrite", flags.contains("write-without-response"))),
        uuid(digits), DBusProperty("Flags", "as", get: { .strings(flags) }),
        DBusProperty("MTU", "q", get: { .uint16(185) }),
      ])
  }
}
