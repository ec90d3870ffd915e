import BluetoothLab
import CoreBluetooth
import SettingsApp
import Testing

@MainActor struct FaultTests {
  let world = World(seed: 1)
  let thermostat: AccessoryDevice<SettingsDevice>
  let phone: Device
  let writer = SettingsWriter(Data([21]))

  init() {
    thermostat = world.add(SettingsDevice(), named: "thermostat")
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
  }

  private func write() throws {
    phone.run { writer.start() }
    try world.expect("the device has the setting", within: .seconds(120)) { writer.isDone }
    #expect(thermostat.accessory.setting == [21])
  }

  @Test("The link layer repeats lost packets: the app notices nothing")
  func lostPackets() throws {
    world.add([.air(.lose, .anything, .percent(30))])
    try write()
    #expect(writer.attempts == 1)
    #expect(writer.lastError == nil)
    #expect(thermostat.accessory.writes == 1)
    #expect(world.faultEvents.count > 5)
  }

  @Test("A write whose response is lost with the link is repeated on the next one")
  func lostLink() throws {
    // Write Response has the opcode 0x13. From it on, the radio is off for longer than the supervision timeout.
    world.add([
      .device(
        .mute(for: .seconds(10)), "thermostat",
        when: .afterAir(AirMatch(.attribute(opcode: 0x13), from: "thermostat"), .number(1)))
    ])
    try write()
    #expect(writer.attempts == 2)
    #expect((writer.lastError as? CBError)?.code == .connectionTimeout)
    #expect(thermostat.accessory.writes == 2)
  }

  @Test("A device that stops to answer costs the 30 s of a transaction, not for ever")
  func silence() throws {
    world.add([
      .device(
        .stopAnswering(for: .seconds(40)), "thermostat",
        when: .afterAir(AirMatch(.attribute(opcode: 0x12), to: "thermostat"), .number(1)))
    ])
    try write()
    #expect(writer.attempts >= 2)
    #expect(world.now > .seconds(30))
  }

  @Test("A reset of the phone's own controller does not end the work")
  func ownReset() throws {
    world.add([
      .device(
        .resetController, "phone", when: .afterAir(AirMatch(.attribute(opcode: 0x12), to: "thermostat"), .number(1)))
    ])
    try write()
  }

  @Test("A plan from a file, with several faults at once", arguments: 1...5)
  func plan(seed: UInt64) throws {
    let url = try #require(Bundle.module.url(forResource: "bad-day", withExtension: "json", subdirectory: "Plans"))
    let world = World(seed: seed)
    let thermostat = world.add(SettingsDevice(), named: "thermostat")
    world.add(try FaultPlan(json: String(contentsOf: url, encoding: .utf8)))
    world.makeDevice(named: "phone", at: Position(x: 2)).run { writer.start() }
    try world.expect("the device has the setting") { writer.isDone }
    #expect(thermostat.accessory.setting == [21])
    #expect(world.now > .seconds(3))
  }
}
