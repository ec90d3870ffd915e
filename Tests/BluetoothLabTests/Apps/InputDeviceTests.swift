import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

/// The links that the system itself has with bonded input devices.
@Suite("Input devices")
struct InputDeviceTests {
  /// A keyboard whose report needs encryption.
  private struct Keyboard: Accessory {
    static let service: BluetoothUUID = 0x1812
    static let report = CharacteristicPath(0x2A4D, of: service)

    /// True if the advertising names the service.
    var advertisesService = false

    var advertising: Advertising {
      var fields: [ADStructure] = [.flags(), .name("keyboard")]
      if advertisesService { fields.append(.services([0x1812])) }
      return Advertising(AdvertisingPayload(fitting: fields))
    }
    var services: [AccessoryService<Self>] {
      var report = AccessoryCharacteristic<Self>(octetsOf: Self.report, [.read, .notify], read: { _ in [0, 4] })
      report.protection = .encrypted
      return [AccessoryService(Self.service, [report]), .battery(level: { _ in 90 })]
    }
  }

  private static let report = "2A4D"
  private static let far = Position(x: 5_000)

  private final class Stage {
    let world = World(seed: 31)
    let phone: Device
    let keyboard: AccessoryDevice<Keyboard>

    init(_ policy: PlatformPolicy = .ios, folder: String? = nil) {
      phone = world.makeDevice(named: "phone", Self.options(policy), bondFolder: folder)
      keyboard = world.add(Keyboard(), named: "keyboard", at: Position(x: 1))
    }

    static func options(_ policy: PlatformPolicy) -> DeviceOptions {
      var options = DeviceOptions()
      options.policy = policy
      // The tests pair by reading a report.
      options.policy.hiddenServices = PlatformPolicy.macos.hiddenServices
      return options
    }

    var isConnected: Bool { links.contains(where: \.isConnected) }
    var links: [LinkStatistics] { phone.statistics.links }

    /// Pairs by reading the report, and ends the connection of the app.
    func pair() throws {
      let central = TestCentral(on: phone)
      let peripheral = try central.connect(to: "keyboard")
      #expect(try central.read(InputDeviceTests.report, of: peripheral) == [0, 4])
      try central.disconnect(from: peripheral)
      #expect(phone.bonds.count == 1)
    }

    func run(_ seconds: Int) { world.run(for: .seconds(seconds)) }
  }

  @Test("G024 The system keeps and re-establishes the link to a bonded keyboard, without any app", .requirement("G024"))
  func reconnects() throws {
    let stage = Stage()
    try stage.pair()
    #expect(stage.isConnected, "the system keeps the link that the app has left")
    stage.keyboard.move(to: Self.far)
    stage.run(60)
    #expect(!stage.isConnected)
    stage.keyboard.move(to: Position(x: 1))
    stage.run(5)
    #expect(stage.isConnected)
    // As a keyboard does when it is not used.
    stage.keyboard.act { _, context in context.disconnect() }
    let before = stage.links.count
    stage.run(5)
    #expect(stage.links.count == before + 1 && stage.isConnected, "after the keyboard has ended the link")
    stage.phone.setPower(false)
    stage.run(2)
    #expect(!stage.isConnected)
    stage.phone.setPower(true)
    stage.run(5)
    #expect(stage.isConnected, "after power on")
  }

  @Test(
    "G025 After the system has connected, an app retrieves the keyboard and connects to use it", .requirement("G025"))
  func retrieves() throws {
    let stage = Stage()
    try stage.pair()
    stage.keyboard.move(to: Self.far)
    stage.run(10)
    let central = TestCentral(on: stage.phone)
    try central.powerOn()
    #expect(central.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180F")]).isEmpty)
    stage.keyboard.move(to: Position(x: 1))
    stage.run(5)
    #expect(stage.isConnected)
    #expect(!central.events.contains { if case .connected = $0 { true } else { false } })
    let found = central.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180F")])
    let peripheral = try #require(found.first)
    #expect(peripheral.state == .disconnected)
    let before = stage.links.count
    let start = stage.world.now
    try central.connect(to: peripheral)
    #expect(stage.world.now - start < .milliseconds(1), "over the link of the system")
    #expect(try central.read(Self.report, of: peripheral) == [0, 4])
    try central.disconnect(from: peripheral)
    stage.run(5)
    #expect(stage.isConnected && stage.links.count == before)
  }

