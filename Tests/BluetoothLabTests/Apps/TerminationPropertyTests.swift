import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// Sessions whose app is terminated after each of its callbacks.
@Suite("Terminations at every step")
struct TerminationPropertyTests {
  /// The energy in a Heart Rate Measurement, which the belt increases by one with each value.
  private func energy(_ value: Data) -> Int { Int(value[value.startIndex + 2]) | Int(value[value.startIndex + 3]) << 8 }

  @Test(
    "A central app that is terminated after any callback gets every later callback once", .requirement("L054"),
    arguments: 1...9)
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
    "A peripheral app that is terminated with a full queue is told once, after its launch, that there is room",
    .requirement("L054"))
  func refusedUpdate() throws {
    let stage = PeripheralAppTests.Stage()
    let lock = try stage.launchAndConnect()
    try stage.central.setNotify(for: LockApp.value.uuidString, of: lock)
    stage.run(1)
    let root = try #require(stage.app.root)
    let characteristic = try #require(root.characteristic)
    func accepted(by app: LockApp, from first: Int) throws -> [UInt8] {
      let characteristic = try #require(app.characteristic)
      var accepted: [UInt8] = []
      while accepted.count < 100 {
        let value = UInt8(first + accepted.count)
        guard app.manager.updateValue(Data([value]), for: characteristic, onSubscribedCentrals: nil) else { break }
        accepted.append(value)
      }
      return accepted
    }
    #expect(characteristic.uuid == LockApp.value)
    let before = try accepted(by: root, from: 0)
    #expect(before.count == 20)
    stage.app.terminate()
    stage.run(5)
    #expect(stage.central.values(of: LockApp.value) == before.map { [$0] })
    let restored = try #require(stage.app.root)
    #expect(restored !== root)
    #expect(restored.events == ["restored", "state poweredOn", "ready"])
    let after = try accepted(by: restored, from: 100)
    #expect(after.count == 20)
    stage.run(5)
    #expect(stage.central.values(of: LockApp.value) == (before + after).map { [$0] })
    #expect(restored.count(of: "ready") == 2)
    #expect(root.count(of: "ready") == 0, "the terminated app gets nothing")
  }

  @Test(
    "A central app that is terminated at any step has each write sent once and is told of it once",
    .requirement("L054"), arguments: 1...13)
  func writes(step: Int) throws {
    let world = World(seed: 13)
    var options = DeviceOptions()
    options.policy = .ios
    let phone = world.makeDevice(named: "phone", options)
    let log = DimmerLog()
    let app = phone.app(named: "com.example.dimmer", manifest: .described([.central])) { _ in DimmerApp(log) }
    let lamp = TestPeripheral(on: world.makeDevice(named: "lamp", at: Position(x: 1)))
    let value = CBMutableCharacteristic(
      type: LockApp.value, properties: .write, value: nil, permissions: .writeable)
    try lamp.publish(LockApp.service.uuidString, [value], name: "Lamp")
    app.launch()
    let reached = world.run(until: { log.events.count >= step }, limit: .seconds(20))
    #expect(reached)
    #expect(log.events.count == step)
    let first = try #require(app.root)
    first.isTerminated = true
    app.terminate()
    world.run(for: .seconds(20))
    #expect(log.events.prefix(4) == ["discovered", "connected", "services", "characteristics"])
    #expect(log.events.dropFirst(4) == (0..<10).map { "written \($0)" }[...])
    #expect(log.restorations == 1)
    #expect(lamp.writes == Array(0..<10))
    #expect(phone.statistics.links.count == 1, "one link throughout")
  }

  @Test("A channel of a terminated app ends at both sides, after the octets that the app had sent", arguments: 0...3)
  func channel(count: Int) throws {
    let world = World(seed: 14)
    var options = DeviceOptions()
    options.policy = .ios
    let phone = world.makeDevice(named: "phone", options)
    let lamp = TestPeripheral(on: world.makeDevice(named: "lamp", at: Position(x: 1)))
    try lamp.publish(LockApp.service.uuidString, [], name: "Lamp")
    let psm = try lamp.publishChannel()
    var roots: [ChannelApp] = []
    let app = phone.app(named: "com.example.channel", manifest: .described([.central])) { _ in
      let root = ChannelApp(psm)
      roots.append(root)
      return root
    }
    app.launch()
    // Without octets the app is terminated while the channel is being opened.
    try world.expect("the app opens the channel") { roots[0].hasRequestedChannel }
    if count > 0 {
      try world.expect("the channel is open") { roots[0].channel != nil }
      // Some of the octets are on their way, and most of them wait in the app's stream.
      for number in 0..<count { roots[0].send(Array(repeating: UInt8(number), count: 2_000)) }
      world.run(for: .milliseconds(10 * count))
    }
    app.terminate()
    world.run(for: .seconds(5))
    #expect(phone.statistics.links.count == 1)
    #expect(phone.statistics.links.first?.isConnected == true, "the link of the preserved session stays")
    if count > 0 { #expect(roots[0].channel?.outputStream.streamStatus == .atEnd) }
    for accepted in lamp.recorder.channels {
      accepted.inputStream.open()
      var received: [UInt8] = []
      var octets = [UInt8](repeating: 0, count: 1_000)
      var length = accepted.inputStream.read(&octets, maxLength: octets.count)
      while length > 0, received.count < 10_000 {
        received += octets.prefix(length)
        length = accepted.inputStream.read(&octets, maxLength: octets.count)
      }
      let sent = (0..<count).flatMap { Array(repeating: UInt8($0), count: 2_000) }
      #expect(received == sent, "every octet that the stream had accepted, once and in order")
      #expect(accepted.inputStream.streamStatus == .atEnd)
    }
    #expect(lamp.recorder.channels.count <= 1)
    if count > 0 { #expect(lamp.recorder.channels.count == 1) }
    // The next event launches the app, whose channel is gone; it can open another one.
    app.launch()
    try world.expect("the app is restored") { roots.count == 2 && roots[1].isRestored }
    #expect(roots[1].channel == nil)
    try world.expect("the state has been told") { roots[1].manager.state == .poweredOn }
    roots[1].openChannel()
    try world.expect("another channel is open") { roots[1].channel != nil }
    #expect(roots[1].openings == 1, "no opening of the former process is told")
  }

  @Test(
    "G039 After restoration canSendWriteWithoutResponse is exact: true means sent, false is followed by the callback",
    .requirement("G039"),
    arguments: [0, 1, 7, 19, 20])
  func writesAfterRestoration(count: Int) throws {
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

    let before = app.root?.fill(upTo: count) ?? 0
    #expect(before == count)
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
    let sent = Array(0..<UInt8(before)) + Array(0..<UInt8(after))
    #expect(lamp.writes == sent, "no write is lost or sent twice")
  }
}

extension TestPeripheral {
  /// The first octets of the values that were written, in order.
  fileprivate var writes: [UInt8] {
    events.compactMap { if case .writeRequested(_, let value, offset: _) = $0 { value.first } else { nil } }
  }
}

/// The callbacks of all processes of a `DimmerApp`.
private final class DimmerLog {
  var events: [String] = []
  var restorations = 0
  /// The number of writes whose results were told.
  var acknowledged: UInt8 = 0
}

/// An app that writes ten values with response, each after the result of the one before. After a relaunch it goes on
/// with what the system tells it.
private final class DimmerApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let log: DimmerLog
  private var manager: CBCentralManager!
  private var peripheral: CBPeripheral?
  /// True if the process has ended and must get no callback.
  var isTerminated = false

  init(_ log: DimmerLog) {
    self.log = log
    super.init()
    manager = CBCentralManager(
      delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "dimmer"])
  }

  private func note(_ event: String, _ error: (any Error)? = nil) {
    let suffix = (error == nil ? "" : " failed") + (isTerminated ? " after the termination" : "")
    log.events.append(event + suffix)
  }

  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    log.restorations += 1
    peripheral = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
    peripheral?.delegate = self
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn, log.restorations == 0 else { return }
    central.scanForPeripherals(withServices: [LockApp.service])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard self.peripheral == nil else { return }
    note("discovered")
    central.stopScan()
    self.peripheral = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note("connected")
    peripheral.discoverServices([LockApp.service])
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    note("services", error)
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    note("characteristics", error)
    for characteristic in service.characteristics ?? [] { writeNext(to: characteristic, of: peripheral) }
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    note("written \(log.acknowledged)", error)
    log.acknowledged += 1
    if log.acknowledged < 10 { writeNext(to: characteristic, of: peripheral) }
  }

  private func writeNext(to characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
    peripheral.writeValue(Data([log.acknowledged]), for: characteristic, type: .withResponse)
  }
}

