import BluetoothDBus
import BluetoothLab
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import BluetoothBlueZ

/// What clients register: agents, advertisements, applications and monitors. The second adapter meets the first one.
@Suite struct BlueZRegistrationTests {
  private static let second = "/org/bluez/hci1"
  private static let uuid = "12345678-1234-5678-1234-56789abcdef0"

  /// The objects of a client with a GATT application, as `GetManagedObjects` returns them.
  private static var objects: DBusValue {
    func object(_ interface: String, _ values: [String: DBusValue]) -> DBusValue {
      .dictionary([.string("org.bluez." + interface): .properties(values)], key: "s", value: "a{sv}")
    }
    return .dictionary(
      [
        .path("/app/service0"): object(
          "GattService1",
          ["UUID": .string(uuid), "Primary": .bool(true), "Includes": .paths(["/app/service0"])]),
        .path("/app/service0/char0"): object(
          "GattCharacteristic1",
          [
            "UUID": .string("12345678-1234-5678-1234-56789abcdef1"), "Service": .path("/app/service0"),
            "Flags": .strings(["read", "write", "notify"]),
          ]),
        .path("/app/service0/char0/desc0"): object(
          "GattDescriptor1",
          [
            "UUID": .string("2901"), "Characteristic": .path("/app/service0/char0"), "Flags": .strings(["read"]),
            "Value": .bytes(Array("dial".utf8)),
          ]),
      ], key: "o", value: "a{sa{sv}}")
  }

  private static let advertisement: [String: DBusValue] = [
    "Type": .string("peripheral"), "LocalName": .string("Dial"), "ServiceUUIDs": .strings([uuid]),
    "Discoverable": .bool(true),
  ]

  /// A stage with two adapters and a client that has registered an application and an advertisement on the first one.
  private func dial() throws -> BlueZStage {
    let stage = BlueZStage(adapters: 2)
    stage.world.run(until: { stage.property("Powered", at: Self.second) == .bool(true) })
    stage.bus.onCall = { call in
      switch call.member {
      case "GetManagedObjects": .success([Self.objects])
      case "GetAll": .success([.properties(Self.advertisement)])
      case "ReadValue": .success([.bytes([7, 8])])
      case "WriteValue":
        call.arguments.first?.octets == [9] ? .failure(DBusError("org.bluez.Error.NotAuthorized")) : .success([])
      default: .failure(DBusError("test.NoSuchMethod"))
      }
    }
    let options = DBusValue.properties([:])
    #expect(stage.error("RegisterApplication", [.path("/app"), options], of: "GattManager1") == nil)
    let manager = "LEAdvertisingManager1"
    #expect(stage.error("RegisterAdvertisement", [.path("/advert"), options], of: manager) == nil)
    return stage
  }

  @Test("An application and an advertisement of a client are a device for others")
  func application() throws {
    let stage = try dial()
    #expect(stage.property("UUIDs")?.texts?.contains(Self.uuid) == true)
    #expect(stage.property("ActiveInstances", of: "LEAdvertisingManager1") == .byte(1))
    let device = try stage.discover("Dial", by: Self.second)
    #expect(stage.property("UUIDs", of: "Device1", at: device) == .strings([Self.uuid]))
    #expect(stage.error("Connect", of: "Device1", at: device) == nil)
    let path = try #require(stage.characteristic("12345678-1234-5678-1234-56789abcdef1", of: device))
    let (iface, options) = ("GattCharacteristic1", DBusValue.properties([:]))
    #expect(try stage.call("ReadValue", [options], of: iface, at: path).get() == [.bytes([7, 8])])
    let read = try #require(stage.bus.sent.last { $0.member == "ReadValue" })
    #expect(read.arguments.first?.options?["link"] == .string("LE"))
    #expect(read.arguments.first?.options?["device"]?.path?.hasPrefix("/org/bluez/hci0/dev_") == true)
    #expect(stage.error("WriteValue", [.bytes([1]), options], of: iface, at: path) == nil)
    #expect(stage.error("WriteValue", [.bytes([9]), options], of: iface, at: path) == "NotAuthorized")
    #expect(stage.error("StartNotify", of: iface, at: path) == nil)
    stage.world.run(until: { stage.bus.sent.contains { $0.member == "StartNotify" } })
    stage.server.received(
      BusSignal(
        sender: BlueZStage.client, path: "/app/service0/char0", interface: "org.freedesktop.DBus.Properties",
        member: "PropertiesChanged",
        body: [
          .string("org.bluez.GattCharacteristic1"), .properties(["Value": .bytes([4, 2])]), .strings([]),
        ]))
    // The value that was read is a change, too.
    stage.world.run(until: { stage.bus.changes(of: "Value", at: path).count == 2 })
    #expect(stage.bus.changes(of: "Value", at: path) == [.bytes([7, 8]), .bytes([4, 2])])
    let incoming = try #require(stage.devices().first)
    #expect(stage.property("Connected", of: "Device1", at: incoming) == .bool(true))
  }

