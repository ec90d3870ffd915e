import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The life and the restoration of apps with peripheral managers.
@Suite("Life of peripheral apps")
struct PeripheralAppTests {
  /// A phone with one app, and a central that can read its value.
  final class Stage {
    let world = World(seed: 5)
    let phone: Device
    let app: SimulatedApp<LockApp>
    let central: TestCentral

    init(policy: PlatformPolicy = .ios, modes: Set<AppManifest.BackgroundMode> = [.peripheral]) {
      var options = DeviceOptions()
      options.policy = policy
      phone = world.makeDevice(named: "phone", options)
      app = phone.app(named: "com.example.lock", manifest: .described(modes)) { _ in LockApp() }
      central = TestCentral(on: world.makeDevice(named: "tablet", at: Position(x: 1)))
    }

    /// Launches the app, and connects the central to it.
    func launchAndConnect() throws -> CBPeripheral {
      app.launch()
      return try central.connect(to: .service(LockApp.service))
    }

    func run(_ seconds: Int) { world.run(for: .seconds(seconds)) }
  }

  @Test("L051 A read of a suspended app's value gets an error at once, and the link stays", .requirement("L051"))
  func suspendedWithoutMode() throws {
    let stage = Stage(modes: [])
    let lock = try stage.launchAndConnect()
    #expect(try stage.central.read(LockApp.value.uuidString, of: lock) == [7])
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    let start = stage.world.now
    let error = #expect(throws: CBATTError.self) { try stage.central.read(LockApp.value.uuidString, of: lock) }
    #expect(error?.code == .unlikelyError)
    #expect(stage.world.now - start < .milliseconds(500))
    #expect(throws: CBATTError.self) { try stage.central.write([1], to: LockApp.value.uuidString, of: lock) }
    #expect(lock.state == .connected)
    #expect(stage.app.root?.count(of: "read") == 1)
    stage.app.enterForeground()
    #expect(try stage.central.read(LockApp.value.uuidString, of: lock) == [7])
  }

  @Test("A089 A read runs a suspended app with the background mode, which answers", .requirement("A089", "L054"))
  func suspendedWithMode() throws {
    let stage = Stage()
    let lock = try stage.launchAndConnect()
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    #expect(stage.app.state == .suspended)
    #expect(try stage.central.read(LockApp.value.uuidString, of: lock) == [7])
    #expect(stage.app.state == .background)
    stage.run(11)
    #expect(stage.app.state == .suspended)
  }

  @Test("L053 An app with both background modes is run by events of both roles", .requirement("L053"))
  func bothModes() throws {
    final class Both {
      let belt: BeltApp
      let lock = LockApp()
      init(in world: World) { belt = BeltApp(in: world) }
    }
    let world = World(seed: 9)
    var options = DeviceOptions()
    options.policy = .ios
    let phone = world.makeDevice(named: "phone", options)
    let app = phone.app(named: "both", manifest: .described([.central, .peripheral])) { _ in Both(in: world) }
    let belt = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    let central = TestCentral(on: world.makeDevice(named: "tablet", at: Position(x: 2)))
    app.launch()
    let lock = try central.connect(to: .service(LockApp.service))
    try central.discoverAttributes(of: lock)
    try world.expect("the app gets a value") { app.root?.belt.values.isEmpty == false }
    belt.update { $0.interval = .seconds(40) }
    world.run(for: .seconds(2))
    func suspend() {
      app.enterBackground()
      world.run(for: .milliseconds(100))
      app.suspend()
      world.run(for: .milliseconds(100))
      #expect(app.state == .suspended)
    }
    suspend()
    #expect(try central.read(LockApp.value.uuidString, of: lock) == [7])
    #expect(app.state == .background)
    suspend()
    let count = app.root?.belt.values.count ?? 0
    try world.expect("a value runs the app") { app.root?.belt.values.count == count + 1 }
    #expect(app.state == .background)
  }

