import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Sensor tag, and the usual services of accessories")
struct SensorAccessoryTests {
  private func uuid(_ path: CharacteristicPath) -> String { path.characteristic.description }

  @Test("Each sensor of a tag is turned on, paced and turned off by itself", .requirement("L195"))
  func sensorTag() async throws {
    var tag = SensorTag()
    (tag.objectTemperature, tag.ambientTemperature, tag.humidity, tag.pressure) = (36.5, -10, 50, 98_000)
    (tag.rotation, tag.acceleration) = (SensorTag.Vector(250, -125, 0), SensorTag.Vector(0, -1, 2))
    let meeting = Encounter(tag)
    let data = SensorTag.Sensor.allCases.map { uuid($0.data) }
    try #require(await meeting.prepare(subscribing: data))
    await meeting.world.run(for: .seconds(3))
    #expect(data.allSatisfy { meeting.app.values(of: $0).isEmpty }, "all sensors are off")

    for sensor in [SensorTag.Sensor.infrared, .humidity, .pressure] {
      meeting.app.write([1], to: uuid(sensor.configuration), .withResponse)
    }
    // All axes, with a range of 8 g.
    meeting.app.write([0x7F, 0x02], to: uuid(SensorTag.Sensor.movement.configuration), .withResponse)
    meeting.app.write([10], to: uuid(SensorTag.Sensor.movement.period), .withResponse)
    await meeting.world.run(for: .milliseconds(3_500))
    // 36.5 · 128 = 0x1240, −10 · 128 = −0x500.
    #expect(meeting.app.values(of: data[0]).last == [0x40, 0x12, 0x00, 0xFB])
    // 30 / 165 · 65,536 = 0x2E8C, and a half.
    #expect(meeting.app.values(of: data[1]).last == [0x8C, 0x2E, 0x00, 0x80])
    // −1,000 and 98,000.
    #expect(meeting.app.values(of: data[2]).last == [0x18, 0xFC, 0xFF, 0xD0, 0x7E, 0x01])
    // 250 °/s is the half of 500 °/s, above the highest value; −1 g and 2 g of 8 g.
    #expect(
      meeting.app.values(of: data[3]).last == [
        0xFF, 0x7F, 0x00, 0xC0, 0, 0, 0, 0, 0x00, 0xF0, 0x00, 0x20, 20, 0, 0, 0, 0xD4, 0xFF,
      ])
    #expect((3...4).contains(meeting.app.values(of: data[0]).count))
    #expect(meeting.app.values(of: data[3]).count >= 30, "every 0.1 s")

