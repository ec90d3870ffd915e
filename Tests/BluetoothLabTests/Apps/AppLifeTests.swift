import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The life of central apps: foreground, background, suspension, termination.
@Suite("Life of apps")
struct AppLifeTests {
  /// A phone with one app, and a heart rate belt.
  final class Stage {
    let world = World(seed: 3)
    let phone: Device
    let app: SimulatedApp<BeltApp>
    let belt: AccessoryDevice<HeartRateSensor>

    init(
      policy: PlatformPolicy = .ios, manifest: AppManifest = .described([.central]),
      _ plan: BeltApp.Plan = BeltApp.Plan(), beltAt place: Position = Position(x: 1)
    ) {
      var options = DeviceOptions()
      options.policy = policy
      let world = world
      phone = world.makeDevice(named: "phone", options)
      app = phone.app(named: "com.example.belt", manifest: manifest) { _ in BeltApp(in: world, plan) }
      belt = world.add(HeartRateSensor(), named: "belt", at: place)
    }

    func run(_ seconds: Int) { world.run(for: .seconds(seconds)) }

    /// Launches the app and waits for its first value.
    func launchAndSubscribe() {
      app.launch()
      let app = app
      let hasValue = world.run(until: { app.root?.values.isEmpty == false })
      #expect(hasValue)
    }
  }

