import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

/// A sensor with private addresses, from app to app over the simulated air · Vol 3, Part C, 10.7.
@Suite struct WorldPrivacyTests {
  /// A private address lasts 15 minutes.
  private static let lifetime = Duration.seconds(901)

  /// Finds the advertising sensor.
  private func find(_ air: TwoDeviceFixture) -> CBPeripheral? {
    _ = air.app.take()
    air.app.found = []
    air.central.scanForPeripherals(withServices: [TwoDeviceFixture.service])
    air.expect("found")
    air.central.stopScan()
    return air.app.found.first
  }

  private func pair(_ air: TwoDeviceFixture, _ peripheral: CBPeripheral, _ characteristic: CBCharacteristic) {
    peripheral.readValue(for: characteristic)
    air.expect("value [104")
    air.central.cancelPeripheralConnection(peripheral)
    air.expect("disconnected")
  }

  private func protect(_ air: TwoDeviceFixture) {
    air.localService.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: "FFF3"), properties: [.read], value: nil, permissions: [.readEncryptionRequired])
    ]
  }

  @Test(
    "After 15 minutes an unbonded sensor is a new peripheral, and the old one can't be reached",
    .requirement("L065", "L177"))
  func unbonded() throws {
    let air = TwoDeviceFixture(isPrivate: true)
    let old = air.discover()
    air.world.run(for: Self.lifetime)
    let new = try #require(find(air))
    #expect(new.identifier != old.identifier)
    air.central.connect(old)
    air.world.run(for: .seconds(60))
    #expect(air.app.events.isEmpty && old.state == .connecting)
    air.central.connect(new)
    air.expect("connected")
    #expect(old.state == .connecting && new.state == .connected)
  }

  @Test("A bonded sensor keeps its identifier: it is discovered and connected to under every address")
  func bonded() throws {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user, isPrivate: true)
    protect(air)
    let (peripheral, characteristic) = air.ready()
    pair(air, peripheral, characteristic)
    for _ in 0..<2 {
      air.world.run(for: Self.lifetime)
      #expect(find(air)?.identifier == peripheral.identifier)
    }
    air.central.connect(peripheral)
    air.expect("connected")
    peripheral.discoverServices([TwoDeviceFixture.service])
    air.expect("services")
    peripheral.discoverCharacteristics(nil, for: try #require(peripheral.services?.first))
    air.expect("characteristics")
    peripheral.readValue(for: try #require(peripheral.services?.first?.characteristics?.first))
    air.expect("value [104")
    #expect(user.questions.count == 1)
  }

  @Test(
    "2.7 In another world a sensor has the same identifier: with a bond, or without one if it is not private",
    .requirement("L063"))
  func identifiers() throws {
    for isPrivate in [true, false] {
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      var identifiers: Set<UUID> = []
      for seed: UInt64 in [7, 8] {
        let air = TwoDeviceFixture(bonds: folder.path, isPrivate: isPrivate, seed: seed)
        protect(air)
        let (peripheral, characteristic) = air.ready()
        if isPrivate { pair(air, peripheral, characteristic) }
        identifiers.insert(peripheral.identifier)
      }
      #expect(identifiers.count == 1)
    }
  }

  @Test(
    "A saved identifier suffices to connect to a bonded sensor in another world, without a scan", .requirement("L063"))
  func savedIdentifier() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let before = TwoDeviceFixture(bonds: folder.path, isPrivate: true, seed: 7)
    protect(before)
    let (peripheral, characteristic) = before.ready()
    pair(before, peripheral, characteristic)
    let saved = peripheral.identifier

    let air = TwoDeviceFixture(bonds: folder.path, isPrivate: true, seed: 8)
    protect(air)
    air.add([air.localService])
    air.advertise()
    let found = try #require(air.central.retrievePeripherals(withIdentifiers: [saved]).first)
    found.delegate = air.app
    air.central.connect(found)
    air.expect("connected")
    #expect(found.identifier == saved && air.app.found.isEmpty)
  }
}