  @Test("What a client has registered ends with the client")
  func vanishedClient() throws {
    let stage = try dial()
    stage.server.clientVanished(BlueZStage.client)
    #expect(stage.property("ActiveInstances", of: "LEAdvertisingManager1") == .byte(0))
    #expect(stage.property("UUIDs")?.texts?.contains(Self.uuid) == false)
    stage.call("StartDiscovery", at: Self.second)
    stage.world.run(for: .seconds(5))
    #expect(stage.devices(of: Self.second).isEmpty)
  }

  @Test("A registration is refused when its objects are wrong, and when it is there already")
  func registrationErrors() throws {
    let stage = try dial()
    let options = DBusValue.properties([:])
    #expect(stage.error("RegisterApplication", [.path("/app"), options], of: "GattManager1") == "AlreadyExists")
    #expect(stage.error("UnregisterApplication", [.path("/other")], of: "GattManager1") == "DoesNotExist")
    let manager = "LEAdvertisingManager1"
    #expect(stage.error("RegisterAdvertisement", [.path("/advert"), options], of: manager) == "AlreadyExists")
    #expect(stage.error("UnregisterAdvertisement", [.path("/advert")], of: manager) == nil)
    #expect(stage.error("UnregisterAdvertisement", [.path("/advert")], of: manager) == "DoesNotExist")
    stage.bus.onCall = { _ in .success([.properties(["Type": .string("sideways")])]) }
    #expect(stage.error("RegisterAdvertisement", [.path("/wrong"), options], of: manager) == "Failed")
    #expect(stage.error("RegisterApplication", [.path("/wrong"), options], of: "GattManager1") == "Failed")
    stage.bus.onCall = { _ in .failure(DBusError("org.freedesktop.DBus.Error.NoReply")) }
    #expect(stage.error("RegisterApplication", [.path("/silent"), options], of: "GattManager1") == "Failed")
  }

  @Test("Agents are registered once for each client, with a known capability")
  func agents() {
    let stage = BlueZStage()
    func error(_ member: String, _ arguments: [DBusValue]) -> String? {
      stage.error(member, arguments, of: "AgentManager1", at: "/org/bluez")
    }
    #expect(error("RequestDefaultAgent", [.path("/agent")]) == "DoesNotExist")
    #expect(error("RegisterAgent", [.path("/agent"), .string("Telepathy")]) == "InvalidArguments")
    #expect(error("RegisterAgent", [.path("/agent"), .string("")]) == nil)
    #expect(error("RegisterAgent", [.path("/agent"), .string("")]) == "AlreadyExists")
    #expect(error("RequestDefaultAgent", [.path("/agent")]) == nil)
    #expect(error("UnregisterAgent", [.path("/other")]) == "DoesNotExist")
    #expect(error("UnregisterAgent", [.path("/agent")]) == nil)
  }

  @Test("The first agent is the default one until another is requested, and the next one follows it")
  func defaultAgent() throws {
    var table = AgentTable()
    func call(_ member: String, _ client: String, _ capability: String = "") throws {
      let arguments = [DBusValue.path("/agent"), .string(capability)]
      try table.handle(
        BusCall(
          sender: client, path: "/org/bluez", interface: BlueZInterface.agentManager.name, member: member,
          arguments: arguments))
    }
    for client in [":1.1", ":1.2", ":1.3"] { try call("RegisterAgent", client) }
    #expect(table.defaultAgent?.client == ":1.1")
    try call("RequestDefaultAgent", ":1.3")
    #expect(table.defaultAgent?.client == ":1.3")
    try call("UnregisterAgent", ":1.3")
    #expect(table.defaultAgent?.client == ":1.1")
    table.remove(":1.1")
    #expect(table.defaultAgent?.client == ":1.2")
    table.remove(":1.2")
    #expect(table.defaultAgent == nil)
  }

