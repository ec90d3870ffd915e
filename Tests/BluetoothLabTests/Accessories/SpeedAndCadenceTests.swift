import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Speed and cadence sensors")
struct SpeedAndCadenceTests {
  private static let (cycling, running, controlPoint) = ("2A5B", "2A53", "2A55")

  @Test(
    "A cycling sensor sets its number of wheel revolutions and its location through the SC Control Point",
    .requirement("L184"))
  func cycling() async throws {
    let meeting = Encounter(CyclingSensor(speed: 4, cadence: 60, wheelCircumference: 2))
    try #require(await meeting.prepare(subscribing: [Self.cycling, Self.controlPoint]))
    meeting.app.read("2A5C")
    meeting.app.read("2A5D")
    #expect(
      await meeting.command([1, 0xE8, 3, 0, 0], to: Self.controlPoint, for: .seconds(2)) == .response(0x10, 1, 1))
    #expect(meeting.app.values(of: "2A5C") == [[7, 0]])
    #expect(meeting.app.values(of: "2A5D") == [[12]])
    let value = try CSCMeasurement(try #require(meeting.app.values(of: Self.cycling).last))
    // Two revolutions in a second, at most 3 s after the command.
    #expect((1_000...1_006).contains(try #require(value.wheel).cumulative))
    #expect(await meeting.command([3, 4], to: Self.controlPoint) == .response(0x10, 3, 1))
    #expect(meeting.accessory.accessory.location == .frontWheel)
    // The top of a shoe is no place on a bicycle.
    #expect(await meeting.command([3, 1], to: Self.controlPoint) == .response(0x10, 3, 3))
    #expect(await meeting.command([4], to: Self.controlPoint) == .response(0x10, 4, 1, 12, 4, 11, 13))
    meeting.app.read("2A5D")
    await meeting.world.run(for: .milliseconds(200))
    #expect(meeting.app.values(of: "2A5D") == [[12], [4]])
  }

  @Test("The time in which a sensor is off adds no distance")
  func offTime() async {
    let world = World(seed: 1)
    let bicycle = world.add(CyclingSensor(speed: 4, cadence: 60, wheelCircumference: 2), named: "bicycle")
    let runner = world.add(RunningSensor(speed: 3, cadence: 180), named: "runner")
    await world.run(for: .milliseconds(10_500))
    bicycle.setPower(false)
    runner.setPower(false)
    await world.run(for: .milliseconds(100))
    let before = (bicycle.accessory.distance, runner.accessory.totalDistance)
    #expect((36...42).contains(before.0) && (27...31.5).contains(before.1))
    await world.run(for: .seconds(100))
    #expect(bicycle.accessory.distance == before.0 && runner.accessory.totalDistance == before.1)
    bicycle.setPower(true)
    runner.setPower(true)
    await world.run(for: .milliseconds(10_500))
    #expect((36...42).contains(bicycle.accessory.distance - before.0))
    #expect((27...31.5).contains(runner.accessory.totalDistance - before.1))
  }

  @Test("The times of the last revolutions stay until the next ones, also if the bicycle becomes slower meanwhile")
  func eventTimes() async throws {
    let meeting = Encounter(CyclingSensor(speed: 4.3, cadence: 63, wheelCircumference: 2))
    try #require(await meeting.prepare(subscribing: [Self.cycling]))
    await meeting.world.run(for: .milliseconds(1_500))
    let before = meeting.app.values(of: Self.cycling)
    meeting.accessory.update { ($0.speed, $0.cadence) = (0.01, 0.01) }
    await meeting.world.run(for: .seconds(3))
    let after = meeting.app.values(of: Self.cycling)
    #expect(!before.isEmpty && after.count > before.count && after.last == before.last)
  }

