import AccessoryPlayer
import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Testing

@Suite("Accessories on an adapter") struct PlayedAccessoryTests {
  @Test("A heart rate belt measures each second while an app is subscribed, and advertises again after the link")
  func heartRate() throws {
    let scene = PlayedScene(HeartRateSensor())
    let peripheral = try scene.connect()
    let client = try scene.stage.perform { try await HeartRateClient(peripheral) }
    let times = Box<[Duration]>([])
    let reading = scene.stage.start { [world = scene.world] in
      for try await value in client.measurements {
        #expect(value.heartRate == 72)
        times.append(world.now)
      }
    }
    #expect(scene.stage.run(until: { times.value.count == 5 }))
    let gaps = zip(times.value, times.value.dropFirst()).map { $1 - $0 }
    #expect(gaps.allSatisfy { $0 > .milliseconds(950) && $0 < .milliseconds(1_050) }, "\(gaps)")
    reading.cancel()
    scene.stage.run(for: .seconds(1))
    let count = times.value.count
    scene.stage.run(for: .seconds(3))
    #expect(times.value.count == count)
    try scene.stage.perform { try await peripheral.disconnect() }
    let again = try scene.connect()
    #expect(again.id == peripheral.id)
  }

  @Test("A suspended app's accessory and its other tasks pause, and go on at once when the app runs again")
  func suspension() throws {
    /// An app that plays a belt, and counts seconds in a task.
    final class Player: Sendable {
      let seconds = Box(0)
      let tasks: [AppTask<Void>]

      init(on stage: AppStage) {
        let (clock, seconds, peripheral) = (stage.world.clock, seconds, LocalPeripheral())
        let played = PlayedAccessory(HeartRateSensor(), by: peripheral, clock: clock)
        tasks = [
          stage.start { try await played.run() },
          stage.start {
            while true {
              try await clock.sleep(for: .seconds(1))
              seconds.change { $0 += 1 }
            }
          },
        ]
      }
    }
    let world = World(seed: 2)
    let stage = AppStage(world)
    var options = DeviceOptions()
    options.policy = .ios
    let manifest = AppManifest(backgroundModes: [.peripheral], usageDescription: "to play a belt")
    let phone = world.makeDevice(named: "phone", options)
    let app = phone.app(named: "com.example.player", manifest: manifest) { _ in Player(on: stage) }
    app.launch()
    let central = Central(adapter: world.makeDevice(named: "tablet", at: Position(x: 2)))
    let times = Box<[Duration]>([])
    let peripheral = try stage.perform {
      try await central.waitUntilPoweredOn()
      for try await discovery in central.scan(for: [CBUUID(string: "180D")]) { return discovery.peripheral }
      throw DidNotEnd()
    }
    let client = try stage.perform {
      try await peripheral.connect()
      return try await HeartRateClient(peripheral)
    }
    let reading = stage.start { for try await _ in client.measurements { times.append(world.now) } }
    #expect(stage.run(until: { times.value.count == 5 }))
    let player = try #require(app.root)
    app.enterBackground()
    stage.run(for: .seconds(1))
    app.suspend()
    stage.run(for: .milliseconds(100))
    #expect(app.state == .suspended)
    let (measured, seconds) = (times.value.count, player.seconds.value)
    stage.run(for: .seconds(60))
    #expect(times.value.count == measured)
    #expect(player.seconds.value == seconds)
    let start = world.now
    app.enterForeground()
    stage.run(for: .milliseconds(100))
    #expect(player.seconds.value == seconds + 1, "the second that has passed, once")
    #expect(times.value.count == measured + 1)
    stage.run(for: .seconds(2))
    #expect(player.seconds.value == seconds + 3)
    #expect(times.value.count == measured + 3)
    #expect(times.value[measured] - start < .milliseconds(100))
    for task in player.tasks { task.cancel() }
    reading.cancel()
    stage.run(for: .milliseconds(100))
  }

