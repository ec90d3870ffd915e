import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// The steps of an app, each of which can be cut.
private enum Step: Int, CaseIterable {
  case power, packets, scan, connect, services, characteristics, read, write, writeWithoutResponse, firstValue,
    secondValue
  case openChannel, writeChannel, readChannel, rssi, parameters, phys, disconnect
  case synchronize, includedServices, descriptors, readDescriptor, writeDescriptor, subscribe, dataLength

  /// The steps on which no other one depends. Most cases leave them out, which saves time.
  static let separate: Set<Step> = [
    .packets, .parameters, .phys, .synchronize, .includedServices, .descriptors, .readDescriptor, .writeDescriptor,
    .subscribe, .dataLength,
  ]
}

/// The event that cuts a step.
private enum Cut: CaseIterable {
  /// The peripheral is turned off, which ends its link with a message.
  case peripheralOff
  /// The peripheral can't transmit or receive any more.
  case silence
  case phoneOff
  /// The controller of the phone is reset, after which all peers are forgotten.
  case controllerReset
  case taskCancelled
  case timeLimit
  case centralClosed
}

private struct Case: CustomTestStringConvertible, Sendable {
  let step: Step
  let cut: Cut
  let testDescription: String

  init(_ step: Step, _ cut: Cut) {
    (self.step, self.cut) = (step, cut)
    testDescription = "\(step), \(cut)"
  }
}

/// An app that goes through all steps.
private final class Script: Sendable {
  let sensor: Sensor
  let clock: WorldClock
  let cut: (step: Step, limit: Duration)?
  /// The number of values written without response, and of octets for the channel.
  let amount: (values: UInt8, octets: Int)
  /// The steps that are left out.
  let omitted: Set<Step>
  let step = Box<Step?>(nil)
  let values = Box<[Data]>([])

  /// Creates a script.
  ///
  /// - Parameters:
  ///   - longest: the step that takes long; others move little data, which saves most of the tests' time.
  ///   - omitted: steps that nothing else depends on, and that are left out.
  init(
    _ meeting: Meeting, longest: Step? = nil, omitted: Set<Step> = [], cut: (step: Step, limit: Duration)? = nil
  ) {
    (sensor, clock, self.cut, self.omitted) = (meeting.sensor, meeting.world.clock, cut, omitted)
    // A channel keeps 16,384 octets that wait to be sent.
    amount = (
      longest == .writeWithoutResponse ? 40 : 2, longest == .writeChannel || longest == .readChannel ? 20_000 : 500
    )
  }

  /// Does one step, with a time limit if it is the one that a time limit cuts.
  @discardableResult
  private func take<Value: Sendable>(
    _ step: Step, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    self.step.value = step
    guard let cut, cut.step == step else { return try await body() }
    return try await withTimeLimit(TimeLimit(cut.limit, on: clock), body)
  }

