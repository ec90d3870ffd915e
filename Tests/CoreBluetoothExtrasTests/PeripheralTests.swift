import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Requirements
import Testing

@Suite struct PeripheralTests {
  // MARK: Connecting

  @Test("Concurrent calls of connect share one attempt, and a call on a connected peripheral returns at once")
  func connecting() throws {
    let meeting = Meeting()
    let peripheral = try meeting.discover()
    let calls = (0..<3).map { _ in meeting.stage.start { try await peripheral.connect() } }
    for call in calls { try meeting.stage.value(of: call) }
    #expect(peripheral.state == .connected)
    let before = meeting.world.now
    try meeting.stage.perform { try await peripheral.connect() }
    #expect(meeting.world.now == before)
    #expect(peripheral.pendingCount == 0)
  }

  @Test("A time limit on the clock of the world ends an attempt at its exact end, and the attempt with it")
  func connectionTimeLimit() throws {
    let meeting = Meeting()
    let peripheral = try meeting.discover()
    meeting.sensor.device.setPower(false)
    meeting.stage.run(for: .seconds(1))
    let (start, clock) = (meeting.world.now, meeting.world.clock)
    let call = meeting.stage.start { try await peripheral.connect(within: TimeLimit(.milliseconds(2_500), on: clock)) }
    #expect(outcome { try meeting.stage.value(of: call) } == .timeLimit)
    #expect(meeting.world.now - start == .milliseconds(2_500))
    meeting.stage.run(for: .milliseconds(100))
    #expect(peripheral.state == .disconnected && peripheral.pendingCount == 0)
    meeting.sensor.device.setPower(true)
    meeting.stage.run(for: .seconds(5))
    #expect(peripheral.state == .disconnected)
    try meeting.stage.perform { try await peripheral.connect(within: TimeLimit(.seconds(10), on: clock)) }
  }

  @Test("A cancelled time limit leaves nothing in the world, and others end at their time")
  func cancelledTimeLimit() throws {
    let world = World(seed: 1)
    let (stage, clock) = (AppStage(world), world.clock)
    func wait(for limit: Duration) -> AppTask<Void> {
      let (stream, continuation) = AsyncStream<Void>.makeStream()
      return stage.start {
        try await withTimeLimit(TimeLimit(limit, on: clock)) { for await _ in stream {} }
        withExtendedLifetime(continuation) {}
      }
    }
    let (long, short, other) = (wait(for: .seconds(3_600)), wait(for: .seconds(2)), wait(for: .seconds(3)))
    stage.run(for: .seconds(1))
    for task in [long, short] {
      task.cancel()
      try stage.value(of: task)
    }
    #expect(world.now == .seconds(1))
    try stage.value(of: other)
    #expect(world.now == .seconds(3))
    #expect(world.runUntilIdle())
    #expect(world.now == .seconds(3))
  }

  @Test("A time limit that a call does not need leaves nothing in the world")
  func unusedTimeLimit() throws {
    let world = World(seed: 1)
    let (stage, clock) = (AppStage(world), world.clock)
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    try stage.perform {
      try await withTimeLimit(TimeLimit(.seconds(3_600), on: clock)) {
        try await withTimeLimit(TimeLimit(.seconds(1), on: clock)) { for await _ in stream {} }
      }
    }
    withExtendedLifetime(continuation) {}
    #expect(world.now == .seconds(1))
    #expect(world.runUntilIdle())
    #expect(world.now == .seconds(1))
  }