/// An app that opens a channel to a lamp.
private final class ChannelApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let psm: CBL2CAPPSM
  private(set) var manager: CBCentralManager!
  private(set) var peripheral: CBPeripheral?
  private(set) var channel: CBL2CAPChannel?
  private(set) var hasRequestedChannel = false
  private(set) var isRestored = false
  /// The number of callbacks about channels.
  private(set) var openings = 0

  init(_ psm: CBL2CAPPSM) {
    self.psm = psm
    super.init()
    manager = CBCentralManager(
      delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "channel"])
  }

  func openChannel() {
    hasRequestedChannel = true
    peripheral?.openL2CAPChannel(psm)
  }

  func send(_ octets: [UInt8]) {
    channel?.outputStream.open()
    #expect(channel?.outputStream.write(octets, maxLength: octets.count) == octets.count)
  }

  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    isRestored = true
    peripheral = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
    peripheral?.delegate = self
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn, !isRestored else { return }
    central.scanForPeripherals(withServices: [LockApp.service])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    self.peripheral = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { openChannel() }

  func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    openings += 1
    self.channel = channel
  }
}

/// An app that writes without response to a lamp.
private final class Writer: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  /// Writes as long as `canSendWriteWithoutResponse` allows, and returns the number of writes.
  func fill(upTo maximum: Int = 100) -> Int {
    var count = 0
    guard let lock, let characteristic else { return 0 }
    while lock.canSendWriteWithoutResponse, count < maximum {
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
