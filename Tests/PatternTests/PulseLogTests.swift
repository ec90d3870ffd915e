import BluetoothLab
import CoreBluetooth
import Testing

@testable import pulse_log

@Suite struct PulseLogTests {
  @Test("The log goes on after Bluetooth was off, and after a reset of the controller", arguments: [false, true])
  func powerCycle(isReset: Bool) throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    let phone = world.makeDevice(named: "phone", at: Position(x: 2))
    var lines: [String] = []
    let app = phone.run { PulseLog { lines.append($0) } }
    defer { withExtendedLifetime(app) {} }
    try world.expect("the app logs a value") { lines.contains("61 beats per minute") }
    lines = []
    if isReset {
      phone.add([.device(.resetController, when: .at(world.now))])
    } else {
      phone.setPower(false)
      world.run(for: .seconds(3))
      phone.setPower(true)
    }
    try world.expect("the app logs a value again") { lines.contains("61 beats per minute") }
    // The loss of a controller may be reported before the state.
    #expect(
      lines.filter { $0 != "disconnected" } == [
        "Bluetooth is not on", "Bluetooth is on", "connected", "61 beats per minute",
      ])
  }
}
