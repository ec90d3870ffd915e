import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

/// The prompts that a device's user gets for an app: to allow Bluetooth, and to turn it on.
@Suite struct WorldPermissionTests {
  private final class Phone {
    let world: World
    let device: Device
    let app = CentralApp()
    private let queue = DispatchQueue(label: "app")

    init(_ user: ScriptedPrompts, asksBeforeUse: Bool = true, bonds: String? = nil) {
      world = World(seed: 3)
      var options = DeviceOptions()
      options.asksBeforeUse = asksBeforeUse
      device = world.makeDevice(named: "phone", options, prompts: user, bondFolder: bonds)
    }

    func manager(_ options: [String: Any] = [:]) -> CBCentralManager {
      CBCentralManager(
        delegate: app, queue: queue, options: options.merging([CBManagerOptionAdapterKey: device]) { $1 })
    }
  }

  private func authorization(_ manager: CBManager) -> CBManagerAuthorization {
    (manager as any OldManager).authorization
  }

  @Test(
    "The user is asked before an app learns the state; after yes the app learns it", .requirement("G010"),
    .symbol("CBManagerAuthorization.notDetermined"))
  func allowed() {
    let user = ScriptedPrompts()
    user.answer(.yes, to: .useBluetooth, after: .seconds(5))
    let phone = Phone(user)
    let manager = phone.manager()
    phone.world.run(for: .seconds(4))
    #expect(phone.app.take() == [] && manager.state == .unknown && authorization(manager) == .notDetermined)
    phone.world.run(for: .seconds(2))
    #expect(phone.app.take().count == 1 && manager.state == .poweredOn)
    #expect(authorization(manager) == .allowedAlways)
    #expect(user.questions.map(\.kind) == [.useBluetooth] && user.questions.first?.app?.isEmpty == false)
  }

  @Test(
    "1.8 After no, existing and new managers are unauthorized, and the user is not asked again", .requirement("G009"),
    .symbol("CBManagerState.unauthorized", "CBManagerAuthorization.denied"))
  func denied() {
    let user = ScriptedPrompts(otherwise: .no)
    let phone = Phone(user)
    let manager = phone.manager()
    phone.world.run(for: .seconds(1))
    #expect(manager.state == .unauthorized && authorization(manager) == .denied && phone.app.take().count == 1)
    let second = CBPeripheralManager(
      delegate: nil, queue: DispatchQueue(label: "second"), options: [CBManagerOptionAdapterKey: phone.device])
    phone.world.run(for: .seconds(1))
    #expect(second.state == .unauthorized && user.questions.count == 1)
  }

  @Test("A manager of an unauthorized app gets no state changes, and neither scans nor sends")
  func deniedApp() {
    let phone = Phone(ScriptedPrompts(otherwise: .no))
    let manager = phone.manager()
    phone.world.run(for: .seconds(1))
    manager.scanForPeripherals(withServices: nil)
    phone.device.setPower(false)
    phone.world.run(for: .seconds(1))
    phone.device.setPower(true)
    phone.world.run(for: .seconds(1))
    #expect(manager.state == .unauthorized && phone.app.take().count == 1)
    #expect(phone.world.statistics["phone"]?.transmitted.packets == 0)
  }

