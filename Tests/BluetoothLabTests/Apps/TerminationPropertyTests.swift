import BluetoothLab
import CoreBluetooth
import Testing

/// Sessions whose app is terminated after each of its callbacks.
@Suite("Terminations at every step")
struct TerminationPropertyTests {
  /// The energy in a Heart Rate Measurement, which the belt increases by one with each value.
  private func energy(_ value: Data) -> Int { Int(value[value.startIndex + 2]) | Int(value[value.startIndex + 3]) << 8 }

  @Test("A central app that is terminated after any callback gets every later callback once", arguments: 1...9)
  func central(step: Int) throws {
    let world = World(seed: 11)
    var options = DeviceOptions()
    options.policy = .ios
    let phone = world.makeDevice(named: "phone", options)
    var roots: [BeltApp] = []
    let app = phone.app(named: "com.example.belt", manifest: .described([.central])) { _ in
      let root = BeltApp(in: world)
      roots.append(root)
      return root
    }
    _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    app.launch()
    let first = roots[0]
    let reached = world.run(until: { first.events.count >= step }, limit: .seconds(20))
    #expect(reached)
    #expect(first.events.count == step)
    app.terminate()
    world.run(for: .seconds(20))

    #expect(roots.count == 2)
    #expect(first.events.count == step, "the terminated app gets nothing")
    let told = roots.flatMap(\.events)
    for event in ["discovered", "connected", "services", "characteristics", "notifying true"] {
      #expect(told.count { $0 == event } == 1, "\(event)")
    }
    #expect(roots[1].events.prefix(2) == ["restored", "state poweredOn"])
    let energies = roots.flatMap(\.values).map { energy($0) }
    #expect(energies.count > 15)
    #expect(energies == Array(energies[0]..<energies[0] + energies.count), "each value once, in order")
    #expect(phone.statistics.links.count == 1, "one link throughout")
  }

  @Test("A terminated peripheral app has every accepted update sent once, in order", arguments: 0...20)
  func updates(count: Int) throws {
    let stage = PeripheralAppTests.Stage()
    let lock = try stage.launchAndConnect()
    try stage.central.setNotify(for: LockApp.value.uuidString, of: lock)
    stage.run(1)
    let root = try #require(stage.app.root)
    let characteristic = try #require(root.characteristic)
    for number in 0..<count {
      let isAccepted = root.manager.updateValue(
        Data([UInt8(number)]), for: characteristic, onSubscribedCentrals: nil)
      #expect(isAccepted)
    }
    stage.app.terminate()
    stage.run(5)
    #expect(stage.central.values(of: LockApp.value) == (0..<count).map { [UInt8($0)] })
    // The next request launches the app, whose manager can send again.
    #expect(try stage.central.read(LockApp.value.uuidString, of: lock) == [7])
    let restored = try #require(stage.app.root)
    let value = try #require(restored.characteristic)
    #expect(restored.manager.updateValue(Data([99]), for: value, onSubscribedCentrals: nil))
    stage.run(1)
    #expect(stage.central.values(of: LockApp.value).last == [99])
  }

  @Test(
    "G039 After restoration canSendWriteWithoutResponse is exact: true means sent, false is followed by the callback")
  func writesAfterRestoration() throws {
    let world = World(seed: 12)
    var options = DeviceOptions()
    options.policy = .ios
    let phone = world.makeDevice(named: "phone", options)
    let app = phone.app(named: "writer", manifest: .described([.central])) { _ in Writer() }
    let lamp = TestPeripheral(on: world.makeDevice(named: "lamp", at: Position(x: 1)))
    let value = CBMutableCharacteristic(
      type: LockApp.value, properties: [.writeWithoutResponse, .notify], value: nil, permissions: .writeable)
    try lamp.publish(LockApp.service.uuidString, [value], name: "Lamp")
    app.launch()
    try world.expect("the app knows the characteristic") { app.root?.characteristic != nil }

    func received() -> Int { lamp.recorder.events.count { if case .writeRequested = $0 { true } else { false } } }

    let before = app.root?.fill() ?? 0
    #expect(before == 20)
    app.terminate()
    // The connection goes on; the loss of the link launches the app in the end.
    app.launch()
    try world.expect("the app is restored") { app.root?.isRestored == true }
    let root = try #require(app.root)
    try world.expect("the state has been told") { root.manager.state == .poweredOn }
    let after = root.fill()
    #expect(after == 20)
    #expect(root.lock?.canSendWriteWithoutResponse == false)
    try world.expect("there is room again") { root.isReady }
    #expect(root.lock?.canSendWriteWithoutResponse == true)
    world.run(for: .seconds(2))
    #expect(received() == before + after, "no write is lost or sent twice")
  }
}

/// An app that writes without response to a lamp.
private final class Writer: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  /// Writes as long as `canSendWriteWithoutResponse` allows, and returns the number of writes.
  func fill() -> Int {
    var count = 0
    guard let lock, let characteristic else { return 0 }
    while lock.canSendWriteWithoutResponse, count < 100 {
      lock.writeValue(Data([UInt8(count)]), for: characteristic, type: .withoutResponse)
      count += 1
    }
    return count
  }

  var manager: CBCentralManager!
  var lock: CBPeripheral?
  var characteristic: CBCharacteristic?
  var isReady = false
  var isRestored = false

  override init() {
    super.init()
    manager = CBCentralManager(
      delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "writer"])
  }
  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    isRestored = true
    lock = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
    lock?.delegate = self
    characteristic = lock?.services?.first?.characteristics?.first
  }
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn, !isRestored { central.scanForPeripherals(withServices: [LockApp.service]) }
  }
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    lock = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices(nil)
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
  }
  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) { characteristic = service.characteristics?.first }
  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { isReady = true }
}