  @Test("After a restart the system connects to the bonded keyboard before any app runs", .requirement("G024"))
  func restart() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let stage = Stage(folder: folder.path)
    try stage.pair()
    stage.phone.setPower(false)
    stage.run(2)
    // The phone after its restart: another device of the world, with the same stored identity.
    let files = FileManager.default
    try files.copyItem(atPath: folder.path + "/phone", toPath: folder.path + "/restarted")
    let restarted = stage.world.makeDevice(named: "restarted", Stage.options(.ios), bondFolder: folder.path)
    stage.run(5)
    #expect(restarted.statistics.links.map(\.isConnected) == [true])
  }

  @Test("A policy that says so leaves bonded keyboards alone", arguments: [PlatformPolicy.open])
  func otherPolicy(_ policy: PlatformPolicy) throws {
    let stage = Stage(policy)
    try stage.pair()
    stage.run(10)
    #expect(!stage.isConnected)
  }

  @Test("The system gives up a keyboard that the user forgets, or that has lost its bond")
  func givesUp() throws {
    let forgotten = Stage()
    try forgotten.pair()
    forgotten.phone.forgetBonds()
    forgotten.run(10)
    #expect(!forgotten.isConnected && forgotten.links.count == 1)

    let lost = Stage()
    try lost.pair()
    lost.keyboard.forgetBonds()
    lost.run(60)
    #expect(!lost.isConnected)
    #expect(lost.links.count <= 3, "the system does not connect again and again")
    // The user pairs again.
    lost.phone.forgetBonds()
    lost.run(1)
    try lost.pair()
    lost.run(5)
    #expect(lost.isConnected)
  }

  @Test("While the system waits for an absent keyboard, apps scan and connect as usual")
  func apps() throws {
    let stage = Stage()
    try stage.pair()
    stage.keyboard.move(to: Self.far)
    stage.run(10)
    _ = stage.world.add(HeartRateSensor(), named: "belt", at: Position(x: 2))
    let central = TestCentral(on: stage.phone)
    let start = stage.world.now
    let belt = try central.connect(to: .service(BeltApp.service))
    #expect(stage.world.now - start < .seconds(3))
    try central.setNotify(for: "2A37", of: belt)
    #expect(try central.nextValue(of: "2A37", of: belt).count > 1)
    try central.disconnect(from: belt)
    stage.run(2)
    #expect(!stage.isConnected)
    stage.keyboard.move(to: Position(x: 1))
    stage.run(5)
    #expect(stage.isConnected, "the attempt has gone on")
  }

  @Test("An input device is known by its advertising, too, and a sensor is not one")
  func recognition() throws {
    let world = World(seed: 32)
    let phone = world.makeDevice(named: "phone", Stage.options(.ios))
    world.add(Keyboard(advertisesService: true), named: "keyboard", at: Position(x: 1))
    let central = TestCentral(on: phone)
    let peripheral = try central.connect(to: .service(CBUUID(string: "1812")))
    _ = try central.read(Self.report, of: peripheral)
    try central.disconnect(from: peripheral)
    world.run(for: .seconds(2))
    #expect(phone.statistics.links.last?.isConnected == true)
  }

  @Test("The system's links do not end for lack of traffic")
  func idleLinks() throws {
    var policy = PlatformPolicy.ios
    policy.idleLinkTimeout = .seconds(30)
    let stage = Stage(policy)
    try stage.pair()
    stage.run(120)
    #expect(stage.isConnected && stage.links.count == 1)
  }
}