    meeting.app.write([0, 0], to: uuid(SensorTag.Sensor.movement.configuration), .withResponse)
    await meeting.world.run(for: .milliseconds(300))
    let before = data.map { meeting.app.values(of: $0).count }
    await meeting.world.run(for: .seconds(3))
    #expect(zip(data, before).map { meeting.app.values(of: $0).count > $1 } == [true, true, true, false])
    #expect(!meeting.accessory.accessory.isOn(.movement) && meeting.accessory.accessory.isOn(.infrared))
    #expect(meeting.accessory.accessory.period(of: .movement) == .milliseconds(100))
  }

  @Test(
    "A sensor tag rejects settings of the wrong length, reserved bits and periods that are too short",
    .requirement("L195"))
  func refusals() async throws {
    let meeting = Encounter(SensorTag())
    try #require(await meeting.prepare())
    let (movement, infrared) = (SensorTag.Sensor.movement, SensorTag.Sensor.infrared)
    let cases: [([UInt8], CharacteristicPath, Int?)] = [
      ([1], movement.configuration, 0x0D), ([0, 4], movement.configuration, 0x13),
      ([1, 0], infrared.configuration, 0x0D),
      ([2], infrared.configuration, 0x13), ([29], infrared.period, 0x13), ([9], movement.period, 0x13),
      ([], movement.period, 0x0D), ([1, 2], movement.period, 0x0D), ([30], infrared.period, nil),
    ]
    for (octets, path, error) in cases {
      #expect(await meeting.command(octets, to: uuid(path)).error == error, "\(path.characteristic) \(octets)")
    }
    #expect(SensorTag.Sensor.allCases.allSatisfy { !meeting.accessory.accessory.isOn($0) })
  }

  @Test("The sensors of a tag are off after a disconnection, without values, and keep their periods")
  func sensorsOfOneConnection() async throws {
    let meeting = Encounter(SensorTag())
    try #require(await meeting.prepare())
    let (movement, infrared) = (SensorTag.Sensor.movement, SensorTag.Sensor.infrared)
    meeting.app.write([0x7F, 0], to: uuid(movement.configuration), .withResponse)
    meeting.app.write([20], to: uuid(movement.period), .withResponse)
    meeting.app.write([1], to: uuid(infrared.configuration), .withResponse)
    await meeting.world.run(for: .seconds(2))
    #expect(meeting.accessory.accessory.isOn(movement) && meeting.accessory.accessory.isOn(infrared))
    meeting.accessory.act { _, context in context.disconnect() }
    await meeting.world.run(for: .seconds(2))
    #expect(meeting.app.has(.disconnected))
    #expect(SensorTag.Sensor.allCases.allSatisfy { !meeting.accessory.accessory.isOn($0) })
    #expect(meeting.accessory.accessory.period(of: movement) == .milliseconds(200))

    let tablet = PhoneApp(on: meeting.world.makeDevice(named: "tablet", at: Position(x: 1)))
    try #require(await meeting.world.run(until: { tablet.isReady }, limit: .seconds(20)))
    tablet.read(uuid(movement.data))
    tablet.read(uuid(infrared.configuration))
    await meeting.world.run(for: .seconds(1))
    #expect(tablet.values(of: uuid(movement.data)) == [[UInt8](repeating: 0, count: 18)])
    #expect(tablet.values(of: uuid(infrared.configuration)) == [[0]])
  }

  @Test("The characteristics of a sensor tag have the UUIDs of the product")
  func tagUUIDs() {
    func uuids(_ sensor: SensorTag.Sensor) -> [String] {
      [sensor.data, sensor.configuration, sensor.period].map { uuid($0).uppercased() }
    }
    func expected(_ numbers: [String]) -> [String] { numbers.map { "F000\($0)-0451-4000-B000-000000000000" } }
    #expect(uuids(.infrared) == expected(["AA01", "AA02", "AA03"]))
    #expect(uuids(.humidity) == expected(["AA21", "AA22", "AA23"]))
    #expect(uuids(.pressure) == expected(["AA41", "AA42", "AA44"]))
    #expect(uuids(.movement) == expected(["AA81", "AA82", "AA83"]))
  }

  @Test("A client reads and sets the interval of a thermometer within its valid range", .requirement("L187"))
  func measurementInterval() async throws {
    var thermometer = Thermometer()
    thermometer.permittedIntervals = 1...10
    thermometer.timeStamp = DateTime(year: 2024, month: 5, day: 6)
    let meeting = Encounter(thermometer)
    try #require(await meeting.prepare(subscribing: ["2A1C", "2A1E", "2A21"]))
    meeting.app.read("2A21")
    await meeting.world.run(for: .seconds(3))
    #expect(meeting.app.values(of: "2A21") == [[1, 0]])
    #expect(meeting.app.values(of: "2A1C").last == [2, 0x4C, 0x0E, 0, 0xFE, 0xE8, 7, 5, 6, 0, 0, 0])
    #expect(meeting.app.values(of: "2A1E").count >= 8, "four intermediate temperatures in a second")
    #expect(await meeting.command([11, 0], to: "2A21") == .rejected(0x80))
    #expect(await meeting.command([1], to: "2A21") == .rejected(0x0D))
    #expect(await meeting.command([5, 0], to: "2A21") == .response(5, 0))
    let before = meeting.app.values(of: "2A1C").count
    await meeting.world.run(for: .seconds(21))
    #expect((3...5).contains(meeting.app.values(of: "2A1C").count - before))
    // 0 ends periodic measurements.
    #expect(await meeting.command([0, 0], to: "2A21") == .response(0, 0))
    let after = meeting.app.values(of: "2A1C").count
    await meeting.world.run(for: .seconds(12))
    #expect(meeting.app.values(of: "2A1C").count == after)

    let interval = try #require(meeting.app.characteristic("2A21"))
    meeting.app.peripheral?.discoverDescriptors(for: interval)
    await meeting.world.run(for: .seconds(1))
    let range = try #require(interval.descriptors?.first { $0.uuid == CBUUID(string: "2906") })
    meeting.app.peripheral?.readValue(for: range)
    await meeting.world.run(for: .seconds(1))
    #expect(range.value as? Data == Data([1, 0, 10, 0]))
  }

  @Test("A thermometer reports a temperature that is no number as NaN")
  func noTemperature() async throws {
    let meeting = Encounter(Thermometer(celsius: .nan))
    try #require(await meeting.prepare(subscribing: ["2A1C", "2A1E"]))
    await meeting.world.run(for: .milliseconds(1_500))
    #expect(meeting.app.values(of: "2A1C").last == [0, 0xFF, 0xFF, 0x7F, 0])
    #expect(meeting.app.values(of: "2A1E").last == [0, 0xFF, 0xFF, 0x7F, 0])
    meeting.accessory.update { $0.celsius = 36.6 }
    await meeting.world.run(for: .milliseconds(1_500))
    #expect(meeting.app.values(of: "2A1C").last == [0, 0x4C, 0x0E, 0, 0xFE])
  }

  @Test("Measurements that are due before the client has confirmed the previous one are left out")
  func fastIndications() async throws {
    let thermometer = Encounter(Thermometer(interval: .milliseconds(1)))
    try #require(await thermometer.prepare(subscribing: ["2A1C"]))
    await thermometer.world.run(for: .seconds(5))
    #expect((5...1_000).contains(thermometer.app.values(of: "2A1C").count))
    thermometer.accessory.update { $0.celsius = 40 }
    await thermometer.world.run(for: .milliseconds(500))
    // The newest value arrives, instead of thousands that have waited. 4000 · 10⁻².
    #expect(thermometer.app.values(of: "2A1C").last == [0, 0xA0, 0x0F, 0, 0xFE])

    let monitor = Encounter(BloodPressureMonitor(interval: .milliseconds(1)))
    try #require(await monitor.prepare(subscribing: ["2A35"]))
    await monitor.world.run(for: .seconds(5))
    #expect((5...1_000).contains(monitor.app.values(of: "2A35").count))
    monitor.accessory.update { $0.systolic = 140 }
    await monitor.world.run(for: .milliseconds(500))
    let last = try BloodPressureMeasurement(try #require(monitor.app.values(of: "2A35").last))
    #expect(last.systolic.value == 140)
  }

  @Test(
    "A blood pressure monitor notifies falling cuff pressures, and reports kilopascals, user, time and status",
    .requirement("L182"))
  func cuffPressure() async throws {
    var monitor = BloodPressureMonitor(systolic: 120, diastolic: 80, pulseRate: 70)
    (monitor.unit, monitor.userID, monitor.status) = (.kilopascal, 2, .irregularPulse)
    monitor.features = .irregularPulseDetection
    let meeting = Encounter(monitor)
    try #require(await meeting.prepare(subscribing: ["2A35", "2A36"]))
    meeting.app.read("2A49")
    await meeting.world.run(for: .milliseconds(3_000))
    let value = try BloodPressureMeasurement(try #require(meeting.app.values(of: "2A35").last))
    #expect(value.unit == .kilopascal && value.systolic.value == 16 && value.diastolic.value == 10.7)
    #expect(value.details.userID == 2 && value.details.status == .irregularPulse)
    let cuff = try meeting.app.values(of: "2A36").map { try IntermediateCuffPressure($0).pressure.value }
    #expect(cuff.count >= 8 && cuff == cuff.sorted(by: >) && Set(cuff).count == cuff.count)
    #expect(meeting.app.values(of: "2A49") == [[4, 0]])
  }

  /// Returns the battery level and the model that an app reads from an accessory.
  private func common<A: Accessory>(_ accessory: A) async -> [[UInt8]] {
    let meeting = Encounter(accessory)
    guard await meeting.prepare() else { return [] }
    for uuid in ["2A19", "2A24", "2A29"] { meeting.app.read(uuid) }
    await meeting.world.run(for: .milliseconds(500))
    return ["2A19", "2A24", "2A29"].flatMap { meeting.app.values(of: $0) }
  }

  @Test("The accessories of the profiles have Battery and Device Information", .requirement("L182", "L187", "L218"))
  func commonServices() async {
    func expected(_ model: String) -> [[UInt8]] { [[100], Array(model.utf8), Array("BluetoothLab".utf8)] }
    #expect(await common(HeartRateSensor()) == expected("Heart Rate Belt"))
    #expect(await common(Thermometer()) == expected("Thermometer"))
    #expect(await common(BloodPressureMonitor()) == expected("Blood Pressure Monitor"))
    #expect(await common(GlucoseMeter()) == expected("Glucose Meter"))
    #expect(await common(WeightScale()) == expected("Weight Scale"))
    #expect(await common(Pedometer()) == expected("Pedometer"))
    #expect(await common(CyclingSensor()) == expected("Speed and Cadence Sensor"))
    #expect(await common(CyclingPowerMeter()) == expected("Power Meter"))
    #expect(await common(RunningSensor()) == expected("Foot Pod"))
    #expect(await common(LocationSensor()) == expected("Location Sensor"))
    #expect(await common(Keyboard()) == expected("Keyboard"))
    #expect(await common(Mouse()) == expected("Mouse"))
    #expect(await common(SensorTag()) == expected("Sensor Tag"))
    #expect(await common(KeyFob()) == expected("Key Fob"))
    #expect(await common(FinderTag()) == expected("Tag"))
    #expect(await common(PinBoard()) == expected("Pin Board"))
    #expect(await common(Telephone()) == expected("Telephone"))
  }

  /// Returns the System ID that an app reads from an accessory.
  private func systemID<A: Accessory>(_ accessory: A) async -> [[UInt8]] {
    let meeting = Encounter(accessory)
    guard await meeting.prepare() else { return [] }
    meeting.app.read("2A23")
    await meeting.world.run(for: .milliseconds(500))
    return meeting.app.values(of: "2A23")
  }

  @Test("The accessories of the health profiles have a System ID")
  func systemIDs() async {
    // 40 bits of the manufacturer with FFFE of an EUI-48, then the OUI 02-00-00; least significant octets first.
    let expected: [[UInt8]] = [[1, 0, 0, 0xFE, 0xFF, 0, 0, 2]]
    #expect(await systemID(Thermometer()) == expected)
    #expect(await systemID(BloodPressureMonitor()) == expected)
    #expect(await systemID(GlucoseMeter()) == expected)
    #expect(await systemID(WeightScale()) == expected)
  }

  @Test(
    "A monitor that computes the path loss of a key fob from its transmit power has the fob alert when the link fades",
    .requirement("L192"))
  func pathLoss() async throws {
    var options = DeviceOptions()
    options.transmitPower = 4
    let world = World(seed: 4)
    world.setEnvironment(.free)
    let fob = world.add(KeyFob(transmitPower: 4), named: "fob", options)
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let peripheral = try await phone.connect(to: "Key Fob")
    let power = try TxPowerLevel(try await phone.read("2A07", of: peripheral)).level
    #expect(power == 4)

    let service = try #require(peripheral.services?.first { $0.uuid == CBUUID(string: "1802") })
    let alert = try #require(service.characteristics?.first)

    /// Reads the RSSI, and writes the alert level as a Proximity Monitor does, with a limit of 60 dB.
    func monitor() async throws -> Int {
      peripheral.readRSSI()
      await world.run(for: .seconds(1))
      let levels = phone.events.compactMap { if case .rssiRead(_, let level, nil) = $0 { level } else { nil } }
      let loss = Int(power) - (try #require(levels.last))
      peripheral.writeValue(Data([loss > 60 ? 1 : 0]), for: alert, type: .withoutResponse)
      await world.run(for: .seconds(2))
      return loss
    }
    // In the environment "free" 2 m have a loss of 47.5 dB, and 40 m one of 80 dB.
    #expect((46...49).contains(try await monitor()))
    #expect(fob.accessory.alert == .noAlert)
    fob.move(to: Position(x: 42))
    await world.run(for: .seconds(3))
    #expect((79...81).contains(try await monitor()))
    #expect(fob.accessory.alert == .mildAlert)
    fob.move(to: Position(x: 0))
    await world.run(for: .seconds(3))
    _ = try await monitor()
    #expect(fob.accessory.alert == .noAlert)
  }
}
