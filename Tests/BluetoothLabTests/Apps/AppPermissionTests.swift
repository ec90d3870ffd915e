import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The permission of apps to use Bluetooth.
@Suite("Permissions of apps")
struct AppPermissionTests {
  private let world = World(seed: 6)
  private let user = ScriptedPrompts()

  private func phone(_ policy: PlatformPolicy = .ios, asks: Bool = true) -> Device {
    var options = DeviceOptions()
    options.policy = policy
    options.asksBeforeUse = asks
    return world.makeDevice(named: "phone", options, prompts: user)
  }

  private func app(_ phone: Device, named name: String = "com.example.belt", _ manifest: AppManifest = .described())
    -> SimulatedApp<BeltApp>
  {
    let world = world
    return phone.app(named: name, manifest: manifest) { _ in BeltApp(in: world) }
  }

  @Test("G001 The usage description of the app is in the question for permission", .requirement("G001"))
  func usageDescription() {
    user.answer(.yes, to: .useBluetooth, after: .seconds(5))
    let app = app(phone())
    app.launch()
    world.run(for: .seconds(4))
    #expect(app.root?.manager.state == .unknown)
    world.run(for: .seconds(2))
    #expect(app.root?.manager.state == .poweredOn)
    #expect(user.questions.map(\.app) == ["com.example.belt"])
    #expect(user.questions.map(\.usageDescription) == ["to show your pulse"])
  }

  @Test(
    "G002 An app without a usage description is stopped when it creates a manager, with the reason",
    .requirement("G002"))
  func noUsageDescription() {
    let app = app(phone(asks: false), AppManifest())
    app.launch()
    world.run(for: .seconds(1))
    #expect(app.state == .terminated)
    #expect(app.root == nil)
    #expect(app.stopReason?.contains("NSBluetoothAlwaysUsageDescription") == true)
  }

  @Test("macOS does not stop an app without a usage description")
  func macOS() {
    let app = app(phone(.macos, asks: false), AppManifest())
    app.launch()
    world.run(for: .seconds(1))
    #expect(app.root?.manager.state == .poweredOn)
  }

  @Test(
    "G008 A user allows in the settings what was refused, and refuses it again, with effect at once",
    .requirement("G008"))
  func settings() {
    user.answer(.no, to: .useBluetooth)
    let phone = phone()
    let app = app(phone)
    app.launch()
    world.run(for: .seconds(1))
    #expect(app.root?.manager.state == .unauthorized)
    _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    phone.setPermission(true, ofApp: "com.example.belt")
    world.run(for: .seconds(5))
    #expect(app.root?.manager.state == .poweredOn)
    #expect(app.root?.values.isEmpty == false)
    #expect(phone.statistics.links.last?.isConnected == true)
    phone.setPermission(false, ofApp: "com.example.belt")
    world.run(for: .seconds(1))
    #expect(app.root?.manager.state == .unauthorized)
    #expect(phone.statistics.links.last?.isConnected == false)
    #expect(user.questions.count == 1)
  }

  @Test("Denying a terminated app ends its link without a launch, and nothing is restored when it is allowed again")
  func deniedWhileTerminated() throws {
    let stage = AppLifeTests.Stage()
    stage.launchAndSubscribe()
    stage.app.terminate()
    stage.world.run(for: .milliseconds(100))
    #expect(stage.phone.statistics.links.last?.isConnected == true)
    stage.phone.setPermission(false, ofApp: stage.app.name)
    stage.run(60)
    #expect(stage.app.launches.count == 1)
    #expect(stage.app.state == .terminated)
    #expect(stage.phone.statistics.links.last?.isConnected == false)
    stage.phone.setPermission(true, ofApp: stage.app.name)
    stage.run(60)
    #expect(stage.app.launches.count == 1)
    stage.launchAndSubscribe()
    #expect(stage.app.root?.restored == nil)
    #expect(stage.app.root?.events.first == "state poweredOn")
  }

  @Test("Denying a terminated peripheral app ends its services and its advertising without a launch")
  func deniedPeripheral() throws {
    let stage = PeripheralAppTests.Stage()
    stage.app.launch()
    stage.run(1)
    stage.app.terminate()
    stage.world.run(for: .milliseconds(100))
    stage.phone.setPermission(false, ofApp: stage.app.name)
    stage.run(1)
    let packets = stage.phone.statistics.transmitted.packets
    stage.run(30)
    #expect(stage.phone.statistics.transmitted.packets == packets)
    #expect(stage.app.launches.count == 1)
    stage.phone.setPermission(true, ofApp: stage.app.name)
    stage.run(1)
    #expect(stage.app.launches.count == 1)
    stage.app.launch()
    stage.run(1)
    #expect(stage.app.root?.events == ["state poweredOn", "added", "advertising"])
  }

  @Test("An app that is terminated while it is denied is not launched when it is allowed again")
  func terminatedWhileDenied() throws {
    let stage = AppLifeTests.Stage()
    stage.launchAndSubscribe()
    stage.phone.setPermission(false, ofApp: stage.app.name)
    stage.run(1)
    #expect(stage.app.root?.events.last == "state unauthorized")
    stage.app.terminate()
    stage.run(1)
    stage.phone.setPermission(true, ofApp: stage.app.name)
    stage.run(60)
    #expect(stage.app.launches.count == 1)
    stage.launchAndSubscribe()
    #expect(stage.app.root?.restored == nil)
  }

  @Test("The permission of one app does not affect another one: each is asked about once")
  func severalApps() {
    user.answer(.no, to: .useBluetooth, count: 1)
    user.answer(.yes, to: .useBluetooth, count: 1)
    let phone = phone()
    let (first, second) = (app(phone), app(phone, named: "com.example.other"))
    first.launch()
    world.run(for: .seconds(1))
    second.launch()
    world.run(for: .seconds(1))
    #expect(first.root?.manager.state == .unauthorized)
    #expect(second.root?.manager.state == .poweredOn)
    #expect(user.questions.map(\.app) == ["com.example.belt", "com.example.other"])
    first.terminate(by: .user)
    first.launch()
    world.run(for: .seconds(1))
    #expect(first.root?.manager.state == .unauthorized)
    #expect(user.questions.count == 2)
  }
}
