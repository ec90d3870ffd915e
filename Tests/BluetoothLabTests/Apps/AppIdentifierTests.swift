import BluetoothLab
import CoreBluetooth
import Testing

/// The identifiers by which apps know peripherals.
@Suite("Identifiers of apps")
struct AppIdentifierTests {
  @Test("Two apps of a device know a peripheral by different identifiers, each by the same one in all its launches")
  func identifiers() throws {
    let world = World(seed: 8)
    let phone = world.makeDevice(named: "phone")
    func app(_ name: String) -> SimulatedApp<BeltApp> {
      phone.app(named: name, manifest: .described()) { _ in BeltApp(in: world) }
    }
    let (first, second) = (app("first"), app("second"))
    _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    func identifier(_ app: SimulatedApp<BeltApp>) throws -> UUID {
      app.launch()
      try world.expect("the app finds the belt") { app.root?.peripheral?.state == .connected }
      let identifier = try #require(app.root?.peripheral?.identifier)
      app.terminate(by: .user)
      world.run(for: .seconds(1))
      return identifier
    }
    let (one, two) = try (identifier(first), identifier(second))
    #expect(one != two)
    #expect(try identifier(first) == one)

    // A saved identifier is enough to retrieve the peripheral, in its own app only.
    first.launch()
    second.launch()
    world.run(for: .seconds(1))
    #expect(first.root?.manager.retrievePeripherals(withIdentifiers: [one, two]).map(\.identifier) == [one])
    #expect(second.root?.manager.retrievePeripherals(withIdentifiers: [one, two]).map(\.identifier) == [two])
  }
}
