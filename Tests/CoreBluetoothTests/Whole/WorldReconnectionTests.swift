import BluetoothLab
import CoreBluetooth
import Testing

/// The attributes that an app has discovered, after the system has re-established the link.
@Suite("Automatic reconnection") struct WorldReconnectionTests {
  private let air = TwoDeviceFixture()
  private let app = NewCentralApp()

  /// Connects with automatic reconnection, and discovers the only characteristic. Both devices then rest for `rest`.
  private func ready(rest: Duration = .seconds(5)) -> (peripheral: CBPeripheral, value: CBCharacteristic) {
    let peripheral = air.discover()
    air.central.delegate = app
    peripheral.delegate = app
    air.central.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
    expect("connected")
    peripheral.discoverServices(nil)
    expect("services")
    peripheral.discoverCharacteristics(nil, for: peripheral.services![0])
    expect("characteristics")
    air.world.run(for: rest)
    return (peripheral, peripheral.services![0].characteristics![0])
  }

  /// Runs until the phone's app gets `event`, and discards the events up to it.
  private func expect(_ event: String, location: SourceLocation = #_sourceLocation) {
    let came = air.world.run(until: { app.events.contains { $0.hasPrefix(event) } }, limit: .seconds(30))
    #expect(came, "\(event) did not come, but \(app.events)", sourceLocation: location)
    _ = app.take()
  }

  /// Moves the sensor out of range until the link is lost; `change` happens meanwhile.
  private func loseLink(_ change: () -> Void = {}) {
    air.sensor.move(to: Position(x: 5_000))
    expect("new disconnected connecting")
    change()
    air.sensor.move(to: Position(x: 1))
    expect("connected")
  }

  /// Replaces the sensor's service by one with another characteristic.
  private func replaceService() {
    let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
    service.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: "FFE1"), properties: .read, value: Data([99]), permissions: .readable)
    ]
    air.peripheralManager.remove(air.localService)
    air.peripheralManager.add(service)
    air.world.run(for: .milliseconds(10))
  }

  @Test("3.11 Services are kept over an automatic reconnection; subscriptions are not")
  func kept() {
    let (peripheral, value) = ready()
    let service = peripheral.services?.first
    peripheral.setNotifyValue(true, for: value)
    expect("notifying true")
    loseLink()
    #expect(peripheral.services?.first === service && peripheral.services?.count == 1)
    #expect(!value.isNotifying)
    peripheral.readValue(for: value)
    expect("value [104, 101, 108, 108, 111]")
    peripheral.setNotifyValue(true, for: value)
    expect("notifying true")
    #expect(value.isNotifying)
    // The check of the database finds nothing to report.
    air.world.run(for: .seconds(10))
    #expect(app.events.isEmpty)
  }

  @Test("3.11 Services are kept while the system reconnects, and over a second loss before anything is discovered")
  func keptTwice() {
    let (peripheral, value) = ready()
    let service = peripheral.services?.first
    for _ in 0..<2 { loseLink { #expect(peripheral.services?.first === service) } }
    peripheral.readValue(for: value)
    expect("value [104, 101, 108, 108, 111]")
  }

  @Test(
    "3.11 A service that has changed before an automatic reconnection is reported as modified",
    arguments: [Duration.zero, .seconds(5)])
  func changed(rest: Duration) {
    let (peripheral, _) = ready(rest: rest)
    let service = peripheral.services?.first
    loseLink(replaceService)
    expect("modified")
    #expect(app.invalidated.count == 1 && app.invalidated.first === service)
    #expect(peripheral.services?.isEmpty == true)
    peripheral.discoverServices(nil)
    expect("services")
    #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFE0"])
  }

  @Test(
    "3.11 A discovery after an automatic reconnection finds what the peer has now",
    arguments: [Duration.zero, .seconds(5)])
  func discoveredAgain(rest: Duration) {
    let (peripheral, _) = ready(rest: rest)
    air.sensor.move(to: Position(x: 5_000))
    expect("new disconnected connecting")
    replaceService()
    app.onEvent = { event in if event.hasPrefix("connected") { peripheral.discoverServices(nil) } }
    air.sensor.move(to: Position(x: 1))
    let came = air.world.run(until: { app.events.contains("services") }, limit: .seconds(30))
    #expect(came)
    #expect(app.events == ["connected connected", "modified [\"\(TwoDeviceFixture.service.uuidString)\"]", "services"])
    #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFE0"])
  }

  @Test("3.11 Services end with a link that the system does not re-establish")
  func ended() {
    let (peripheral, _) = ready()
    air.sensor.move(to: Position(x: 5_000))
    expect("new disconnected connecting")
    air.central.cancelPeripheralConnection(peripheral)
    expect("new disconnected disconnected")
    #expect(peripheral.services == nil)
    air.sensor.move(to: Position(x: 1))
    air.central.connect(peripheral)
    expect("connected")
    #expect(peripheral.services == nil)
  }

  @Test("3.11 With the older method, nothing is re-established and no service is kept")
  func olderMethod() {
    let (peripheral, _) = ready()
    air.central.delegate = air.app
    _ = air.app.take()
    var services: [[CBService]?] = []
    air.app.onEvent = { event in if event.hasPrefix("disconnected") { services.append(peripheral.services) } }
    air.sensor.move(to: Position(x: 5_000))
    air.expect("disconnected disconnected")
    #expect(services.count == 1 && services.first == .some(nil))
    #expect(peripheral.services == nil)
  }
}
