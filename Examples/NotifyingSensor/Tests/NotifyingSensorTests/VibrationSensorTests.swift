import BluetoothLab
import CoreBluetooth
import NotifyingSensor
import Testing

/// A phone that is subscribed to a sensor.
@MainActor private struct Encounter {
  let world = World(seed: 1)
  let sensor: VibrationSensor
  let device: Device
  let phone: TestCentral
  let peripheral: CBPeripheral

  init(capacity: Int = 4_096) throws {
    let sensor = VibrationSensor(capacity: capacity)
    // The managers that are created in the closure use this device.
    device = world.makeDevice(named: "sensor")
    device.run { sensor.start() }
    self.sensor = sensor
    phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    peripheral = try phone.connect(to: "Vibration")
    try phone.setNotify(for: VibrationSensor.samples.uuidString, of: peripheral)
  }

  /// The samples that have reached the phone.
  var received: [UInt16] {
    phone.events.flatMap { event -> [UInt16] in
      guard case .valueUpdated(_, VibrationSensor.samples, let octets, nil) = event else { return [] }
      return stride(from: 0, to: octets.count - 1, by: 2).map { UInt16(octets[$0]) | UInt16(octets[$0 + 1]) << 8 }
    }
  }
}

@MainActor struct VibrationSensorTests {
  @Test("All samples arrive in order, although the queue of the system is full in between")
  func order() throws {
    let encounter = try Encounter(capacity: 20_000)
    for sample in 0..<UInt16(20_000) { encounter.sensor.add(sample) }
    // The queue of the system is full, so most samples wait in the sensor.
    #expect(encounter.sensor.waitingCount > 10_000)
    try encounter.world.expect("the link takes the samples", within: .seconds(10)) {
      encounter.sensor.waitingCount < 500
    }
    encounter.sensor.flush()
    encounter.world.run(for: .seconds(1))
    #expect(encounter.received == Array(0..<20_000))
    #expect(encounter.sensor.droppedCount == 0)
  }

  @Test("While the link stands still, the oldest samples are dropped, and counted")
  func overflow() throws {
    let encounter = try Encounter(capacity: 1_000)
    // The sensor's radio is off for 200 ms, which is shorter than the supervision timeout.
    encounter.world.add([.device(.mute(for: .milliseconds(200)), "sensor", when: .at(encounter.world.now))])
    for sample in 0..<UInt16(20_000) { encounter.sensor.add(sample) }
    #expect(encounter.sensor.waitingCount == 1_000)
    encounter.world.run(for: .seconds(5))
    encounter.sensor.flush()
    encounter.world.run(for: .seconds(1))
    #expect(encounter.received.last == 19_999)
    #expect(encounter.received.count + encounter.sensor.droppedCount == 20_000)
    #expect(encounter.received == encounter.received.sorted())
  }

  @Test("Without a subscriber, nothing waits")
  func unsubscribed() throws {
    let encounter = try Encounter()
    try encounter.phone.disconnect(from: encounter.peripheral)
    encounter.world.run(for: .seconds(1))
    encounter.sensor.add(1)
    #expect(!encounter.sensor.hasSubscribers)
    #expect(encounter.sensor.waitingCount == 0)
  }

  @Test("Samples that wait when Bluetooth is turned off do not go to the next subscriber")
  func powerOff() throws {
    let encounter = try Encounter()
    encounter.sensor.add(1)
    #expect(encounter.sensor.waitingCount == 1)
    encounter.device.setPower(false)
    encounter.world.run(for: .seconds(1))
    #expect(!encounter.sensor.hasSubscribers)
    #expect(encounter.sensor.waitingCount == 0)
    encounter.device.setPower(true)
    let peripheral = try encounter.phone.connect(to: "Vibration")
    try encounter.phone.setNotify(for: VibrationSensor.samples.uuidString, of: peripheral)
    encounter.sensor.add(2)
    encounter.sensor.flush()
    encounter.world.run(for: .seconds(1))
    #expect(encounter.received == [2])
  }
}
