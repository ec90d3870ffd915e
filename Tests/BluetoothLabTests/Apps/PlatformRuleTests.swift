import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The rules that differ between the policies of platforms.
@Suite("Rules of platforms")
struct PlatformRuleTests {
  @Test(
    "A070 At most two links for an app of watchOS: another connection fails with connectionLimitReached",
    .requirement("A070"))
  func linksPerApp() throws {
    let world = World(seed: 31)
    var options = DeviceOptions()
    options.policy = .watchos
    let watch = world.makeDevice(named: "watch", options)
    let app = watch.app(named: "com.example.belts", manifest: .described()) { _ in ManyBeltsApp() }
    let other = watch.app(named: "com.example.other", manifest: .described()) { _ in ManyBeltsApp() }
    for number in 1...3 {
      _ = world.add(HeartRateSensor(), named: "belt \(number)", at: Position(x: Double(number)))
    }
    app.launch()
    try world.expect("all belts are known") { app.root?.peripherals.count == 3 }
    let root = try #require(app.root)
    for peripheral in root.peripherals { root.manager.connect(peripheral) }
    try world.expect("two are connected") { root.connections == 2 }
    #expect(root.errors.map { ($0 as? CBError)?.code } == [.connectionLimitReached])
    #expect(root.peripherals.map(\.state) == [.connected, .connected, .disconnected])
    // The limit is one of each app.
    other.launch()
    try world.expect("the other app finds the third belt") { other.root?.peripherals.isEmpty == false }
    let second = try #require(other.root)
    second.manager.connect(second.peripherals[0])
    try world.expect("the other app connects") { second.connections == 1 }
    // A link that has ended counts no longer.
    root.manager.cancelPeripheralConnection(root.peripherals[0])
    try world.expect("the link has ended") { root.peripherals[0].state == .disconnected }
    root.manager.connect(root.peripherals[2])
    try world.expect("the third belt is connected") { root.peripherals[2].state == .connected }
    #expect(root.errors.count == 1)
  }

  @Test("Background modes have no effect on tvOS: an app with the mode is suspended after 5 s, and values wait")
  func modesWithoutEffect() throws {
    let stage = AppLifeTests.Stage(policy: .tvos, manifest: .described([.central]))
    stage.launchAndSubscribe()
    let root = try #require(stage.app.root)
    stage.app.enterBackground()
    stage.run(4)
    #expect(stage.app.state == .background)
    stage.run(2)
    #expect(stage.app.state == .suspended)
    let count = root.values.count
    stage.run(60)
    #expect(stage.app.state == .suspended)
    #expect(root.values.count == count)
    stage.app.enterForeground()
    stage.world.run(for: .milliseconds(100))
    #expect((count + 1...count + 2).contains(root.values.count), "of the values that have waited the newest one")
  }
}

/// An app that knows all belts that it has found, and connects when it is told to.
final class ManyBeltsApp: NSObject, CBCentralManagerDelegate {
  private(set) var manager: CBCentralManager!
  private(set) var peripherals: [CBPeripheral] = []
  private(set) var connections = 0
  private(set) var errors: [any Error] = []

  override init() {
    super.init()
    manager = CBCentralManager(delegate: self, queue: nil)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [BeltApp.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) { if !peripherals.contains(peripheral) { peripherals.append(peripheral) } }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { connections += 1 }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) { if let error { errors.append(error) } }
}