  func play(_ central: Central) async throws {
    // Without its limit, an attempt lasts until the peripheral is found.
    let limit = TimeLimit(.seconds(20), on: clock)
    try await take(.power) { try await central.waitUntilPoweredOn(within: limit) }
    if !omitted.contains(.packets) {
      try await take(.packets) {
        try await withTimeLimit(limit) { _ = try await central.packets().first { $0.isConnectable }.orThrow() }
      }
    }
    if !omitted.contains(.synchronize) { try await synchronize(central, limit) }
    let peripheral = try await take(.scan) {
      try await withTimeLimit(limit) {
        try await central.scan(for: [Sensor.service]).first { _ in true }.orThrow().peripheral
      }
    }
    try await take(.connect) { try await peripheral.connect(within: limit) }
    let service = try await take(.services) { try await peripheral.discoverServices([Sensor.service]).first.orThrow() }
    if !omitted.contains(.includedServices) {
      try await take(.includedServices) { _ = try await service.discoverIncludedServices() }
    }
    let level = try await take(.characteristics) {
      try await service.discoverCharacteristics([Sensor.value]).first.orThrow()
    }
    try await useDescriptor(of: level)
    _ = try await take(.read) { try await level.read() }
    try await take(.write) { try await level.write(Data([2])) }
    try await take(.writeWithoutResponse) { [amount] in
      for value in 0..<amount.values { try await level.writeWithoutResponse(Data([value])) }
    }
    try await take(.firstValue) { [values] in
      for try await value in level.notifications {
        values.append(value)
        break
      }
    }
    try await take(.secondValue) { [values] in
      for try await value in level.notifications {
        values.append(value)
        break
      }
    }
    if !omitted.contains(.subscribe) {
      try await take(.subscribe) { _ = try await level.subscribe().first { _ in true }.orThrow() }
    }
    let psm = try sensor.psm.orThrow()
    let channel = try await take(.openChannel) { try await peripheral.openL2CAPChannel(psm) }
    try await take(.writeChannel) { [amount] in try await channel.write(Data(count: amount.octets)) }
    try await take(.readChannel) { [amount] in
      var count = 0
      while count < amount.octets { count += try await channel.read().orThrow().count }
    }
    _ = try await take(.rssi) { try await peripheral.readRSSI() }
    if !omitted.contains(.parameters) {
      try await take(.parameters) {
        try await peripheral.requestConnectionParameters(interval: .milliseconds(15) ... .milliseconds(15))
      }
    }
    if !omitted.contains(.phys) {
      try await take(.phys) { try await peripheral.requestPHYs(transmit: [.le1M], receive: [.le1M]) }
    }
    if !omitted.contains(.dataLength) {
      try await take(.dataLength) { try await peripheral.requestDataLength(DataLength(octets: 100)) }
    }
    try await take(.disconnect) { try await peripheral.disconnect() }
  }

  private func synchronize(_ central: Central, _ limit: TimeLimit) async throws {
    let packet = try await withTimeLimit(limit) {
      try await central.packets().first { $0.periodicInterval != nil }.orThrow()
    }
    try await take(.synchronize) {
      try await withTimeLimit(limit) { _ = try await central.synchronize(to: packet).first { _ in true }.orThrow() }
    }
  }

  private func useDescriptor(of level: RemoteCharacteristic) async throws {
    if omitted.isSuperset(of: [.descriptors, .readDescriptor, .writeDescriptor]) { return }
    let uuid = CBUUID(string: CBUUIDCharacteristicUserDescriptionString)
    let descriptor = try await take(.descriptors) {
      try await level.discoverDescriptors().first { $0.uuid == uuid }.orThrow()
    }
    if !omitted.contains(.readDescriptor) { try await take(.readDescriptor) { _ = try await descriptor.read() } }
    if !omitted.contains(.writeDescriptor) {
      try await take(.writeDescriptor) {
        // The sensor rejects the write, because its description is constant.
        do { try await descriptor.write(Data([1])) } catch is CBATTError {}
      }
    }
  }
}

/// Starts a periodic train of the sensor's device. It lasts as long as the returned objects.
private func startTrain(in meeting: Meeting) throws -> (LocalPeripheral, AdvertisingSet) {
  let local = LocalPeripheral(adapter: meeting.sensor.device)
  var parameters = AdvertisingParameters([.name("Train")])
  parameters.kind = .broadcast
  parameters.extended = ExtendedAdvertising(advertisingSID: 2)
  parameters.periodic = PeriodicAdvertising(
    [.manufacturerData(company: 0xFFFF, [1])], interval: .milliseconds(50), includesTxPower: true)
  let train = parameters
  return try meeting.stage.perform {
    try await local.waitUntilPoweredOn()
    return (local, try await local.startAdvertisingSet(train))
  }
}

/// The objects that a script has used, to see whether they are released.
private struct Remains {
  private(set) weak var central: Central?
  private(set) weak var script: Script?
}