  @Test("A glucose meter runs its control point: records, an abort in the middle, and errors of the profile")
  func glucose() throws {
    let scene = PlayedScene(GlucoseMeter(records: GlucoseRecord.samples(300)))
    let peripheral = try scene.connect()
    let limit = scene.limit
    let client = try scene.stage.perform { try await GlucoseClient(peripheral, procedureLimit: limit) }
    let some = try scene.stage.perform { try await client.records(.sequenceNumbers(2...4)).collect() }
    #expect(some.map(\.measurement.sequenceNumber) == [2, 3, 4])
    #expect(try scene.stage.perform { try await client.numberOfRecords() } == 300)
    let count = Box(0)
    let report = scene.stage.start { for try await _ in client.records() { count.change { $0 += 1 } } }
    #expect(scene.stage.run(until: { count.value >= 5 }))
    try scene.stage.perform { try await client.abort() }
    try scene.stage.value(of: report)
    #expect(count.value < 300)
    let none = RecordCriterion.sequenceNumbers(5_000...6_000)
    let refused = outcome { try scene.stage.perform { try await client.deleteRecords(none) } }
    #expect(refused != .success)
    try scene.stage.perform { try await client.deleteRecords(.sequenceNumbers(0...9)) }
    #expect(scene.played.accessory.records.count == 290)
  }

  @Test("A keyboard has its report references, demands encryption, and types")
  func keyboard() throws {
    let scene = PlayedScene(Keyboard())
    let peripheral = try scene.connect()
    let client = try scene.stage.perform { try await HumanInterfaceDeviceClient(peripheral) }
    #expect(client.reports.map(\.reference.type) == [.input, .output])
    let events = Box<[KeyEvent]>([])
    let reading = scene.stage.start {
      guard let keys = client.keyEvents else { return }
      try await client.setProtocolMode(.boot)
      for try await event in keys { events.append(event) }
    }
    scene.stage.run(for: .seconds(2))
    scene.played.act { keyboard, context in keyboard.type("hi", in: &context) }
    #expect(scene.stage.run(until: { events.value.count == 4 }))
    #expect(reading.error == nil)
    #expect(events.value.map(\.usage) == [0x0B, 0x0B, 0x0C, 0x0C])
    #expect(events.value.map(\.isPressed) == [true, false, true, false])
    #expect(scene.played.accessory.mode == .boot)
  }

  @Test("A key fob alerts when its link is lost, and not when the app ends it")
  func keyFob() throws {
    for isLost in [true, false] {
      let scene = PlayedScene(KeyFob())
      let peripheral = try scene.connect()
      let client = try scene.stage.perform { try await ProximityClient(peripheral) }
      try scene.stage.perform { try await client.setLinkLossAlert(.highAlert) }
      #expect(scene.played.accessory.linkLossAlert == .highAlert)
      if isLost {
        scene.phone.move(to: Position(x: 100_000))
      } else {
        try scene.stage.perform { try await peripheral.disconnect() }
      }
      scene.stage.run(for: .seconds(10))
      #expect(scene.played.accessory.alert == (isLost ? .highAlert : .noAlert))
    }
  }

  @Test("A change by the user is notified, and the services are gone when the accessory no longer runs")
  func update() throws {
    let scene = PlayedScene(BatteryPack(level: 80))
    let peripheral = try scene.connect()
    let level = try scene.stage.perform { () -> RemoteCharacteristic in
      let services = try await peripheral.discoverServices([CBUUID(string: "180F")])
      return try await services[0].discoverCharacteristics([CBUUID(string: "2A19")])[0]
    }
    #expect(try scene.stage.perform { try await level.read() } == Data([80]))
    let values = Box<[Data]>([])
    let reading = scene.stage.start { for try await value in level.notifications { values.append(value) } }
    scene.stage.run(for: .seconds(1))
    scene.played.update { $0.level = 79 }
    scene.stage.run(for: .seconds(1))
    scene.played.update { $0.level = 79 }
    scene.stage.run(for: .seconds(1))
    #expect(values.value == [Data([79])])
    #expect(reading.result == nil)
    scene.running.cancel()
    scene.stage.run(for: .seconds(2))
    #expect(scene.running.error is CancellationError)
    #expect(!scene.peripheral.isAdvertising)
    #expect(outcome { try scene.stage.perform { try await level.read() } } != .success)
  }

