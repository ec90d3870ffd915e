// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

/// Operations on the bonds of a lab's devices.
@Suite struct BondTests {
  /// A phone that has bonded with a sensor whose only value needs an encrypted link.
  private final class Scene {
    let world: World
    let phone: Device
    let safe: RadioDevice
    let app = Reader()
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    private var central: CBCentralManager!

    init(seed: UInt64 = 5, folder: String? = nil) {
      world = World(seed: seed)
      var options = DeviceOptions(position: Position(x: 1))
      options.address = DeviceAddress(0x02_00_00_00_00_01, .public)
      var other = DeviceOptions()
      other.address = DeviceAddress(0x02_00_00_00_00_02, .public)
      phone = world.makeDevice(named: "phone", options, prompts: user, bondFolder: folder)
      safe = world.add(Safe(), named: "safe", other)
    }

    /// Connects, reads and disconnects. Returns the value.
    func read() -> [UInt8]? {
      app.value = nil
      app.isDone = false
      central = CBCentralManager(
        delegate: app, queue: DispatchQueue(label: "app"), options: [CBManagerOptionAdapterKey: phone])
      world.run(until: { self.app.isDone }, limit: .seconds(60))
      central = nil
      world.run(for: .seconds(2))
      return app.value
    }
  }

  /// An accessory whose value is for bonded devices only.
  private struct Safe: Accessory {
    static let service: BluetoothUUID = "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0A1"
    static let secret = CharacteristicPath("6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0A2", of: service)