  @Test("A pairing without digits needs no agent, and makes a bond")
  func pairing() throws {
    let stage = BlueZStage { $0.add(Flashlight(), named: "lamp", at: Position(x: 1)) }
    let device = try stage.discover("Flashlight")
    #expect(stage.error("Pair", of: "Device1", at: device) == nil)
    #expect(stage.property("Paired", of: "Device1", at: device) == .bool(true))
    #expect(stage.property("Bonded", of: "Device1", at: device) == .bool(true))
    #expect(stage.error("Pair", of: "Device1", at: device) == "AlreadyExists")
    #expect(stage.error("CancelPairing", of: "Device1", at: device) == "DoesNotExist")
    #expect(stage.error("RemoveDevice", [.path(device)]) == nil)
    let again = try stage.discover("Flashlight")
    #expect(stage.property("Paired", of: "Device1", at: again) == .bool(false))
  }

  @Test("Agents on both sides compare the numbers of a pairing", arguments: [true, false])
  func numericComparison(accepts: Bool) throws {
    let stage = try dial()
    let answers = stage.bus.onCall
    stage.bus.onCall = { call in
      guard call.member == "RequestConfirmation" else { return answers(call) }
      return accepts || call.client != ":1.8" ? .success([]) : .failure(DBusError("org.bluez.Error.Rejected"))
    }
    for client in [BlueZStage.client, ":1.8"] {
      stage.call(
        "RegisterAgent", [.path("/agent"), .string("DisplayYesNo")], of: "AgentManager1", at: "/org/bluez", by: client)
    }
    let device = try stage.discover("Dial", by: Self.second)
    let error = stage.error("Pair", of: "Device1", at: device, by: ":1.8")
    #expect(error == (accepts ? nil : "AuthenticationFailed"))
    let numbers = Set(stage.bus.sent.filter { $0.member == "RequestConfirmation" }.map { $0.arguments[1] })
    #expect(numbers.count == 1)
    #expect(stage.property("Paired", of: "Device1", at: device) == .bool(accepts))
  }

  @Test("A monitor finds a device without a discovery, and loses it")
  func monitors() throws {
    let stage = BlueZStage { world in
      world.add(HeartRateSensor(name: "Strap", beatsPerMinute: 60), named: "strap", at: Position(x: 1))
        .setPower(false, at: .seconds(10))
    }
    let pattern = DBusValue.structure([.byte(0), .byte(0x03), .bytes([0x0D, 0x18])])
    stage.bus.onCall = { _ in
      let values = DBusValue.properties([
        "Type": .string("or_patterns"), "Patterns": .array([pattern], of: "(yyay)"),
      ])
      let interfaces = DBusValue.dictionary(
        [.string("org.bluez.AdvertisementMonitor1"): values], key: "s", value: "a{sv}")
      return .success([.dictionary([.path("/app/monitor"): interfaces], key: "o", value: "a{sa{sv}}")])
    }
    let manager = "AdvertisementMonitorManager1"
    #expect(stage.error("RegisterMonitor", [.path("/app")], of: manager) == nil)
    #expect(stage.error("RegisterMonitor", [.path("/app")], of: manager) == "AlreadyExists")
    #expect(stage.property("Discovering") == .bool(false))
    stage.world.run(until: { stage.bus.sent.contains { $0.member == "DeviceFound" } }, limit: .seconds(5))
    #expect(stage.bus.sent.map(\.member) == ["GetManagedObjects", "Activate", "DeviceFound"])
    #expect(stage.devices().count == 1)
    stage.world.run(for: .seconds(12))
    stage.loop.advanceTime(by: .seconds(7))
    #expect(stage.bus.sent.last?.member == "DeviceLost")
    #expect(stage.error("UnregisterMonitor", [.path("/app")], of: manager) == nil)
    #expect(stage.error("UnregisterMonitor", [.path("/app")], of: manager) == "DoesNotExist")
  }
}
