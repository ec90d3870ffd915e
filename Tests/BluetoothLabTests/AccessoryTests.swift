import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Accessories")
struct AccessoryTests {
  @Test(
    "A heart rate sensor notifies pulse and energy, and resets the energy through its control point",
    .requirement("L153", "L188"))
  func heartRate() async throws {
    let meeting = Encounter(HeartRateSensor(name: "Strap", beatsPerMinute: 61))
    #expect(await meeting.prepare())
    #expect(meeting.app.peripheral?.name == "Strap")
    meeting.app.subscribe("2A37")
    meeting.app.read("2A38")
    await meeting.world.run(for: .milliseconds(3_500))
    #expect(meeting.app.values(of: "2A37") == [[0x0E, 61, 1, 0], [0x0E, 61, 2, 0], [0x0E, 61, 3, 0]])
    #expect(meeting.app.values(of: "2A38") == [[0x01]])
    meeting.accessory.update { $0.beatsPerMinute = 300 }
    meeting.app.write([1], to: "2A39", .withResponse)
    await meeting.world.run(for: .milliseconds(1_000))
    #expect(meeting.app.has(.written))
    #expect(meeting.app.values(of: "2A37").last == [0x0F, 0x2C, 0x01, 1, 0])
    meeting.app.write([7], to: "2A39", .withResponse)
    await meeting.world.run(for: .milliseconds(100))
    #expect(meeting.app.events.last == .notWritten(128))
    meeting.app.write([1, 1], to: "2A39", .withResponse)
    await meeting.world.run(for: .milliseconds(100))
    #expect(meeting.app.events.suffix(2) == [.notWritten(128), .notWritten(128)])
  }

  @Test("A battery reports its level when it is read and when it changes")
  func battery() async {
    let meeting = Encounter(BatteryPack(level: 40))
    #expect(await meeting.prepare())
    meeting.app.read("2A19")
    meeting.app.subscribe("2A19")
    await meeting.world.run(for: .milliseconds(300))
    meeting.accessory.update { $0.level = 39 }
    await meeting.world.run(for: .milliseconds(100))
    #expect(meeting.app.values(of: "2A19") == [[40], [39]])
    #expect(meeting.accessory.accessory.level == 39)
  }

  @Test("A battery runs down by itself")
  func runsDown() async {
    let meeting = Encounter(BatteryPack(level: 3, timePerPercent: .seconds(60)))
    await meeting.world.run(for: .seconds(150))
    #expect(meeting.accessory.accessory.level == 1)
    await meeting.world.run(for: .seconds(300))
    #expect(meeting.accessory.accessory.level == 0)
  }

  @Test("A thermometer indicates hundredths of a degree as an IEEE 11073 float", .requirement("L187"))
  func thermometer() async {
    let meeting = Encounter(Thermometer(celsius: 36.65))
    #expect(await meeting.prepare())
    meeting.app.subscribe("2A1C")
    await meeting.world.run(for: .milliseconds(1_500))
    // 3665 · 10⁻².
    #expect(meeting.app.values(of: "2A1C") == [[0x00, 0x51, 0x0E, 0x00, 0xFE]])
  }

