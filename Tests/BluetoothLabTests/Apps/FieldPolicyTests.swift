import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The rules by which `iosInTheField` differs from `ios`, and those that both have.
@Suite("iOS in the field")
struct FieldPolicyTests {
  typealias Stage = AppLifeTests.Stage

  /// A phone with one app that has a value of the belt, and that the system has terminated.
  private func terminated(
    _ policy: PlatformPolicy, _ manifest: AppManifest = .described([.central]), by cause: AppTermination = .system
  ) -> Stage {
    let stage = Stage(policy: policy, manifest: manifest)
    stage.launchAndSubscribe()
    stage.app.terminate(by: cause)
    return stage
  }

  @Test("An app with a link is suspended 5 s after it has left the foreground, and each value runs it for 10 s")
  func links() throws {
    let stage = Stage(policy: .iosInTheField)
    stage.launchAndSubscribe()
    let root = try #require(stage.app.root)
    stage.belt.update { $0.interval = .seconds(40) }
    stage.run(2)
    stage.app.enterBackground()
    stage.world.run(for: .milliseconds(4_900))
    #expect(stage.app.state == .background)
    stage.world.run(for: .milliseconds(200))
    #expect(stage.app.state == .suspended)
    let count = root.values.count
    #expect(stage.world.run(until: { root.values.count == count + 1 }, limit: .seconds(41)))
    #expect(stage.app.state == .background)
    stage.world.run(for: .milliseconds(9_900))
    #expect(stage.app.state == .background)
    stage.world.run(for: .milliseconds(200))
    #expect(stage.app.state == .suspended)
    #expect(root.peripheral?.state == .connected)
  }

  @Test("An app that serves a subscriber is suspended after 5 s, and a read runs it")
  func subscribers() throws {
    let stage = PeripheralAppTests.Stage(policy: .iosInTheField)
    let lock = try stage.launchAndConnect()
    try stage.central.setNotify(for: LockApp.value.uuidString, of: lock)
    stage.app.enterBackground()
    stage.run(4)
    #expect(stage.app.state == .background)
    stage.run(2)
    #expect(stage.app.state == .suspended)
    #expect(try stage.central.read(LockApp.value.uuidString, of: lock) == [7])
    #expect(stage.app.state == .background)
    stage.run(11)
    #expect(stage.app.state == .suspended)
  }

  @Test("A change of Bluetooth's power launches a terminated app of ios, and none of ios in the field")
  func powerChange() throws {
    for (policy, launches) in [(PlatformPolicy.ios, 2), (.iosInTheField, 1)] {
      let stage = terminated(policy)
      stage.phone.setPower(false)
      stage.run(30)
      stage.phone.setPower(true)
      stage.run(30)
      #expect(stage.app.launches.count == launches, "\(policy.name)")
    }
  }

  @Test("A restart of the device ends all apps, and only ios in the field launches them for events that follow")
  func restart() throws {
    for (policy, launches) in [(PlatformPolicy.ios, 1), (.iosInTheField, 2)] {
      let stage = Stage(policy: policy)
      stage.launchAndSubscribe()
      let former = try #require(stage.app.root)
      let start = stage.world.now
      stage.phone.restart(for: .seconds(20))
      stage.run(19)
      #expect(stage.app.root == nil)
      #expect(stage.app.state == .terminated)
      #expect(former.events.last == "value", "the app has ended without a callback")
      stage.run(11)
      #expect(stage.app.launches.count == launches, "\(policy.name)")
      guard let root = stage.app.root else { continue }
      #expect(stage.app.launches.last?.centralManagerIdentifiers == ["belt"])
      #expect(Array(root.events.prefix(3)) == ["restored", "state poweredOn", "connected"])
      let peripherals = root.restored?[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral]
      #expect(peripherals?.count == 1)
      #expect(root.times[0] - start > .seconds(20) && root.times[0] - start < .seconds(22))
      #expect(root.times[0] == root.times[2])
    }
  }

  @Test("A restart at a given time keeps Bluetooth off if it was off, and launches an app that the user opens later")
  func restartWhileOff() throws {
    let stage = Stage(policy: .iosInTheField)
    stage.launchAndSubscribe()
    stage.phone.setPower(false)
    stage.phone.restart(at: stage.world.now + .seconds(5), for: .seconds(1))
    stage.run(4)
    #expect(stage.app.state == .foreground)
    stage.run(30)
    #expect(stage.app.state == .terminated)
    stage.app.launch()
    stage.run(1)
    #expect(stage.app.root?.events.last == "state poweredOff")
  }

  @Test("An app that its user has ended is launched by ios in the field if it sets accessories up")
  func quit() throws {
    var manifest = AppManifest.described([.central])
    manifest.setsUpAccessories = true
    let others = AppManifest.described([.central])
    for (policy, manifest, launches) in [
      (PlatformPolicy.ios, manifest, 1), (.iosInTheField, others, 1), (.iosInTheField, manifest, 2),
    ] {
      let stage = terminated(policy, manifest, by: .user)
      stage.run(30)
      #expect(stage.app.launches.count == launches, "\(policy.name), \(manifest.setsUpAccessories)")
    }
  }

