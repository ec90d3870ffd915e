import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// The steps of a peripheral's app, each of which can be cut.
private enum Step: Int, CaseIterable {
  case power, add, publish, advertise, subscriber, read, write, update, openChannel, readChannel, writeChannel, remove
  case startSet, updateSet, requestParameters
}

/// The event that cuts a step.
private enum Cut: CaseIterable {
  case phoneOff
  /// The phone can't transmit or receive any more.
  case silence
  case deviceOff
  case controllerReset
  case taskCancelled
  case timeLimit
  case peripheralClosed
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

/// The app of a peripheral, which goes through all steps.
private final class PeripheralScript: Sendable {
  let clock: WorldClock
  let cut: (step: Step, limit: Duration)?
  let step = Box<Step?>(nil)
  /// The PSM, which the phone uses when it is there.
  let psm = Box<CBL2CAPPSM?>(nil)
  /// The number of updates, and of octets written to the channel.
  let updates: UInt8
  let octets: Int
  /// True to request connection parameters, which takes seconds.
  let requestsParameters: Bool

  /// Creates a script.
  ///
  /// - Parameter longest: the step that takes long; others move little data.
  init(_ world: World, longest: Step, cut: (step: Step, limit: Duration)? = nil) {
    (clock, self.cut) = (world.clock, cut)
    updates = longest == .update ? 60 : 2
    octets = longest == .writeChannel ? 20_000 : 500
    requestsParameters = longest == .requestParameters
  }

  /// Does one step, with a time limit if it is the one that a time limit cuts.
  @discardableResult
  private func take<Value: Sendable>(
    _ step: Step, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    self.step.value = step
    // Without a central, some steps would last for ever.
    let limit = cut.flatMap { $0.step == step ? $0.limit : nil } ?? .seconds(10)
    return try await withTimeLimit(TimeLimit(limit, on: clock), body)
  }

  func play(_ local: LocalPeripheral) async throws {
    try await take(.power) { try await local.waitUntilPoweredOn() }
    let characteristic = LocalCharacteristic(LocalMeeting.value, [.read, .write, .notify])
    let service = LocalService(LocalMeeting.service, [characteristic])
    try await take(.add) { try await local.add(service) }
    let listener = try await take(.publish) { try await local.publishL2CAPChannel() }
    psm.value = listener.psm
    let set = try await take(.startSet) { try await local.startAdvertisingSet(Self.parameters(of: "One")) }
    try await take(.updateSet) { try await set.update(Self.parameters(of: "Two")) }
    self.step.value = .advertise
    let limit = cut.flatMap { $0.step == .advertise ? $0.limit : nil } ?? .seconds(60)
    try await withTimeLimit(TimeLimit(limit, on: clock)) { [self] in
      try await local.withAdvertising(services: [LocalMeeting.service]) {
        try await serve(local, characteristic, listener)
      }
    }
    try await take(.remove) { local.remove(service) }
  }

  private static func parameters(of name: String) -> AdvertisingParameters {
    var parameters = AdvertisingParameters([.name(name)])
    parameters.kind = .broadcast
    parameters.extended = ExtendedAdvertising(advertisingSID: 1)
    return parameters
  }

  private func serve(
    _ local: LocalPeripheral, _ characteristic: LocalCharacteristic, _ listener: L2CAPListener
  ) async throws {
    let central = try await take(.subscriber) {
      try await characteristic.subscriptions.first { !$0.isEmpty }.orThrow().first.orThrow()
    }
    try await take(.read) {
      // The next request comes after this answer, so that its iteration begins in time.
      guard case .read(let read)? = await local.requests.first(where: { _ in true }) else { throw IsMissing() }
      read.respond(with: Data([1]))
    }
    try await take(.write) {
      guard case .write(let write)? = await local.requests.first(where: { _ in true }) else { throw IsMissing() }
      write.accept()
    }
    try await take(.update) { [updates] in
      for value in (0..<updates).reversed() { try await local.update(characteristic, to: Data([value])) }
    }
    let channel = try await take(.openChannel) { try await listener.channels.first { _ in true }.orThrow() }
    try await take(.readChannel) { _ = try await channel.read().orThrow() }
    try await take(.writeChannel) { [octets] in try await channel.write(Data(count: octets)) }
    if requestsParameters {
      try await take(.requestParameters) {
        try await local.requestConnectionParameters(of: central, interval: .milliseconds(60)...(.milliseconds(60)))
      }
    }
    // The phone stays connected until the channel closes.
    withExtendedLifetime(channel) {}
  }
}

/// The app of the phone, which uses what there is.
@Sendable private func use(_ central: Central, _ script: PeripheralScript) async throws {
  let remote = try await central.findLocal()
  let values = try await remote.subscribe()
  _ = try await remote.read()
  try await remote.write(Data([2]))
  _ = try await values.first { $0[0] == 0 }
  let channel = try await remote.service.peripheral.openL2CAPChannel(try script.psm.value.orThrow())
  try await channel.write(Data([1]))
  var count = 0
  while count < script.octets { count += try await channel.read().orThrow().count }
  // The link lasts until the device closes the channel.
  _ = try await channel.read()
}

/// The objects that a script has used, to see whether they are released.
private struct Remains {
  private(set) weak var local: LocalPeripheral?
  private(set) weak var script: PeripheralScript?
}

@Suite struct LocalPeripheralCutTests {
  @Test(
    "A script with all steps of a peripheral comes to its end, whichever of them takes long",
    arguments: [Step.update, .writeChannel, .requestParameters])
  private func whole(longest: Step) throws {
    let meeting = LocalMeeting()
    let script = PeripheralScript(meeting.world, longest: longest)
    let phone = meeting.stage.start { [central = meeting.central] in try await use(central, script) }
    try meeting.stage.perform { [local = meeting.local] in try await script.play(local) }
    #expect(script.step.value == .remove)
    phone.cancel()
    #expect(meeting.local.pendingCount == 0)
  }

