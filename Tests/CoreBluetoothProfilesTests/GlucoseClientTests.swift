import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Testing

@Suite("Client of a glucose meter") struct GlucoseClientTests {
  private func meet(_ records: Int) throws -> (scene: ClientScene<GlucoseMeter>, client: GlucoseClient) {
    let scene = ClientScene(GlucoseMeter(records: GlucoseRecord.samples(records)))
    return (scene, try scene.client { [limit = scene.limit] in try await GlucoseClient($0, procedureLimit: limit) })
  }

  private func refusal(_ body: () throws -> some Any) -> RecordAccessError? { failure(RecordAccessError.self, body) }

  @Test("A glucose client reports, counts and deletes records, joined with their contexts")
  func records() throws {
    let (scene, client) = try meet(7)
    let stage = scene.stage
    let all = try stage.perform { try await client.records().take(100) }
    #expect(all.map(\.measurement) == scene.device.accessory.records.map(\.measurement))
    #expect(all.map(\.context) == scene.device.accessory.records.map(\.context))
    #expect(all.compactMap(\.context).map(\.sequenceNumber) == [2, 5])
    #expect(try stage.perform { try await client.numberOfRecords(.sequenceNumbers(2...4)) } == 3)
    let some = try stage.perform { try await client.records(.sequenceNumbers(2...4)).take(100) }
    #expect(some.map(\.measurement.sequenceNumber) == [2, 3, 4])
    try stage.perform { try await client.deleteRecords(.sequenceNumbers(0...5)) }
    #expect(try stage.perform { try await client.numberOfRecords() } == 1)
    #expect(try stage.perform { try await client.feature() } == scene.device.accessory.features)
    // No record is an empty sequence, and an error of the deletion.
    #expect(try stage.perform { try await client.records(.sequenceNumbers(0...5)).take(100) }.isEmpty)
    #expect(
      refusal { try stage.perform { try await client.deleteRecords(.sequenceNumbers(0...5)) } }
        == .refused(.noRecordsFound))
  }

  @Test(
    "A malformed criterion is refused with the code of the response",
    arguments: [
      (RecordCriterion(.null), .invalidOperator), (RecordCriterion(.allRecords, operand: [1]), .invalidOperand),
      (RecordCriterion(.lessThanOrEqualTo), .invalidOperand),
      (RecordCriterion(.withinRangeOf, operand: [1, 3, 0, 2, 0]), .invalidOperand),
      (RecordCriterion(.lessThanOrEqualTo, operand: [3, 0, 0]), .operandNotSupported),
    ] as [(RecordCriterion, RecordAccessControlPoint.ResponseCode)])
  func malformed(criterion: RecordCriterion, code: RecordAccessControlPoint.ResponseCode) throws {
    let (scene, client) = try meet(3)
    #expect(refusal { try scene.stage.perform { try await client.numberOfRecords(criterion) } } == .refused(code))
    #expect(refusal { try scene.stage.perform { try await client.records(criterion).take(1) } } == .refused(code))
    #expect(refusal { try scene.stage.perform { try await client.deleteRecords(criterion) } } == .refused(code))
    #expect(try scene.stage.perform { try await client.numberOfRecords() } == 3)
  }

  @Test("Abort ends the report and its sequence without an error; without a report it is unsuccessful")
  func abort() throws {
    let (scene, client) = try meet(2_000)
    let count = Box(0)
    let report = scene.stage.start { for try await _ in client.records() { count.change { $0 += 1 } } }
    #expect(scene.stage.run(until: { count.value >= 5 }))
    #expect(refusal { try scene.stage.perform { try await client.numberOfRecords() } } == .procedureInProgress)
    try scene.stage.perform { try await client.abort() }
    try scene.stage.value(of: report)
    #expect(count.value < 2_000)
    #expect(
      refusal { try scene.stage.perform { try await client.abort() } } == .refused(.abortUnsuccessful))
    #expect(try scene.stage.perform { try await client.records(.last).take(2) }.count == 1)
  }

  @Test("A loop that ends in the middle of a report unsubscribes, and the next command finds the meter ready")
  func unsubscribes() throws {
    let (scene, client) = try meet(2_000)
    let first = try scene.stage.perform { try await client.records().take(3) }
    #expect(first.map(\.measurement.sequenceNumber) == [0, 1, 2])
    #expect(try scene.stage.perform { try await client.numberOfRecords() } == 2_000)
    // The same with a cancelled task.
    let count = Box(0)
    let report = scene.stage.start { for try await _ in client.records() { count.change { $0 += 1 } } }
    #expect(scene.stage.run(until: { count.value >= 5 }))
    report.cancel()
    #expect(outcome { try scene.stage.value(of: report) } == .cancelled)
    scene.stage.run(for: .seconds(1))
    let before = scene.device.statistics
    scene.stage.run(for: .seconds(5))
    let octets = scene.device.statistics.since(before).links.reduce(0) { $0 + $1.sent.octets }
    #expect(octets < 100, "the meter has stopped")
    #expect(try scene.stage.perform { try await client.records(.first).take(2) }.count == 1)
  }

  @Test("A report that follows one which ended early gets neither records nor the response of that one")
  func restart() throws {
    let (scene, client) = try meet(2_000)
    let records = try scene.stage.perform {
      _ = try await client.records().take(3)
      return try await client.records(.last).take(10)
    }
    #expect(records.map(\.measurement.sequenceNumber) == [1_999])
  }

  @Test("The loss of the link in the middle of a report ends the sequence with its error")
  func lostLink() throws {
    let (scene, client) = try meet(2_000)
    let count = Box(0)
    let report = scene.stage.start { for try await _ in client.records() { count.change { $0 += 1 } } }
    #expect(scene.stage.run(until: { count.value >= 5 }))
    scene.device.setPower(false)
    #expect(outcome { try scene.stage.value(of: report) } == .core(.peripheralDisconnected))
  }

  /// A meter that sends arbitrary octets.
  private func rawMeter(_ responses: [[UInt8]]) -> RawSensor {
    var meter = RawSensor(0x1808, [(0x2A18, .notify, []), (0x2A34, .notify, []), (0x2A51, .read, [0, 0])])
    (meter.controlPoint, meter.responses) = (0x2A52, responses)
    return meter
  }

  private func meetRaw(_ responses: [[UInt8]]) throws -> (scene: ClientScene<RawSensor>, client: GlucoseClient) {
    let scene = ClientScene(rawMeter(responses))
    return (scene, try scene.client { [limit = scene.limit] in try await GlucoseClient($0, procedureLimit: limit) })
  }

  private static let time: [UInt8] = [0xE8, 7, 1, 1, 0, 0, 0]

  @Test("A malformed record is a typed error after which the report goes on, and a missing context is tolerated")
  func malformedRecords() throws {
    // The response comes long after the records.
    let (scene, client) = try meetRaw([])
    let log = Box<[String]>([])
    let report = scene.stage.start {
      var iterator = client.records().makeAsyncIterator()
      while true {
        do {
          guard let reading = try await iterator.next() else { return log.append("end") }
          log.append("\(reading.measurement.sequenceNumber) \(reading.context?.meal?.description ?? "-")")
        } catch let error as ProfileError { log.append("\(error)") }
      }
    }
    scene.stage.run(for: .seconds(1))
    #expect(scene.device.accessory.commands == [[1, 1]])
    let arrivals: [(index: Int, octets: [UInt8])] = [
      // A record without context, a malformed one, one that announces a context which is missing.
      (0, [0, 1, 0] + Self.time), (0, [0, 1]), (0, [0x10, 2, 0] + Self.time), (0, [0, 3, 0] + Self.time),
      // A context of another record, a malformed one, the right one.
      (0, [0x10, 4, 0] + Self.time), (1, [2, 9, 0, 1]), (1, [2, 4]), (1, [2, 4, 0, 3]),
    ]
    for arrival in arrivals {
      scene.device.send(arrival.octets, index: arrival.index)
      scene.stage.run(for: .seconds(1))
    }
    scene.device.act { meter, context in
      meter.responses = [[6, 0, 1, 1]]
      meter.timeReached(in: &context)
    }
    try scene.stage.value(of: report)
    #expect(
      log.value == [
        "1 -", "The value of Glucose Measurement is too short.", "2 -", "3 -",
        "The value of Glucose Measurement Context is too short.", "4 fasting", "end",
      ])
  }

  @Test("A report that ends with an error gives the measurement whose context is missing before the error")
  func errorInsteadOfContext() throws {
    func report(_ end: (ClientScene<RawSensor>) -> Void) throws -> (numbers: [UInt16], error: (any Error)?) {
      let (scene, client) = try meetRaw([])
      let numbers = Box<[UInt16]>([])
      let report = scene.stage.start {
        for try await reading in client.records() { numbers.append(reading.measurement.sequenceNumber) }
      }
      scene.stage.run(for: .seconds(1))
      scene.device.send([0x10, 2, 0] + Self.time)
      scene.stage.run(for: .seconds(1))
      #expect(numbers.value.isEmpty)
      end(scene)
      scene.stage.run(until: { report.result != nil })
      return (numbers.value, report.error)
    }
    let refused = try report { scene in
      scene.device.act { meter, context in
        meter.responses = [[6, 0, 1, 8]]
        meter.timeReached(in: &context)
      }
    }
    #expect(refused.numbers == [2] && refused.error as? RecordAccessError == .refused(.procedureNotCompleted))
    let timedOut = try report { _ in }
    #expect(timedOut.numbers == [2] && timedOut.error as? RecordAccessError == .timedOut)
    let lost = try report { $0.device.setPower(false) }
    #expect(lost.numbers == [2] && (lost.error as? CBError)?.code == .peripheralDisconnected)
  }

  @Test("A procedure without a response times out after 30 s, and later ones fail until the next connection")
  func timeOut() throws {
    let (scene, client) = try meetRaw([])
    let start = scene.world.now
    #expect(refusal { try scene.stage.perform { try await client.numberOfRecords() } } == .timedOut)
    #expect((.seconds(30) ... .seconds(31)).contains(scene.world.now - start))
    #expect(refusal { try scene.stage.perform { try await client.records().take(1) } } == .timedOut)
    #expect(refusal { try scene.stage.perform { try await client.abort() } } == .timedOut)
    #expect(scene.device.accessory.commands == [[4, 1]])
    // A report times out 30 s after its last record.
    let (second, meter) = try meetRaw([])
    let report = second.stage.start { for try await _ in meter.records() {} }
    second.stage.run(for: .seconds(20))
    second.device.send([0, 1, 0] + Self.time)
    second.stage.run(for: .seconds(20))
    #expect(report.result == nil)
    second.stage.run(for: .seconds(11))
    #expect(report.error as? RecordAccessError == .timedOut)
    // An abort without a response ends all procedures, too.
    let (third, other) = try meetRaw([])
    #expect(refusal { try third.stage.perform { try await other.abort() } } == .timedOut)
    #expect(refusal { try third.stage.perform { try await other.numberOfRecords() } } == .timedOut)
    #expect(third.device.accessory.commands == [[3, 0]])
  }

  @Test("Clients of one peripheral share the procedure in progress, and its time-out until the next connection")
  func timeOutOfAllClients() throws {
    let scene = ClientScene(rawMeter([]))
    let (stage, limit, peripheral) = (scene.stage, scene.limit, try scene.connect())
    let first = try stage.perform { try await GlucoseClient(peripheral, procedureLimit: limit) }
    let second = try stage.perform { try await GlucoseClient(peripheral, procedureLimit: limit) }
    let procedure = stage.start { try await first.numberOfRecords() }
    stage.run(for: .seconds(1))
    #expect(refusal { try stage.perform { try await second.numberOfRecords() } } == .procedureInProgress)
    #expect(refusal { try stage.value(of: procedure) } == .timedOut)
    #expect(refusal { try stage.perform { try await second.numberOfRecords() } } == .timedOut)
    #expect(refusal { try stage.perform { try await second.abort() } } == .timedOut)
    let third = try stage.perform { try await GlucoseClient(peripheral, procedureLimit: limit) }
    #expect(refusal { try stage.perform { try await third.deleteRecords(.all) } } == .timedOut)
    #expect(scene.device.accessory.commands == [[4, 1]])
    let next = try stage.perform {
      try await peripheral.disconnect()
      try await peripheral.connect()
      return try await GlucoseClient(peripheral, procedureLimit: limit)
    }
    scene.device.update { $0.responses = [[5, 0, 9, 0]] }
    #expect(try stage.perform { try await next.numberOfRecords() } == 9)
  }

  @Test("The time in which the user confirms the pairing does not count towards the limit of a procedure")
  func pairing() throws {
    let world = World(seed: 1)
    let stage = AppStage(world)
    var meter = GlucoseMeter(records: GlucoseRecord.samples(3))
    meter.protection = .encrypted
    world.add(meter, named: "meter")
    let user = ScriptedPrompts(.noInputNoOutput)
    user.answer(.yes, after: .seconds(10))
    let phone = world.makeDevice(named: "phone", DeviceOptions(position: Position(x: 2)), prompts: user)
    let central = Central(adapter: phone)
    let limit = TimeLimit(.seconds(5), on: world.clock)
    let client: GlucoseClient = try stage.perform {
      try await central.waitUntilPoweredOn()
      let peripheral = try await central.scan().first { _ in true }.orThrow().peripheral
      try await peripheral.connect()
      return try await GlucoseClient(peripheral, procedureLimit: limit)
    }
    #expect(try stage.perform { try await client.records().take(5) }.count == 3)
    #expect(user.questions.map(\.kind) == [.allowPairing])
  }

  @Test("A malformed response is a typed error, and responses to other commands are ignored")
  func responses() throws {
    let (scene, client) = try meetRaw([[6, 0]])
    #expect(
      refusal { try scene.stage.perform { try await client.numberOfRecords() } } == .malformedResponse(.tooShort))
    let (second, meter) = try meetRaw([[6, 0, 2, 1], [5, 0, 9, 0]])
    #expect(try second.stage.perform { try await meter.numberOfRecords() } == 9)
  }
}
