import BluetoothLab
import CoreBluetooth
import Foundation
import TestSupport
import Testing

/// Apps that name no adapter, in worlds.
@Suite struct DefaultDeviceTests {
  /// An app that creates its managers without options, as an iPhone app does.
  private final class Scanner: NSObject, CBCentralManagerDelegate {
    private var manager: CBCentralManager?
    var names: [String?] = []

    override init() {
      super.init()
      manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "scanner"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
      if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
      _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
      rssi: NSNumber
    ) {
      names.append(peripheral.name)
    }
  }

  private static func strap(in world: World) {
    _ = world.add(HeartRateSensor(), named: "strap", DeviceOptions(position: Position(x: 1)))
  }

  @Test("Two apps that name no adapter use the devices in whose run they were created")
  func scoped() {
    let (near, far) = (World(seed: 1), World(seed: 2))
    Self.strap(in: near)
    let first = near.makeDevice(named: "first").run { Scanner() }
    let second = far.makeDevice(named: "second").run { Scanner() }
    near.run(for: .seconds(1))
    far.run(for: .seconds(1))
    #expect(first.names == ["Heart Rate"])
    #expect(second.names.isEmpty, "there is no strap in the second world")
  }

  @Test("An app that a task creates inside of run uses its device")
  func scopedTask() async {
    let world = World(seed: 1)
    Self.strap(in: world)
    let device = world.makeDevice(named: "phone")
    let isThere = await device.run {
      await Task {
        let app = Scanner()
        await world.run(for: .seconds(1))
        return app.names == ["Heart Rate"]
      }.value
    }
    #expect(isThere)
  }

  @Test("An app that names no adapter uses the default device, until it is removed or replaced")
  func processDefault() async {
    await #expect(processExitsWith: .success) {
      let (first, second) = (World(seed: 1), World(seed: 2))
      for world in [first, second] { Self.strap(in: world) }
      first.makeDefault(first.makeDevice(named: "phone"))
      let early = Scanner()
      second.makeDefault(second.makeDevice(named: "phone"))
      let late = Scanner()
      World.removeDefault()
      let alone = Scanner()
      await first.run(for: .seconds(1))
      #expect(early.names == ["Heart Rate"])
      #expect(late.names.isEmpty, "its world has not run")
      await second.run(for: .seconds(1))
      #expect(late.names == ["Heart Rate"])
      #expect(alone.names.isEmpty)
    }
  }

  @Test("A manager that is alone in its world logs a hint, once in a process; managers with a named adapter log none")
  func solitude() async {
    await #expect(processExitsWith: .success) {
      unsetenv("COREBLUETOOTH_ADAPTER")
      unsetenv("COREBLUETOOTH_WORLD")
      let log = LogRecorder()
      let hint = "this program uses a simulated adapter with no other device in range."
      let world = World(seed: 1)
      let phone = world.makeDevice(named: "phone")
      let queue = DispatchQueue(label: "apps")
      var managers: [CBManager] = [
        CBCentralManager(delegate: nil, queue: queue, options: [CBManagerOptionAdapterKey: phone]),
        CBPeripheralManager(delegate: nil, queue: queue, options: [CBManagerOptionAdapterKey: "virtual"]),
      ]
      world.makeDefault(phone)
      managers.append(CBCentralManager(delegate: nil, queue: queue))
      World.removeDefault()
      setenv("COREBLUETOOTH_ADAPTER", "virtual", 1)
      managers.append(CBPeripheralManager(delegate: nil, queue: queue))
      #expect(log.lines(containing: hint).isEmpty)

      unsetenv("COREBLUETOOTH_ADAPTER")
      managers.append(CBCentralManager(delegate: nil, queue: queue))
      #expect(log.levels(ofLinesContaining: hint) == ["notice"])
      let line = log.lines(containing: hint).first ?? ""
      for way in ["World.makeDefault", "COREBLUETOOTH_WORLD", "COREBLUETOOTH_ADAPTER", "hci:0"] {
        #expect(line.contains(way))
      }
      managers.append(CBPeripheralManager(delegate: nil, queue: queue))
      managers.append(CBCentralManager(delegate: nil, queue: queue))
      #expect(log.lines(containing: hint).count == 1)
      withExtendedLifetime(managers) {}
    }
  }

  @Test("A device can be the default of its own world only")
  func wrongWorld() async {
    await #expect(processExitsWith: .failure) {
      let device = World(seed: 1).makeDevice(named: "phone")
      World(seed: 2).makeDefault(device)
    }
  }
}
