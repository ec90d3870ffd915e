import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Glucose meter")
struct GlucoseMeterTests {
  private static let (measurement, context, recordAccess) = ("2A18", "2A34", "2A52")
  private static let all = [measurement, context, recordAccess]

  /// The sequence numbers of the measurements that the app has got, and those of the contexts.
  private func numbers(_ meeting: Encounter<GlucoseMeter>, _ uuid: String = measurement) -> [UInt16] {
    meeting.app.values(of: uuid).map { UInt16($0[1]) | UInt16($0[2]) << 8 }
  }

  private func meet(_ records: Int, subscribing uuids: [String] = all) async throws -> Encounter<GlucoseMeter> {
    let meeting = Encounter(GlucoseMeter(records: GlucoseRecord.samples(records)))
    try #require(await meeting.prepare(subscribing: uuids))
    return meeting
  }

  @Test("A glucose meter reports its records with their contexts, and success after the last one", .requirement("L186"))
  func report() async throws {
    let meeting = try await meet(5)
    meeting.app.read("2A51")
    meeting.app.write([1, 1], to: Self.recordAccess, .withResponse)
    #expect(await meeting.world.run(until: { !meeting.app.values(of: Self.recordAccess).isEmpty }, limit: .seconds(5)))
    #expect(meeting.app.values(of: Self.recordAccess) == [[6, 0, 1, 1]])
    #expect(numbers(meeting) == [0, 1, 2, 3, 4])
    #expect(numbers(meeting, Self.context) == [2])
    #expect(meeting.app.values(of: "2A51") == [[0x25, 0]])
    let first = try GlucoseMeasurement(try #require(meeting.app.values(of: Self.measurement).first))
    #expect(first == meeting.accessory.accessory.records[0].measurement)
    #expect("\(first)".contains("2024-01-01 00:00:00"))
    let third = try GlucoseMeasurement(meeting.app.values(of: Self.measurement)[2])
    #expect(third.contextFollows)
  }

  @Test("A client that has not subscribed to contexts gets measurements that announce none")
  func withoutContext() async throws {
    let meeting = try await meet(3, subscribing: [Self.measurement, Self.recordAccess])
    #expect(await meeting.command([1, 1], to: Self.recordAccess) == .response(6, 0, 1, 1))
    let values = try meeting.app.values(of: Self.measurement).map { try GlucoseMeasurement($0) }
    #expect(values.map(\.sequenceNumber) == [0, 1, 2] && values.allSatisfy { !$0.contextFollows })
  }

  /// The octets of a full hour of the first day of the samples.
  private static func hour(_ hour: UInt8) -> [UInt8] { [0xE8, 0x07, 1, 1, hour, 0, 0] }

  @Test(
    "Each operator selects records by sequence number and by user facing time, to count, report and delete them",
    .requirement("L186"))
  func operators() async throws {
    let meeting = try await meet(6)
    let cases: [(criterion: [UInt8], expected: [UInt16])] = [
      ([1], [0, 1, 2, 3, 4, 5]), ([5], [0]), ([6], [5]), ([2, 1, 2, 0], [0, 1, 2]), ([3, 1, 4, 0], [4, 5]),
      ([4, 1, 1, 0, 3, 0], [1, 2, 3]), ([2, 2] + Self.hour(1), [0, 1]), ([3, 2] + Self.hour(5), [5]),
      ([4, 2] + Self.hour(2) + Self.hour(4), [2, 3, 4]), ([3, 1, 9, 0], []),
    ]
    for (criterion, expected) in cases {
      let count = UInt8(expected.count)
      #expect(
        await meeting.command([4] + criterion, to: Self.recordAccess) == .response(5, 0, count, 0), "\(criterion)")
      let before = numbers(meeting).count
      let code: UInt8 = expected.isEmpty ? 6 : 1
      #expect(await meeting.command([1] + criterion, to: Self.recordAccess) == .response(6, 0, 1, code), "\(criterion)")
      #expect(Array(numbers(meeting).dropFirst(before)) == expected, "\(criterion)")
    }
    #expect(await meeting.command([2, 4, 1, 1, 0, 3, 0], to: Self.recordAccess) == .response(6, 0, 2, 1))
    #expect(meeting.accessory.accessory.records.map(\.measurement.sequenceNumber) == [0, 4, 5])
    #expect(await meeting.command([2, 6], to: Self.recordAccess) == .response(6, 0, 2, 1))
    #expect(await meeting.command([2, 1], to: Self.recordAccess) == .response(6, 0, 2, 1))
    #expect(await meeting.command([2, 1], to: Self.recordAccess) == .response(6, 0, 2, 6))
    #expect(await meeting.command([4, 1], to: Self.recordAccess) == .response(5, 0, 0, 0))
  }