  @Test(
    "A malformed command to the SC Control Point gets its response code, or the error of its length",
    .requirement("L184", "L193"),
    arguments: [
      ([], .rejected(0x0D)), ([1, 0], .response(0x10, 1, 3)), ([1, 0, 0, 0, 0, 0], .response(0x10, 1, 3)),
      ([3], .response(0x10, 3, 3)), ([3, 200], .response(0x10, 3, 3)), ([4, 1], .response(0x10, 4, 3)),
      ([9, 9], .response(0x10, 9, 2)), ([0x10, 1, 1], .response(0x10, 0x10, 2)), ([0x10], .response(0x10, 0x10, 2)),
    ] as [([UInt8], CommandResult)])
  func malformed(command: [UInt8], expected: CommandResult) async throws {
    let cycling = Encounter(CyclingSensor())
    try #require(await cycling.prepare(subscribing: [Self.controlPoint]))
    #expect(await cycling.command(command, to: Self.controlPoint) == expected)
    // A bicycle is not calibrated.
    #expect(await cycling.command([2], to: Self.controlPoint) == .response(0x10, 2, 2))
    let running = Encounter(RunningSensor())
    try #require(await running.prepare(subscribing: [Self.controlPoint]))
    #expect(await running.command(command, to: Self.controlPoint) == expected)
    #expect(await running.command([4], to: Self.controlPoint) == .response(0x10, 4, 1, 2, 1, 3))
  }

  @Test("A running sensor reports speed, cadence, stride, distance and whether its wearer runs", .requirement("L193"))
  func running() async throws {
    let meeting = Encounter(RunningSensor(speed: 3, cadence: 180))
    try #require(await meeting.prepare(subscribing: [Self.running, Self.controlPoint]))
    meeting.app.read("2A54")
    meeting.app.read("2A5D")
    #expect(
      await meeting.command([1, 0x10, 0x27, 0, 0], to: Self.controlPoint, for: .seconds(2)) == .response(0x10, 1, 1))
    #expect(meeting.app.values(of: "2A54") == [[0x1F, 0]])
    #expect(meeting.app.values(of: "2A5D") == [[2]])
    let value = try RSCMeasurement(try #require(meeting.app.values(of: Self.running).last))
    #expect(value.speed.value == 3 && value.cadence == 180 && value.strideLength?.value == 1 && value.isRunning)
    // 1,000 m, and 3 m in a second, at most 3 s after the command.
    #expect((1_000...1_009.1).contains(try #require(value.totalDistance?.value)))
    meeting.accessory.update { $0.speed = 1.25 }
    await meeting.world.run(for: .seconds(1))
    #expect(try RSCMeasurement(try #require(meeting.app.values(of: Self.running).last)).isRunning == false)
  }

  @Test("A calibration takes its time, succeeds or fails, and rejects other commands meanwhile", .requirement("L193"))
  func calibration() async throws {
    let meeting = Encounter(RunningSensor())
    try #require(await meeting.prepare(subscribing: [Self.controlPoint]))
    #expect(await meeting.command([2], to: Self.controlPoint, for: .seconds(1)) == .accepted)
    #expect(await meeting.command([4], to: Self.controlPoint, for: .seconds(1)) == .rejected(0x80))
    await meeting.world.run(for: .seconds(4))
    #expect(meeting.app.values(of: Self.controlPoint) == [[0x10, 2, 1]])
    meeting.accessory.update { $0.canCalibrate = false }
    #expect(await meeting.command([2], to: Self.controlPoint, for: .seconds(6)) == .response(0x10, 2, 4))
  }

  @Test(
    "A client that unsubscribes or disconnects during a calibration ends it, and gets no late response",
    .requirement("L193"))
  func cancelledCalibration() async throws {
    let meeting = Encounter(RunningSensor())
    try #require(await meeting.prepare(subscribing: [Self.controlPoint]))
    #expect(await meeting.command([2], to: Self.controlPoint, for: .seconds(1)) == .accepted)
    #expect(await meeting.subscribe(Self.controlPoint, false))
    #expect(await meeting.command([4], to: Self.controlPoint) == .rejected(0x81))
    #expect(await meeting.subscribe(Self.controlPoint))
    #expect(await meeting.command([4], to: Self.controlPoint, for: .seconds(10)) == .response(0x10, 4, 1, 2, 1, 3))

    #expect(await meeting.command([2], to: Self.controlPoint, for: .seconds(1)) == .accepted)
    meeting.app.manager.cancelPeripheralConnection(try #require(meeting.app.peripheral))
    await meeting.world.run(for: .seconds(1))
    let tablet = PhoneApp(on: meeting.world.makeDevice(named: "tablet", at: Position(x: 1)))
    try #require(await meeting.world.run(until: { tablet.isReady }, limit: .seconds(20)))
    tablet.subscribe(Self.controlPoint)
    await meeting.world.run(for: .seconds(1))
    #expect(
      await tablet.command([4], to: Self.controlPoint, in: meeting.world, for: .seconds(6))
        == .response(0x10, 4, 1, 2, 1, 3))
  }
}
