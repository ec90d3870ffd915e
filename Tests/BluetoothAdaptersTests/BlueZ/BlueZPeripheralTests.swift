import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import BluetoothWire
import NIOConcurrencyHelpers
import Testing

@testable import BluetoothAdapters

@Suite(
  "Peripheral managers beside BlueZ", .enabled(if: PrivateBus.isAvailable, BlueZScene.needs), .timeLimit(.minutes(1)))
struct BlueZPeripheralTests {
  private let service = LocalAttributeID(number: 1)
  private let characteristic = LocalAttributeID(number: 2)
  private let interface = "org.bluez.GattCharacteristic1"

  private var definition: LocalServiceInfo {
    LocalServiceInfo(
      id: service, uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [
        LocalCharacteristicInfo(
          id: characteristic,
          definition: GATTCharacteristicDefinition(
            uuid: 0x2A37, properties: [.read, .write, .writeWithoutResponse, .notify],
            permissions: [.readable, .writeable, .readEncryptionRequired], value: nil,
            descriptors: [GATTDescriptorDefinition(uuid: 0x2901, value: [0x41])])),
        LocalCharacteristicInfo(
          id: LocalAttributeID(number: 3),
          definition: GATTCharacteristicDefinition(
            uuid: 0x2A38, properties: .read, permissions: .readable, value: [1, 2, 3])),
      ])
  }

  private func open(_ scene: BlueZScene) async throws -> (PeripheralSession, RecordingPeripheral) {
    let client = RecordingPeripheral()
    let session = scene.adapter.openPeripheralSession(for: client, owner: nil)
    try await client.log.next { event in
      if case .stateChanged(.poweredOn) = event { true } else { nil }
    }
    return (session, client)
  }