  @Test("A changed interval applies to the running measurements")
  func changedInterval() throws {
    let scene = PlayedScene(HeartRateSensor(interval: .seconds(600)))
    let peripheral = try scene.connect()
    let client = try scene.stage.perform { try await HeartRateClient(peripheral) }
    let count = Box(0)
    let reading = scene.stage.start { for try await _ in client.measurements { count.change { $0 += 1 } } }
    scene.stage.run(for: .seconds(5))
    #expect(count.value == 0)
    scene.played.update { $0.interval = .seconds(1) }
    scene.stage.run(for: .seconds(4))
    #expect((3...4).contains(count.value))
    reading.cancel()
  }

  @Test("A control point is in use until its client has confirmed the response")
  func confirmation() throws {
    let scene = PlayedScene(Respondent())
    let peripheral = try scene.connect()
    let control = try scene.stage.perform { () -> RemoteCharacteristic in
      let services = try await peripheral.discoverServices([CBUUID(string: "1816")])
      return try await services[0].discoverCharacteristics([CBUUID(string: "2A55")])[0]
    }
    // True for each response that arrives while the accessory still waits for the confirmation.
    let waits = Box<[Bool]>([])
    let reading = scene.stage.start { [played = scene.played] in
      for try await _ in control.notifications { waits.append(played.accessory.control.isResponding) }
    }
    scene.stage.run(for: .seconds(1))
    for count in 1...2 {
      // Request Supported Sensor Locations.
      try scene.stage.perform { try await control.write(Data([4])) }
      #expect(scene.stage.run(until: { waits.value.count == count }))
      scene.stage.run(for: .seconds(1))
      #expect(scene.played.accessory.control.client == nil)
    }
    #expect(waits.value == [true, true])
    #expect(scene.played.accessory.confirmations == 2)
    reading.cancel()
  }

  @Test("A bonded watch that subscribes again on a later link gets the notifications of a phone again")
  func repeatedSubscription() throws {
    var email = DeviceNotification("one", app: "com.example.mail", title: "Ann")
    email.category = .email
    let scene = PlayedScene(NotifyingPhone(notifications: [email]))
    let source = CBUUID(string: "9FBF120D-6301-42D9-8C58-25E699A21DBD")
    let control = CBUUID(string: "69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9")
    let values = Box<[[UInt8]]>([])
    for count in 1...3 {
      let phone = try scene.connect()
      let reading = try scene.stage.perform { [world = scene.world] in
        let services = try await phone.discoverServices([CBUUID(string: "7905F431-B5CE-4E99-A40F-4B1E122D00D0")])
        let characteristics = try await services[0].discoverCharacteristics([control, source])
        // A command for no notification encrypts the link. The values of the restored subscription have no reader.
        await #expect(throws: CBATTError.self) {
          try await characteristics.first { $0.uuid == control }?.write(Data([0, 9, 0, 0, 0, 0]))
        }
        // On the world's clock, so it takes no real time.
        try await Task.sleep(for: .seconds(2), clock: world.clock)
        return try #require(characteristics.first { $0.uuid == source })
      }
      let task = scene.stage.start { for try await value in reading.notifications { values.append(Array(value)) } }
      scene.stage.run(for: .seconds(2))
      #expect(values.value.count == count)
      // The link ends without the end of the subscription.
      scene.phone.setPower(false)
      scene.stage.run(for: .seconds(5))
      scene.phone.setPower(true)
      scene.stage.run(for: .seconds(5))
      task.cancel()
    }
    #expect(Set(values.value) == [[0, 0b100, 6, 1, 1, 0, 0, 0]])
    #expect(scene.sensor.bonds.count == 1)
  }

  @Test("An accessory has one pause for its timer, which ends when the timer is changed or cancelled")
  func pauses() throws {
    let pauses = Box(0)
    let scene = PlayedScene(HeartRateSensor(interval: .seconds(600)), counting: pauses)
    let peripheral = try scene.connect()
    let client = try scene.stage.perform { try await HeartRateClient(peripheral) }
    let reading = scene.stage.start { for try await _ in client.measurements {} }
    scene.stage.run(for: .seconds(2))
    // The other pause is that of the schedule of the advertising.
    #expect(pauses.value == 2)
    for _ in 0..<5 {
      scene.played.update { $0.interval = .seconds(1) }
      scene.stage.run(for: .milliseconds(2_500))
      #expect(pauses.value == 2)
      scene.played.update { $0.interval = .seconds(600) }
      scene.stage.run(for: .seconds(1))
      #expect(pauses.value == 2)
    }
    reading.cancel()
    scene.stage.run(for: .seconds(1))
    #expect(pauses.value == 1)
  }

  @Test("An accessory ends with an error when Bluetooth is turned off")
  func powerOff() throws {
    let scene = PlayedScene(Thermometer())
    scene.stage.run(for: .seconds(1))
    #expect(scene.running.result == nil)
    scene.sensor.setPower(false)
    scene.stage.run(for: .seconds(1))
    #expect((scene.running.error as? CBError)?.code == .operationCancelled)
  }
}