  @Test(
    "L171 A system with ten links refuses another connection, and waiting attempts go on after the end of a link",
    .requirement("A070", "L171"))
  func linkLimit() throws {
    for policy in [PlatformPolicy.ios, .iosInTheField] {
      let world = World(seed: 37)
      var options = DeviceOptions()
      options.policy = policy
      let phone = world.makeDevice(named: "phone", options)
      let app = phone.app(named: "com.example.belts", manifest: .described([.central])) { _ in ManyBeltsApp() }
      let belts = (1...12).map { number in
        world.add(HeartRateSensor(), named: "belt \(number)", at: Position(x: Double(number)))
      }
      app.launch()
      try world.expect("all belts are known") { app.root?.peripherals.count == 12 }
      let root = try #require(app.root)
      for peripheral in root.peripherals[..<11] { root.manager.connect(peripheral) }
      try world.expect("ten are connected") { root.connections == 10 }
      world.run(for: .seconds(10))
      #expect(root.connections == 10)
      #expect(root.errors.isEmpty, "the attempt was made before")
      root.manager.connect(root.peripherals[11])
      world.run(for: .milliseconds(10))
      #expect(root.errors.map { ($0 as? CBError)?.code } == [.connectionLimitReached])
      let waiting = try #require(root.peripherals.first { $0.state == .connecting })
      let linked = try #require(root.peripherals.first { $0.state == .connected })
      root.manager.cancelPeripheralConnection(linked)
      try world.expect("the waiting one is connected", within: .seconds(5)) { waiting.state == .connected }
      #expect(root.connections == 11)
      withExtendedLifetime(belts) {}
    }
  }

  @Test("The manufacturer data of an iBeacon are hidden on iOS and shown on macOS, those of other companies are shown")
  func beacons() throws {
    let shown: [(PlatformPolicy, Set<[UInt8]>)] = [
      (.ios, [[0x4C, 0x00, 0x10, 0x05], [0xFF, 0xFF, 1]]), (.iosInTheField, [[0xFF, 0xFF, 1]]),
      (.watchos, [[0x4C, 0x00, 0x10, 0x05], [0xFF, 0xFF, 1]]),
      (.macos, [Self.beacon, [0x4C, 0x00, 0x10, 0x05], [0xFF, 0xFF, 1]]),
    ]
    for (policy, expected) in shown {
      let world = World(seed: 4)
      var options = DeviceOptions()
      options.policy = policy
      let phone = world.makeDevice(named: "phone", options)
      world.add(IBeacon(proximityUUID: Self.museum, major: 1, minor: 2, measuredPower: -59), named: "beacon")
      for (company, octets) in [(0x004C, [0x10, 0x05]), (0xFFFF, [1])] as [(UInt16, [UInt8])] {
        let payload = AdvertisingPayload(fitting: [.manufacturerData(company: company, octets)])
        world.add(Broadcaster(Advertising(payload)), named: "company \(company)")
      }
      let app = phone.app(named: "scanner", manifest: .described()) { _ in ManufacturerDataApp() }
      app.launch()
      world.run(for: .seconds(3))
      #expect(app.root?.data == expected, "\(policy.name)")
      #expect(app.root?.peripherals.count == 3)
    }
  }

  private static let museum = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
  private static let beacon: [UInt8] = [0x4C, 0x00, 0x02, 0x15] + (0...15) + [0, 1, 0, 2, 0xC5]

  @Test("The services of an input device and of notifications are hidden on iOS, and shown on macOS")
  func hiddenServices() throws {
    for (policy, isShown) in [(PlatformPolicy.ios, false), (.iosInTheField, false), (.macos, true), (.open, true)] {
      let world = World(seed: 39)
      var options = DeviceOptions()
      options.policy = policy
      let central = TestCentral(on: world.makeDevice(named: "phone", options))
      world.add(Keyboard(), named: "keyboard", at: Position(x: 1))
      let keyboard = try central.connect(to: .service(CBUUID(string: "1812")))
      try central.discoverAttributes(of: keyboard)
      let uuids = keyboard.services?.map(\.uuid.uuidString) ?? []
      #expect(uuids.contains("1812") == isShown, "\(policy.name)")
      #expect(uuids.contains("180F"))
      #expect(!uuids.contains("1800") && !uuids.contains("1801"))
    }
  }
}

/// An app that collects the manufacturer data that it finds.
private final class ManufacturerDataApp: NSObject, CBCentralManagerDelegate {
  private var manager: CBCentralManager!
  private(set) var data: Set<[UInt8]> = []
  private(set) var peripherals: Set<CBPeripheral> = []

  override init() {
    super.init()
    manager = CBCentralManager(delegate: self, queue: nil)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    peripherals.insert(peripheral)
    if let octets = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data { data.insert([UInt8](octets)) }
  }
}
