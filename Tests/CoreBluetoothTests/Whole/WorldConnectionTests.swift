import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@Suite struct WorldConnectionTests {
  @Test(
    "1.2 Callbacks run on the manager's queue", .requirement("A078"),
    .symbol("CBCentralManager.init(delegate:queue:options:)"))
  func queue() {
    let world = World(seed: 1)
    let queue = DispatchQueue(label: "mine")
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 42)
    let app = CentralApp()
    var seen: Int?
    app.onEvent = { _ in seen = DispatchQueue.getSpecific(key: key) }
    let manager = CBCentralManager(
      delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
    world.run(until: { manager.state == .poweredOn })
    #expect(seen == 42)
  }

  @Test("1.2 A nil queue is the main queue", .requirement("A078"))
  func mainQueue() {
    let world = World(seed: 1)
    let app = CentralApp()
    app.onEvent = { _ in dispatchPrecondition(condition: .onQueue(.main)) }
    let manager = CBCentralManager(
      delegate: app, queue: nil, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
    world.run(until: { manager.state == .poweredOn })
    #expect(app.events == ["state poweredOn"])
  }

  @Test("1.2 A block on the manager's own queue may run the world")
  func runOnTheQueue() {
    let world = World(seed: 1)
    let queue = DispatchQueue(label: "mine")
    let app = CentralApp()
    queue.sync {
      let manager = CBCentralManager(
        delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
      world.run(until: { manager.state == .poweredOn })
    }
    #expect(app.events == ["state poweredOn"])
  }

  @Test(
    "3.1 A connection to an absent peripheral completes when it returns, however late", .requirement("A030", "G049"),
    .symbol("CBCentralManager.connect(_:options:)"))
  func pending() {
    let air = TwoDeviceFixture()
    let peripheral = air.discover()
    air.sensor.move(to: Position(x: 5000))
    air.central.connect(peripheral)
    air.world.run(for: .seconds(300))
    #expect(air.app.take().isEmpty)
    #expect(peripheral.state == .connecting)
    air.sensor.move(to: Position(x: 1))
    air.expect("connected connected")
  }

  @Test(
    "3.1 A controller's refusal to connect is reported with didFailToConnect, and the app may try again",
    .requirement("A030"), .symbol("CBCentralManagerDelegate.centralManager(_:didFailToConnect:error:)"))
  func refused() {
    // The seed selects the changed bit of the command's parameters: with this one the parameters are invalid.
    let air = TwoDeviceFixture(seed: 2)
    let peripheral = air.discover()
    air.world.run(for: .seconds(1))
    air.phone.add([.hci(.corrupt, HCIMatch(.command(0x2043)), .number(1))])
    air.central.connect(peripheral)
    air.world.run(until: { peripheral.state == .disconnected }, limit: .seconds(5))
    #expect(air.world.faultEvents.count == 1)
    #expect(air.app.take() == ["not connected failed"])
    #expect(air.app.lastError?.code == .connectionFailed)
    #expect(air.app.lastError?.userInfo[CBErrorHCIErrorCodeKey] as? Int == 0x12, "Invalid HCI Command Parameters")
    air.world.run(for: .seconds(5))
    #expect(air.app.take().isEmpty, "the system does not try again by itself")
    air.central.connect(peripheral)
    air.expect("connected connected")
  }

  @Test("3.2 Releasing the peripheral ends the link", .requirement("G021"))
  func release() {
    let air = TwoDeviceFixture()
    var ready: (peripheral: CBPeripheral, characteristic: CBCharacteristic)? = air.ready()
    ready?.peripheral.setNotifyValue(true, for: ready!.characteristic)
    air.expect("notifying true")
    ready = nil
    air.expectOfAccessory("unsubscribed FFF1")
    #expect(air.app.take() == ["disconnected disconnected"])
  }

  @Test("3.4 A second manager of the same device connects quickly over the existing link", .requirement("G023"))
  func shared() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    let other = CentralApp()
    let manager = CBCentralManager(
      delegate: other, queue: air.queue, options: [CBManagerOptionAdapterKey: air.phone])
    air.world.run(until: { manager.state == .poweredOn })
    let twin = manager.retrievePeripherals(withIdentifiers: [peripheral.identifier])[0]
    #expect(twin.state == .disconnected)
    let before = air.world.now
    manager.connect(twin)
    #expect(air.world.run(until: { twin.state == .connected }, limit: .seconds(5)))
    #expect(air.world.now - before < .milliseconds(1))

    manager.cancelPeripheralConnection(twin)
    air.world.run(until: { twin.state == .disconnected })
    #expect(other.take().suffix(1) == ["disconnected disconnected"])
    #expect(peripheral.state == .connected, "the physical link stays for the other manager")
  }

  @Test(
    "3.6 Cancelling ends in didDisconnect without an error, for a live and for a pending connection",
    .requirement("A030", "G027"), .symbol("CBCentralManager.cancelPeripheralConnection(_:)"))
  func cancel() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    air.central.cancelPeripheralConnection(peripheral)
    air.world.run(until: { !self.isLinked(peripheral) })
    #expect(air.app.take() == ["disconnected disconnected"])
    air.sensor.move(to: Position(x: 5000))
    air.central.connect(peripheral)
    air.world.run(for: .seconds(1))
    air.central.cancelPeripheralConnection(peripheral)
    air.world.run(until: { !self.isLinked(peripheral) })
    #expect(air.app.take() == ["disconnected disconnected"])
  }

  private func isLinked(_ peripheral: CBPeripheral) -> Bool { peripheral.state != .disconnected }

  @Test(
    "3.7 Out of range the link times out after the supervision timeout", .requirement("A068"),
    .symbol("CBCentralManagerDelegate.centralManager(_:didDisconnectPeripheral:error:)"))
  func supervision() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    air.sensor.move(to: Position(x: 5000))
    let before = air.world.now
    air.world.run(until: { !self.isLinked(peripheral) })
    #expect(air.app.take() == ["disconnected disconnected failed"])
    #expect(air.app.lastError?.code == .connectionTimeout)
    #expect(air.app.lastError?.userInfo[CBErrorHCIErrorCodeKey] as? Int == 0x08)
    #expect(air.world.now - before < .seconds(3))
  }

  @Test("3.7 A link lost right after its creation times out")
  func notEstablished() {
    let air = TwoDeviceFixture()
    let peripheral = air.discover()
    air.central.connect(peripheral)
    air.expect("connected")
    air.sensor.move(to: Position(x: 5000))
    air.world.run(until: { !self.isLinked(peripheral) })
    #expect(air.app.take() == ["disconnected disconnected failed"])
    #expect(air.app.lastError?.code == .connectionTimeout)
  }

  @Test("3.7 A peripheral that is switched off ends the link")
  func peerPowerOff() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    air.sensor.setPower(false)
    air.world.run(until: { !self.isLinked(peripheral) })
    #expect(air.app.take() == ["disconnected disconnected failed"])
    #expect(air.app.lastError?.code == .peripheralDisconnected)
    #expect(
      air.app.lastError?.userInfo[CBErrorHCIErrorCodeKey] as? Int == 0x15, "Remote Device Terminated due to Power Off")
    #expect(air.accessory.events.suffix(1) == ["state poweredOff"])
  }

  @Test("1.5 Switching the phone off reports only the state to its app")
  func ownPowerOff() {
    let air = TwoDeviceFixture()
    let (peripheral, _) = air.ready()
    air.phone.setPower(false)
    air.world.run(for: .seconds(3))
    #expect(air.app.take() == ["state poweredOff"])
    #expect(peripheral.state == .disconnected)
    #expect(peripheral.services == nil)
    air.phone.setPower(true)
    air.expect("state poweredOn")
    air.central.connect(peripheral)
    air.expect("connected connected")
  }

  @Test("1.5 A connection request during a controller reset is dropped, and the peripheral can be discovered again")
  func connectAcrossReset() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    air.app.onEvent = { event in
      // For the app the manager's state is still poweredOn.
      if event.hasPrefix("disconnected") { air.central.connect(peripheral) }
      if event == "state poweredOn" { air.central.scanForPeripherals(withServices: [TwoDeviceFixture.service]) }
    }
    air.phone.add([.device(.resetController, when: .at(air.world.now + .seconds(1)))])
    air.world.run(for: .seconds(5))
    #expect(air.app.found.count == 1)
    #expect(air.world.statistics["phone"]?.links.filter(\.isConnected).count == 0, "the connect was not dropped")
    air.app.onEvent = { _ in }
    let again = air.app.found[0]
    air.central.connect(again)
    air.expect("connected connected")
  }

  @Test(
    "3.11 A link with auto-reconnect is restored automatically", .symbol("CBConnectPeripheralOptionEnableAutoReconnect")
  )
  func reconnecting() {
    let air = TwoDeviceFixture()
    let peripheral = air.discover()
    let app = NewCentralApp()
    air.central.delegate = app
    air.central.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
    air.world.run(until: { peripheral.state == .connected })
    air.sensor.move(to: Position(x: 5000))
    air.world.run(for: .seconds(10))
    #expect(peripheral.state == .connecting)
    air.sensor.move(to: Position(x: 1))
    air.world.run(until: { peripheral.state == .connected })
    let events = app.take()
    #expect(events.count == 3)
    #expect(events.first == "connected connected" && events.last == "connected connected")
    #expect(events[1].hasPrefix("new disconnected connecting") && events[1].contains("reconnecting true"))
  }

  @Test("3.6 A connection that is wanted again and cancelled again while its link ends is not made")
  func cancelledTwice() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    for _ in 0..<2 {
      air.central.cancelPeripheralConnection(peripheral)
      air.central.connect(peripheral)
    }
    air.central.cancelPeripheralConnection(peripheral)
    air.world.run(for: .seconds(5))
    #expect(air.app.events == ["disconnected disconnected"] && peripheral.state == .disconnected)
    #expect(air.world.statistics.devices.allSatisfy { $0.links.allSatisfy { !$0.isConnected } })
    air.central.connect(peripheral)
    air.expect("connected")
  }

  @Test("3.6 A pending connection that is cancelled and wanted again twice is made when the peripheral appears")
  func pendingCancelledTwice() {
    let air = TwoDeviceFixture()
    let peripheral = air.discover()
    air.sensor.move(to: Position(x: 10_000))
    air.central.connect(peripheral)
    air.world.run(for: .seconds(2))
    for _ in 0..<2 {
      air.central.cancelPeripheralConnection(peripheral)
      air.central.connect(peripheral)
    }
    air.world.run(for: .seconds(5))
    #expect(air.app.take() == ["disconnected connecting"])
    air.sensor.move(to: .origin)
    #expect(air.world.run(until: { !air.app.events.isEmpty }, limit: .seconds(30)))
    #expect(air.app.take() == ["connected connected"])
    air.world.run(for: .seconds(5))
    #expect(!air.app.take().contains { $0.contains("connected") } && peripheral.state == .connected)
  }

  @Test(
    "3.14 A connection attempt waits for its start delay", .requirement("A023"),
    .symbol("CBConnectPeripheralOptionStartDelayKey"))
  func startDelay() {
    let air = TwoDeviceFixture()
    let peripheral = air.discover()
    let before = air.world.now
    air.central.connect(peripheral, options: [CBConnectPeripheralOptionStartDelayKey: 5])
    air.expect("connected")
    #expect(air.world.now - before > .seconds(5))
  }
}