/// An accessory with a control point that responds at once.
private struct Respondent: Accessory {
  static let service: BluetoothUUID = 0x1816
  static let controlPoint = Characteristic<SCControlPoint>(of: service)
  var control = ControlPoint(Self.controlPoint)
  var confirmations = 0

  var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("Respondent")])) }

  var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(
            controlPoint: Self.controlPoint, \.control,
            command: { _, _, _ in .response(to: .requestSupportedSensorLocations, .success, []) })
        ])
    ]
  }

  mutating func valueSent(of characteristic: CharacteristicPath, in context: inout AccessoryContext) {
    confirmations += 1
  }
}

/// A device of a world whose app plays an accessory, and a phone two metres from it.
struct PlayedScene<A: Accessory> {
  let world = World(seed: 1)
  let stage: AppStage
  let sensor: Device
  let phone: Device
  let central: Central
  let peripheral: LocalPeripheral
  let played: PlayedAccessory<A>
  let running: AppTask<Void>

  /// Creates the devices, and starts the accessory.
  ///
  /// - Parameters:
  ///   - pauses: counts the pauses in progress; nil: the accessory has the clock of the world.
  ///   - writesToCentrals: true if the accessory has the central role of its device, too.
  init(_ accessory: A, counting pauses: Box<Int>? = nil, writesToCentrals: Bool = false) {
    stage = AppStage(world)
    sensor = world.makeDevice(named: "sensor")
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
    central = Central(adapter: phone)
    let peripheral = LocalPeripheral(adapter: sensor)
    let clock = world.clock
    let start = clock.now
    let played =
      if let pauses {
        PlayedAccessory(
          accessory, by: peripheral, elapsed: { start.duration(to: clock.now) },
          pause: { [world] time in
            pauses.change { $0 += 1 }
            defer { pauses.change { $0 -= 1 } }
            // On the world's clock, so it takes no real time.
            try await Task.sleep(for: time, clock: world.clock)
          }, observer: nil)
      } else {
        PlayedAccessory(
          accessory, by: peripheral, central: writesToCentrals ? Central(adapter: sensor) : nil, clock: clock)
      }
    (self.peripheral, self.played) = (peripheral, played)
    running = stage.start {
      try await peripheral.waitUntilPoweredOn()
      try await played.run()
    }
  }

  /// The time limit of procedures, in the time of the world.
  var limit: TimeLimit { TimeLimit(.seconds(30), on: world.clock) }

  /// Returns the connected accessory.
  func connect() throws -> Peripheral {
    try stage.perform { [central] in
      try await central.waitUntilPoweredOn()
      for try await discovery in central.scan() {
        try await discovery.peripheral.connect()
        return discovery.peripheral
      }
      throw DidNotEnd()
    }
  }
}

extension AsyncSequence where Element: Sendable {
  /// Returns all elements.
  func collect() async throws -> [Element] {
    var elements: [Element] = []
    for try await element in self { elements.append(element) }
    return elements
  }
}