  @Test(
    "The class property gives the authorization at the adapter of the latest manager", .requirement("A039"),
    .symbol(
      "CBPeripheralManager.authorizationStatus()", "CBPeripheralManagerAuthorizationStatus.notDetermined",
      "CBPeripheralManagerAuthorizationStatus.denied"))
  func ofClass() async {
    await #expect(processExitsWith: .success) {
      let phone = Phone(ScriptedPrompts(otherwise: .no))
      #expect((CBPeripheralManager.self as any OldServer.Type).authorizationStatus() == .authorized)
      let manager = phone.manager()
      #expect(CBManager.authorization == .notDetermined)
      #expect((CBPeripheralManager.self as any OldServer.Type).authorizationStatus() == .notDetermined)
      await phone.world.run(for: .seconds(1))
      #expect(CBCentralManager.authorization == .denied)
      #expect((CBPeripheralManager.self as any OldServer.Type).authorizationStatus() == .denied)
      withExtendedLifetime(manager) {}
    }
  }

  @Test("With a bond folder the answer also applies to later worlds", arguments: [true, false])
  func kept(_ isAllowed: Bool) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    for run in 0..<2 {
      let user = ScriptedPrompts(otherwise: isAllowed ? .yes : .no)
      let phone = Phone(user, bonds: folder.path)
      let manager = phone.manager()
      // Before the device has started.
      let known: CBManagerAuthorization = isAllowed ? .allowedAlways : .denied
      #expect(authorization(manager) == (run == 0 ? .notDetermined : known))
      phone.world.run(for: .seconds(1))
      #expect(manager.state == (isAllowed ? .poweredOn : .unauthorized) && authorization(manager) == known)
      #expect(user.questions.count == (run == 0 ? 1 : 0))
    }
  }

  @Test("If the last manager is released during the prompt, the prompt is withdrawn, and the next manager asks again")
  func withdrawn() {
    let user = ScriptedPrompts()
    user.answer(.yes, to: .useBluetooth, after: .seconds(5))
    let phone = Phone(user)
    var manager: CBCentralManager? = phone.manager()
    phone.world.run(for: .seconds(1))
    manager = nil
    phone.world.run(for: .seconds(5))
    #expect(user.questions.map(\.isWithdrawn) == [true])
    manager = phone.manager()
    phone.world.run(for: .seconds(6))
    #expect(manager?.state == .poweredOn && user.questions.map(\.isWithdrawn) == [true, false])
  }

  // MARK: Turning Bluetooth on

  @Test(
    "A manager with ShowPowerAlert asks the user to turn Bluetooth on; yes turns it on",
    .requirement("A017", "L016", "L017"), .symbol("CBCentralManagerOptionShowPowerAlertKey"))
  func alert() {
    let user = ScriptedPrompts(otherwise: .yes)
    let phone = Phone(user, asksBeforeUse: false)
    phone.device.setPower(false)
    let manager = phone.manager([CBCentralManagerOptionShowPowerAlertKey: true])
    phone.world.run(for: .seconds(1))
    #expect(manager.state == .poweredOn && user.questions.map(\.kind) == [.turnOn])
  }

  @Test("No prompt appears without that option, while Bluetooth is on, or for an unauthorized app")
  func noAlert() {
    let user = ScriptedPrompts(otherwise: .no)
    let silent = Phone(user, asksBeforeUse: false)
    silent.device.setPower(false)
    let manager = silent.manager()
    silent.world.run(for: .seconds(1))
    #expect(manager.state == .poweredOff && user.questions.isEmpty)
    let on = Phone(user, asksBeforeUse: false)
    let other = on.manager([CBCentralManagerOptionShowPowerAlertKey: true])
    on.world.run(for: .seconds(1))
    #expect(other.state == .poweredOn && user.questions.isEmpty)
    let denied = Phone(user)
    denied.device.setPower(false)
    let third = denied.manager([CBCentralManagerOptionShowPowerAlertKey: true])
    denied.world.run(for: .seconds(1))
    #expect(third.state == .unauthorized && user.questions.map(\.kind) == [.useBluetooth])
  }

  @Test(
    "A manager made without options does not ask the user to turn Bluetooth on; its first scan does",
    .symbol("CBCentralManager.init(delegate:queue:)", "CBPeripheralManager.init(delegate:queue:)"))
  func noAlertWithoutOptions() {
    let user = ScriptedPrompts(otherwise: .no)
    let phone = Phone(user, asksBeforeUse: false)
    phone.device.setPower(false)
    let (central, server) = phone.device.run {
      let queue = DispatchQueue(label: "app")
      return (
        CBCentralManager(delegate: nil, queue: queue), CBPeripheralManager(delegate: nil, queue: queue)
      )
    }
    phone.world.run(for: .seconds(1))
    #expect(central.state == .poweredOff && server.state == .poweredOff && user.questions.isEmpty)
    central.scanForPeripherals(withServices: nil)
    phone.world.run(for: .seconds(1))
    #expect(user.questions.map(\.kind) == [.turnOn])
  }

  @Test(
    "The first scan while Bluetooth is off asks the user, the second does not; no leaves Bluetooth off",
    .requirement("L016"))
  func firstScan() {
    let user = ScriptedPrompts(otherwise: .no)
    let phone = Phone(user, asksBeforeUse: false)
    phone.device.setPower(false)
    let manager = phone.manager()
    phone.world.run(for: .seconds(1))
    for _ in 0..<2 {
      manager.scanForPeripherals(withServices: nil)
      phone.world.run(for: .seconds(1))
    }
    #expect(manager.state == .poweredOff && user.questions.map(\.kind) == [.turnOn])
  }

  @Test("Requests during the prompt share its answer, and later managers cause no new prompt")
  func asksOnce() {
    let user = ScriptedPrompts()
    user.answer(.no, to: .turnOn, after: .seconds(5))
    let phone = Phone(user, asksBeforeUse: false)
    phone.device.setPower(false)
    let first = phone.manager([CBCentralManagerOptionShowPowerAlertKey: true])
    let second = phone.manager()
    phone.world.run(for: .seconds(1))
    first.scanForPeripherals(withServices: nil)
    second.scanForPeripherals(withServices: nil)
    phone.world.run(for: .seconds(10))
    let third = phone.manager()
    phone.world.run(for: .seconds(10))
    #expect(third.state == .poweredOff && user.questions.count == 1)
  }

  @Test(
    "If Bluetooth is turned on in another way, the prompt is withdrawn",
    .symbol("CBPeripheralManagerOptionShowPowerAlertKey"))
  func cameOn() {
    let user = ScriptedPrompts(otherwise: .noAnswer)
    let phone = Phone(user, asksBeforeUse: false)
    phone.device.setPower(false)
    let manager = CBPeripheralManager(
      delegate: nil, queue: DispatchQueue(label: "peripheral"),
      options: [CBManagerOptionAdapterKey: phone.device, CBPeripheralManagerOptionShowPowerAlertKey: true])
    phone.world.run(for: .seconds(1))
    #expect(user.questions.map(\.isWithdrawn) == [false])
    phone.device.setPower(true)
    phone.world.run(for: .seconds(1))
    #expect(manager.state == .poweredOn && user.questions.map(\.isWithdrawn) == [true])
  }
}

private protocol OldServer { static func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus }
extension CBPeripheralManager: OldServer {}
private protocol OldManager { var authorization: CBManagerAuthorization { get } }
extension CBManager: OldManager {}