    var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("safe")])) }
    var services: [AccessoryService<Self>] {
      var secret = AccessoryCharacteristic<Self>(octetsOf: Self.secret, .read, read: { _ in [1, 2, 3] })
      secret.protection = .encrypted
      return [AccessoryService(Self.service, [secret])]
    }
  }

  private final class Reader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    var value: [UInt8]?
    var isDone = false
    var isConnected = false
    var reads = true
    private var peripheral: CBPeripheral?
    private(set) var identifier: UUID?

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
      if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }
    func centralManager(
      _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
      rssi RSSI: NSNumber
    ) {
      central.stopScan()
      identifier = peripheral.identifier
      self.peripheral = peripheral
      peripheral.delegate = self
      central.connect(peripheral)
    }
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
      isConnected = true
      if reads { peripheral.discoverServices(nil) }
    }
    func centralManager(
      _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) { isDone = true }
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
      guard let service = peripheral.services?.last else { return }
      peripheral.discoverCharacteristics(nil, for: service)
    }
    func peripheral(
      _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
      if let secret = service.characteristics?.first { peripheral.readValue(for: secret) }
    }
    func peripheral(
      _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
      value = error == nil ? characteristic.value.map { Array($0) } : nil
      isDone = true
    }
  }

  @Test("A device lists its bonds and forgets one of them", .requirement("G045", "G046", "L176"))
  func list() throws {
    let scene = Scene()
    #expect(scene.phone.bonds == [])
    #expect(scene.read() == [1, 2, 3])
    let bond = try #require(scene.phone.bonds.first)
    #expect(scene.phone.bonds.count == 1)
    #expect(bond.identifier == scene.app.identifier)
    #expect(bond.usesSecureConnections && !bond.isAuthenticated && bond.name == "safe")
    #expect(scene.user.questions.count == 1)
    scene.phone.forgetBond(UUID())
    scene.world.run(for: .seconds(1))
    #expect(scene.phone.bonds == [bond])
    scene.phone.forgetBond(bond.identifier)
    scene.safe.forgetBonds()
    scene.world.run(for: .seconds(1))
    #expect(scene.phone.bonds == [])
    #expect(scene.read() == [1, 2, 3])
    #expect(scene.user.questions.count == 2)
  }

  @Test("An exported bond works where it is imported", arguments: [true, false])
  func export(_ isJSON: Bool) throws {
    let scene = Scene()
    _ = scene.read()
    let bond = try #require(scene.phone.bonds.first)
    let format = isJSON ? BondFormat.json : .bluez(address: bond.address)
    let text = try #require(scene.phone.exportBond(bond.identifier, as: format))
    #expect(scene.phone.exportBond(UUID(), as: format) == nil)
    #expect(scene.phone.exportBond(bond.identifier, as: .bluez(address: "00:11:22:33:44:55")) == nil)
    scene.phone.forgetBond(bond.identifier)
    scene.world.run(for: .seconds(1))
    try scene.phone.importBond(text, as: format)
    scene.world.run(for: .seconds(1))
    #expect(scene.phone.bonds.map(\.address) == [bond.address])
    #expect(scene.phone.bonds.map(\.identifier) == [bond.identifier])
    #expect(scene.read() == [1, 2, 3])
    #expect(scene.user.questions.count == 1 && scene.app.identifier == bond.identifier)
  }

  @Test("A bond that is imported and forgotten during a link to its device ends the link")
  func duringLink() throws {
    let scene = Scene()
    _ = scene.read()
    let bond = try #require(scene.phone.bonds.first)
    let text = try #require(scene.phone.exportBond(bond.identifier))
    scene.phone.forgetBond(bond.identifier)
    scene.world.run(for: .seconds(1))
    let app = Reader()
    app.reads = false
    let central = CBCentralManager(
      delegate: app, queue: DispatchQueue(label: "link"), options: [CBManagerOptionAdapterKey: scene.phone])
    #expect(scene.world.run(until: { app.isConnected }, limit: .seconds(60)))
    try scene.phone.importBond(text)
    scene.world.run(for: .seconds(1))
    #expect(app.isConnected && !app.isDone)
    scene.phone.forgetBond(bond.identifier)
    #expect(scene.world.run(until: { app.isDone }, limit: .seconds(60)))
    withExtendedLifetime(central) {}
  }

  @Test("A bond beyond the limit is refused, even if earlier ones have not been processed yet")
  func noRoom() throws {
    let scene = Scene()
    _ = scene.read()
    let bond = try #require(scene.phone.bonds.first)
    let text = try #require(scene.phone.exportBond(bond.identifier, as: .bluez(address: bond.address)))
    let world = World(seed: 1)
    var options = DeviceOptions()
    options.bondLimit = 2
    let device = world.makeDevice(named: "full", options)
    world.run(for: .seconds(1))
    func address(_ number: Int) -> String { bond.address.dropLast(2) + "0\(number)" }
    func take(_ number: Int) throws { try device.importBond(text, as: .bluez(address: address(number))) }
    try take(1)
    try take(2)
    for _ in 0..<2 {
      #expect {
        try take(3)
      } throws: {
        "\($0)".contains("the maximum of 2 bonds is reached")
      }
      // This one replaces an existing bond.
      try take(2)
      world.run(for: .seconds(1))
      #expect(device.bonds.map(\.address) == [address(1), address(2)])
    }
    device.forgetBond(device.bonds[0].identifier)
    world.run(for: .seconds(1))
    try take(3)
    world.run(for: .seconds(1))
    #expect(device.bonds.map(\.address) == [address(2), address(3)])
  }

  @Test("A text that is not a bond is refused, and the error quotes none of it")
  func wrong() {
    let scene = Scene()
    for text in ["", "{}", "secret 0011223344", "[LongTermKey]\nKey=00112233"] {
      for format in [BondFormat.json, .bluez(address: "C0:11:22:33:44:55"), .bluez(address: "")] {
        #expect {
          try scene.phone.importBond(text, as: format)
        } throws: { error in
          !"\(error)".contains("0011223") && !"\(error)".isEmpty
        }
      }
    }
    #expect(scene.phone.bonds == [])
  }

  @Test("A device that another program has forgotten stays forgotten")
  func forgottenElsewhere() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let scene = Scene(folder: folder.path)
    #expect(scene.read() == [1, 2, 3])
    let adapter = folder.url.appendingPathComponent("phone")
    let isBond = { (name: String) in name.hasSuffix(".json") && !["adapter.json", "apps.json"].contains(name) }
    let file = try #require(FileManager.default.contentsOfDirectory(atPath: adapter.path).first(where: isBond))
    try FileManager.default.removeItem(at: adapter.appendingPathComponent(file))
    // The cached database of the peer would be written when a link ends, or when Bluetooth is switched off.
    scene.phone.setPower(false)
    scene.world.run(for: .seconds(1))
    #expect(scene.phone.bonds == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: adapter.path).filter(isBond) == [])
    scene.phone.setPower(true)
    scene.safe.forgetBonds()
    #expect(scene.read() == [1, 2, 3])
    #expect(scene.user.questions.count == 2 && scene.phone.bonds.count == 1)
  }

  @Test(
    "G015 A reset of the network settings deletes all bonds, and the new identifiers last into later worlds",
    .requirement("G015"))
  func reset() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let scene = Scene(folder: folder.path)
    #expect(scene.read() == [1, 2, 3])
    let former = try #require(scene.app.identifier)
    scene.phone.resetNetworkSettings()
    scene.world.run(for: .seconds(2))
    #expect(scene.phone.bonds == [])
    scene.safe.forgetBonds()
    #expect(scene.read() == [1, 2, 3])
    let new = try #require(scene.app.identifier)
    #expect(new != former)
    // Without a bond that has stored the identifier.
    scene.phone.forgetBonds()
    scene.world.run(for: .seconds(1))
    let later = Scene(seed: 6, folder: folder.path)
    #expect(later.read() == [1, 2, 3])
    #expect(later.app.identifier == new)
  }
}
