import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// Tests of the state that the system keeps of a terminated app, and of its restoration.
@Suite("State restoration of centrals")
struct RestorationTests {
  typealias Stage = AppLifeTests.Stage

  @Test(
    "7 A097 A value launches a terminated app, and willRestoreState comes first, with the peripheral as it was",
    .requirement("A018", "A032", "A097", "A098", "A099"),
    .symbol(
      "CBCentralManagerOptionRestoreIdentifierKey", "CBCentralManagerRestoredStatePeripheralsKey",
      "CBCentralManagerDelegate.centralManager(_:willRestoreState:)"))
  func relaunch() throws {
    let stage = Stage()
    stage.launchAndSubscribe()
    let old = try #require(stage.app.root)
    let identifier = try #require(old.peripheral?.identifier)
    let oldCount = old.events.count
    stage.app.terminate()
    #expect(stage.app.state == .terminated)
    #expect(stage.app.root == nil)
    #expect(stage.world.run(until: { stage.app.root?.values.isEmpty == false }, limit: .seconds(5)))
    #expect(old.events.count == oldCount, "the terminated app gets nothing, even if a test retains it")

    let root = try #require(stage.app.root)
    #expect(root !== old)
    #expect(root.events == ["restored", "state poweredOn", "value"])
    #expect(stage.app.launches.count == 2)
    #expect(stage.app.launches[1].isForEvent)
    #expect(stage.app.launches[1].centralManagerIdentifiers == ["belt"])
    #expect(stage.app.state == .background)
    #expect(root.restored?.keys.sorted() == [CBCentralManagerRestoredStatePeripheralsKey])
    let peripheral = try #require(root.peripheral)
    #expect(peripheral.identifier == identifier)
    #expect(peripheral.state == .connected)
    #expect(peripheral.services?.map(\.uuid) == [BeltApp.service])
    #expect(root.measurement?.isNotifying == true)
    #expect(peripheral.canSendWriteWithoutResponse)
    stage.run(3)
    #expect(root.values.count == 4, "the subscription goes on")
  }

  @Test(
    "The system's own reads after a connection do not launch the app; the next event of the app's own does",
    .requirement("L054"))
  func lateName() throws {
    var plan = BeltApp.Plan()
    plan.subscribes = false
    let stage = Stage(plan)
    stage.app.launch()
    #expect(stage.world.run(until: { stage.app.root?.events.contains("connected") == true }, limit: .seconds(5)))
    stage.app.terminate()
    // The MTU and the peer's name become known meanwhile.
    stage.run(30)
    #expect(stage.app.root == nil)
    #expect(stage.app.launches.count == 1)
    stage.belt.move(to: Position(x: 5_000))
    #expect(stage.world.run(until: { stage.app.root != nil }, limit: .seconds(60)))
    stage.run(1)
    #expect(stage.app.root?.events == ["restored", "state poweredOn", "disconnected error 6"])
  }