  @Test("The time offset of a record is part of its user facing time, and a new record has the next sequence number")
  func timeOffset() async throws {
    let meeting = try await meet(2)
    let time = try #require(DateTime(year: 2024, month: 2, day: 29, hours: 23, minutes: 30))
    meeting.accessory.update { $0.store(nil, at: time, timeOffset: Scalar(rawValue: 60)) }
    let nextDay: [UInt8] = [0xE8, 0x07, 3, 1, 0, 0, 0]
    #expect(await meeting.command([1, 3, 2] + nextDay, to: Self.recordAccess) == .response(6, 0, 1, 1))
    #expect(numbers(meeting) == [2])
  }

  @Test("A new record never has the sequence number of a deleted one, also after the meter has been turned off")
  func numbersAfterDeletion() async throws {
    let meeting = try await meet(3)
    let time = try #require(DateTime(year: 2024, month: 2, day: 29))
    func store() async -> [UInt16] {
      meeting.accessory.update { $0.store(nil, at: time) }
      await meeting.world.run(for: .milliseconds(100))
      return meeting.accessory.accessory.records.map(\.measurement.sequenceNumber)
    }
    #expect(await meeting.command([2, 6], to: Self.recordAccess) == .response(6, 0, 2, 1))
    #expect(await store() == [0, 1, 3], "the last one has been deleted")
    #expect(await meeting.command([2, 1], to: Self.recordAccess) == .response(6, 0, 2, 1))
    #expect(await store() == [4], "all have been deleted")
    #expect(await meeting.command([2, 1], to: Self.recordAccess) == .response(6, 0, 2, 1))
    meeting.accessory.setPower(false)
    await meeting.world.run(for: .seconds(1))
    meeting.accessory.setPower(true)
    await meeting.world.run(for: .seconds(1))
    #expect(await store() == [5])
  }

  @Test("After the record with the sequence number 0xFFFF no further one is stored, also if it has been deleted")
  func lastNumber() throws {
    let time = try #require(DateTime(year: 2024, month: 2, day: 29))
    var meter = GlucoseMeter(records: [GlucoseRecord(GlucoseMeasurement(sequenceNumber: 0xFFFE, baseTime: time))])
    let results = [meter.store(nil, at: time), meter.store(nil, at: time)]
    #expect(results == [true, false])
    #expect(meter.records.map(\.measurement.sequenceNumber) == [0xFFFE, 0xFFFF])
    meter.records.removeLast()
    let isStored = meter.store(nil, at: time)
    #expect(!isStored)
    #expect(meter.records.map(\.measurement.sequenceNumber) == [0xFFFE])
  }

