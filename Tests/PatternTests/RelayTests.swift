import BluetoothLab
import CoreBluetooth
import Testing

@testable import Patterns

@Suite struct RelayTests {
  @Test("A relay in both roles at once sends the values of a sensor on to a phone, in order")
  func relay() throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    let device = world.makeDevice(named: "relay", at: Position(x: 2))
    let (central, peripheral) = (TestCentral(on: device), TestPeripheral(on: device))
    try central.powerOn()
    try peripheral.powerOn()
    let output = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0D2")
    let relay = Relay(
      of: CBUUID(string: "2A37"), in: CBUUID(string: "180D"), as: output, with: peripheral.manager)
    central.manager.delegate = relay
    peripheral.manager.delegate = relay
    relay.start(in: CBUUID(string: Lamp.service), named: "Relay", with: central.manager)
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 4)))
    let found = try phone.connect(to: "Relay")
    try phone.setNotify(for: output.uuidString, of: found)
    let values = try (0..<3).map { _ in try phone.nextValue(of: output.uuidString, of: found) }
    // The flags, the rate and the energy of a measurement, each time another one.
    #expect(values.allSatisfy { $0.count == 4 })
    #expect(Set(values).count == 3)
    #expect(device.statistics.links.map(\.isCentral).sorted { $0 && !$1 } == [true, false])
  }
}