  /// Plays the script and cuts it. Returns when the script has ended.
  private func play(_ test: Case, after delay: Duration, in meeting: LocalMeeting) throws -> Remains {
    let local = LocalPeripheral(adapter: meeting.device)
    let script = PeripheralScript(
      meeting.world, longest: test.step, cut: test.cut == .timeLimit ? (test.step, delay) : nil)
    let task = meeting.stage.start { try await script.play(local) }
    let phone = meeting.stage.start { [central = meeting.central] in try await use(central, script) }
    let label = Comment(rawValue: "\(test.step), \(test.cut) after \(delay)")
    #expect(meeting.stage.run(until: { script.step.value == test.step || task.result != nil }), label)
    #expect(script.step.value == test.step, label)
    if delay > .zero { meeting.stage.run(for: delay) }
    switch test.cut {
    case .phoneOff: meeting.phone.setPower(false)
    case .silence: meeting.phone.setRadio(isOn: false)
    case .deviceOff: meeting.device.setPower(false)
    case .controllerReset: meeting.device.add([.device(.resetController, when: .at(meeting.world.now))])
    case .taskCancelled: task.cancel()
    case .timeLimit: break
    case .peripheralClosed: local.close()
    }
    let begin = meeting.world.now
    #expect(meeting.stage.run(until: { task.result != nil }, limit: .seconds(60)), label)
    // Sequences of subscribers and requests, and the wait for Bluetooth, go on while Bluetooth is off.
    let isCall = ![.power, .subscriber, .read, .write].contains(script.step.value)
    let endsAtOnce: [Cut] =
      isCall ? [.deviceOff, .controllerReset, .taskCancelled, .peripheralClosed] : [.taskCancelled]
    if endsAtOnce.contains(test.cut) {
      #expect(meeting.world.now - begin < .seconds(1), label)
    }
    #expect(!local.isAdvertising, label)
    // The answer to a cancelled request for parameters may come later.
    let limit: Duration = test.step == .requestParameters ? .seconds(20) : .seconds(1)
    #expect(meeting.stage.run(until: { local.pendingCount == 0 }, limit: limit), label)
    phone.cancel()
    meeting.stage.run(until: { phone.result != nil })
    return Remains(local: local, script: script)
  }

  @Test(
    "Whatever cuts whatever step of a peripheral, each call ends, nothing is left, and the device can be used again",
    arguments: {
      Step.allCases.flatMap { step in Cut.allCases.map { Case(step, $0) } }
    }())
  private func cuts(test: Case) throws {
    for delay: Duration in [.zero, .milliseconds(7), .milliseconds(60)] {
      let meeting = LocalMeeting(seed: UInt64(1 + test.step.rawValue))
      meeting.stage.run(for: .milliseconds(500))
      let remains = try play(test, after: delay, in: meeting)
      let label = Comment(rawValue: "\(test.step), \(test.cut) after \(delay)")
      #expect(remains.local == nil && remains.script == nil, label)
      meeting.phone.setRadio(isOn: true)
      meeting.phone.setPower(true)
      meeting.device.setPower(true)
      meeting.stage.run(for: .seconds(3))
      let characteristic = LocalCharacteristic(LocalMeeting.value, [.read]) { _ in Data([4]) }
      let advertising = try meeting.publish(characteristic)
      let remote = try meeting.find()
      #expect(try meeting.stage.perform { try await remote.read() } == Data([4]), label)
      advertising.cancel()
      meeting.stage.run(until: { advertising.result != nil })
      #expect(meeting.local.pendingCount == 0, label)
    }
  }
}