  @Test(
    "A malformed command gets its response code, or the error of its length", .requirement("L186"),
    arguments: [
      ([], .rejected(0x0D)), ([1], .rejected(0x0D)), ([7, 1], .response(6, 0, 7, 2)),
      ([5, 0, 1, 0], .response(6, 0, 5, 2)),
      ([6, 0, 1, 1], .response(6, 0, 6, 2)), ([1, 0], .response(6, 0, 1, 3)), ([4, 7], .response(6, 0, 4, 3)),
      ([1, 1, 0], .response(6, 0, 1, 5)), ([2, 6, 1], .response(6, 0, 2, 5)), ([1, 2], .response(6, 0, 1, 5)),
      ([1, 2, 1, 0], .response(6, 0, 1, 5)), ([1, 3, 1, 0, 0, 0], .response(6, 0, 1, 5)),
      ([4, 4, 1, 3, 0, 2, 0], .response(6, 0, 4, 5)), ([4, 4, 1, 3, 0], .response(6, 0, 4, 5)),
      ([1, 2, 2, 0xE8, 7, 13, 1, 0, 0, 0], .response(6, 0, 1, 5)),
      ([1, 2, 2, 0, 0, 1, 1, 0, 0, 0], .response(6, 0, 1, 5)),
      ([1, 2, 3, 0, 0], .response(6, 0, 1, 9)), ([3, 0], .response(6, 0, 3, 7)), ([3, 1], .response(6, 0, 3, 3)),
      ([3, 0, 0], .response(6, 0, 3, 5)),
    ] as [([UInt8], CommandResult)])
  func malformed(command: [UInt8], expected: CommandResult) async throws {
    let meeting = try await meet(3)
    #expect(await meeting.command(command, to: Self.recordAccess) == expected)
    // The meter is ready for the next command.
    #expect(await meeting.command([4, 1], to: Self.recordAccess) == .response(5, 0, 3, 0))
  }

  @Test("Without the subscriptions that a command needs, the write is rejected as improperly configured")
  func notSubscribed() async throws {
    let meeting = try await meet(3, subscribing: [])
    #expect(await meeting.command([4, 1], to: Self.recordAccess) == .rejected(0x81))
    #expect(await meeting.subscribe(Self.recordAccess))
    #expect(await meeting.command([1, 1], to: Self.recordAccess) == .rejected(0x81))
    #expect(await meeting.command([4, 1], to: Self.recordAccess) == .response(5, 0, 3, 0))
    #expect(await meeting.subscribe(Self.measurement))
    #expect(await meeting.command([1, 1], to: Self.recordAccess) == .response(6, 0, 1, 1))
  }

  /// Begins a transfer of this many records, and returns after the first of them.
  private func transfer(_ records: Int = 2_000) async throws -> Encounter<GlucoseMeter> {
    let meeting = try await meet(records)
    meeting.app.write([1, 1], to: Self.recordAccess, .withResponse)
    try #require(await meeting.world.run(until: { numbers(meeting).count >= 5 }, limit: .seconds(5)))
    return meeting
  }

  @Test(
    "While records are reported, another command is rejected, and Abort Operation stops the transfer",
    .requirement("L186"))
  func abort() async throws {
    let meeting = try await transfer()
    #expect(await meeting.command([4, 1], to: Self.recordAccess, for: .zero) == .rejected(0x80))
    #expect(await meeting.command([3, 0], to: Self.recordAccess) == .response(6, 0, 3, 1))
    let count = numbers(meeting).count
    #expect(count < 2_000)
    #expect(numbers(meeting) == Array(0..<UInt16(count)), "no record is left out")
    await meeting.world.run(for: .seconds(5))
    #expect(numbers(meeting).count == count)
    #expect(await meeting.command([1, 5], to: Self.recordAccess) == .response(6, 0, 1, 1))
  }

  @Test("Abort Operation with an invalid operator or operand gets its response code, and the transfer goes on")
  func invalidAbort() async throws {
    let meeting = try await transfer(4_000)
    let wait = Duration.milliseconds(150)
    #expect(await meeting.command([3], to: Self.recordAccess, for: .zero) == .rejected(0x0D))
    #expect(await meeting.command([3, 1], to: Self.recordAccess, for: wait) == .response(6, 0, 3, 3))
    #expect(await meeting.command([3, 0, 0], to: Self.recordAccess, for: wait) == .response(6, 0, 3, 5))
    // The confirmations of these responses have not ended the procedure.
    #expect(await meeting.command([4, 1], to: Self.recordAccess, for: .zero) == .rejected(0x80))
    #expect(numbers(meeting).count < 4_000 && meeting.app.values(of: Self.recordAccess).count == 2)
    await meeting.world.run(for: .seconds(20))
    #expect(meeting.app.values(of: Self.recordAccess).last == [6, 0, 1, 1])
    #expect(numbers(meeting) == Array(0..<4_000), "no record is left out")
    #expect(await meeting.command([4, 1], to: Self.recordAccess) == .response(5, 0, 0xA0, 0x0F))
  }