@Suite struct CutTests {
  @Test(
    "A script with all steps of a central comes to its end, whichever of them takes long",
    arguments: [Step.writeWithoutResponse, .writeChannel])
  private func whole(longest: Step) throws {
    let meeting = Meeting()
    let script = Script(meeting, longest: longest)
    let train = try startTrain(in: meeting)
    try meeting.stage.perform { [central = meeting.central] in try await script.play(central) }
    #expect(script.step.value == .disconnect)
    #expect(script.values.value == [Data([10]), Data([11])])
    #expect(meeting.central.pendingCount == 0)
    withExtendedLifetime(train) {}
  }

  /// Plays the script and cuts it. Returns when the script has ended.
  private func play(_ test: Case, after delay: Duration, in meeting: Meeting) throws -> Remains {
    let central = Central(adapter: meeting.phone)
    let train = try test.step == .synchronize ? startTrain(in: meeting) : nil
    defer { withExtendedLifetime(train) {} }
    let script = Script(
      meeting, longest: test.step, omitted: Step.separate.subtracting([test.step]),
      cut: test.cut == .timeLimit ? (test.step, delay) : nil)
    let task = meeting.stage.start { try await script.play(central) }
    let label = Comment(rawValue: "\(test.step), \(test.cut) after \(delay)")
    #expect(meeting.stage.run(until: { script.step.value == test.step || task.result != nil }), label)
    #expect(script.step.value == test.step, label)
    if delay > .zero { meeting.stage.run(for: delay) }
    switch test.cut {
    case .peripheralOff: meeting.sensor.device.setPower(false)
    case .silence: meeting.sensor.device.setRadio(isOn: false)
    case .phoneOff: meeting.phone.setPower(false)
    case .controllerReset: meeting.phone.add([.device(.resetController, when: .at(meeting.world.now))])
    case .taskCancelled: task.cancel()
    case .timeLimit: break
    case .centralClosed: central.close()
    }
    // The longest wait is for a response: 30 s.
    let begin = meeting.world.now
    #expect(meeting.stage.run(until: { task.result != nil }, limit: .seconds(60)), label)
    if [.phoneOff, .controllerReset, .taskCancelled, .centralClosed].contains(test.cut) {
      #expect(meeting.world.now - begin < .seconds(1), label)
    }
    #expect(!central.isScanning, label)
    // The answer to a cancelled request may come later.
    #expect(meeting.stage.run(until: { central.pendingCount == 0 }, limit: .seconds(40)), label)
    return Remains(central: central, script: script)
  }

  @Test(
    "Whatever cuts whatever step, each call ends, nothing is left, and the device can be used again",
    arguments: {
      Step.allCases.flatMap { step in Cut.allCases.map { Case(step, $0) } }
    }())
  private func cuts(test: Case) throws {
    for delay: Duration in [.zero, .milliseconds(7), .milliseconds(60)] {
      let meeting = Meeting(seed: UInt64(1 + test.step.rawValue))
      meeting.stage.run(for: .seconds(1))
      let remains = try play(test, after: delay, in: meeting)
      let label = Comment(rawValue: "\(test.step), \(test.cut) after \(delay)")
      #expect(remains.central == nil && remains.script == nil, label)
      meeting.sensor.device.setRadio(isOn: true)
      meeting.sensor.device.setPower(true)
      meeting.phone.setPower(true)
      // Longer than the supervision timeout, so that a link without its peripheral has ended.
      meeting.stage.run(for: .seconds(3))
      // The train has ended with the power.
      let script = Script(meeting, omitted: Step.separate.subtracting([test.step]).union([.synchronize]))
      let again = meeting.stage.start { [central = meeting.central] in try await script.play(central) }
      #expect(outcome { try meeting.stage.value(of: again) } == .success, label)
      #expect(meeting.central.pendingCount == 0, label)
    }
  }
}