  @Test(
    "A blood pressure monitor indicates pressures in mmHg and the pulse rate, and NaN for what a value can't hold",
    .requirement("L182"))
  func bloodPressure() async {
    let meeting = Encounter(BloodPressureMonitor(systolic: 121, diastolic: 79, pulseRate: 64))
    #expect(await meeting.prepare())
    #expect(meeting.app.peripheral?.name == "Blood Pressure")
    meeting.app.read("2A49")
    meeting.app.subscribe("2A35")
    await meeting.world.run(for: .milliseconds(1_500))
    meeting.accessory.update { $0.pulseRate = 3_000 }
    await meeting.world.run(for: .seconds(1))
    // Bit 2 of the flags: a pulse rate follows.
    #expect(
      meeting.app.values(of: "2A35").prefix(2) == [
        [0x04, 121, 0, 79, 0, 93, 0, 64, 0], [0x04, 121, 0, 79, 0, 93, 0, 0xFF, 0x07],
      ])
    #expect(meeting.app.values(of: "2A49") == [[0, 0]])
  }

  /// Returns the number of values that a second central gets in 5 s after the first one has unsubscribed.
  private func valuesOfLastSubscriber<A: Accessory>(_ accessory: A, _ uuid: String) async throws -> Int {
    let meeting = Encounter(accessory)
    #expect(await meeting.prepare())
    meeting.accessory.act { accessory, context in context.advertise(accessory.advertising) }
    let other = PhoneApp(on: meeting.world.makeDevice(named: "tablet", at: Position(x: 1)))
    #expect(await meeting.world.run(until: { other.isReady }, limit: .seconds(20)))
    for app in [meeting.app, other] { app.subscribe(uuid) }
    #expect(await meeting.world.run(until: { meeting.app.has(.notifying(true)) && other.has(.notifying(true)) }))
    await meeting.world.run(for: .seconds(2))
    meeting.app.peripheral?.setNotifyValue(false, for: try #require(meeting.app.characteristic(uuid)))
    #expect(await meeting.world.run(until: { meeting.app.has(.notifying(false)) }))
    let before = other.values(of: uuid).count
    await meeting.world.run(for: .seconds(5))
    return other.values(of: uuid).count - before
  }

  @Test("A sensor measures until its last subscriber has unsubscribed", .requirement("L182"))
  func lastSubscriber() async throws {
    #expect(try await valuesOfLastSubscriber(HeartRateSensor(), "2A37") == 5)
    #expect(try await valuesOfLastSubscriber(Thermometer(), "2A1C") == 5)
    #expect(try await valuesOfLastSubscriber(BloodPressureMonitor(), "2A35") == 5)
  }

  /// Changes the interval of a subscribed accessory, and checks when it measures.
  private func changeInterval<A: Accessory>(
    of accessory: A, _ uuid: String, quiet: Duration, _ set: @escaping @Sendable (inout A, Duration) -> Void
  ) async throws {
    let meeting = Encounter(accessory)
    try #require(await meeting.prepare(subscribing: [uuid]))
    meeting.accessory.update { set(&$0, quiet) }
    await meeting.world.run(for: .seconds(1))
    let before = meeting.app.values(of: uuid).count
    await meeting.world.run(for: .seconds(5))
    #expect(meeting.app.values(of: uuid).count == before, "\(A.self) measures")
    meeting.accessory.update { set(&$0, .seconds(1)) }
    await meeting.world.run(for: .milliseconds(3_500))
    #expect(meeting.app.values(of: uuid).count == before + 3, "\(A.self)")
    meeting.accessory.update { set(&$0, .milliseconds(500)) }
    await meeting.world.run(for: .milliseconds(1_250))
    #expect(meeting.app.values(of: uuid).count == before + 5, "\(A.self)")
  }

  @Test("An interval that a test changes applies from then on, without another subscription")
  func changedInterval() async throws {
    try await changeInterval(of: HeartRateSensor(), "2A37", quiet: .seconds(3_600)) { $0.interval = $1 }
    for quiet in [Duration.zero, .seconds(3_600)] {
      try await changeInterval(of: Thermometer(), "2A1C", quiet: quiet) { $0.interval = $1 }
      try await changeInterval(of: Thermometer(), "2A1E", quiet: quiet) { $0.intermediateInterval = $1 }
      try await changeInterval(of: BloodPressureMonitor(), "2A35", quiet: quiet) { $0.interval = $1 }
      try await changeInterval(of: BloodPressureMonitor(), "2A36", quiet: quiet) { $0.cuffInterval = $1 }
    }
  }

  @Test("A battery that does not run down begins to when a test says so")
  func changedDischarge() async {
    let meeting = Encounter(BatteryPack(level: 50))
    await meeting.world.run(for: .seconds(100))
    meeting.accessory.update { $0.timePerPercent = .seconds(10) }
    await meeting.world.run(for: .seconds(35))
    #expect(meeting.accessory.accessory.level == 47)
    meeting.accessory.update { $0.timePerPercent = nil }
    await meeting.world.run(for: .seconds(100))
    #expect(meeting.accessory.accessory.level == 47)
  }

  @Test("A cycling sensor counts the revolutions of its wheel and its crank", .requirement("L184"))
  func cycling() async throws {
    let meeting = Encounter(CyclingSensor(speed: 4, cadence: 60, wheelCircumference: 2))
    #expect(await meeting.prepare())
    meeting.app.subscribe("2A5B")
    await meeting.world.run(for: .seconds(4))
    let values = meeting.app.values(of: "2A5B")
    let (first, last) = (try #require(values.first), try #require(values.last))
    #expect(values.count >= 3)
    // Two revolutions of the wheel a second, one of the crank; flags for both.
    #expect(first[0] == 0x03)
    #expect(Int(last[1]) - Int(first[1]) == 2 * (values.count - 1))
    #expect(Int(last[7]) - Int(first[7]) == values.count - 1)
  }

  @Test("A flashlight is switched and dimmed over the air, and reports its status", .requirement("L154"))
  func flashlight() async {
    let meeting = Encounter(Flashlight())
    #expect(await meeting.prepare())
    meeting.app.subscribe(Flashlight.status.uuidString)
    await meeting.world.run(until: { meeting.app.has(.notifying(true)) })
    meeting.app.write([1], to: Flashlight.lightSwitch.uuidString, .withResponse)
    meeting.app.write([30], to: Flashlight.brightness.uuidString, .withResponse)
    await meeting.world.run(for: .seconds(1))
    #expect(meeting.accessory.accessory.isOn)
    #expect(meeting.accessory.accessory.brightness == 30)
    #expect(meeting.app.values(of: Flashlight.status.uuidString) == [[1]])
    meeting.app.write([101], to: Flashlight.brightness.uuidString, .withResponse)
    await meeting.world.run(for: .milliseconds(200))
    // Value Not Allowed.
    #expect(meeting.app.events.last == .notWritten(19))
    for octets: [UInt8] in [[], [1, 1], [2]] {
      meeting.app.write(octets, to: Flashlight.lightSwitch.uuidString, .withResponse)
    }
    await meeting.world.run(for: .milliseconds(400))
    // Invalid Attribute Value Length, twice, and Value Not Allowed.
    #expect(meeting.app.events.suffix(3) == [.notWritten(13), .notWritten(13), .notWritten(19)])
    meeting.accessory.update { $0.isOn = false }
    await meeting.world.run(for: .milliseconds(100))
    #expect(meeting.app.values(of: Flashlight.status.uuidString).last == [0])
  }

  @Test(
    "A key fob sounds an alarm on command and when its link is lost, but not when the link is disconnected",
    .requirement("L178", "L185", "L192"))
  func keyFob() async {
    let meeting = Encounter(KeyFob())
    #expect(await meeting.prepare())
    meeting.app.write([2], to: "2A06", of: "1802", .withoutResponse)
    meeting.app.write([1], to: "2A06", of: "1803", .withResponse)
    meeting.app.read("2A07")
    await meeting.world.run(for: .seconds(1))
    #expect(meeting.accessory.accessory.alert == .highAlert)
    #expect(meeting.app.values(of: "2A07") == [[0]])
    meeting.phone.move(to: Position(x: 5_000))
    await meeting.world.run(for: .seconds(10))
    #expect(meeting.accessory.accessory.alert == .mildAlert)
    #expect(meeting.app.has(.disconnected))
  }

  @Test("A key fob whose link is disconnected stays silent", .requirement("L178", "L192"))
  func endedLink() async throws {
    let meeting = Encounter(KeyFob())
    #expect(await meeting.prepare())
    meeting.app.write([2], to: "2A06", of: "1802", .withoutResponse)
    meeting.app.write([2], to: "2A06", of: "1803", .withResponse)
    await meeting.world.run(for: .seconds(1))
    #expect(meeting.accessory.accessory.alert == .highAlert)
    meeting.app.manager.cancelPeripheralConnection(try #require(meeting.app.peripheral))
    await meeting.world.run(for: .seconds(5))
    #expect(meeting.app.has(.disconnected))
    #expect(meeting.accessory.accessory.linkLossAlert == .highAlert)
    #expect(meeting.accessory.accessory.alert == .noAlert)
  }

  @Test(
    "A key fob sounds its link loss alert for each reason except those of a termination",
    arguments: [
      (.connectionTimeout, true), (.connectionTerminatedMICFailure, true), (.llResponseTimeout, true),
      (.instantPassed, true), (.hardwareFailure, true), (.remoteUserTerminatedConnection, false),
      (.remoteDeviceTerminatedLowResources, false), (.remoteDeviceTerminatedPowerOff, false),
      (.connectionTerminatedByLocalHost, false), (.authenticationFailure, false),
      (.unacceptableConnectionParameters, false), (HCIErrorCode(rawValue: 0x29), false),
      (.connectionFailedToBeEstablished, false),
    ] as [(HCIErrorCode, Bool)])
  func linkLoss(reason: HCIErrorCode, isLoss: Bool) {
    var fob = KeyFob()
    (fob.alert, fob.linkLossAlert) = (.mildAlert, .highAlert)
    var context = AccessoryContext(now: .zero, connections: 0, subscriptions: [])
    fob.disconnected(because: reason, in: &context)
    #expect(fob.alert == (isLoss ? .highAlert : .noAlert))
  }

  @Test("An accessory requests a fast interval after connecting and a slow one later", .requirement("L077"))
  func pacing() async throws {
    func packetsPerSecond(_ meeting: Encounter<KeyFob>) async -> Int {
      let before = meeting.accessory.statistics.transmitted.packets
      await meeting.world.run(for: .seconds(2))
      return (meeting.accessory.statistics.transmitted.packets - before) / 2
    }
    let meeting = Encounter(KeyFob())
    #expect(await meeting.prepare())
    // The accessory has to wait for 5 s.
    await meeting.world.run(for: .milliseconds(5_500))
    // 15 ms: 66 events a second.
    #expect((60...70).contains(await packetsPerSecond(meeting)))
    await meeting.world.run(for: .seconds(8))
    // 500 ms with a latency of 4: one event in 2.5 s; two if another PDU is pending.
    #expect(await packetsPerSecond(meeting) <= 1)
  }

  @Test(
    "An iBeacon broadcasts its UUID, major, minor and measured power, and is not connectable",
    .requirement("A012", "G017", "L025", "L078"), .symbol("CBAdvertisementDataIsConnectable"))
  func iBeacon() async throws {
    let uuid = try #require(UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    let meeting = Encounter(
      IBeacon(proximityUUID: uuid, major: 0x0102, minor: 0x0304, measuredPower: -59), plan: .listen)
    await meeting.world.run(for: .seconds(1))
    #expect((8...11).contains(meeting.app.sightings.count))
    let data = try #require(meeting.app.advertisement[CBAdvertisementDataManufacturerDataKey] as? Data)
    let expected: [UInt8] = [
      0x4C, 0x00, 0x02, 0x15, 0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10,
      0x96, 0xE0, 0x01, 0x02, 0x03, 0x04, 0xC5,
    ]
    #expect(Array(data) == expected)
    #expect(meeting.app.advertisement[CBAdvertisementDataIsConnectable] as? Bool == false)
  }
}

extension Characteristic {
  /// The UUID as text, which a `PhoneApp` expects.
  fileprivate var uuidString: String { path.characteristic.description }
}
