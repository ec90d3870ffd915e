import BluetoothDBus
import NIOConcurrencyHelpers
import Testing

/// A lamp with a level that clients set, and a name that is never there.
private enum Lamp {
  static let interface = "org.example.Lamp1"

  static func declaration(_ service: DBusConnection, at path: String) -> DBusInterface {
    let level = NIOLockedValueBox<UInt16>(5)
    let methods = [
      DBusMethod("Add", in: ["a": "i", "b": "i"], out: ["sum": "i"]) { call, responder in
        responder.reply([.int32(Int32(call.arguments.compactMap(\.integer).reduce(0, +)))])
      },
      DBusMethod("Refuse") { _, responder in responder.fail(DBusError("org.example.Error.No", "no")) },
    ]
    let properties = [
      DBusProperty(
        "Level", "q", get: { .uint16(level.withLockedValue { $0 }) },
        set: { value, _, responder in
          guard let number = value.integer, number <= 100 else {
            return responder.fail(DBusError("org.example.Error.Invalid", "0 to 100"))
          }
          level.withLockedValue { $0 = UInt16(number) }
          responder.reply()
          service.propertiesChanged(["Level"], of: interface, at: path)
        }),
      DBusProperty("Name", "s", get: { nil }),
      DBusProperty("Model", "s", emits: .constant, get: { .string("L1") }),
    ]
    return DBusInterface(
      interface, methods: methods, properties: properties,
      signals: [DBusSignalDeclaration("Blinked", ["times": "u"])])
  }
}

/// A bus with a lamp.
private struct Scene {
  let bus: PrivateBus
  let client: DBusConnection
  let service: DBusConnection

  init() async throws {
    bus = try await privateBus()
    client = try await DBusConnection.open(.address(bus.address))
    service = try await DBusConnection.open(.address(bus.address))
    service.exportObjectManager(at: "/")
    service.export([Lamp.declaration(service, at: "/lamps/one")], at: "/lamps/one")
  }

  func call(
    _ member: String, of interface: String, at path: String = "/lamps/one", _ arguments: [DBusValue] = []
  ) async throws(DBusError) -> [DBusValue] {
    try await client.call(member, of: interface, at: path, on: service.uniqueName, arguments).body
  }

  /// Returns the name of the error of a call, or its results.
  func error(
    _ member: String, of interface: String, at path: String = "/lamps/one", _ arguments: [DBusValue] = []
  ) async -> String {
    do throws(DBusError) { return "\(try await call(member, of: interface, at: path, arguments))" } catch {
      return error.name
    }
  }
}

@Suite("Objects on a message bus", .enabled(if: PrivateBus.isAvailable, needsBus), .timeLimit(.minutes(1)))
struct DBusObjectTests {
  private let properties = "org.freedesktop.DBus.Properties"
  private let manager = "org.freedesktop.DBus.ObjectManager"

  @Test("Methods have results or errors, and calls of anything else have the errors of BlueZ")
  func methods() async throws {
    let scene = try await Scene()
    defer { scene.bus.stop() }
    #expect(try await scene.call("Add", of: Lamp.interface, [.int32(2), .int32(3)]) == [.int32(5)])
    #expect(await scene.error("Refuse", of: Lamp.interface) == "org.example.Error.No")
    #expect(await scene.error("Add", of: Lamp.interface, [.string("a")]) == DBusError.Name.unknownMethod)
    #expect(await scene.error("None", of: Lamp.interface) == DBusError.Name.unknownMethod)
    #expect(await scene.error("Add", of: "org.example.None") == DBusError.Name.unknownMethod)
    #expect(await scene.error("Add", of: Lamp.interface, at: "/none") == DBusError.Name.unknownObject)
  }