  @Test(
    "A091 A request that the app does not answer in its 10 s times out after 30 s, as ATT says", .requirement("A091"))
  func unanswered() throws {
    let stage = Stage()
    let lock = try stage.launchAndConnect()
    stage.app.root?.answers = false
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    let start = stage.world.now
    stage.central.limit = .seconds(60)
    #expect(throws: (any Error).self) { try stage.central.read(LockApp.value.uuidString, of: lock) }
    let waited = stage.world.now - start
    #expect(waited >= .seconds(30) && waited < .seconds(31))
    #expect(stage.app.state == .suspended)
    #expect(stage.app.root?.count(of: "read") == 1)
  }

  /// A sighting of the phone by the tablet: the advertisement data.
  private func advertisement(_ stage: Stage, services: [CBUUID]?) -> [String: Any]? {
    stage.central.manager.stopScan()
    stage.world.run(for: .milliseconds(10))
    let count = stage.central.recorder.discoveries.count
    stage.central.manager.scanForPeripherals(withServices: services)
    stage.run(15)
    return stage.central.recorder.discoveries.dropFirst(count).last?.advertisementData
  }

  @Test(
    "K040 A090 In the background the name is not advertised, and the services are in the overflow area only",
    .requirement("A090", "K040"))
  func backgroundAdvertising() throws {
    let stage = Stage()
    stage.app.launch()
    stage.run(1)
    let front = try #require(advertisement(stage, services: nil))
    #expect(front[CBAdvertisementDataLocalNameKey] as? String == "Lock")
    #expect(front[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [LockApp.service])
    stage.app.enterBackground()
    stage.run(1)
    let back = try #require(advertisement(stage, services: [LockApp.service]))
    #expect(back[CBAdvertisementDataLocalNameKey] == nil)
    #expect(back[CBAdvertisementDataServiceUUIDsKey] == nil)
    #expect(back[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] == [LockApp.service])
  }

  @Test(
    "L050 Without the background mode, advertising stops in the background and goes on in the foreground",
    .requirement("L050"))
  func advertisingStops() throws {
    let stage = Stage(modes: [.central])
    stage.app.launch()
    stage.run(1)
    stage.app.enterBackground()
    stage.run(1)
    let before = stage.phone.statistics.transmitted.packets
    stage.run(30)
    #expect(stage.phone.statistics.transmitted.packets == before)
    #expect(stage.app.root?.manager.isAdvertising == true)
    stage.app.enterForeground()
    stage.run(1)
    #expect(stage.phone.statistics.transmitted.packets > before)
  }

  @Test(
    "L056 The advertising interval grows only when all advertising apps are in the background",
    .requirement("A090", "L056"))
  func interval() throws {
    let stage = Stage()
    let other = stage.phone.app(named: "other", manifest: .described([.peripheral])) { _ in
      LockApp(name: "Other", identifier: nil)
    }
    stage.app.launch()
    other.launch()
    stage.run(1)
    func packetsInTenSeconds() -> Int {
      let before = stage.phone.statistics.transmitted.packets
      stage.run(10)
      return stage.phone.statistics.transmitted.packets - before
    }
    let front = packetsInTenSeconds()
    stage.app.enterBackground()
    stage.run(1)
    let mixed = packetsInTenSeconds()
    #expect(abs(mixed - front) * 10 < front, "\(front) and \(mixed) packets")
    other.enterBackground()
    stage.run(1)
    let back = packetsInTenSeconds()
    // An interval of 1,022.5 ms, on three channels.
    #expect((24...33).contains(back), "\(back) packets")
    #expect(back * 3 < front)
  }

