import BluetoothLab
import CoreBluetooth
import TestSupport
import Testing

/// The log lines about what the policy of a platform changes or drops: one for each app and rule, when the rule first
/// has an effect.
@Suite("Log lines about a platform's policy")
struct PolicyNoteTests {
  /// A phone with one app, whose name no other test uses.
  private final class Stage<Root: AnyObject> {
    let world = World(seed: 41)
    let phone: Device
    let app: SimulatedApp<Root>
    /// The log since before the device was made.
    private let log = LogRecorder()

    init(
      _ name: String, policy: PlatformPolicy = .ios, modes: Set<AppManifest.BackgroundMode> = [],
      makeRoot: @escaping (World) -> Root
    ) {
      var options = DeviceOptions()
      options.policy = policy
      let world = world
      phone = world.makeDevice(named: "phone", options)
      app = phone.app(named: "com.example.notes.\(name)", manifest: .described(modes)) { _ in makeRoot(world) }
    }

    func run(_ duration: Duration = .milliseconds(1)) { world.run(for: duration) }

    /// The lines about the app, without the names of the device and the app.
    var lines: [String] {
      let start = "phone: \(app.name): "
      return log.lines(containing: start).map { String($0.dropFirst(start.count)) }
    }

    /// The first words of the lines, up to the reason or the field of the policy.
    var effects: [String] {
      lines.map { line in
        let effect = line.prefix { $0 != "," && $0 != "(" }
        return effect.last == " " ? String(effect.dropLast()) : String(effect)
      }
    }
  }

  private static let duplicates = [CBCentralManagerScanOptionAllowDuplicatesKey: true]