  @Test("Advertising is an object that BlueZ reads, and ends with its session")
  func advertising() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await open(scene)
    session.send(.startAdvertising(localName: "torch", services: [0x180D]))
    let error = try await client.log.next { event -> SessionError?? in
      if case .advertisingStarted(let error) = event { .some(error) } else { nil }
    }
    #expect(error == nil)
    let (app, path) = try #require(scene.bluez.state.withLockedValue { $0.advertisement })
    let properties = try await scene.bluez.connection.call(
      "GetAll", of: "org.freedesktop.DBus.Properties", at: path, on: app, [.string("org.bluez.LEAdvertisement1")])
    #expect(
      properties.body.first?.options == [
        "Type": .string("peripheral"), "LocalName": .string("torch"), "Discoverable": .bool(true),
        "ServiceUUIDs": .strings(["0000180d-0000-1000-8000-00805f9b34fb"]),
      ])
    session.send(.startAdvertising(localName: nil, services: []))
    let second = try await client.log.next { event -> SessionError?? in
      if case .advertisingStarted(let error) = event { .some(error) } else { nil }
    }
    #expect(second == .alreadyAdvertising)
    session.close()
    while scene.bluez.state.withLockedValue({ $0.advertisement != nil }) { await Task.yield() }
  }

  @Test("Advertising data become the properties of an advertisement, and what BlueZ can't send is refused")
  func advertisingData() throws {
    var builder = AdvertisingDataBuilder()
    builder.appendFlags()
    builder.appendServices([0x180D])
    builder.appendManufacturerData(company: 0x004C, [2, 21])
    builder.append(.appearance, [0x41, 0x03])
    builder.append(ADType(rawValue: 0x24), [7])
    var advertising = HostAdvertising(data: ByteSlice(builder.octets), scanResponse: [3, 0x09, 0x41, 0x42])
    advertising.shape.interval = 160
    let uuid = "0000180d-0000-1000-8000-00805f9b34fb"
    #expect(
      BlueZAdvertisement(advertising)?.properties == [
        "Type": .string("peripheral"), "Discoverable": .bool(true), "ServiceUUIDs": .strings([uuid]),
        "ManufacturerData": .dictionary([.uint16(0x4C): .variant(.bytes([2, 21]))], key: "q", value: "v"),
        "Appearance": .uint16(0x341), "LocalName": .string("AB"), "MinInterval": .uint32(100),
        "MaxInterval": .uint32(100), "Data": .dictionary([.byte(0x24): .variant(.bytes([7]))], key: "y", value: "v"),
      ])
    advertising.shape.type = .nonConnectableUndirected
    #expect(BlueZAdvertisement(advertising)?.properties["Type"] == .string("broadcast"))
    #expect(BlueZAdvertisement(advertising)?.properties["LocalName"] == nil)
    advertising.shape.type = .connectableDirectedLowDutyCycle
    #expect(BlueZAdvertisement(advertising) == nil)
    advertising.shape.type = .nonConnectableUndirected
    advertising.shape.extended = HostAdvertising.ExtendedPDUs()
    #expect(BlueZAdvertisement(advertising) == nil)
  }

  @Test("A service is an application of BlueZ, whose requests reach the app and get its answers")
  func application() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await open(scene)
    scene.bluez.addDevice()
    session.send(.addService(definition))
    let error = try await client.log.next { event -> SessionError?? in
      if case .serviceAdded(service, let error) = event { .some(error) } else { nil }
    }
    #expect(error == nil)
    let (app, root) = try #require(scene.bluez.state.withLockedValue { $0.applications.first })
    let bluez = scene.bluez.connection
    let objects = try await bluez.call("GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager", at: root, on: app)
    let paths = (objects.body.first?.entries ?? [:]).keys.compactMap(\.path).sorted()
    let child = root + "/service/char0"
    #expect(paths == ["/service", "/service/char0", "/service/char0/desc0", "/service/char1"].map { root + $0 })
    let flags = try await bluez.call(
      "Get", of: "org.freedesktop.DBus.Properties", at: child, on: app, [.string(interface), .string("Flags")])
    #expect(flags.body.first?.texts == ["read", "write-without-response", "write", "notify", "encrypt-read"])
    // The fixed value is answered without the app, from its offset on.
    let fixed = try await bluez.call(
      "ReadValue", of: interface, at: root + "/service/char1", on: app, [.properties(["offset": .uint16(1)])])
    #expect(fixed.body == [.bytes([2, 3])])

    let options: [String: DBusValue] = ["device": .path(FakeBlueZ.device), "mtu": .uint16(100)]
    async let value = bluez.call("ReadValue", of: interface, at: child, on: app, [.properties(options)])
    let (read, central) = try await client.log.next { event in
      if case .readRequested(let id, let central, characteristic, offset: 0) = event { (id, central) } else { nil }
    }
    #expect(central.maximumUpdateLength == 97)
    session.send(.respond(read, nil, value: [42]))
    #expect(try await value.body == [.bytes([42])])

    async let written = bluez.call(
      "WriteValue", of: interface, at: child, on: app, [.bytes([5]), .properties(options)])
    let (write, octets) = try await client.log.next { event in
      if case .writeRequested(let id?, _, let writes) = event { (id, writes[0].value.bytes) } else { nil }
    }
    #expect(octets == [5])
    session.send(.respond(write, ATT.ErrorCode(rawValue: 0x80), value: []))
    do {
      _ = try await written
      Issue.record("the write was refused")
    } catch { #expect(error as? DBusError == DBusError("org.bluez.Error.Failed", "0x80")) }

    try await bluez.call("StartNotify", of: interface, at: child, on: app)
    try await client.log.next { event in
      if case .subscribed(_, characteristic) = event { true } else { nil }
    }
    let values = EventLog<DBusValue>()
    let subscription = bluez.subscribe(DBusMatchRule(path: child, member: "PropertiesChanged")) {
      values.add($0.body[1])
    }
    try await bluez.call("Ping", of: "org.freedesktop.DBus.Peer", at: "/", on: app)
    _ = session.updateCredits.take()
    session.send(.update(characteristic, [1, 60], nil))
    #expect(try await values.next { $0.options?["Value"]?.octets } == [1, 60])
    session.send(.removeService(service))
    while scene.bluez.state.withLockedValue({ !$0.applications.isEmpty }) { await Task.yield() }
    withExtendedLifetime(subscription) {}
  }

  @Test("Requests that do not come from BlueZ are refused")
  func strangers() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await open(scene)
    session.send(.addService(definition))
    try await client.log.next { event in
      if case .serviceAdded(service, nil) = event { true } else { nil }
    }
    let (app, root) = try #require(scene.bluez.state.withLockedValue { $0.applications.first })
    let stranger = try await DBusConnection.open(.address(scene.bus.address))
    await #expect(throws: DBusError.self) {
      try await stranger.call("ReadValue", of: interface, at: root + "/service/char0", on: app, [.properties([:])])
    }
    withExtendedLifetime(session) {}
  }
}
