import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The latencies that a peripheral manager can request.
private let latencies: [(CBPeripheralManagerConnectionLatency, ClosedRange<Duration>)] = [
  (.low, Duration.milliseconds(15)...Duration.milliseconds(15)),
  (.medium, Duration.milliseconds(30)...Duration.milliseconds(60)),
  (.high, Duration.milliseconds(200)...Duration.milliseconds(300)),
]

/// The latency of links on the air.
@Suite("Desired latency on the air")
struct LatencyOnAirTests {
  @Test(
    "A037 K042 The connection events on the air have the interval of the desired latency", .requirement("A037", "K042"),
    arguments: latencies)
  func intervals(_ latency: CBPeripheralManagerConnectionLatency, _ intervals: ClosedRange<Duration>) throws {
    let world = World(seed: 23)
    let phone = world.makeDevice(named: "phone")
    let central = TestCentral(on: phone)
    let lamp = TestPeripheral(on: world.makeDevice(named: "lamp", at: Position(x: 1)))
    let value = CBMutableCharacteristic(
      type: LockApp.value, properties: .notify, value: nil, permissions: .readable)
    try lamp.publish(LockApp.service.uuidString, [value], name: "Lamp")
    let peripheral = try central.connect(to: .service(LockApp.service))
    try central.setNotify(for: LockApp.value.uuidString, of: peripheral)
    try lamp.waitForSubscriber(of: LockApp.value.uuidString)
    lamp.manager.setDesiredConnectionLatency(latency, for: try #require(value.subscribedCentrals?.first))
    world.run(for: .seconds(10))
    let devices = [phone, lamp.device]
    let before = devices.map { $0.statistics.links.map(\.attendedEvents) }
    let time = Duration.seconds(30)
    world.run(for: time)
    for (device, former) in zip(devices, before) {
      let events = try #require(device.statistics.links.first).attendedEvents - (try #require(former.first))
      let interval = time / events
      #expect(
        interval >= intervals.lowerBound * 0.98 && interval <= intervals.upperBound * 1.02,
        "\(device.name): \(interval)")
    }
    #expect(peripheral.state == .connected)
  }

  @Test("A policy with other parameters has them on the air, with connection events that the peripheral skips")
  func policy() throws {
    let world = World(seed: 24)
    var options = DeviceOptions()
    options.policy.lowLatency.intervals = Duration.milliseconds(100)...Duration.milliseconds(100)
    options.policy.lowLatency.peripheralLatency = 4
    let phone = world.makeDevice(named: "phone")
    let central = TestCentral(on: phone)
    options.position = Position(x: 1)
    let lamp = TestPeripheral(on: world.makeDevice(named: "lamp", options))
    let value = CBMutableCharacteristic(
      type: LockApp.value, properties: .notify, value: nil, permissions: .readable)
    try lamp.publish(LockApp.service.uuidString, [value], name: "Lamp")
    let peripheral = try central.connect(to: .service(LockApp.service))
    try central.setNotify(for: LockApp.value.uuidString, of: peripheral)
    try lamp.waitForSubscriber(of: LockApp.value.uuidString)
    lamp.manager.setDesiredConnectionLatency(.low, for: try #require(value.subscribedCentrals?.first))
    world.run(for: .seconds(10))
    let devices = [phone, lamp.device]
    let before = try devices.map { try #require($0.statistics.links.first).attendedEvents }
    world.run(for: .seconds(60))
    let after = try devices.map { try #require($0.statistics.links.first).attendedEvents }
    let counts = zip(after, before).map { $0 - $1 }
    #expect((590...610).contains(counts[0]), "\(counts)")
    #expect((115...200).contains(counts[1]), "\(counts)")
  }
}