  @Test("A cancelled call of connect ends the attempt, unless another call waits for it")
  func cancelledConnection() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.discover())
    meeting.sensor.device.setPower(false)
    stage.run(for: .seconds(1))
    let first = stage.start { try await peripheral.connect() }
    let second = stage.start { try await peripheral.connect() }
    stage.run(for: .seconds(1))
    first.cancel()
    #expect(outcome { try stage.value(of: first) } == .cancelled)
    stage.run(for: .seconds(1))
    #expect(peripheral.state == .connecting && peripheral.pendingCount == 1)
    second.cancel()
    #expect(outcome { try stage.value(of: second) } == .cancelled)
    // This call comes before the end of the attempt is reported.
    let third = stage.start { try await peripheral.connect() }
    stage.run(until: { peripheral.pendingCount == 1 })
    third.cancel()
    #expect(outcome { try stage.value(of: third) } == .cancelled)
    stage.run(for: .seconds(1))
    #expect(peripheral.state == .disconnected && peripheral.pendingCount == 0)
    let fourth = stage.start { try await peripheral.connect() }
    meeting.sensor.device.setPower(true)
    try stage.value(of: fourth)
  }

  @Test("A call of connect that is cancelled when the link exists returns, and the link stays")
  func cancelledAfterConnection() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.discover())
    let (first, second) = (Box<[Outcome]>([]), Box<AppTask<Void>?>(nil))
    Task(executorPreference: ImmediateExecutor()) {
      first.append(await asyncOutcome { try await peripheral.connect() })
      // The second call has its result, and has not been resumed.
      second.value?.cancel()
    }
    let call = stage.start { try await peripheral.connect() }
    second.value = call
    #expect(outcome { try stage.value(of: call) } == .success)
    #expect(first.value == [.success])
    stage.run(for: .seconds(1))
    #expect(peripheral.state == .connected && peripheral.pendingCount == 0)
  }

  @Test("A cancelled task does not begin anything")
  func cancelledBefore() throws {
    let meeting = Meeting()
    let (stage, characteristic) = (meeting.stage, try meeting.characteristic())
    let peripheral = characteristic.service.peripheral
    let events = meeting.sensor.events
    let call = stage.start { () -> [Outcome] in
      withUnsafeCurrentTask { $0?.cancel() }
      return [
        await asyncOutcome { try await peripheral.connect() },
        await asyncOutcome { _ = try await characteristic.read() },
        await asyncOutcome { try await characteristic.write(Data([2])) },
        await asyncOutcome { try await characteristic.writeWithoutResponse(Data([3])) },
        await asyncOutcome { _ = try await peripheral.readRSSI() },
        await asyncOutcome { _ = try await peripheral.openL2CAPChannel(0x80) },
        await asyncOutcome { for try await _ in characteristic.notifications {} },
      ]
    }
    #expect(try stage.value(of: call) == Array(repeating: .cancelled, count: 7))
    stage.run(for: .seconds(1))
    #expect(peripheral.state == .connected && peripheral.pendingCount == 0)
    #expect(meeting.sensor.events.filter { $0 != "subscribed" && $0 != "unsubscribed" } == events)
  }

  /// Returns the time from the end of an app's work on a connected peripheral to the end of the link, which the task of
  /// the work requests.
  ///
  /// - Parameter isCancelled: true if the work ends because its task is cancelled.
  private func timeToEnd(_ isCancelled: Bool, hasLimit: Bool) throws -> Duration {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    let limit = hasLimit ? TimeLimit(.seconds(10), on: meeting.world.clock) : nil
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let work = stage.start {
      do {
        for await _ in stream {}
        try Task.checkCancellation()
      } catch {
        try? await peripheral.disconnect(within: limit)
        throw error
      }
      try await peripheral.disconnect(within: limit)
    }
    stage.run(for: .seconds(1))
    #expect(peripheral.state == .connected)
    let start = meeting.world.now
    if isCancelled {
      work.cancel()
      #expect(outcome { try stage.value(of: work) } == .cancelled)
      // The call does not wait for the end.
      #expect(meeting.world.now == start && peripheral.state == .disconnecting && peripheral.pendingCount == 0)
      #expect(stage.run(until: { peripheral.lastDisconnection != nil }))
    } else {
      continuation.finish()
      try stage.value(of: work)
    }
    #expect(peripheral.state == .disconnected && peripheral.pendingCount == 0)
    #expect(peripheral.lastDisconnection.map { $0.error == nil } == true)
    withExtendedLifetime(continuation) {}
    return meeting.world.now - start
  }

  @Test(
    "A cancelled task that disconnects ends the link when another task would, and does not wait for the end",
    arguments: [false, true])
  func cancelledDisconnection(hasLimit: Bool) throws {
    let duration = try timeToEnd(true, hasLimit: hasLimit)
    #expect(duration > .zero)
    #expect(try duration == timeToEnd(false, hasLimit: hasLimit))
  }

  @Test(
    "Disconnecting ends pending operations, and a call of connect meanwhile connects again afterwards",
    .symbol("CBError.Code.notConnected"))
  func disconnecting() throws {
    let meeting = Meeting()
    let (stage, characteristic) = (meeting.stage, try meeting.characteristic())
    let peripheral = characteristic.service.peripheral
    let ends = Box<[Outcome?]>([])
    let watch = stage.start {
      for await end in peripheral.disconnections { ends.append(end.error.map(Outcome.init)) }
    }
    meeting.sensor.answersReads = false
    let read = stage.start { try await characteristic.read() }
    stage.run(for: .seconds(1))
    let disconnect = stage.start { try await peripheral.disconnect() }
    stage.run(until: { peripheral.state == .disconnecting })
    let connect = stage.start { try await peripheral.connect() }
    try stage.value(of: disconnect)
    #expect(outcome { try stage.value(of: read) } == .core(.operationCancelled))
    try stage.value(of: connect)
    #expect(peripheral.state == .connected)
    #expect(ends.value == [nil])
    // The attributes of the first link are not those of the second one.
    #expect(outcome { try stage.perform { try await characteristic.read() } } == .core(.uuidNotAllowed))
    meeting.sensor.device.setRadio(isOn: false)
    stage.run(until: { ends.value.count == 2 })
    #expect(ends.value == [nil, .core(.connectionTimeout)])
    #expect(outcome { try stage.perform { try await characteristic.read() } } == .core(.notConnected))
    try stage.perform { try await peripheral.disconnect() }
    watch.cancel()
    try stage.value(of: watch)
  }

  @Test("A call of connect while the link ends succeeds, even if the peripheral is out of reach meanwhile")
  func connectingMeanwhile() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    meeting.sensor.device.setRadio(isOn: false)
    let disconnect = stage.start { try await peripheral.disconnect() }
    stage.run(until: { peripheral.state == .disconnecting })
    let connect = stage.start { try await peripheral.connect() }
    let second = stage.start { try await peripheral.connect() }
    stage.run(for: .milliseconds(100))
    second.cancel()
    #expect(outcome { try stage.value(of: second) } == .cancelled)
    try stage.value(of: disconnect)
    stage.run(for: .seconds(5))
    #expect(connect.result == nil && peripheral.state == .connecting)
    meeting.sensor.device.setRadio(isOn: true)
    try stage.value(of: connect)
    #expect(peripheral.state == .connected && peripheral.pendingCount == 0)
  }

  @Test("The connection ends when the last reference to its peripheral is released")
  func release() throws {
    let meeting = Meeting()
    var characteristic: RemoteCharacteristic? = try meeting.characteristic()
    weak let peripheral = characteristic?.service.peripheral
    let id = try #require(peripheral?.id)
    meeting.stage.run(for: .seconds(1))
    #expect(meeting.central.connectedPeripherals(withServices: [Sensor.service]).map(\.id) == [id])
    #expect(characteristic?.uuid == Sensor.value)
    characteristic = nil
    #expect(peripheral == nil)
    meeting.stage.run(for: .seconds(1))
    #expect(meeting.central.connectedPeripherals(withServices: [Sensor.service]).isEmpty)
    #expect(meeting.central.peripheralCount == 0)
  }

  // MARK: Attributes

  @Test("Services, characteristics, descriptors, values and the signal strength are read and written")
  func attributes() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    let services = try stage.perform { try await peripheral.discoverServices() }
    #expect(services.map(\.uuid).suffix(2) == [Sensor.empty, Sensor.service])
    let service = try #require(services.last)
    #expect(service.isPrimary)
    #expect(try stage.perform { try await peripheral.discoverServices([Sensor.service]) } == [service])
    #expect(try stage.perform { try await service.discoverIncludedServices() }.isEmpty)
    let characteristics = try stage.perform { try await service.discoverCharacteristics() }
    #expect(characteristics.map(\.uuid) == [Sensor.value, Sensor.rejecting])
    let characteristic = characteristics[0]
    #expect(characteristic.properties == [.read, .write, .writeWithoutResponse, .notify])
    #expect(try stage.perform { try await characteristic.read() } == Data([1]))
    try stage.perform { try await characteristic.write(Data([2, 3])) }
    try stage.perform { try await characteristic.writeWithoutResponse(Data([4])) }
    #expect(try stage.perform { try await characteristic.read() } == Data([4]))
    #expect(meeting.sensor.events == ["read", "write 2 3", "write 4", "read"])
    let descriptors = try stage.perform { try await characteristic.discoverDescriptors() }
    let values = try descriptors.map { descriptor in try stage.perform { try await descriptor.read() } }
    #expect(Set(values) == [.text("Level"), .number(0)])
    let configuration = try #require(
      descriptors.first { $0.uuid == CBUUID(string: CBUUIDClientCharacteristicConfigurationString) })
    #expect(outcome { try stage.perform { try await configuration.write(Data([1, 0])) } } == .att(.writeNotPermitted))
    let rssi = try #require(try stage.perform { try await peripheral.readRSSI() })
    #expect((-90..<0).contains(rssi))
  }

  @Test("Errors of the peripheral are thrown as Apple's errors")
  func errors() throws {
    let meeting = Meeting()
    let (stage, rejecting) = (meeting.stage, try meeting.characteristic(Sensor.rejecting))
    let peripheral = rejecting.service.peripheral
    #expect(outcome { try stage.perform { try await rejecting.read() } } == .att(.readNotPermitted))
    #expect(outcome { try stage.perform { try await rejecting.write(Data([1])) } } == .att(.insufficientResources))
    #expect(
      outcome { try stage.perform { try await rejecting.writeWithoutResponse(Data([1])) } } == .att(.writeNotPermitted))
    #expect(
      outcome { try stage.perform { try await rejecting.write(Data(count: 513)) } }
        == .att(.invalidAttributeValueLength))
    #expect(outcome { try stage.perform { for try await _ in rejecting.notifications {} } } != .success)
    #expect(outcome { try stage.perform { try await peripheral.openL2CAPChannel(0xFE) } } != .success)
    #expect(peripheral.pendingCount == 0 && peripheral.state == .connected)
  }

  @Test("Reads of one characteristic are answered in the order of the calls")
  func order() throws {
    let meeting = Meeting()
    let (stage, characteristic) = (meeting.stage, try meeting.characteristic())
    let log = Box<[String]>([])
    meeting.sensor.answersReads = false
    let reads = (0..<4).map { number in
      stage.start { log.append("\(number): \(try await characteristic.read().map(String.init).joined())") }
    }
    for value: UInt8 in 0..<4 {
      #expect(stage.run(until: { !meeting.sensor.unanswered.isEmpty }))
      meeting.sensor.stored = Data([value])
      meeting.sensor.answerRead()
    }
    for read in reads { try stage.value(of: read) }
    #expect(log.value == ["0: 0", "1: 1", "2: 2", "3: 3"])
  }

  @Test("The response to a cancelled read is not the result of the next read")
  func cancelledRead() throws {
    let meeting = Meeting()
    let (stage, sensor, characteristic) = (meeting.stage, meeting.sensor, try meeting.characteristic())
    sensor.answersReads = false
    let reads = (0..<3).map { _ in stage.start { try await characteristic.read() } }
    #expect(stage.run(until: { !sensor.unanswered.isEmpty }))
    // One in progress, one that has not begun.
    for read in reads.prefix(2) {
      read.cancel()
      #expect(outcome { try stage.value(of: read) } == .cancelled)
    }
    sensor.answerRead()
    #expect(stage.run(until: { !sensor.unanswered.isEmpty }))
    sensor.stored = Data([7])
    sensor.answerRead()
    #expect(try stage.value(of: reads[2]) == Data([7]))
    #expect(sensor.events == ["read", "read"] && characteristic.service.peripheral.pendingCount == 0)
  }

  @Test("Writes without response wait for room, and arrive complete and in order")
  func backPressure() throws {
    let meeting = Meeting()
    let (stage, characteristic) = (meeting.stage, try meeting.characteristic())
    let start = meeting.world.now
    try stage.perform {
      for value: UInt8 in 0..<200 { try await characteristic.writeWithoutResponse(Data([value])) }
    }
    #expect(meeting.world.now > start)
    stage.run(until: { meeting.sensor.events.count == 200 })
    #expect(meeting.sensor.events == (0..<200).map { "write \($0)" })
    let long = Data(count: characteristic.service.peripheral.maximumWriteLength(for: .withoutResponse) + 1)
    #expect(
      outcome { try stage.perform { try await characteristic.writeWithoutResponse(long) } }
        == .att(.invalidAttributeValueLength))
    // The value that waits for room is not sent if its task is cancelled.
    let tasks = (0..<50).map { value in
      stage.start { try await characteristic.writeWithoutResponse(Data([UInt8(value)])) }
    }
    stage.run(until: { tasks[0].result != nil })
    #expect(tasks[49].result == nil)
    tasks[49].cancel()
    #expect(outcome { try stage.value(of: tasks[49]) } == .cancelled)
    for task in tasks.dropLast() { try stage.value(of: task) }
    stage.run(until: { meeting.sensor.events.count == 249 })
    stage.run(for: .seconds(1))
    #expect(meeting.sensor.events.count == 249)
  }

  @Test("Operations on a service that the peripheral has removed throw an error, and its invalidation is reported")
  func invalidation() throws {
    let meeting = Meeting()
    let (stage, characteristic) = (meeting.stage, try meeting.characteristic())
    let peripheral = characteristic.service.peripheral
    let invalid = stage.start { await peripheral.invalidatedServices.first { _ in true } }
    let values = stage.start { for try await _ in characteristic.notifications {} }
    stage.run(for: .seconds(1))
    meeting.sensor.answersReads = false
    let reads = (0..<2).map { _ in stage.start { try await characteristic.read() } }
    stage.run(for: .seconds(1))
    meeting.sensor.removeService()
    #expect(try stage.value(of: invalid) == [characteristic.service])
    for read in reads { #expect(outcome { try stage.value(of: read) } == .core(.uuidNotAllowed)) }
    #expect(outcome { try stage.value(of: values) } == .core(.uuidNotAllowed))
    #expect(outcome { try stage.perform { try await characteristic.read() } } == .core(.uuidNotAllowed))
    #expect(
      outcome { try stage.perform { try await characteristic.writeWithoutResponse(Data([1])) } }
        == .core(.uuidNotAllowed))
    #expect(peripheral.state == .connected && peripheral.pendingCount == 0)
  }
}
