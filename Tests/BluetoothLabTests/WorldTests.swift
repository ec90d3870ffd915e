import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

/// A peripheral and a central at a distance of `distance` metres.
final class Meeting {
  let world: World
  let peripheral: SensorApp
  let central: PhoneApp
  let device: Device

  init(seed: UInt64 = 1, distance: Double = 2, capture: Capture? = nil) {
    world = World(seed: seed, capture: capture)
    peripheral = SensorApp(on: world.makeDevice(named: "peripheral"))
    device = world.makeDevice(named: "central", at: Position(x: distance))
    central = PhoneApp(on: device, .meet(SensorApp.service))
  }
}

@Suite("Worlds")
struct WorldTests {
  @Test("Two devices meet: advertise, scan, connect, discover, read", .requirement("A001", "A002", "A054", "A055"))
  func meet() async throws {
    let meeting = Meeting()
    #expect(await meeting.world.run(until: { meeting.central.isReady }))
    #expect(meeting.peripheral.events == [.state(.poweredOn), .added(true), .advertising(true)])
    #expect(meeting.central.events == [.state(.poweredOn), .discovered, .connected, .ready])
    let characteristic = try #require(meeting.central.characteristic(SensorApp.characteristic))
    meeting.central.peripheral?.readValue(for: characteristic)
    #expect(await meeting.world.run(until: { !meeting.central.values(of: SensorApp.characteristic).isEmpty }))
    #expect(meeting.central.values(of: SensorApp.characteristic) == [Array("hello".utf8)])
  }

  @Test("Nothing happens until the world is run")
  func standsStill() async {
    let meeting = Meeting()
    #expect(meeting.central.events.isEmpty)
    #expect(meeting.world.now == .zero)
    await meeting.world.run(for: .milliseconds(1))
    #expect(meeting.world.now == .milliseconds(1))
  }

  @Test("The same seed gives the same capture, another seed a different one")
  func determinism() async throws {
    func capture(seed: UInt64) async throws -> Data {
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      let url = URL(fileURLWithPath: folder.file("air.pcapng"))
      let meeting = Meeting(seed: seed, capture: try Capture(path: url.path))
      #expect(await meeting.world.run(until: { meeting.central.isReady }))
      let characteristic = try #require(meeting.central.characteristic(SensorApp.characteristic))
      meeting.central.peripheral?.setNotifyValue(true, for: characteristic)
      meeting.central.peripheral?.readValue(for: characteristic)
      await meeting.world.run(for: .seconds(2))
      try meeting.world.finishCapture()
      return try Data(contentsOf: url)
    }
    let first = try await capture(seed: 5)
    #expect(first.count > 1_000)
    #expect(try await capture(seed: 5) == first)
    #expect(try await capture(seed: 6) != first)
  }

