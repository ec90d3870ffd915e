import BluetoothLab
import BluetoothLabTime
import HeartRateApp
import XCTest

final class HeartRateMonitorTests: XCTestCase {
  @MainActor
  func testShowsTheHeartRate() async throws {
    // The seed decides all that is random: each run of the test is the same.
    let world = World(seed: 1)
    world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    // The app's manager has no options: it uses the default device.
    world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))

    try await world.withAppTime {
      let monitor = HeartRateMonitor()
      monitor.start()
      try await world.expect("the app shows a heart rate", within: .seconds(5)) { monitor.beatsPerMinute != nil }
      XCTAssertEqual(monitor.beatsPerMinute, 61)
    }
  }

  @MainActor
  func testNoticesThatBluetoothIsOff() async throws {
    let world = World(seed: 1)
    let phone = world.makeDevice(named: "phone")
    world.makeDefault(phone)

    try await world.withAppTime {
      let monitor = HeartRateMonitor()
      monitor.start()
      try await world.expect("the app searches") { monitor.state == .searching }
      phone.setPower(false)
      try await world.expect("the app shows that Bluetooth is off") { monitor.state == .bluetoothOff }
    }
  }
}
