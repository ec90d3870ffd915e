import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@Suite struct NotificationTests {
  @Test("The first iteration subscribes, the end of the last one unsubscribes, and each gets all values")
  func sharedSubscription() throws {
    let meeting = Meeting()
    let (stage, sensor, characteristic) = (meeting.stage, meeting.sensor, try meeting.characteristic())
    let (first, second) = (Box<[Data]>([]), Box<[Data]>([]))
    let tasks = [first, second].map { values in
      stage.start { for try await value in characteristic.notifications { values.append(value) } }
    }
    stage.run(for: .seconds(1))
    #expect(characteristic.isNotifying && sensor.events == ["subscribed"])
    tasks[0].cancel()
    #expect(outcome { try stage.value(of: tasks[0]) } == .cancelled)
    sensor.update(Data([12]))
    stage.run(for: .seconds(1))
    #expect(first.value == [Data([10]), Data([11])])
    #expect(second.value == [Data([10]), Data([11]), Data([12])])
    #expect(sensor.events == ["subscribed"])
    tasks[1].cancel()
    #expect(outcome { try stage.value(of: tasks[1]) } == .cancelled)
    stage.run(for: .seconds(1))
    #expect(!characteristic.isNotifying && sensor.events == ["subscribed", "unsubscribed"])
    #expect(characteristic.service.peripheral.pendingCount == 0)
    // An iteration that ends by itself, and one that begins while the subscription is being cancelled.
    let two = try stage.perform { () -> [Data] in
      var values: [Data] = []
      for _ in 0..<2 {
        for try await value in characteristic.notifications {
          values.append(value)
          break
        }
      }
      return values
    }
    #expect(two == [Data([10]), Data([11])])
    stage.run(for: .seconds(1))
    #expect(!characteristic.isNotifying && characteristic.service.peripheral.pendingCount == 0)
  }

  @Test("A notification is not taken for the result of a read, nor the result of a read for a notification")
  func readsAndNotifications() throws {
    let meeting = Meeting()
    let (stage, sensor, characteristic) = (meeting.stage, meeting.sensor, try meeting.characteristic())
    let values = Box<[Data]>([])
    let watch = stage.start { for try await value in characteristic.notifications { values.append(value) } }
    stage.run(for: .seconds(1))
    sensor.answersReads = false
    let read = stage.start { try await characteristic.read() }
    #expect(stage.run(until: { !sensor.unanswered.isEmpty }))
    sensor.update(Data([20]))
    stage.run(for: .seconds(1))
    #expect(read.result == nil)
    sensor.stored = Data([30])
    sensor.answerRead()
    #expect(try stage.value(of: read) == Data([30]))
    stage.run(for: .seconds(1))
    #expect(values.value == [Data([10]), Data([11]), Data([20])])
    watch.cancel()
  }

  @Test("A write after subscribe reaches a peripheral that knows of the subscription, and no value is missed")
  func subscriptionBeforeWrite() throws {
    let meeting = Meeting()
    let (stage, characteristic) = (meeting.stage, try meeting.characteristic())
    let value = try stage.perform {
      let values = try await characteristic.subscribe()
      try await characteristic.write(Data([5]))
      return try await values.first { _ in true }
    }
    #expect(value == Data([10]))
    stage.run(for: .seconds(1))
    #expect(meeting.sensor.events == ["subscribed", "write 5", "unsubscribed"])
    // A second subscriber has nothing to wait for; the subscription lasts as long as one of the sequences.
    var sequences = try stage.perform { [try await characteristic.subscribe(), try await characteristic.subscribe()] }
    sequences.removeFirst()
    stage.run(for: .seconds(1))
    #expect(characteristic.isNotifying)
    sequences = []
    stage.run(for: .seconds(1))
    #expect(!characteristic.isNotifying)
    // The first iteration gets the values since the subscription, a later one subscribes again.
    let both = try stage.perform {
      let values = try await characteristic.subscribe()
      return [try await values.first { $0 == Data([11]) }, try await values.first { $0 == Data([10]) }]
    }
    #expect(both == [Data([11]), Data([10])])
    stage.run(for: .seconds(1))
    #expect(!characteristic.isNotifying)
    let cancelled = stage.start { _ = try await characteristic.subscribe() }
    stage.run(until: { characteristic.service.peripheral.pendingCount > 0 })
    cancelled.cancel()
    #expect(outcome { try stage.value(of: cancelled) } == .cancelled)
    stage.run(for: .seconds(1))
    #expect(!characteristic.isNotifying && characteristic.service.peripheral.pendingCount == 0)
  }

  @Test("If one of several characteristics rejects its subscription, the others are unsubscribed", arguments: [0, 1])
  func rejectedSubscription(rejecting: Int) throws {
    let meeting = Meeting()
    let (stage, sensor, peripheral) = (meeting.stage, meeting.sensor, try meeting.connect())
    let uuids = rejecting == 0 ? [Sensor.rejecting, Sensor.value] : [Sensor.value, Sensor.rejecting]
    let found = try stage.perform {
      let service = try await peripheral.discoverServices([Sensor.service]).first.orThrow()
      return try await service.discoverCharacteristics()
    }
    let characteristics = try uuids.map { uuid in try found.first { $0.uuid == uuid }.orThrow() }
    let subscribing = outcome {
      try stage.perform {
        _ = try await RemoteCharacteristic.subscribe(to: characteristics) { _, value in value }
      }
    }
    #expect(subscribing == .att(.requestNotSupported))
    stage.run(for: .seconds(1))
    #expect(sensor.events == ["subscribed", "unsubscribed"])
    #expect(!characteristics.contains { $0.isNotifying } && peripheral.pendingCount == 0)
    // The next subscription of the other characteristic begins again.
    let values = try stage.perform { () -> [Data] in
      var values: [Data] = []
      for try await value in try await characteristics[1 - rejecting].subscribe() {
        values.append(value)
        if values.count == 2 { break }
      }
      return values
    }
    #expect(values == [Data([10]), Data([11])])
  }

  @Test("An iteration ends with the error of the lost link, and a time limit can end the wait for one value")
  func ends() throws {
    let meeting = Meeting()
    let (stage, sensor, clock) = (meeting.stage, meeting.sensor, meeting.world.clock)
    sensor.greetings = []
    let characteristic = try meeting.characteristic()
    let start = meeting.world.now
    let silent = stage.start {
      try await withTimeLimit(TimeLimit(.seconds(3), on: clock)) {
        try await characteristic.notifications.first { _ in true }
      }
    }
    #expect(outcome { try stage.value(of: silent) } == .timeLimit)
    #expect(meeting.world.now - start == .seconds(3))
    let values = stage.start { for try await _ in characteristic.notifications {} }
    stage.run(for: .seconds(1))
    sensor.device.setRadio(isOn: false)
    #expect(outcome { try stage.value(of: values) } == .core(.connectionTimeout))
    #expect(
      outcome { try stage.perform { for try await _ in characteristic.notifications {} } } == .core(.notConnected))
  }

  /// The root object of an app with a central.
  private final class CentralApp {
    let central = Central()
  }

  @Test("A limit of notifications in the background is not the result of a read, and does not end an iteration")
  func backgroundLimit() throws {
    let world = World(seed: 1)
    let (stage, sensor) = (AppStage(world), Sensor(on: world.makeDevice(named: "sensor")))
    sensor.greetings = []
    var options = DeviceOptions(position: Position(x: 2))
    options.policy = .watchos
    options.policy.background?.wakeBudget = 1
    let manifest = AppManifest(backgroundModes: [.central], usageDescription: "to show the level")
    let app = world.makeDevice(named: "watch", options).app(named: "level", manifest: manifest) { _ in CentralApp() }
    app.launch()
    let central = try #require(app.root?.central)
    let characteristic = try stage.perform {
      try await central.waitUntilPoweredOn()
      let peripheral = try await central.scan(for: [Sensor.service]).first { _ in true }.orThrow().peripheral
      try await peripheral.connect()
      return try await peripheral.characteristic()
    }
    let values = Box<[Data]>([])
    let watch = stage.start { for try await value in characteristic.notifications { values.append(value) } }
    #expect(stage.run(until: { characteristic.isNotifying }))
    sensor.answersReads = false
    let read = stage.start { try await characteristic.read() }
    #expect(stage.run(until: { !sensor.unanswered.isEmpty }))
    app.enterBackground()
    stage.run(for: .seconds(1))
    app.suspend()
    #expect(stage.run(until: { app.state == .suspended }))
    // The only value that runs the app comes with the error for the last one.
    sensor.update(Data([20]))
    stage.run(for: .seconds(1))
    #expect(values.value == [Data([20])] && read.result == nil)
    sensor.stored = Data([30])
    sensor.answerRead()
    #expect(try stage.value(of: read) == Data([30]))
    app.suspend()
    #expect(stage.run(until: { app.state == .suspended }))
    for value: UInt8 in 21...22 {
      sensor.update(Data([value]))
      stage.run(for: .seconds(1))
    }
    #expect(values.value == [Data([20])])
    app.enterForeground()
    stage.run(for: .seconds(1))
    #expect(values.value == [Data([20]), Data([22])] && watch.result == nil)
    watch.cancel()
  }

  @Test("A heart rate sensor is read, reset and followed with few lines")
  func heartRate() throws {
    let world = World(seed: 1)
    let stage = AppStage(world)
    world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    let central = Central(adapter: world.makeDevice(named: "phone", at: Position(x: 2)))
    let values = try stage.perform { () -> [[UInt8]] in
      try await central.waitUntilPoweredOn()
      let strap = try await central.scan(for: [CBUUID(string: "180D")]).first { _ in true }.orThrow().peripheral
      try await strap.connect()
      let service = try await strap.discoverServices([CBUUID(string: "180D")]).first.orThrow()
      let measurement = try await service.discoverCharacteristics([CBUUID(string: "2A37")]).first.orThrow()
      let control = try await service.discoverCharacteristics([CBUUID(string: "2A39")]).first.orThrow()
      var values: [[UInt8]] = []
      for try await value in measurement.notifications {
        values.append(Array(value))
        if values.count == 2 { try await control.write(Data([1])) }
        if values.count == 3 { break }
      }
      try await strap.disconnect()
      return values
    }
    #expect(values == [[0x0E, 61, 1, 0], [0x0E, 61, 2, 0], [0x0E, 61, 1, 0]])
  }
}