  @Test("An app is terminated before its launch, and in the foreground after it")
  func launch() throws {
    let stage = Stage()
    #expect(stage.app.state == .terminated)
    #expect(stage.app.root == nil)
    stage.launchAndSubscribe()
    #expect(stage.app.state == .foreground)
    #expect(stage.app.launches == [AppLaunch()])
    let root = try #require(stage.app.root)
    #expect(
      root.events == [
        "state poweredOn", "discovered", "connected", "services", "characteristics", "notifying true", "value",
      ])
  }

  @Test(
    "L049 Without a background mode an app is suspended after 5 s, and its events wait for the foreground",
    .requirement("G004", "L049"))
  func suspension() throws {
    let stage = Stage(manifest: .described())
    stage.launchAndSubscribe()
    let root = try #require(stage.app.root)
    stage.app.enterBackground()
    stage.run(4)
    #expect(stage.app.state == .background)
    let countInBackground = root.values.count
    stage.run(2)
    #expect(stage.app.state == .suspended)
    let count = root.values.count
    #expect(count == countInBackground + 1, "the app runs for 5 s")
    stage.run(60)
    #expect(root.values.count == count)
    #expect(root.peripheral?.state == .connected, "the link stays")
    stage.belt.move(to: Position(x: 5_000))
    stage.run(10)
    #expect(root.count(of: "disconnected error 6") == 0)
    let before = root.events.count
    stage.app.enterForeground()
    stage.run(1)
    #expect(stage.app.state == .foreground)
    // The newest value, and then the end of the link.
    #expect(root.events.suffix(from: before) == ["value", "disconnected error 6"])
  }

  @Test(
    "L050 Without a background mode the scan stops in the background, and goes on in the foreground",
    .requirement("L050"))
  func scanStops() throws {
    var plan = BeltApp.Plan()
    plan.connects = false
    plan.scanOptions = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
    let stage = Stage(manifest: .described(), plan)
    stage.app.launch()
    stage.run(3)
    let root = try #require(stage.app.root)
    #expect(root.events.count > 3)
    stage.app.enterBackground()
    stage.run(1)
    let count = root.events.count
    let before = stage.phone.statistics
    stage.run(30)
    let after = stage.phone.statistics
    #expect(root.events.count == count)
    #expect(after.uses[.scanning]?.receiving == before.uses[.scanning]?.receiving, "the radio is silent")
    stage.app.enterForeground()
    stage.run(3)
    #expect(root.events.count > count + 3)
    #expect(root.manager.isScanning)
  }

  @Test(
    "L006 An event runs an app with the background mode for 10 s, and then it is suspended again",
    .requirement("A084", "A095", "A096", "L006"))
  func eventRunTime() throws {
    var plan = BeltApp.Plan()
    plan.subscribes = false
    let stage = Stage(plan, beltAt: Position(x: 5_000))
    stage.app.launch()
    stage.run(2)
    stage.app.enterBackground()
    stage.run(179)
    #expect(stage.app.state == .background)
    stage.run(2)
    #expect(stage.app.state == .suspended, "A095: after 3 min without a link")
    let root = try #require(stage.app.root)
    #expect(root.events == ["state poweredOn"])
    stage.belt.move(to: Position(x: 1))
    #expect(stage.world.run(until: { root.events.contains("connected") }, limit: .seconds(60)))
    #expect(stage.app.state == .background)
    let connected = try #require(root.times.last)
    #expect(stage.world.run(until: { stage.app.state == .suspended }, limit: .seconds(60)))
    let runTime = stage.world.now - connected
    #expect(runTime >= .seconds(10) && runTime < .milliseconds(10_300))
    #expect(root.peripheral?.state == .connected)
  }

  @Test(
    "A095 A link keeps an app with the background mode running, and its end begins the time until the suspension",
    .requirement("A095"))
  func keptByLink() throws {
    var plan = BeltApp.Plan()
    plan.subscribes = false
    let stage = Stage(plan, beltAt: Position(x: 5_000))
    stage.app.launch()
    stage.run(1)
    stage.app.enterBackground()
    let root = try #require(stage.app.root)
    // The link is established in the background, before the app would be suspended.
    stage.run(60)
    stage.belt.move(to: Position(x: 1))
    #expect(stage.world.run(until: { root.events.contains("connected") }, limit: .seconds(60)))
    stage.run(1_200)
    #expect(stage.app.state == .background)
    stage.belt.move(to: Position(x: 5_000))
    #expect(stage.world.run(until: { root.events.last == "disconnected error 6" }, limit: .seconds(20)))
    stage.run(179)
    #expect(stage.app.state == .background)
    stage.run(2)
    #expect(stage.app.state == .suspended)
  }

  @Test("The end of a link that the app itself cancels begins the time until the suspension")
  func cancelledLink() throws {
    let stage = Stage()
    stage.launchAndSubscribe()
    stage.app.enterBackground()
    stage.run(300)
    #expect(stage.app.state == .background)
    let root = try #require(stage.app.root)
    root.manager.cancelPeripheralConnection(try #require(root.peripheral))
    stage.run(179)
    #expect(stage.app.state == .background)
    stage.run(3)
    #expect(stage.app.state == .suspended)
  }

  @Test("A policy in which links do not keep apps suspends an app with a link, and so does one without a mode")
  func linkDoesNotKeep() throws {
    var policy = PlatformPolicy.ios
    policy.background?.linksKeepApps = false
    let cases: [(PlatformPolicy, Set<AppManifest.BackgroundMode>, Int)] = [(policy, [.central], 181), (.ios, [], 6)]
    for (policy, modes, limit) in cases {
      var plan = BeltApp.Plan()
      plan.subscribes = false
      let stage = Stage(policy: policy, manifest: .described(modes), plan)
      stage.app.launch()
      #expect(stage.world.run(until: { stage.app.root?.events.contains("connected") == true }, limit: .seconds(5)))
      stage.app.enterBackground()
      stage.run(limit - 2)
      #expect(stage.app.state == .background)
      stage.run(2)
      #expect(stage.app.state == .suspended)
      #expect(stage.app.root?.peripheral?.state == .connected)
    }
  }

  @Test("L054 Each value runs a suspended app with the background mode", .requirement("A084", "G004", "L054"))
  func wokenByValues() throws {
    let stage = Stage()
    stage.launchAndSubscribe()
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.belt.update { $0.interval = .seconds(30) }
    let root = try #require(stage.app.root)
    #expect(stage.world.run(until: { stage.app.state == .suspended }, limit: .seconds(20)))
    let count = root.values.count
    stage.run(135)
    #expect(root.values.count == count + 4)
    #expect(stage.app.state == .suspended)
  }

  @Test(
    "L007 L008 A background scan is passive and has a window of 1 s in 10 s; L055 it reports no duplicates",
    .requirement("A080", "A084", "A085", "A086", "L008", "L055"))
  func slowScan() throws {
    var plan = BeltApp.Plan()
    plan.connects = false
    plan.scanOptions = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
    let stage = Stage(plan)
    stage.app.launch()
    stage.run(3)
    let root = try #require(stage.app.root)
    stage.app.enterBackground()
    stage.run(1)
    let count = root.events.count
    let before = stage.phone.statistics
    stage.run(100)
    let after = stage.phone.statistics
    let received = try #require(after.uses[.scanning]).receiving - (try #require(before.uses[.scanning])).receiving
    #expect(received > .milliseconds(9_000) && received < .milliseconds(11_000), "\(received)")
    #expect(after.transmitted.packets == before.transmitted.packets, "no scan request")
    #expect(root.events.count <= count + 1, "no duplicates")
  }

  @Test("L007 The rare background scan has a window of 10 s in 12 min", .requirement("L007"))
  func rareScan() throws {
    var plan = BeltApp.Plan()
    plan.connects = false
    let stage = Stage(policy: .iosWithRareScans, plan, beltAt: Position(x: 5_000))
    stage.app.launch()
    stage.run(1)
    stage.app.enterBackground()
    stage.run(1)
    func received() -> Duration { stage.phone.statistics.uses[.scanning]?.receiving ?? .zero }
    let start = received()
    stage.run(8)
    #expect(received() - start > .seconds(7), "the first window begins with the background")
    stage.run(2)
    let before = received()
    stage.run(600)
    #expect(received() == before)
    stage.run(1_440)
    let later = received() - before
    #expect(later > .seconds(18) && later < .seconds(22), "\(later)")
  }

  @Test(
    "A086 L008 A service in the scan response only is found in the foreground, and missed in the background",
    .requirement("A086", "L008"))
  func scanResponse() throws {
    var plan = BeltApp.Plan()
    plan.connects = false
    let stage = Stage(plan, beltAt: Position(x: 5_000))
    stage.app.launch()
    stage.app.enterBackground()
    stage.run(1)
    let advertising = Advertising(
      AdvertisingPayload(fitting: [.flags()]), scanResponse: AdvertisingPayload(fitting: [.services([0x180D])]))
    _ = stage.world.add(Broadcaster(advertising), named: "tag", at: Position(x: 1))
    stage.run(60)
    let root = try #require(stage.app.root)
    #expect(root.count(of: "discovered") == 0)
    stage.app.enterForeground()
    stage.run(2)
    #expect(root.count(of: "discovered") == 1)
  }

  @Test(
    "A087 With a policy that says so, an app in the background connects only with a restore identifier",
    .requirement("A087"))
  func connectionsInBackground() throws {
    var policy = PlatformPolicy.ios
    policy.background?.connectsWithoutRestoration = false
    for identifier in ["belt", nil] as [String?] {
      var plan = BeltApp.Plan()
      plan.identifier = identifier
      let stage = Stage(policy: policy, plan, beltAt: Position(x: 5_000))
      stage.app.launch()
      stage.run(1)
      stage.app.enterBackground()
      stage.run(1)
      stage.belt.move(to: Position(x: 1))
      let root = try #require(stage.app.root)
      #expect(stage.world.run(until: { root.events.contains("discovered") }, limit: .seconds(60)))
      stage.run(60)
      #expect(stage.app.state == .background)
      #expect(root.count(of: "connected") == (identifier == nil ? 0 : 1))
      stage.app.enterForeground()
      stage.run(10)
      #expect(root.count(of: "connected") == 1)
    }
  }

  @Test(
    "A087 An attempt without a restore identifier that begins in the foreground waits in the background",
    .requirement("A087"))
  func heldConnection() throws {
    var policy = PlatformPolicy.ios
    policy.background?.connectsWithoutRestoration = false
    var plan = BeltApp.Plan()
    plan.identifier = nil
    let stage = Stage(policy: policy, plan)
    stage.launchAndSubscribe()
    let root = try #require(stage.app.root)
    stage.app.enterBackground()
    stage.run(20)
    #expect(root.peripheral?.state == .connected, "a link stays")
    stage.app.enterForeground()
    stage.belt.move(to: Position(x: 5_000))
    #expect(stage.world.run(until: { root.events.last == "disconnected error 6" }, limit: .seconds(20)))
    root.manager.connect(try #require(root.peripheral))
    stage.run(1)
    stage.app.enterBackground()
    stage.run(1)
    stage.belt.move(to: Position(x: 1))
    stage.run(60)
    #expect(root.count(of: "connected") == 1)
    #expect(root.peripheral?.state == .connecting)
    stage.app.enterForeground()
    stage.run(10)
    #expect(root.count(of: "connected") == 2)
  }

  @Test("2.8 A background scan without services finds nothing")
  func scanWithoutServices() throws {
    final class Scanner: NSObject, CBCentralManagerDelegate {
      var manager: CBCentralManager!
      var count = 0
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
      ) { count += 1 }
    }
    let world = World(seed: 4)
    var options = DeviceOptions()
    options.policy = .ios
    let phone = world.makeDevice(named: "phone", options)
    let app = phone.app(named: "scanner", manifest: .described([.central])) { _ in Scanner() }
    app.launch()
    app.enterBackground()
    world.run(for: .seconds(1))
    _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    world.run(for: .seconds(60))
    #expect(app.root?.count == 0)
    app.enterForeground()
    world.run(for: .seconds(2))
    #expect(app.root?.count == 1)
  }

  @Test("L009 A foreground app's scan serves an app in the background at its full rate", .requirement("L009"))
  func sharedScan() throws {
    var plan = BeltApp.Plan()
    plan.connects = false
    let stage = Stage(plan, beltAt: Position(x: 5_000))
    let world = stage.world
    stage.app.launch()
    let other = stage.phone.app(named: "other", manifest: .described()) { _ in BeltApp(in: world, plan) }
    other.launch()
    stage.run(1)
    stage.app.enterBackground()
    stage.run(15)
    stage.belt.move(to: Position(x: 1))
    stage.run(1)
    let times = try [stage.app, other].map { try #require($0.root?.times.last) }
    #expect(times[0] == times[1], "both find the belt at once")
  }

  @Test(
    "G026 A088 With a policy that says so, a link without traffic ends after 30 s, and a heartbeat keeps it",
    .requirement("A088", "G026"))
  func idleLink() throws {
    let world = World(seed: 7)
    var options = DeviceOptions()
    options.policy.idleLinkTimeout = .seconds(30)
    let central = TestCentral(on: world.makeDevice(named: "phone", options))
    let lamp = TestPeripheral(on: world.makeDevice(named: "lamp", at: Position(x: 1)))
    let value = CBMutableCharacteristic(
      type: LockApp.value, properties: .read, value: Data([1]), permissions: .readable)
    try lamp.publish(LockApp.service.uuidString, [value], name: "Lamp")
    let peripheral = try central.connect(to: .service(LockApp.service))
    for _ in 0..<6 {
      #expect(try central.read(LockApp.value.uuidString, of: peripheral) == [1])
      world.run(for: .seconds(20))
      #expect(peripheral.state == .connected)
    }
    let last = world.now
    try world.expect("the system ends the link") { peripheral.state == .disconnected }
    #expect(world.now - last > .milliseconds(9_800) && world.now - last < .milliseconds(10_200))
    guard case .disconnected(_, let error, false)? = central.events.last else {
      Issue.record("\(central.events)")
      return
    }
    #expect(error == .core(.connectionTimeout))
  }

  @Test(
    "A088 With a policy that says so, a link without traffic ends after 30 s in the background, too",
    .requirement("A088"))
  func idleLinkInBackground() throws {
    var policy = PlatformPolicy.ios
    policy.idleLinkTimeout = .seconds(30)
    var plan = BeltApp.Plan()
    plan.subscribes = false
    let stage = Stage(policy: policy, plan)
    stage.app.launch()
    let root = try #require(stage.app.root)
    #expect(stage.world.run(until: { root.events.last == "connected" }, limit: .seconds(5)))
    stage.app.enterBackground()
    // The system's own requests after the connection are traffic.
    let connected = try #require(root.times.last)
    stage.world.run(for: .seconds(29))
    #expect(root.peripheral?.state == .connected)
    #expect(stage.world.run(until: { root.events.last == "disconnected error 6" }, limit: .seconds(5)))
    let last = try #require(root.times.last)
    #expect(last - connected >= .seconds(30) && last - connected < .seconds(33))
    #expect(stage.app.state == .background)
  }

  @Test("A policy without limits leaves an app in the background as it is")
  func openPolicy() throws {
    let stage = Stage(policy: .macos, manifest: .described())
    stage.launchAndSubscribe()
    stage.app.enterBackground()
    stage.run(600)
    #expect(stage.app.state == .background)
    let root = try #require(stage.app.root)
    #expect(root.values.count > 590)
  }

  @Test("A wake counts for the period of the budget and no longer, so the budget is never used up for ever")
  func wakeBudgetPeriod() throws {
    var policy = PlatformPolicy.watchos
    policy.background?.wakeBudget = 1
    policy.background?.wakeBudgetPeriod = .seconds(300)
    let stage = Stage(policy: policy)
    stage.launchAndSubscribe()
    stage.belt.update { $0.interval = .seconds(30) }
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    let root = try #require(stage.app.root)
    let count = root.count(of: "value")
    stage.run(290)
    #expect(root.count(of: "value") == count + 1)
    stage.run(80)
    // The newest value that has waited, and the one that runs the app.
    #expect(root.count(of: "value") == count + 3)
  }

  @Test(
    "A092 watchOS runs a suspended app for five values in 24 h; both errors come with the values", .requirement("A092"),
    .symbol(
      "CBError.Code.leGattExceededBackgroundNotificationLimit", "CBError.Code.leGattNearBackgroundNotificationLimit",
      "CBError.leGattExceededBackgroundNotificationLimit", "CBError.leGattNearBackgroundNotificationLimit"))
  func wakeBudget() throws {
    let stage = Stage(policy: .watchos)
    stage.launchAndSubscribe()
    stage.belt.update { $0.interval = .seconds(30) }
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    #expect(stage.app.state == .suspended)
    let root = try #require(stage.app.root)
    let count = root.events.count
    stage.run(600)
    let events = root.events.suffix(from: count)
    #expect(events.count { $0 == "value" } == 5)
    let near = CBError.leGattNearBackgroundNotificationLimit.rawValue
    #expect(Array(events) == ["value", "value", "value", "value", "value error \(near)", "value"])
    stage.app.enterForeground()
    stage.run(1)
    let exceeded = CBError.leGattExceededBackgroundNotificationLimit.rawValue
    #expect(Array(root.events.suffix(2)) == ["value error \(exceeded)", "value"])
  }
}
