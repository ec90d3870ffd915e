import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@testable import Patterns

@Suite struct ConnectionTests {
  /// Three advertising lamps and a phone that has discovered them.
  private struct Lamps {
    let world = World(seed: 1)
    let timers: WorldTimers
    let lamps: [TestPeripheral]
    let phone: TestCentral
    let found: [CBPeripheral]

    init() throws {
      timers = WorldTimers(in: world)
      phone = TestCentral(on: world.makeDevice(named: "phone"))
      var (lamps, found): ([TestPeripheral], [CBPeripheral]) = ([], [])
      for name in ["A", "B", "C"] {
        let lamp = TestPeripheral(on: world.makeDevice(named: name, at: Position(x: 2)))
        try lamp.advertise(name)
        lamps.append(lamp)
        found.append(try phone.discover(.named(name)))
      }
      (self.lamps, self.found) = (lamps, found)
    }

    /// A pool that has reached its limit of two links.
    func fullPool() -> ConnectionPool {
      let pool = ConnectionPool(phone.manager, limit: 2, after: timers.after)
      phone.manager.delegate = pool
      for peripheral in found.prefix(2) {
        pool.open(peripheral)
        timers.run(until: { peripheral.state == .connected })
      }
      return pool
    }
  }

  @Test("A pool at its limit drops the oldest link for a new one", .requirement("A075"))
  func limit() throws {
    let air = try Lamps()
    let pool = air.fullPool()
    #expect(pool.connected == Array(air.found[0...1]))
    pool.open(air.found[2])
    #expect(air.timers.run(until: { air.found[2].state == .connected }))
    #expect(pool.connected == Array(air.found[1...2]))
    #expect(air.found.map(\.state) == [.disconnected, .connected, .connected])
  }

  /// An app that finds the lamps.
  private final class Finder: NSObject, CBCentralManagerDelegate {
    private(set) lazy var manager = CBCentralManager(delegate: self, queue: nil)
    private(set) var found: [CBPeripheral] = []

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
      if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
      _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
      rssi: NSNumber
    ) {
      found.append(peripheral)
    }
  }

  @Test("A pool that is told of the system's limit drops the oldest link and connects at once", .requirement("A075"))
  func systemLimit() throws {
    let air = try Lamps()
    // On watchOS an app has two links at most; the pool would keep three.
    var options = DeviceOptions()
    options.policy = .watchos
    let watch = air.world.makeDevice(named: "watch", options)
    let app = watch.app(named: "com.example.lamps", manifest: AppManifest(usageDescription: "to switch lamps")) { _ in
      let finder = Finder()
      _ = finder.manager
      return finder
    }
    app.launch()
    try air.world.expect("the lamps are found") { app.root?.found.count == 3 }
    let finder = try #require(app.root)
    finder.manager.stopScan()
    let pool = ConnectionPool(finder.manager, limit: 3, after: air.timers.after)
    finder.manager.delegate = pool
    let found = finder.found
    for peripheral in found.prefix(2) {
      pool.open(peripheral)
      #expect(air.timers.run(until: { peripheral.state == .connected }))
    }
    let start = air.world.now
    pool.open(found[2])
    #expect(air.timers.run(until: { found[2].state == .connected && found[0].state == .disconnected }))
    #expect(found.map(\.state) == [.disconnected, .connected, .connected])
    #expect(pool.connected == Array(found[1...2]))
    let calls = air.world.trace.of(watch).only(.call).since(start).entries
    #expect(
      calls.map(\.text) == ["connect(_:) peer 2", "cancelPeripheralConnection(_:) peer 0", "connect(_:) peer 2"])
    #expect(calls.allSatisfy { $0.time == start })
  }

  @Test("A pool connects again 2 s after a link has timed out", .requirement("A075"))
  func timeout() throws {
    let air = try Lamps()
    let pool = air.fullPool()
    air.lamps[0].device.add([.device(.mute(for: .seconds(3)), when: .at(air.world.now))])
    #expect(air.timers.run(until: { pool.connected.count == 1 }))
    let lost = air.world.now
    #expect(air.timers.run(until: { pool.connected.count == 2 }))
    let calls = air.world.trace.of(air.phone.device).only(.call).since(lost).entries
    #expect(calls.map { $0.time - lost } == [.seconds(2)])
    #expect(pool.connected == [air.found[1], air.found[0]])
  }

  @Test("A remote control that wakes after two minutes has its link within 0.2 s", .requirement("L165"))
  func remoteControl() throws {
    let air = try Lamp()
    let found = try air.phone.discover("Lamp")
    let connection = KeptConnection(found, of: air.phone.manager)
    air.phone.manager.delegate = connection
    var connections = 0
    connection.onConnect = { connections += 1 }
    connection.start()
    #expect(air.timers.run(until: { connections == 1 }))
    air.lamp.device.setPower(false)
    air.timers.run(limit: .seconds(120))
    #expect(found.state == .connecting)
    air.lamp.device.setPower(true)
    try air.lamp.powerOn()
    let start = air.world.now
    air.lamp.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Lamp"])
    #expect(air.timers.run(until: { connections == 2 }))
    #expect(air.world.now - start < .milliseconds(200), "\(air.world.now - start)")
  }

  @Test("A kept connection is there again after Bluetooth was off, and after a reset", arguments: [false, true])
  func keptAcrossPowerCycle(isReset: Bool) throws {
    let air = try Lamp()
    let connection = KeptConnection(try air.phone.discover("Lamp"), of: air.phone.manager)
    air.phone.manager.delegate = connection
    var connections = 0
    connection.onConnect = { connections += 1 }
    connection.start()
    #expect(air.timers.run(until: { connections == 1 }))
    if isReset {
      air.phone.device.add([.device(.resetController, when: .at(air.world.now))])
    } else {
      air.phone.device.setPower(false)
    }
    air.timers.run(limit: .seconds(3))
    air.phone.device.setPower(true)
    #expect(air.timers.run(until: { connections == 2 }))
    #expect(connection.peripheral.state == .connected)
  }
}
