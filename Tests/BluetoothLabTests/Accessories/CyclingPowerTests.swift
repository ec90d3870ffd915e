import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Cycling power meter")
struct CyclingPowerTests {
  private static let (measurement, vector, controlPoint) = ("2A63", "2A64", "2A66")

  private func meet(
    _ meter: CyclingPowerMeter = CyclingPowerMeter(), subscribing uuids: [String] = [controlPoint]
  ) async throws -> Encounter<CyclingPowerMeter> {
    let meeting = Encounter(meter)
    try #require(await meeting.prepare(subscribing: uuids))
    return meeting
  }

  @Test(
    "A power meter notifies power, balance, torque, revolutions and energy in 20 octets, and the forces at six angles",
    .requirement("L183"))
  func measurements() async throws {
    var meter = CyclingPowerMeter(power: 180, cadence: 60, speed: 4)
    (meter.wheelCircumference, meter.leftShare, meter.crankLength) = (2, 48.5, 175)
    let meeting = try await meet(meter, subscribing: [Self.measurement, Self.vector])
    meeting.app.read("2A65")
    meeting.app.read("2A5D")
    await meeting.world.run(for: .milliseconds(4_500))
    let octets = meeting.app.values(of: Self.measurement)
    #expect(octets.count >= 4 && octets.allSatisfy { $0.count <= 20 })
    let values = try octets.suffix(2).map { try CyclingPowerMeasurement($0) }
    #expect(values[1].instantaneousPower == 180)
    #expect(values[1].pedalPowerBalance?.share.value == 48.5 && values[1].pedalPowerBalance?.isOfLeftPedal == true)
    func difference(_ value: (CyclingPowerMeasurement) -> Int?) throws -> Int {
      try #require(value(values[1])) - (try #require(value(values[0])))
    }
    #expect(try difference { $0.wheel.map { Int($0.cumulative) } } == 2)
    #expect(try difference { $0.crank.map { Int($0.cumulative) } } == 1)
    // A revolution at 180 W and 1 Hz has a torque of 180 W / 2π Hz = 28.65 N·m, which is 917 units.
    #expect((916...918).contains(try difference { $0.accumulatedTorque?.torque.rawValue }))
    #expect(values[1].accumulatedTorque?.isOfCrank == true && values[1].accumulatedEnergy != nil)
    // Multiple of everything but extremes, dead spots and the enhanced compensation.
    #expect(meeting.app.values(of: "2A65") == [[0x8F, 0xFE, 0x06, 0]])
    #expect(meeting.app.values(of: "2A5D") == [[5]])

    let vector = try CyclingPowerVector(try #require(meeting.app.values(of: Self.vector).last))
    guard case .forces(let forces) = vector.magnitudes else { throw ValueError.tooShort }
    // 28.65 N·m at 0.175 m are 164 N on average.
    #expect(forces == [65, 196, 229, 65, 196, 229])
    #expect(vector.direction == .tangential && vector.firstCrankMeasurementAngle == 0 && vector.crank != nil)
  }

  @Test(
    "A power meter with a cadence of almost 0 reports no torque",
    arguments: [.leastNonzeroMagnitude, .leastNormalMagnitude, 0.009, -1] as [Double])
  func smallCadence(cadence: Double) async throws {
    let meeting = try await meet(CyclingPowerMeter(cadence: cadence), subscribing: [Self.measurement, Self.vector])
    await meeting.world.run(for: .milliseconds(3_500))
    let values = try meeting.app.values(of: Self.measurement).map { try CyclingPowerMeasurement($0) }
    #expect(values.count >= 3)
    #expect(values.allSatisfy { $0.instantaneousPower == 200 && $0.accumulatedTorque?.torque.rawValue == 0 })
    let vector = try CyclingPowerVector(try #require(meeting.app.values(of: Self.vector).last))
    guard case .forces(let forces) = vector.magnitudes else { throw ValueError.tooShort }
    #expect(forces.allSatisfy { $0 == 0 })
  }

  @Test("Each setting of a power meter is set and requested through its control point", .requirement("L183"))
  func settings() async throws {
    let meeting = try await meet(subscribing: [Self.measurement, Self.controlPoint])
    let cases: [([UInt8], CommandResult)] = [
      ([5], .response(0x20, 5, 1, 0x59, 1)), ([4, 0x54, 1], .response(0x20, 4, 1)),
      ([5], .response(0x20, 5, 1, 0x54, 1)),
      ([7], .response(0x20, 7, 1, 0x78, 5)), ([6, 1, 2], .response(0x20, 6, 1)), ([7], .response(0x20, 7, 1, 1, 2)),
      ([9], .response(0x20, 9, 1, 250, 0)), ([8, 3, 4], .response(0x20, 8, 1)), ([9], .response(0x20, 9, 1, 3, 4)),
      ([11], .response(0x20, 11, 1, 50, 0)), ([10, 5, 6], .response(0x20, 10, 1)), ([11], .response(0x20, 11, 1, 5, 6)),
      ([3], .response(0x20, 3, 1, 5, 6, 15)), ([2, 6], .response(0x20, 2, 1)), ([2, 1], .response(0x20, 2, 3)),
      ([14], .response(0x20, 14, 1, 50)), ([15], .response(0x20, 15, 1, 0xE8, 7, 1, 15, 0, 0, 0)),
      ([16], .response(0x20, 16, 2)), ([1, 0, 0, 1, 0], .response(0x20, 1, 1)),
    ]
    for (command, expected) in cases {
      #expect(await meeting.command(command, to: Self.controlPoint) == expected, "\(command)")
    }
    let meter = meeting.accessory.accessory
    #expect(meter.location == .rightCrank && meter.crankLength == 170 && meter.chainLength == 0x0201)
    #expect(meter.chainWeight == 0x0403 && meter.spanLength == 0x0605)
    await meeting.world.run(for: .seconds(1))
    let value = try CyclingPowerMeasurement(try #require(meeting.app.values(of: Self.measurement).last))
    #expect((65_536...65_560).contains(try #require(value.wheel).cumulative))
    // All optional fields are masked: two octets of flags and two of power.
    #expect(await meeting.command([13, 0xFF, 1], to: Self.controlPoint, for: .seconds(1)) == .response(0x20, 13, 1))
    #expect(meeting.app.values(of: Self.measurement).last == [0, 0, 200, 0])
  }

  @Test("The content mask of a power meter ends with the link of the client that has set it")
  func maskEnds() async throws {
    let meeting = try await meet()
    #expect(await meeting.command([13, 0xFF, 1], to: Self.controlPoint) == .response(0x20, 13, 1))
    meeting.accessory.act { meter, context in context.advertise(meter.advertising) }
    let other = PhoneApp(on: meeting.world.makeDevice(named: "tablet", at: Position(x: 1)))
    #expect(await meeting.world.run(until: { other.isReady }, limit: .seconds(20)))
    other.subscribe(Self.measurement)
    await meeting.world.run(for: .milliseconds(1_500))
    #expect(other.values(of: Self.measurement).last == [0, 0, 200, 0])
    meeting.app.manager.cancelPeripheralConnection(try #require(meeting.app.peripheral))
    #expect(await meeting.world.run(until: { meeting.app.has(.disconnected) }, limit: .seconds(5)))
    await meeting.world.run(for: .milliseconds(1_500))
    let value = try CyclingPowerMeasurement(try #require(other.values(of: Self.measurement).last))
    #expect(value.pedalPowerBalance != nil && value.accumulatedTorque != nil && value.wheel != nil)
  }

  @Test("A power meter without the date of its calibration neither has the feature nor supports the request")
  func withoutCalibrationDate() async throws {
    var meter = CyclingPowerMeter()
    meter.factoryCalibration = nil
    let meeting = try await meet(meter)
    meeting.app.read("2A65")
    #expect(await meeting.command([15], to: Self.controlPoint) == .response(0x20, 15, 2))
    #expect(meeting.app.values(of: "2A65") == [[0x8F, 0xFE, 0x02, 0]])
  }

  @Test(
    "An offset compensation takes its time, rejects other commands meanwhile, and succeeds or fails",
    .requirement("L183"))
  func compensation() async throws {
    let meeting = try await meet()
    #expect(await meeting.command([12], to: Self.controlPoint, for: .seconds(1)) == .accepted)
    #expect(await meeting.command([5], to: Self.controlPoint, for: .zero) == .rejected(0xFE))
    await meeting.world.run(for: .seconds(3))
    #expect(meeting.app.values(of: Self.controlPoint) == [[0x20, 12, 1, 12, 0]])
    meeting.accessory.update { $0.offset = nil }
    #expect(await meeting.command([12], to: Self.controlPoint, for: .seconds(4)) == .response(0x20, 12, 4))
    // The client unsubscribes during a compensation.
    #expect(await meeting.command([12], to: Self.controlPoint, for: .seconds(1)) == .accepted)
    #expect(await meeting.subscribe(Self.controlPoint, false))
    #expect(await meeting.command([5], to: Self.controlPoint) == .rejected(0xFD))
    #expect(await meeting.subscribe(Self.controlPoint))
    #expect(await meeting.command([5], to: Self.controlPoint, for: .seconds(5)) == .response(0x20, 5, 1, 0x59, 1))
  }

  @Test("An enhanced offset compensation has data of the manufacturer, or the reason of its failure")
  func enhancedCompensation() async throws {
    var meter = CyclingPowerMeter()
    (meter.supportsEnhancedCompensation, meter.compensationData) = (true, [7, 8])
    let meeting = try await meet(meter)
    meeting.app.read("2A65")
    #expect(
      await meeting.command([16], to: Self.controlPoint, for: .seconds(4))
        == .response(0x20, 16, 1, 12, 0, 0xFF, 0xFF, 2, 7, 8))
    #expect(meeting.app.values(of: "2A65") == [[0x8F, 0xFE, 0x0E, 0]])
    meeting.accessory.update { $0.compensationData = Array(repeating: 9, count: 300) }
    let longest = await meeting.command([16], to: Self.controlPoint, for: .seconds(4))
    #expect(longest.responses.map(\.count) == [20])
    meeting.accessory.update { $0.offset = nil }
    #expect(await meeting.command([16], to: Self.controlPoint, for: .seconds(4)) == .response(0x20, 16, 4, 1))
    #expect(await meeting.command([12], to: Self.controlPoint, for: .seconds(4)) == .response(0x20, 12, 4))
  }

  @Test(
    "A malformed command to a power meter gets its response code, or the error of its length", .requirement("L183"),
    arguments: [
      ([], .rejected(0x0D)), ([1, 0], .response(0x20, 1, 3)), ([2], .response(0x20, 2, 3)),
      ([4, 1], .response(0x20, 4, 3)),
      ([6, 1, 2, 3], .response(0x20, 6, 3)), ([5, 0], .response(0x20, 5, 3)), ([13, 0, 2], .response(0x20, 13, 3)),
      ([13], .response(0x20, 13, 3)), ([17], .response(0x20, 17, 2)), ([0, 1], .response(0x20, 0, 2)),
      ([0x20, 1, 1], .response(0x20, 0x20, 2)), ([0x20], .response(0x20, 0x20, 2)),
    ] as [([UInt8], CommandResult)])
  func malformed(command: [UInt8], expected: CommandResult) async throws {
    let meeting = try await meet()
    #expect(await meeting.command(command, to: Self.controlPoint) == expected)
    #expect(await meeting.command([14], to: Self.controlPoint) == .response(0x20, 14, 1, 50))
  }
}