  @Test("A scan without services is noted once, when the app goes to the background")
  func scanWithoutServices() {
    let stage = Stage("anyscan", modes: [.central]) { _ in ScanningApp(nil, Self.duplicates) }
    stage.app.launch()
    stage.run(.seconds(2))
    #expect(stage.lines == [])
    for _ in 0..<2 {
      stage.app.enterBackground()
      stage.run()
      #expect(
        stage.lines == [
          "the scan stops in the background, because it names no service (background of the policy ios): pass the UUIDs"
            + " of services to scanForPeripherals"
        ])
      stage.app.enterForeground()
      stage.run(.seconds(1))
    }
  }

  @Test("Dropped duplicates and the pauses of a scan are noted once, when the app goes to the background")
  func reducedScan() {
    let stage = Stage("reduced", modes: [.central]) { _ in ScanningApp([BeltApp.service], Self.duplicates) }
    stage.app.launch()
    stage.run(.seconds(2))
    #expect(stage.lines == [])
    stage.app.enterBackground()
    stage.run()
    #expect(
      stage.effects == [
        "the scan reports no duplicates in the background",
        "the scan is passive and takes 1 s in each 10 s",
      ])
    stage.run(.seconds(60))
    stage.app.enterForeground()
    stage.run(.seconds(1))
    stage.app.enterBackground()
    stage.run(.seconds(1))
    #expect(stage.lines.count == 2)
  }

  @Test("The pauses of a scan are noted when the last app in the foreground stops its scan")
  func sharedScan() {
    let stage = Stage("shared", modes: [.central]) { _ in ScanningApp([BeltApp.service]) }
    let other = stage.phone.app(named: "com.example.notes.front", manifest: .described()) { _ in ScanningApp(nil) }
    stage.app.launch()
    other.launch()
    stage.run(.seconds(1))
    stage.app.enterBackground()
    stage.run(.seconds(1))
    #expect(stage.lines == [], "the scan of the other app serves this one")
    other.root?.manager.stopScan()
    stage.run()
    #expect(stage.effects == ["the scan is passive and takes 1 s in each 10 s"])
  }

  @Test("A scan that stops without the background mode is noted with the mode, or with the lack of modes")
  func scanWithoutMode() {
    let stage = Stage("modeless") { _ in ScanningApp([BeltApp.service]) }
    let television = Stage("television", policy: .tvos, modes: [.central]) { _ in ScanningApp([BeltApp.service]) }
    for stage in [stage, television] {
      stage.app.launch()
      stage.run(.seconds(1))
      #expect(stage.lines == [])
      stage.app.enterBackground()
      stage.run()
      stage.run(.seconds(60))
      #expect(stage.effects == ["the scan stops in the background"])
    }
    #expect(
      stage.lines == [
        "the scan stops in the background, because the app lacks the background mode bluetooth-central"
          + " (background.hasModes of the policy ios): add the mode to the manifest (UIBackgroundModes)"
      ])
    #expect(television.lines.first?.contains("background modes have no effect on this system") == true)
  }

  @Test("In the background the dropped name, the overflow area and the interval of advertising are each noted once")
  func advertising() {
    let stage = Stage("advertiser", modes: [.peripheral]) { _ in LockApp() }
    stage.app.launch()
    stage.run(.seconds(1))
    #expect(stage.lines == [])
    for _ in 0..<2 {
      stage.app.enterBackground()
      stage.run()
      #expect(
        stage.effects == [
          "the local name is not advertised in the background",
          "service UUIDs are advertised in the overflow area in the background",
          "the advertising interval is 1022.5 ms",
        ])
      stage.app.enterForeground()
      stage.run(.seconds(1))
    }
  }

  @Test("Advertising that stops without the background mode is noted when the app goes to the background")
  func advertisingWithoutMode() {
    let stage = Stage("dark", modes: [.central]) { _ in LockApp() }
    stage.app.launch()
    stage.run(.seconds(1))
    stage.app.enterBackground()
    stage.run()
    #expect(stage.effects == ["advertising stops in the background"])
    #expect(stage.lines.first?.contains("lacks the background mode bluetooth-peripheral") == true)
  }

  @Test("The limit of updates is noted with the first update that waits")
  func updates() throws {
    let stage = Stage("updates", modes: [.peripheral]) { _ in LockApp() }
    let central = TestCentral(on: stage.world.makeDevice(named: "tablet", at: Position(x: 1)))
    stage.app.launch()
    let lock = try central.connect(to: .service(LockApp.service))
    try central.setNotify(for: LockApp.value.uuidString, of: lock)
    let root = try #require(stage.app.root)
    let characteristic = try #require(root.characteristic)
    /// Sends an update. Returns the lines about the limit.
    func update() -> [String] {
      #expect(root.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
      stage.run()
      return stage.effects.filter { $0.hasPrefix("updates of values wait") }
    }
    #expect(update() == [] && update() == [], "the app is in the foreground")
    stage.app.enterBackground()
    stage.run(.seconds(1))
    #expect(update() == [])
    #expect(update().count == 1)
    #expect(update().count == 1)
  }

  @Test("Events that wait for a suspended app, and requests to it, are each noted once with the mode that is missing")
  func suspension() throws {
    let belt = Stage("sleepy") { BeltApp(in: $0) }
    _ = belt.world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    belt.app.launch()
    try belt.world.expect("a value comes") { belt.app.root?.values.isEmpty == false }
    belt.app.enterBackground()
    belt.run(.seconds(4))
    #expect(belt.lines == [])
    belt.run(.seconds(10))
    #expect(belt.app.state == .suspended)
    #expect(belt.effects == ["events of the suspended app wait until it is in the foreground"])
    #expect(belt.lines[0].contains("bluetooth-central"))

    let lock = Stage("asleep") { _ in LockApp() }
    let central = TestCentral(on: lock.world.makeDevice(named: "tablet", at: Position(x: 1)))
    lock.app.launch()
    let peripheral = try central.connect(to: .service(LockApp.service))
    #expect(try central.read(LockApp.value.uuidString, of: peripheral) == [7])
    lock.app.enterBackground()
    lock.run(.seconds(1))
    lock.app.suspend()
    lock.run(.seconds(1))
    func requestNotes() -> [String] { lock.effects.filter { $0.hasPrefix("a central's request gets an error") } }
    #expect(requestNotes() == [])
    for _ in 0..<2 {
      #expect(throws: CBATTError.self) { try central.read(LockApp.value.uuidString, of: peripheral) }
      #expect(requestNotes().count == 1)
    }
  }

  @Test("The budget of wakes is noted with the first value that does not run the app")
  func wakeBudget() throws {
    var policy = PlatformPolicy.watchos
    policy.background?.wakeBudget = 2
    let stage = Stage("wakes", policy: policy, modes: [.central]) { BeltApp(in: $0) }
    let belt = stage.world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    stage.app.launch()
    try stage.world.expect("a value comes") { stage.app.root?.values.isEmpty == false }
    belt.update { $0.interval = .seconds(30) }
    stage.app.enterBackground()
    stage.run(.seconds(1))
    stage.app.suspend()
    stage.run(.seconds(1))
    let root = try #require(stage.app.root)
    let count = root.count(of: "value")
    try stage.world.expect("two values run the app", within: .seconds(90)) { root.count(of: "value") == count + 2 }
    #expect(stage.lines == [])
    for _ in 0..<2 {
      stage.run(.seconds(60))
      #expect(root.count(of: "value") == count + 2)
      #expect(stage.effects == ["events wait until the app is in the foreground"])
    }
  }

  @Test("The limit of links of an app is noted with the first connection that it refuses")
  func linkLimit() throws {
    var policy = PlatformPolicy.watchos
    policy.linksPerApp = 1
    let stage = Stage("links", policy: policy) { _ in ScanningApp([BeltApp.service]) }
    for number in 1...2 {
      _ = stage.world.add(HeartRateSensor(), named: "belt \(number)", at: Position(x: Double(number)))
    }
    stage.app.launch()
    try stage.world.expect("both belts are known") { stage.app.root?.peripherals.count == 2 }
    let root = try #require(stage.app.root)
    root.manager.connect(root.peripherals[0])
    try stage.world.expect("the first is connected") { root.peripherals[0].state == .connected }
    #expect(stage.lines == [])
    for count in 1...2 {
      root.manager.connect(root.peripherals[1])
      stage.run()
      #expect(root.refusals == count)
      #expect(stage.effects == ["a connection is refused"])
    }
  }

  @Test("A refused peripheral role, and managers that are not preserved, are noted once, with the reason")
  func rolesAndRestoration() throws {
    let watch = Stage("norole", policy: .watchos, modes: [.peripheral]) { _ in LockApp() }
    watch.app.launch()
    watch.run(.seconds(1))
    #expect(watch.app.root?.events == ["state poweredOn", "added failed", "advertising failed"])
    #expect(watch.effects == ["requests of peripheral managers are refused"])
    watch.app.terminate()
    watch.run(.seconds(1))
    #expect(watch.effects.last == "managers with restore identifiers are not preserved" && watch.lines.count == 2)

    let phone = Stage("unpreserved") { _ in LockApp() }
    phone.app.launch()
    phone.run(.seconds(1))
    phone.app.terminate(by: .user)
    phone.run(.seconds(1))
    #expect(phone.lines == [], "the user ends the sessions")
    phone.app.launch()
    phone.run(.seconds(1))
    phone.app.terminate()
    phone.run(.seconds(1))
    #expect(phone.effects == ["a peripheral manager is not preserved"])
  }

  @Test("The end of an idle link is noted for the app that uses it")
  func idleLink() throws {
    var policy = PlatformPolicy.open
    policy.idleLinkTimeout = .seconds(5)
    var plan = BeltApp.Plan()
    plan.subscribes = false
    let stage = Stage("idle", policy: policy) { BeltApp(in: $0, plan) }
    _ = stage.world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    stage.app.launch()
    try stage.world.expect("the app connects") { stage.app.root?.events.contains("connected") == true }
    let root = try #require(stage.app.root)
    #expect(stage.lines == [])
    try stage.world.expect("the link ends", within: .seconds(30)) { root.peripheral?.state == .disconnected }
    #expect(stage.effects == ["a link is ended after 5 s without traffic"])
  }

  @Test("An option for notifications of the system is noted where the system offers none")
  func notifications() throws {
    var plan = BeltApp.Plan()
    plan.connectOptions = [CBConnectPeripheralOptionRequiresANCS: true]
    for policy in [PlatformPolicy.ios, .macos] {
      let stage = Stage("ancs.\(policy.name)", policy: policy) { BeltApp(in: $0, plan) }
      _ = stage.world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
      stage.app.launch()
      try stage.world.expect("the app connects") { stage.app.root?.events.contains("connected") == true }
      let expected = ["CBConnectPeripheralOptionRequiresANCS has no effect"]
      #expect(stage.effects == (policy == .macos ? expected : []))
    }
  }

  @Test("Under macos and open, nothing is noted of an app in the background", arguments: [PlatformPolicy.macos, .open])
  func policiesWithoutLimits(policy: PlatformPolicy) throws {
    let scan = Stage("free.scan.\(policy.name)", policy: policy) { _ in ScanningApp(nil, Self.duplicates) }
    scan.app.launch()
    scan.run(.seconds(1))
    scan.app.enterBackground()
    scan.run(.seconds(60))
    #expect(scan.lines == [])

    let lock = Stage("free.lock.\(policy.name)", policy: policy) { _ in LockApp() }
    let central = TestCentral(on: lock.world.makeDevice(named: "tablet", at: Position(x: 1)))
    lock.app.launch()
    let peripheral = try central.connect(to: .service(LockApp.service))
    try central.setNotify(for: LockApp.value.uuidString, of: peripheral)
    lock.app.enterBackground()
    lock.run(.seconds(1))
    let root = try #require(lock.app.root)
    let characteristic = try #require(root.characteristic)
    for _ in 0..<20 {
      #expect(root.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
    }
    lock.app.suspend()
    lock.run(.seconds(1))
    #expect(try central.read(LockApp.value.uuidString, of: peripheral) == [7])
    #expect(lock.lines == [])
  }
}

/// An app that scans from the start, and connects when it is told to.
private final class ScanningApp: NSObject, CBCentralManagerDelegate {
  private(set) var manager: CBCentralManager!
  private(set) var peripherals: [CBPeripheral] = []
  /// The number of failed connections.
  private(set) var refusals = 0
  private let services: [CBUUID]?
  private let options: [String: Any]?

  init(_ services: [CBUUID]?, _ options: [String: Any]? = nil) {
    self.services = services
    self.options = options
    super.init()
    manager = CBCentralManager(delegate: self, queue: nil)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: services, options: options) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) { if !peripherals.contains(peripheral) { peripherals.append(peripheral) } }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) { refusals += 1 }
}
