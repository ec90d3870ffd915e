import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Requirements
import Testing

/// A watch that looks for a phone with a service, as the client of the phone's server.
@Suite("Solicitation") struct SolicitationTests {
  private static let wanted = CBUUID(string: "FFE5")
  private static let value = CBUUID(string: "FFE6")
  private static let greeting = CBUUID(string: "FFF0")

  @Test(
    "A peripheral solicits a central that serves something, and reads it over the link that the central makes",
    .requirement("G013"))
  func solicitation() throws {
    let world = World(seed: 5)
    let stage = AppStage(world)
    let watch = world.makeDevice(named: "watch")
    let phone = world.makeDevice(named: "phone", at: Position(x: 1))

    // The phone serves a value, and looks for peripherals that solicit its service.
    let server = TestPeripheral(on: phone)
    let value = CBMutableCharacteristic(type: Self.value, properties: .read, value: Data([7]), permissions: .readable)
    try server.publish(Self.wanted.uuidString, [value])
    server.manager.stopAdvertising()
    let app = TestCentral(on: phone)
    try app.powerOn()

    let central = Central(adapter: watch)
    let local = LocalPeripheral(adapter: watch)
    let visitor = Box<UUID?>(nil)
    let advertising = stage.start {
      try await central.waitUntilPoweredOn()
      try await local.waitUntilPoweredOn()
      let hello = LocalCharacteristic(Self.value, .write, write: { visitor.value = $0.central.id })
      try await local.add(LocalService(Self.greeting, [hello]))
      try await local.advertise(
        AdvertisingParameters([.flags(), ADStructure(.solicitedServices16, [0xE5, 0xFF])]))
    }
    stage.run(for: .seconds(1))

    // Without the option, a solicited service does not match.
    app.manager.scanForPeripherals(withServices: [Self.wanted])
    stage.run(for: .seconds(1))
    #expect(app.recorder.discoveries.isEmpty)
    app.manager.scanForPeripherals(
      withServices: nil, options: [CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [Self.wanted]])
    stage.run(until: { !app.recorder.discoveries.isEmpty })
    app.manager.stopScan()
    let found = try #require(app.recorder.discoveries.first)
    #expect(found.advertisementData[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] == [Self.wanted])

    // The phone connects and says hello; the watch reads the phone's value over the same link.
    try app.connect(to: found.peripheral)
    try app.discoverAttributes(of: found.peripheral)
    try app.write([1], to: Self.value.uuidString, of: found.peripheral)
    let identifier = try #require(visitor.value)
    let reading = stage.start {
      let peer = try #require(central.peripherals(withIdentifiers: [identifier]).first)
      try await peer.connect()
      let service = try #require(try await peer.discoverServices([Self.wanted]).first)
      return try await service.discoverCharacteristics([Self.value])[0].read()
    }
    #expect(try stage.value(of: reading) == Data([7]))
    #expect(world.statistics.devices.allSatisfy { $0.links.count == 1 })
    advertising.cancel()
    stage.run(for: .seconds(1))
  }
}
