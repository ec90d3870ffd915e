import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// Alerts about events of suspended apps.
@Suite("Alerts")
struct AlertTests {
  typealias Stage = AppLifeTests.Stage

  private static var all: [String: Any] {
    [
      CBConnectPeripheralOptionNotifyOnConnectionKey: true, CBConnectPeripheralOptionNotifyOnDisconnectionKey: true,
      CBConnectPeripheralOptionNotifyOnNotificationKey: true,
    ]
  }

  private func plan(_ options: [String: Any]?) -> BeltApp.Plan {
    var plan = BeltApp.Plan()
    plan.connectOptions = options
    return plan
  }

  private func suspend(_ stage: Stage) {
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
  }

  @Test(
    "K010 K009 L179 A suspended app's notifications and its disconnection are alerts, which the device lists",
    .requirement("A022", "K009", "K010", "L052", "L179"),
    .symbol("CBConnectPeripheralOptionNotifyOnDisconnectionKey", "CBConnectPeripheralOptionNotifyOnNotificationKey"))
  func suspended() throws {
    let stage = Stage(manifest: .described(), plan(Self.all))
    stage.launchAndSubscribe()
    stage.run(2)
    #expect(stage.phone.alerts.isEmpty, "not in the foreground")
    suspend(stage)
    let before = stage.phone.alerts.count
    stage.run(3)
    let alerts = stage.phone.alerts
    #expect(alerts.count == before + 3)
    #expect(alerts.last?.kind == .notified && alerts.last?.app == "com.example.belt")
    #expect(alerts.last?.peripheral == "belt")
    stage.belt.move(to: Position(x: 5_000))
    stage.run(10)
    #expect(stage.phone.alerts.last?.kind == .disconnected)
    #expect(stage.phone.alerts.count { $0.kind == .disconnected } == 1)
  }

  @Test(
    "L179 What an app misses that the system has terminated is in the list of alerts, and its link stays",
    .requirement("L179"))
  func terminated() throws {
    var plan = plan(Self.all)
    plan.identifier = "belt"
    let stage = Stage(manifest: .described([.central]), plan)
    stage.launchAndSubscribe()
    stage.app.terminate()
    stage.run(3)
    #expect(stage.phone.alerts.first?.kind == .notified)
    #expect(stage.phone.alerts.first?.app == "com.example.belt")
    #expect(stage.phone.alerts.first?.peripheral == "belt")
    #expect(stage.phone.statistics.links.count == 1)
    #expect(stage.phone.statistics.links.first?.isConnected == true)
    // The value has launched the app, which gets it, and no alert tells of the values after it.
    #expect(stage.app.launches.count == 2)
    #expect(stage.app.root?.events.prefix(3) == ["restored", "state poweredOn", "value"])
    #expect(stage.phone.alerts.count == 1)
  }

  @Test(
    "K008 A connection while the app is suspended is an alert", .requirement("A022", "K008", "L052"),
    .symbol("CBConnectPeripheralOptionNotifyOnConnectionKey"))
  func connection() throws {
    let stage = Stage(manifest: .described(), plan(Self.all))
    stage.launchAndSubscribe()
    let root = try #require(stage.app.root)
    stage.belt.move(to: Position(x: 5_000))
    #expect(stage.world.run(until: { root.events.contains("disconnected error 6") }))
    root.manager.connect(try #require(root.peripheral), options: Self.all)
    suspend(stage)
    stage.belt.move(to: Position(x: 1))
    stage.run(5)
    #expect(stage.phone.alerts.map(\.kind) == [.connected])
  }

  @Test(
    "L052 A discovery and discovered services cause no alert, although a suspended app wants all alerts",
    .requirement("L052"))
  func noOtherAlerts() throws {
    for modes in [[], [.central]] as [Set<AppManifest.BackgroundMode>] {
      var connecting = plan(Self.all)
      connecting.subscribes = false
      let stage = Stage(manifest: .described(modes), connecting)
      stage.app.launch()
      let root = try #require(stage.app.root)
      #expect(stage.world.run(until: { root.events.last == "connected" }, limit: .seconds(5)))
      // The answers come after the suspension.
      root.peripheral?.discoverServices([BeltApp.service])
      root.peripheral?.readRSSI()
      stage.app.enterBackground()
      stage.app.suspend()
      stage.run(2)
      // Without the mode the events wait, as those that cause alerts would.
      #expect(root.events.contains("services") == modes.contains(.central))
      #expect(stage.phone.alerts.isEmpty, "\(modes)")
      stage.app.enterForeground()
      stage.run(1)
      #expect(root.events.contains("services"))
    }
    var scanning = plan(Self.all)
    scanning.connects = false
    let stage = Stage(manifest: .described([.central]), scanning, beltAt: Position(x: 5_000))
    stage.app.launch()
    suspend(stage)
    let root = try #require(stage.app.root)
    stage.belt.move(to: Position(x: 1))
    #expect(stage.world.run(until: { root.events.last == "discovered" }, limit: .seconds(60)))
    stage.run(1)
    #expect(stage.phone.alerts.isEmpty)
  }

  @Test("L180 Without the options there is no alert, and the app does not reconnect", .requirement("A022", "L180"))
  func noOptions() throws {
    let stage = Stage(manifest: .described(), plan(nil))
    stage.launchAndSubscribe()
    suspend(stage)
    stage.run(3)
    stage.belt.move(to: Position(x: 5_000))
    stage.run(10)
    stage.belt.move(to: Position(x: 1))
    stage.run(10)
    #expect(stage.phone.alerts.isEmpty)
    #expect(stage.phone.statistics.links.last?.isConnected == false)
  }

  @Test("K011 Of two apps, the one that was in the foreground last alerts the user", .requirement("K011"))
  func twoApps() throws {
    let stage = Stage(manifest: .described(), plan(Self.all))
    let (world, plan) = (stage.world, plan(Self.all))
    let other = stage.phone.app(named: "other", manifest: .described()) { _ in BeltApp(in: world, plan) }
    stage.launchAndSubscribe()
    // The belt has stopped advertising: the second app gets the link of the first one.
    other.launch()
    stage.run(1)
    let second = try #require(other.root)
    let belts = second.manager.retrieveConnectedPeripherals(withServices: [BeltApp.service])
    second.use(try #require(belts.first), Self.all)
    #expect(world.run(until: { !second.values.isEmpty }, limit: .seconds(10)))
    other.enterBackground()
    suspend(stage)
    other.suspend()
    stage.run(1)
    let before = stage.phone.alerts.count
    stage.run(3)
    #expect(stage.phone.alerts.dropFirst(before).map(\.app) == ["other", "other", "other"])
    stage.app.enterForeground()
    stage.run(1)
    suspend(stage)
    let later = stage.phone.alerts.count
    stage.run(3)
    #expect(stage.phone.alerts.dropFirst(later).map(\.app) == Array(repeating: "com.example.belt", count: 3))
  }
}