  @Test("A pending connection is restored as connecting, and its completion launches the app")
  func pendingConnection() throws {
    let stage = Stage()
    stage.launchAndSubscribe()
    let old = try #require(stage.app.root)
    stage.belt.move(to: Position(x: 5_000))
    #expect(stage.world.run(until: { old.events.contains("disconnected error 6") }))
    old.manager.connect(try #require(old.peripheral))
    stage.run(1)
    stage.app.terminate()
    stage.run(30)
    #expect(stage.app.root == nil)
    stage.belt.move(to: Position(x: 1))
    #expect(stage.world.run(until: { stage.app.root?.values.isEmpty == false }))
    let root = try #require(stage.app.root)
    #expect(root.events.prefix(3) == ["restored", "state poweredOn", "connected"])
    #expect(root.count(of: "connected") == 1)
  }

  @Test(
    "A099 A scan is restored with its services and options", .requirement("A032", "A099"),
    .symbol("CBCentralManagerRestoredStateScanServicesKey", "CBCentralManagerRestoredStateScanOptionsKey"))
  func scan() throws {
    var plan = BeltApp.Plan()
    plan.connects = false
    plan.scanOptions = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
    let stage = Stage(plan, beltAt: Position(x: 5_000))
    stage.app.launch()
    stage.run(2)
    stage.app.terminate()
    stage.run(30)
    #expect(stage.app.root == nil)
    stage.belt.move(to: Position(x: 1))
    #expect(stage.world.run(until: { stage.app.root != nil }, limit: .seconds(30)))
    stage.run(1)
    let root = try #require(stage.app.root)
    #expect(root.events == ["restored", "state poweredOn", "discovered"])
    let services = root.restored?[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
    #expect(services == [BeltApp.service])
    let options = root.restored?[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any]
    #expect((options?[CBCentralManagerScanOptionAllowDuplicatesKey] as? NSNumber)?.boolValue == true)
    #expect(root.manager.isScanning)
  }

  @Test(
    "A102 Nothing is restored after the user has ended the app: its link ends, and no event launches it",
    .requirement("A102"))
  func endedByUser() throws {
    let stage = Stage()
    stage.launchAndSubscribe()
    stage.app.terminate(by: .user)
    stage.run(60)
    #expect(stage.app.root == nil)
    #expect(stage.app.launches.count == 1)
    #expect(stage.phone.statistics.links.last?.isConnected == false)
    stage.launchAndSubscribe()
    #expect(stage.app.root?.restored == nil)
  }

  /// A belt, and an app whose manager has another identifier after a launch for an event.
  private func forgetfulApp(_ policy: PlatformPolicy) -> (world: World, phone: Device, app: SimulatedApp<BeltApp>) {
    let world = World(seed: 3)
    var options = DeviceOptions()
    options.policy = policy
    let phone = world.makeDevice(named: "phone", options)
    let app = phone.app(named: "app", manifest: .described([.central])) { launch in
      var plan = BeltApp.Plan()
      plan.identifier = launch.isForEvent ? "another" : "belt"
      plan.scans = !launch.isForEvent
      return BeltApp(in: world, plan)
    }
    _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    return (world, phone, app)
  }

  @Test("A101 Nothing is restored without a manager of the same identifier", .requirement("A101"))
  func otherIdentifier() throws {
    let (world, _, app) = forgetfulApp(.ios)
    app.launch()
    #expect(world.run(until: { app.root?.values.isEmpty == false }))
    app.terminate()
    #expect(world.run(until: { app.root != nil }))
    world.run(for: .seconds(15))
    #expect(app.root?.events == ["state poweredOn"])
    #expect(app.state == .suspended)
    world.run(for: .seconds(60))
    #expect(app.launches.count == 2, "the preserved session has ended with its link")
  }

  @Test("Under a policy that suspends no app, what a launched app has not restored ends 10 s after the launch")
  func otherIdentifierWithoutSuspension() throws {
    let (world, phone, app) = forgetfulApp(.open)
    app.launch()
    try world.expect("the app gets a value") { app.root?.values.isEmpty == false }
    app.terminate()
    try world.expect("a value launches the app") { app.root != nil }
    world.run(for: .milliseconds(9_900))
    #expect(phone.statistics.links.last?.isConnected == true)
    world.run(for: .seconds(1))
    #expect(phone.statistics.links.last?.isConnected == false)
    #expect(app.state == .background)
    world.run(for: .seconds(60))
    #expect(app.root?.events == ["state poweredOn"])
    #expect(app.launches.count == 2)
  }

  @Test("Under a policy that suspends no app, a manager that the app has created goes on after 10 s")
  func restoredWithoutSuspension() throws {
    let stage = Stage(policy: .open, manifest: AppManifest())
    stage.launchAndSubscribe()
    stage.app.terminate()
    try stage.world.expect("a value launches the app") { stage.app.root?.values.isEmpty == false }
    stage.run(20)
    let root = try #require(stage.app.root)
    #expect(root.events.prefix(3) == ["restored", "state poweredOn", "value"])
    #expect(root.values.count > 15)
    #expect(stage.phone.statistics.links.last?.isConnected == true)
  }

  @Test("A103 Nothing is restored after a restart of the machine", .requirement("A103"))
  func restart() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("restart-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for run in 1...2 {
      let world = World(seed: UInt64(run))
      var options = DeviceOptions()
      options.policy = .ios
      let phone = world.makeDevice(named: "phone", options, bondFolder: folder)
      let app = phone.app(named: "com.example.belt", manifest: .described([.central])) { _ in BeltApp(in: world) }
      _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
      world.run(for: .seconds(10))
      #expect(app.launches.isEmpty, "no event launches the app")
      app.launch()
      try world.expect("the app gets a value") { app.root?.values.isEmpty == false }
      #expect(app.root?.events.first == "state poweredOn")
      app.terminate()
    }
  }

  @Test(
    "Without a background mode, a restore identifier, or a policy that restores, a termination ends the links",
    .requirement("A018"), .symbol("CBCentralManagerOptionRestoreIdentifierKey"))
  func notPreserved() throws {
    var plan = BeltApp.Plan()
    for (policy, modes, identifier) in [
      (PlatformPolicy.ios, Set<AppManifest.BackgroundMode>(), "belt" as String?), (.ios, [.central], nil),
      (.macos, [.central], "belt"), (.ios, [.peripheral], "belt"),
    ] {
      plan.identifier = identifier
      let stage = Stage(policy: policy, manifest: .described(modes), plan)
      stage.launchAndSubscribe()
      stage.app.terminate()
      stage.run(30)
      #expect(stage.app.launches.count == 1, "\(policy.name) \(modes)")
    }
  }

  @Test("Power off while the app is terminated: the app is launched with an empty state, and sees the present state")
  func powerOff() throws {
    let stage = Stage()
    stage.launchAndSubscribe()
    stage.app.terminate()
    stage.phone.setPower(false)
    stage.run(1)
    let root = try #require(stage.app.root)
    #expect(root.events == ["restored", "state poweredOff"])
    #expect(root.restored?.isEmpty == true)
  }
}
