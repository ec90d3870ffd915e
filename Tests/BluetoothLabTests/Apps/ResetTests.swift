import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The reset of the network settings, with new identifiers for all peripherals.
@Suite("Reset of the network settings")
struct ResetTests {
  /// An app that scans whenever Bluetooth is on.
  private final class Finder: NSObject, CBCentralManagerDelegate {
    private(set) var manager: CBCentralManager!
    private(set) var states: [CBManagerState] = []
    private(set) var found: [CBPeripheral] = []
    private(set) var disconnections = 0

    init(_ options: [String: Any]? = nil) {
      super.init()
      manager = CBCentralManager(delegate: self, queue: nil, options: options)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
      states.append(central.state)
      if central.state == .poweredOn { central.scanForPeripherals(withServices: [BeltApp.service]) }
    }

    func centralManager(
      _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
      rssi: NSNumber
    ) { found.append(peripheral) }

    func centralManager(
      _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) { disconnections += 1 }
  }

  @Test(
    "G015 After a reset, running apps go through resetting and find the peripheral under new identifiers",
    .requirement("G015"))
  func identifiers() throws {
    let world = World(seed: 21)
    let phone = world.makeDevice(named: "phone")
    let apps = ["first", "second"].map { name in
      phone.app(named: name, manifest: .described()) { _ in Finder() }
    }
    _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    for app in apps { app.launch() }
    world.run(for: .seconds(2))
    let finders = try apps.map { try #require($0.root) } + [Finder([CBManagerOptionAdapterKey: phone])]
    world.run(for: .seconds(2))
    let former = try finders.map { try #require($0.found.last) }
    finders[0].manager.connect(former[0])
    try world.expect("the first app connects") { former[0].state == .connected }

    phone.resetNetworkSettings()
    world.run(for: .seconds(3))
    for (finder, former) in zip(finders, former) {
      #expect(finder.states == [.poweredOn, .resetting, .poweredOn])
      #expect(finder.disconnections == 0, "the state tells it")
      #expect(former.state == .disconnected)
      #expect(finder.manager.retrievePeripherals(withIdentifiers: [former.identifier]).isEmpty)
      let new = try #require(finder.found.last)
      #expect(new.identifier != former.identifier)
      #expect(finder.manager.retrievePeripherals(withIdentifiers: [new.identifier]) == [new])
      // The object from before the reset is of no use.
      finder.manager.connect(former)
    }
    world.run(for: .seconds(3))
    #expect(former.allSatisfy { $0.state == .disconnected })
    #expect(Set(finders.compactMap { $0.found.last?.identifier }).count == 3)
  }

  @Test("A second reset changes the identifiers again, also while Bluetooth is off", .requirement("G015"))
  func whileOff() throws {
    let world = World(seed: 22)
    let phone = world.makeDevice(named: "phone")
    _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    let finder = Finder([CBManagerOptionAdapterKey: phone])
    world.run(for: .seconds(2))
    phone.resetNetworkSettings()
    world.run(for: .seconds(2))
    phone.setPower(false)
    phone.resetNetworkSettings()
    world.run(for: .seconds(2))
    #expect(finder.states.suffix(3) == [.poweredOff, .resetting, .poweredOff])
    phone.setPower(true)
    world.run(for: .seconds(2))
    #expect(Set(finder.found.map(\.identifier)).count == 3)
    #expect(finder.found.count == 3)
  }

  @Test("A suspended app learns of a reset in the foreground: both states, and its peripheral is unusable")
  func suspended() throws {
    let stage = AppLifeTests.Stage(manifest: .described())
    stage.launchAndSubscribe()
    let root = try #require(stage.app.root)
    let belt = try #require(root.peripheral)
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    stage.phone.resetNetworkSettings()
    stage.run(5)
    #expect(root.count(of: "state poweredOn") == 1)
    stage.app.enterForeground()
    stage.run(1)
    let states = root.events.filter { $0.hasPrefix("state") }
    #expect(states == ["state poweredOn", "state resetting", "state poweredOn"])
    #expect(belt.state == .disconnected)
    #expect(root.manager.retrievePeripherals(withIdentifiers: [belt.identifier]).isEmpty)
  }

  @Test("An app that was suspended while Bluetooth was off and on again learns of both, so its link has ended")
  func powerCycle() throws {
    let stage = AppLifeTests.Stage(manifest: .described())
    stage.launchAndSubscribe()
    let root = try #require(stage.app.root)
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    for isOn in [false, true, false, true] {
      stage.phone.setPower(isOn)
      stage.run(5)
    }
    stage.app.enterForeground()
    stage.run(1)
    let states = root.events.filter { $0.hasPrefix("state") }
    #expect(states == ["state poweredOn", "state poweredOff", "state poweredOn"])
    #expect(root.peripheral?.state == .disconnected)
  }
}