  @Test("A client that unsubscribes from the control point ends its transfer without a response")
  func unsubscribesFromControlPoint() async throws {
    let meeting = try await transfer()
    #expect(await meeting.subscribe(Self.recordAccess, false))
    await meeting.world.run(for: .milliseconds(200))
    let count = numbers(meeting).count
    #expect(count < 2_000)
    await meeting.world.run(for: .seconds(5))
    #expect(numbers(meeting).count == count && meeting.app.values(of: Self.recordAccess).isEmpty)
    #expect(await meeting.subscribe(Self.recordAccess))
    #expect(await meeting.command([1, 6], to: Self.recordAccess) == .response(6, 0, 1, 1))
    #expect(numbers(meeting).last == 1_999)
  }

  @Test(
    "A client that unsubscribes from the measurements is told that the transfer has not been completed",
    .requirement("L186"))
  func unsubscribesFromMeasurements() async throws {
    let meeting = try await transfer()
    #expect(await meeting.subscribe(Self.measurement, false))
    await meeting.world.run(for: .seconds(1))
    #expect(meeting.app.values(of: Self.recordAccess) == [[6, 0, 1, 8]])
    #expect(await meeting.command([4, 1], to: Self.recordAccess) == .response(5, 0, 0xD0, 7))
  }

  @Test("One client's transfer keeps others from commands until it is done or its client has gone")
  func otherClient() async throws {
    let meeting = try await transfer()
    meeting.accessory.act { meter, context in context.advertise(meter.advertising) }
    let tablet = PhoneApp(on: meeting.world.makeDevice(named: "tablet", at: Position(x: 1)))
    // The first transfer has ended when the tablet is ready, so another one begins.
    try #require(await meeting.world.run(until: { tablet.isReady }, limit: .seconds(20)))
    tablet.subscribe(Self.recordAccess)
    await meeting.world.run(for: .seconds(30))
    meeting.app.write([1, 1], to: Self.recordAccess, .withResponse)
    let before = numbers(meeting).count
    try #require(await meeting.world.run(until: { numbers(meeting).count > before + 5 }, limit: .seconds(5)))
    #expect(await tablet.command([4, 1], to: Self.recordAccess, in: meeting.world, for: .zero) == .rejected(0x80))
    #expect(tablet.values(of: Self.measurement).isEmpty)
    meeting.app.manager.cancelPeripheralConnection(try #require(meeting.app.peripheral))
    await meeting.world.run(for: .seconds(1))
    #expect(await tablet.command([4, 1], to: Self.recordAccess, in: meeting.world) == .response(5, 0, 0xD0, 7))
  }

  @Test("The test kit records the records of a glucose meter, which the values of the profile turn into text")
  func testKit() throws {
    let world = World(seed: 1)
    world.add(GlucoseMeter(records: GlucoseRecord.samples(100)), named: "meter")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let peripheral = try phone.connect(to: "Glucose Meter")
    for characteristic in Self.all { try phone.setNotify(for: characteristic, of: peripheral) }
    let command = RecordAccessControlPoint.reportStoredRecords(.sequenceNumbers(98...UInt16.max))
    try phone.write(command.octets, to: Self.recordAccess, of: peripheral)
    world.run(for: .seconds(1))
    var texts: [String] = []
    for case .valueUpdated(_, let characteristic, let octets, _) in phone.events {
      texts.append(CharacteristicValues.text(of: UInt16(characteristic.uuidString, radix: 16) ?? 0, octets))
    }
    let sample = "in capillary whole blood, from finger"
    #expect(
      texts == [
        "sequence number 98, at 2024-01-05 02:00:00, glucose 0.0009 kg/l, \(sample), context follows",
        "sequence number 98, meal fasting",
        "sequence number 99, at 2024-01-05 03:00:00, glucose 0.00097 kg/l, \(sample)",
        "answer to Report Stored Records, success",
      ])
  }
}