  @Test(
    "A092 In the background updates are sent ten a second, and updateValue returns false after twenty",
    .requirement("A092"))
  func updates() throws {
    let stage = Stage()
    let lock = try stage.launchAndConnect()
    try stage.central.setNotify(for: LockApp.value.uuidString, of: lock)
    let root = try #require(stage.app.root)
    let characteristic = try #require(root.characteristic)
    func values() -> Int { stage.central.values(of: LockApp.value).count }
    stage.app.enterBackground()
    stage.run(1)
    var accepted = 0
    while accepted < 100, root.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil) {
      accepted += 1
    }
    #expect(accepted == 20)
    stage.world.run(for: .milliseconds(950))
    #expect((9...11).contains(values()))
    stage.run(2)
    #expect(values() == 20)
  }

  @Test("A background app that comes to the front has its waiting updates sent before those of the foreground")
  func updatesInOrder() throws {
    let stage = Stage()
    let lock = try stage.launchAndConnect()
    try stage.central.setNotify(for: LockApp.value.uuidString, of: lock)
    let root = try #require(stage.app.root)
    let characteristic = try #require(root.characteristic)
    func update(_ values: ClosedRange<UInt8>) {
      for value in values {
        #expect(root.manager.updateValue(Data([value]), for: characteristic, onSubscribedCentrals: nil))
      }
    }
    stage.app.enterBackground()
    stage.run(1)
    update(1...10)
    stage.world.run(for: .milliseconds(250))
    #expect((2...3).contains(stage.central.values(of: LockApp.value).count))
    stage.app.enterForeground()
    update(11...13)
    stage.world.run(for: .milliseconds(500))
    #expect(stage.central.values(of: LockApp.value) == (1...13).map { [UInt8($0)] })
    // The next period in the background has its own pace.
    stage.app.enterBackground()
    stage.run(1)
    update(14...20)
    stage.run(1)
    #expect(stage.central.values(of: LockApp.value) == (1...20).map { [UInt8($0)] })
  }

  @Test(
    "A100 Restored services have their characteristics and subscribers; the advertisement data are restored",
    .requirement("A041", "A100"),
    .symbol(
      "CBPeripheralManagerOptionRestoreIdentifierKey", "CBPeripheralManagerRestoredStateServicesKey",
      "CBPeripheralManagerRestoredStateAdvertisementDataKey",
      "CBPeripheralManagerDelegate.peripheralManager(_:willRestoreState:)"))
  func restoration() throws {
    let stage = Stage()
    let lock = try stage.launchAndConnect()
    try stage.central.setNotify(for: LockApp.value.uuidString, of: lock)
    stage.run(1)
    stage.app.terminate()
    stage.run(5)
    #expect(stage.app.root == nil)
    #expect(try stage.central.read(LockApp.value.uuidString, of: lock) == [7])
    let root = try #require(stage.app.root)
    #expect(root.events == ["restored", "state poweredOn", "read"])
    #expect(stage.app.launches.last?.peripheralManagerIdentifiers == ["lock"])
    let services = root.restored?[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService]
    #expect(services?.map(\.uuid) == [LockApp.service])
    let characteristic = try #require(root.characteristic)
    #expect(characteristic.properties == [.read, .write, .notify])
    #expect(characteristic.subscribedCentrals?.count == 1)
    let data = root.restored?[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
    #expect(data?[CBAdvertisementDataLocalNameKey] as? String == "Lock")
    #expect(data?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [LockApp.service])
    #expect(root.manager.isAdvertising)
    // The restored objects work: an update reaches the subscriber, and the end of the subscription the app.
    #expect(root.manager.updateValue(Data([9]), for: characteristic, onSubscribedCentrals: nil))
    stage.run(1)
    #expect(stage.central.values(of: LockApp.value) == [[7], [9]])
    try stage.central.disconnect(from: lock)
    stage.run(1)
    #expect(root.events.last == "unsubscribed")
  }

  @Test(
    "visionOS, watchOS and tvOS have no peripheral role: advertising and services fail with operationNotSupported",
    .requirement("A007", "A073"))
  func noPeripheralRole() throws {
    for policy in [PlatformPolicy.visionos, .watchos, .tvos] {
      let stage = Stage(policy: policy)
      stage.app.launch()
      stage.run(1)
      let root = try #require(stage.app.root)
      #expect(root.events == ["state poweredOn", "added failed", "advertising failed"])
      #expect(root.errors.map { ($0 as? CBError)?.code } == [.operationNotSupported, .operationNotSupported])
    }
  }
}

extension TestCentral {
  /// The values of a characteristic that the central has read or got, in order.
  func values(of uuid: CBUUID) -> [[UInt8]] {
    recorder.events.compactMap { event in
      if case .valueUpdated(_, uuid, let value, nil) = event { value } else { nil }
    }
  }
}
