import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@Suite struct WorldConnectionEventTests {
  private let fixture = TwoDeviceFixture()
  private let watcher = CentralApp()
  private let manager: CBCentralManager

  init() {
    let manager = CBCentralManager(
      delegate: watcher, queue: fixture.queue, options: [CBManagerOptionAdapterKey: fixture.phone])
    fixture.world.run(until: { manager.state == .poweredOn })
    _ = watcher.take()
    self.manager = manager
  }

  @Test(
    "3.13 A registered manager is told of the connections of other managers, once each, and of their ends",
    .requirement("A031"),
    .symbol(
      "CBConnectionEvent.peerDisconnected", "CBConnectionEvent.peerConnected",
      "CBConnectionEventMatchingOption.peripheralUUIDs",
      "CBCentralManagerDelegate.centralManager(_:connectionEventDidOccur:for:)"))
  func byIdentifier() {
    let peripheral = fixture.discover()
    manager.registerForConnectionEvents(options: [.peripheralUUIDs: [peripheral.identifier]])
    fixture.central.connect(peripheral)
    fixture.expect("connected")
    // Background discovery finds the services meanwhile.
    fixture.world.run(for: .seconds(2))
    #expect(watcher.take() == ["event peerConnected"])
    #expect(watcher.found.first?.identifier == peripheral.identifier)
    #expect(watcher.found.first?.state == .disconnected, "it is not connected to this manager")
    fixture.central.cancelPeripheralConnection(peripheral)
    fixture.expect("disconnected")
    #expect(watcher.take() == ["event peerDisconnected"])
  }

  @Test(
    "3.13 A manager that registered for a service is told when the peer is known to offer it",
    .symbol("CBConnectionEventMatchingOption.serviceUUIDs"))
  func byService() {
    manager.registerForConnectionEvents(options: [.serviceUUIDs: [TwoDeviceFixture.service]])
    let peripheral = fixture.connect()
    #expect(watcher.take() == ["event peerConnected"])
    fixture.sensor.setPower(false)
    fixture.world.run(for: .seconds(5))
    #expect(peripheral.state == .disconnected)
    #expect(watcher.take() == ["event peerDisconnected"])
  }

  @Test(
    "3.13 A manager gets no connection events for its own connections, for others than it named, and after nil",
    .requirement("A026"), .symbol("CBCentralManager.registerForConnectionEvents(options:)"))
  func noEvents() {
    let peripheral = fixture.discover()
    manager.registerForConnectionEvents(options: [.peripheralUUIDs: [UUID()], .serviceUUIDs: [CBUUID(string: "180D")]])
    fixture.central.registerForConnectionEvents(options: [.peripheralUUIDs: [peripheral.identifier]])
    fixture.central.connect(peripheral)
    fixture.expect("connected")
    manager.registerForConnectionEvents(options: [.peripheralUUIDs: [peripheral.identifier]])
    manager.registerForConnectionEvents()
    fixture.world.run(for: .seconds(1))
    fixture.central.cancelPeripheralConnection(peripheral)
    fixture.expect("disconnected")
    fixture.world.run(for: .seconds(1))
    #expect(watcher.take().isEmpty)
    #expect(!fixture.app.take().contains { $0.hasPrefix("event") })
  }

  @Test(
    "3.13 A manager that registers while a link exists is told of the link's end, and not of its beginning",
    .requirement("A026"), .symbol("CBCentralManager.registerForConnectionEvents(options:)"))
  func registersLate() {
    let peripheral = fixture.connect()
    manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(string: "180D")]])
    manager.registerForConnectionEvents(options: [.serviceUUIDs: [TwoDeviceFixture.service]])
    fixture.world.run(for: .seconds(2))
    #expect(watcher.take().isEmpty)
    fixture.central.cancelPeripheralConnection(peripheral)
    fixture.expect("disconnected")
    #expect(watcher.take() == ["event peerDisconnected"])
    // The next link has both events.
    fixture.central.connect(peripheral)
    fixture.expect("connected")
    fixture.central.cancelPeripheralConnection(peripheral)
    fixture.expect("disconnected")
    #expect(watcher.take() == ["event peerConnected", "event peerDisconnected"])
  }

  @Test("3.13 A manager that connects itself to the peer gets its own disconnection, and no connection event for it")
  func joins() throws {
    let peripheral = fixture.discover()
    manager.registerForConnectionEvents(options: [.peripheralUUIDs: [peripheral.identifier]])
    fixture.central.connect(peripheral)
    fixture.expect("connected")
    fixture.world.run(for: .seconds(1))
    let found = try #require(watcher.found.first)
    manager.connect(found)
    fixture.world.run(for: .seconds(1))
    #expect(watcher.take() == ["event peerConnected", "connected connected"])
    fixture.sensor.setPower(false)
    fixture.world.run(for: .seconds(5))
    #expect(watcher.take() == ["disconnected disconnected failed"])
  }
}