  @Test(
    "A capture contains the packets of both hosts and of the air in one file, in chronological order",
    .requirement("L068"))
  func captureOfBothSides() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let url = URL(fileURLWithPath: folder.file("air.pcapng"))
    let meeting = Meeting(capture: try Capture(path: url.path))
    #expect(await meeting.world.run(until: { meeting.central.isReady }))
    meeting.central.peripheral?.readValue(for: try #require(meeting.central.characteristic(SensorApp.characteristic)))
    await meeting.world.run(for: .seconds(1))
    try meeting.world.finishCapture()

    let packets = try AirCapture(path: url.path).packets
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.nanoseconds <= $1.nanoseconds })
    // ATT Read Response, from the peripheral's host over the air to the central's.
    let response = [0x0B] + Array("hello".utf8)
    let places = packets.filter { packet in
      packet.data.indices.contains { packet.data[$0...].starts(with: response) }
    }
    #expect(places.map(\.interface) == [1, 0, 2])
  }

  @Test("A link to a device that walks away ends after the supervision timeout")
  func walksAway() async {
    let meeting = Meeting()
    #expect(await meeting.world.run(until: { meeting.central.isReady }))
    let start = meeting.world.now
    meeting.device.move(to: Position(x: 10_000))
    #expect(await meeting.world.run(until: { meeting.central.has(.disconnected) }, limit: .seconds(10)))
    #expect((meeting.central.disconnection as? CBError)?.code == .connectionTimeout)
    #expect(meeting.world.now - start < .milliseconds(2_100))
    #expect(meeting.world.now - start > .milliseconds(1_900))
  }

  @Test("Out of range no device is discovered")
  func outOfRange() async {
    let meeting = Meeting(distance: 1_000)
    await meeting.world.run(for: .seconds(20))
    #expect(meeting.central.events == [.state(.poweredOn)])
  }

  @Test("Power off is reported and ends links, and after power on the two meet again", .requirement("L017"))
  func power() async {
    let meeting = Meeting()
    #expect(await meeting.world.run(until: { meeting.central.isReady }))
    meeting.device.setPower(false)
    await meeting.world.run(for: .seconds(3))
    #expect(meeting.central.events.last == .state(.poweredOff))
    #expect(meeting.central.peripheral?.state == .disconnected)
    #expect(meeting.peripheral.manager.isAdvertising)
    meeting.device.setPower(true)
    #expect(await meeting.world.run(until: { meeting.central.isReady && meeting.central.events.last == .ready }))
    #expect(meeting.central.events.filter { $0 == .connected }.count == 2)
    #expect(!meeting.central.has(.disconnected))
  }

  @Test("A device with the name of another one stops the program")
  func takenName() async {
    await #expect(processExitsWith: .failure) {
      let world = World(seed: 1)
      world.add(BatteryPack(), named: "phone")
      _ = world.makeDevice(named: "phone")
    }
  }

  @Test("A held world waits for the task that a callback started")
  func holding() async {
    let meeting = Meeting()
    let world = meeting.world
    // Beside thousands of other tests a task may wait for long.
    world.setHoldLimits(HoldLimits(stall: 600))
    nonisolated(unsafe) var heldAt: Duration?
    nonisolated(unsafe) var releasedAt: Duration?
    meeting.central.onEvent = { event in
      guard event == .connected else { return }
      heldAt = world.now
      world.hold {
        for _ in 0..<10 { await Task.yield() }
        releasedAt = world.now
      }
    }
    #expect(await meeting.world.run(until: { meeting.central.isReady }))
    #expect(heldAt != nil)
    #expect(releasedAt == heldAt)
  }

  @Test("Held work that does not return ends the run, and the log names the call of hold", .timeLimit(.minutes(10)))
  func stalledHold() async {
    let log = LogRecorder()
    let world = World(seed: 1)
    world.setHoldLimits(HoldLimits(period: .milliseconds(5), warning: 2, stall: 4))
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let place = "WorldTests.swift:\(#line + 1)"
    world.hold { for await _ in stream {} }
    #expect(await !world.run(until: { world.now > .zero }, limit: .seconds(1)))
    #expect(world.now == .zero)
    #expect(log.levels(ofLinesContaining: place) == ["warning", "error"])
    let failure = await #expect(throws: ExpectationFailure.self) { try await world.expect("time passes") { false } }
    #expect(failure?.reason.contains(place) == true)
    // Beside thousands of other tests the task may wait for long.
    world.setHoldLimits(HoldLimits(stall: 600))
    continuation.finish()
    await world.run(for: .seconds(1))
    #expect(world.now == .seconds(1))
  }

  @Test("A synchronous run ends, too, if held work does not return", .timeLimit(.minutes(10)))
  func stalledHoldOfThread() {
    let log = LogRecorder()
    let world = World(seed: 1)
    world.setHoldLimits(HoldLimits(period: .milliseconds(5), warning: 2, stall: 4))
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let place = "WorldTests.swift:\(#line + 1)"
    world.hold { for await _ in stream {} }
    #expect(!world.run(until: { world.now > .zero }, limit: .seconds(1)))
    #expect(world.now == .zero)
    #expect(log.levels(ofLinesContaining: place) == ["warning", "error"])
    continuation.finish()
  }

  @Test("Values arrive on the manager's queue")
  func queues() async throws {
    let world = World(seed: 1)
    let peripheral = SensorApp(on: world.makeDevice(named: "peripheral"))
    let queue = DispatchQueue(label: "app")
    let central = PhoneApp(
      on: world.makeDevice(named: "central", at: Position(x: 1)), .meet(SensorApp.service), queue: queue)
    nonisolated(unsafe) var wrong = 0
    central.onEvent = { _ in
      dispatchPrecondition(condition: .onQueue(queue))
      wrong += Thread.isMainThread ? 1 : 0
    }
    #expect(await world.run(until: { central.isReady }))
    #expect(wrong == 0)
    #expect(peripheral.events.last == .advertising(true))
  }

  @Test("A cancelled task does not wait for a world in real time")
  func cancellation() async {
    let world = World(seed: 1, time: .real(speed: 1))
    let waiting = Task { await world.run(until: { false }, limit: .seconds(3_600)) }
    waiting.cancel()
    #expect(await waiting.value == false)
    // The wait did not end because the hour was over.
    #expect(world.now < .seconds(3_000))
  }

  @Test("In real time, a condition that becomes true while the limit passes ends the run")
  func conditionAtLimit() async {
    let world = World(seed: 1, time: .real(speed: 1_000))
    var count = 0
    // Returns after the limit, as if the thread had no processor until then.
    func isSecond() -> Bool {
      world.run(for: .seconds(1))
      count += 1
      return count == 2
    }
    let isTrue = await world.run(until: isSecond, limit: .milliseconds(100))
    #expect(isTrue)
    count = 0
    func runSynchronously() -> Bool { world.run(until: isSecond, limit: .milliseconds(100)) }
    let isTrueSynchronously = runSynchronously()
    #expect(isTrueSynchronously)
  }

  @Test("A capture can start and stop at any time, and another one can follow")
  func capturing() async throws {
    let meeting = Meeting()
    #expect(await meeting.world.run(until: { meeting.central.isReady }))
    func capture() async throws -> Data {
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      let url = URL(fileURLWithPath: folder.file("air.pcapng"))
      meeting.world.startCapture(try Capture(path: url.path))
      await meeting.world.run(for: .seconds(1))
      try meeting.world.finishCapture()
      await meeting.world.run(for: .seconds(1))
      return try Data(contentsOf: url)
    }
    let first = try await capture()
    let second = try await capture()
    #expect(first.count > 4_000)
    #expect(second.count > 4_000)
    // No more than the seconds of the capture: 34 events with two packets each, and their comments.
    #expect(first.count < 20_000)
    #expect(first != second)
  }

  @Test("A world in real time can be paused and continued at another speed")
  func pause() async {
    let world = World(seed: 1, time: .real(speed: 1_000))
    let beacon = world.add(BatteryPack(), named: "battery")
    #expect(await world.run(until: { world.now > .seconds(1) }))
    world.setSpeed(0)
    // The query runs on the world's own queue, so the current step is complete.
    let paused = beacon.statistics
    for _ in 0..<1_000 { await Task.yield() }
    #expect(beacon.statistics == paused)
    world.setSpeed(500)
    #expect(await world.run(until: { world.now > paused.time + .seconds(1) }))
  }

  @Test("A world too slow for its speed can still be inspected and paused", .timeLimit(.minutes(10)))
  func overload() async {
    let world = World(seed: 1, time: .real(speed: 1_000))
    var advertising = Advertising(AdvertisingPayload(fitting: [.name("Busy")]))
    advertising.schedule = [.every(.milliseconds(20))]
    for number in 0..<60 { world.add(Broadcaster(advertising), named: "beacon \(number)", at: Position(x: 1)) }
    let app = PhoneApp(on: world.makeDevice(named: "phone"), .listen)
    #expect(await world.run(until: { world.now > .milliseconds(500) }))
    #expect(world.statistics.devices.count == 61)
    world.setSpeed(0)
    let paused = world.statistics
    for _ in 0..<1_000 { await Task.yield() }
    #expect(world.statistics == paused)
    withExtendedLifetime(app) {}
  }

  @Test("A world runs until it is idle or the time limit is reached", .timeLimit(.minutes(10)))
  func idle() async {
    let world = World(seed: 1)
    #expect(await world.runUntilIdle())
    var advertising = Advertising(AdvertisingPayload(fitting: [.name("Short")]))
    advertising.schedule = [.every(.milliseconds(100), for: .seconds(2))]
    world.add(Broadcaster(advertising), named: "beacon")
    #expect(await world.runUntilIdle())
    #expect(world.now >= .seconds(2))
    #expect(world.now < .seconds(3))
    let before = world.now
    world.add(BatteryPack(), named: "battery")
    #expect(await !world.runUntilIdle(limit: .seconds(10)))
    #expect(world.now == before + .seconds(10))
  }

  @Test("An accessory that requests its next call at once does not stop the world", .timeLimit(.minutes(10)))
  func impatient() async {
    let world = World(seed: 1)
    world.add(HeartRateSensor(interval: .zero), named: "strap")
    world.add(CyclingSensor(speed: .infinity, cadence: .nan), named: "bicycle")
    var options = DeviceOptions()
    options.sleepClockDrift = .nan
    world.add(Thermometer(interval: .zero), named: "thermometer", options)
    await world.run(for: .seconds(2))
    #expect(world.now == .seconds(2))
  }

  @Test("Running a world in one of its callbacks stops the program")
  func runInCallback() async {
    await #expect(processExitsWith: .failure) {
      let world = World(seed: 1)
      let central = PhoneApp(on: world.makeDevice(named: "central"), .meet(SensorApp.service))
      central.onEvent = { _ in
        func runAgain() { world.run(for: .seconds(1)) }
        runAgain()
      }
      await world.run(for: .seconds(1))
    }
  }
}