  @Test("Properties are read and set, those that are not there are left out, and changes are reported")
  func propertyAccess() async throws {
    let scene = try await Scene()
    defer { scene.bus.stop() }
    let interface = DBusValue.string(Lamp.interface)
    let diary = Diary<[DBusValue]>()
    let subscription = scene.client.subscribe(DBusMatchRule(interface: properties)) { diary.add($0.body) }
    #expect(
      try await scene.call("GetAll", of: properties, [interface])
        == [.properties(["Level": .uint16(5), "Model": .string("L1")])])
    #expect(try await scene.call("Get", of: properties, [interface, .string("Level")]) == [.variant(.uint16(5))])
    for name in ["Name", "None"] {
      #expect(
        await scene.error("Get", of: properties, [interface, .string(name)]) == DBusError.Name.invalidArguments)
    }
    #expect(
      await scene.error("GetAll", of: properties, [.string("org.example.None")]) == DBusError.Name.invalidArguments)
    func set(_ name: String, _ value: DBusValue) async -> String {
      await scene.error("Set", of: properties, [interface, .string(name), .variant(value)])
    }
    #expect(await set("Level", .uint16(7)) == "[]")
    #expect(await set("Level", .uint16(700)) == "org.example.Error.Invalid")
    #expect(await set("Level", .string("7")) == DBusError.Name.invalidSignature)
    #expect(await set("Model", .string("L2")) == DBusError.Name.propertyReadOnly)
    #expect(await set("None", .string("L2")) == DBusError.Name.invalidArguments)
    #expect(try await diary.next() == [interface, .properties(["Level": .uint16(7)]), .strings([])])
    scene.service.propertiesChanged(["Model", "Name"], of: Lamp.interface, at: "/lamps/one")
    #expect(try await diary.next() == [interface, .properties([:]), .strings(["Name"])])
    withExtendedLifetime(subscription) {}
  }

  @Test("An object manager lists the objects below it, and reports those that come and go")
  func objectManager() async throws {
    let scene = try await Scene()
    defer { scene.bus.stop() }
    let diary = Diary<DBusSignal>()
    // After an answer of the service, the bus has passed on the signal of its first object.
    _ = try await scene.call("GetManagedObjects", of: manager, at: "/")
    let rule = DBusMatchRule(sender: scene.service.uniqueName, path: "/", interface: manager)
    let subscription = scene.client.subscribe(rule) { diary.add($0) }
    let lamp = DBusValue.properties(["Level": .uint16(5), "Model": .string("L1")])
    let interfaces = DBusValue.dictionary([.string(Lamp.interface): lamp], key: "s", value: "a{sv}")
    #expect(
      try await scene.call("GetManagedObjects", of: manager, at: "/")
        == [.dictionary([.path("/lamps/one"): interfaces], key: "o", value: "a{sa{sv}}")])
    #expect(await scene.error("GetManagedObjects", of: manager) == DBusError.Name.unknownMethod)
    scene.service.export([Lamp.declaration(scene.service, at: "/lamps/two")], at: "/lamps/two")
    let added = try await diary.next()
    #expect(added.member == "InterfacesAdded" && added.body == [.path("/lamps/two"), interfaces])
    scene.service.unexport(at: "/lamps/two")
    let removed = try await diary.next()
    #expect(removed.member == "InterfacesRemoved")
    #expect(removed.body == [.path("/lamps/two"), .strings([Lamp.interface])])
    #expect(await scene.error("Refuse", of: Lamp.interface, at: "/lamps/two") == DBusError.Name.unknownObject)
    withExtendedLifetime(subscription) {}
  }

  @Test("The description of an object has its interfaces and its children")
  func introspection() async throws {
    let scene = try await Scene()
    defer { scene.bus.stop() }
    let introspectable = "org.freedesktop.DBus.Introspectable"
    let text = try await scene.call("Introspect", of: introspectable)[0].string ?? ""
    let parts = [
      "<interface name=\"org.example.Lamp1\">", "<arg name=\"sum\" type=\"i\" direction=\"out\"/>",
      "<property name=\"Level\" type=\"q\" access=\"readwrite\">",
      "<property name=\"Model\" type=\"s\" access=\"read\">", "<arg name=\"times\" type=\"u\"/>",
      "EmitsChangedSignal\" value=\"const\"", "<method name=\"GetAll\">",
    ]
    for part in parts { #expect(text.contains(part), "\(part)") }
    let root = try await scene.call("Introspect", of: introspectable, at: "/")[0].string ?? ""
    #expect(root.contains("<node name=\"lamps\"/>") && root.contains("GetManagedObjects"))
    let middle = try await scene.call("Introspect", of: introspectable, at: "/lamps")[0].string ?? ""
    #expect(middle.contains("<node name=\"one\"/>"))
    #expect(await scene.error("Introspect", of: introspectable, at: "/none") == DBusError.Name.unknownObject)
  }
}
