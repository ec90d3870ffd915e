import BluetoothLab
import CoreBluetooth
import Testing

@testable import pulse_log

@Suite struct PulseLogTests {
  @Test("The log goes on after Bluetooth was off, and after a reset of the controller", arguments: [false, true])
  func powerCycle(isReset: Bool) throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    let phone = world.makeDevice(named: "phone", at: Position(x: 2))
    var lines: [String] = []
    let app = phone.run { PulseLog { lines.append($0) } }
    defer { withExtendedLifetime(app) {} }
    try world.expect("the app logs a value") { lines.contains("61 beats per minute") }
    lines = []
    if isReset {
      phone.add([.device(.resetController, when: .at(world.now))])
    } else {
      phone.setPower(false)
      world.run(for: .seconds(3))
      phone.setPower(true)
    }
    try world.expect("the app logs a value again") { lines.contains("61 beats per minute") }
    // The loss of a controller may be reported before the state.
    #expect(
      lines.filter { $0 != "disconnected" } == [
        "Bluetooth is not on", "Bluetooth is on", "connected", "61 beats per minute",
      ])
  }

  @Test("A restored sensor without a subscription is subscribed to: the former launch has ended before")
  func unfinished() throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    var options = DeviceOptions()
    options.policy = .ios
    options.position = Position(x: 2)
    let phone = world.makeDevice(named: "phone", options)
    let manifest = AppManifest(backgroundModes: [.central], usageDescription: "to log your pulse")
    var lines: [String] = []
    var launch = 0
    let app = phone.app(named: "com.example.pulse", manifest: manifest) { _ -> NSObject in
      launch += 1
      return launch == 1 ? UnfinishedLaunch() : PulseLog { lines.append($0) }
    }
    defer { withExtendedLifetime(app) {} }
    app.launch()
    try world.expect("the app connects") { (app.root as? UnfinishedLaunch)?.sensor?.state == .connected }
    app.terminate()
    world.run(for: .seconds(1))
    app.launch()
    try world.expect("the app logs a value") { lines.contains("61 beats per minute") }
    #expect(lines == ["restored a connected sensor", "Bluetooth is on", "61 beats per minute"])
  }
}

/// A launch of the app that ends between the connection and the discovery.
private final class UnfinishedLaunch: NSObject, CBCentralManagerDelegate {
  private var manager: CBCentralManager!
  private(set) var sensor: CBPeripheral?

  override init() {
    super.init()
    manager = CBCentralManager(
      delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "pulse"])
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    sensor = peripheral
    central.connect(peripheral)
  }
}
