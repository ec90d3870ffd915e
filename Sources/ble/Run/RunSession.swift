import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// A run of the steps of `ble run`, on one link at a time.
final class RunSession: Sendable {
  /// A subscription, and the values that no step `expect` has looked at.
  private struct Subscription: Sendable {
    let characteristic: RemoteCharacteristic
    let format: PresentationFormat?
    let values: ValueQueue
    let task: Task<Void, Never>
  }

  private struct State {
    var variables: [String: String] = [:]
    var subscriptions: [Subscription] = []
  }

  private let stage: Stage
  private let source: RunSource
  private let output: OutputOptions
  private let start: Duration
  private let state: NIOLockedValueBox<State>

  /// - Parameter variables: the variables of the command line.
  init(_ source: RunSource, variables: [String: String], _ stage: Stage, _ output: OutputOptions) {
    (self.source, self.stage, self.output) = (source, stage, output)
    start = stage.now
    state = NIOLockedValueBox(State(variables: variables))
  }

  private var variables: [String: String] { state.withLockedValue { $0.variables } }

  /// Runs all steps. At a prompt, a failed step does not end the run.
  func run() async throws {
    let central = try await stage.makeCentral()
    while let step = try await nextStep() {
      try await attempt(step) {
        guard case .connect(let words) = step.action else { return try await perform(step, nil) }
        let choice = try DeviceChoice.parse(words.map { $0.text(variables) })
        let found = try await choice.find(by: central, on: stage)
        try await stage.withLink(to: found) { peripheral in
          if !output.json { try say("connected to \(peripheral.name ?? found.title)") }
          defer { endSubscriptions() }
          try await runLinked(peripheral)
        }
      }
    }
  }

  /// Runs the steps on a link until it ends.
  private func runLinked(_ peripheral: Peripheral) async throws {
    while let step = try await nextStep() {
      if case .disconnect = step.action { return }
      try await attempt(step) {
        if case .connect = step.action {
          throw Failure("there is a link already; disconnect before", status: ExitStatus.usage)
        }
        do { try await perform(step, peripheral) } catch {
          throw Failure.of(error, peripheral.name ?? "the device", peripheral)
        }
        guard peripheral.link != nil else {
          throw Failure("the link was lost", status: ExitStatus.linkLost)
        }
      }
      // A prompt goes on without the link.
      if peripheral.link == nil { return }
    }
  }

  private func nextStep() async throws -> RunStep? {
    while true {
      do { return try await source.next() } catch let failure as Failure where source.isPrompt {
        complain(lines: failure.lines)
      }
    }
  }

  /// Runs a step, and names its place in its failure. At a prompt the failure is printed, and the run goes on.
  private func attempt(_ step: RunStep, _ body: () async throws -> Void) async throws {
    do { try await body() } catch let failure as Failure {
      // The steps within a link have named their place.
      let placed = failure.lines.first?.hasPrefix(source.name + ":") == true ? failure : failure.at(step.place)
      guard source.isPrompt else { throw placed }
      complain(lines: failure.lines)
    }
  }

  private func endSubscriptions() {
    let ended = state.withLockedValue { state in
      defer { state.subscriptions = [] }
      return state.subscriptions
    }
    for subscription in ended { subscription.task.cancel() }
  }

  // MARK: Steps

  private func perform(_ step: RunStep, _ peripheral: Peripheral?) async throws {
    func linked() throws -> Peripheral {
      guard let peripheral else {
        throw Failure("there is no link; connect before, with: connect DEVICE", status: ExitStatus.usage)
      }
      return peripheral
    }
    switch step.action {
    case .connect: break
    case .disconnect: _ = try linked()
    case .read(let words, let variable):
      for word in words {
        let path = try AttributePath(word.text(variables))
        let reading = try await path.read(on: linked(), stage)
        try put(reading.output(output, isOneOf: 2) + "\n")
        if let variable { state.withLockedValue { $0.variables[variable] = reading.text.plain } }
      }
    case .write(let values, let isWithoutResponse):
      for (attribute, value) in values {
        let octets = try value.octets(variables)
        let found = try await AttributePath(attribute.text(variables)).find(on: linked(), stage)
        let record = try await found.write(octets, isWithoutResponse: isWithoutResponse, stage)
        try output.emit(record)
      }
    case .subscribe(let words): for word in words { try await subscribe(to: word, on: linked()) }
    case .unsubscribe(let words): for word in words { try await unsubscribe(from: word, on: linked()) }
    case .expect(let expectation):
      try await expect(expectation, step, expectation.isOfVariable ? nil : linked())
    case .wait(let word): try await stage.sleep(TimeArgument(checked: word.text(variables)).seconds)
    case .set(let name, let words):
      let text = words.map { $0.text(variables) }.joined(separator: " ")
      state.withLockedValue { $0.variables[name] = text }
    case .print(let words):
      let text = words.map { $0.text(variables) }.joined(separator: " ")
      guard output.json else { return try say(text) }
      var record = JSONRecord("message")
      record.add(time: stage.now - start, on: stage)
      record.add("text", text)
      try put(record.line + "\n")
    case .help: try say(lines: RunStep.helpLines)
    }
  }

  // MARK: Subscriptions

  private func subscribe(to word: RunWord, on peripheral: Peripheral) async throws {
    let characteristic = try await AttributePath(word.text(variables)).notifying(on: peripheral, stage)
    guard subscription(to: characteristic) == nil else { return }
    let format = try await characteristic.presentationFormat(stage)
    let incoming = try await withTimeLimit(stage.stepLimit) {
      try await RemoteCharacteristic.subscribe(to: [characteristic]) { $1 }
    }
    let values = ValueQueue()
    let task = Task(executorPreference: stage.taskExecutor) { [weak self] in
      do {
        for try await octets in incoming {
          try self?.show(octets, of: characteristic, format)
          values.add(octets)
        }
        values.finish(nil)
      } catch { values.finish(error) }
    }
    let subscription = Subscription(characteristic: characteristic, format: format, values: values, task: task)
    state.withLockedValue { $0.subscriptions.append(subscription) }
  }

  private func subscription(to characteristic: RemoteCharacteristic) -> Subscription? {
    state.withLockedValue { $0.subscriptions.first { $0.characteristic.uuid == characteristic.uuid } }
  }

  private func unsubscribe(from word: RunWord, on peripheral: Peripheral) async throws {
    let characteristic = try await AttributePath(word.text(variables)).characteristic(on: peripheral, stage)
    guard let subscription = subscription(to: characteristic) else {
      throw Failure(
        "there is no subscription to \(KnownNames.title(of: characteristic.uuid))", status: ExitStatus.usage)
    }
    state.withLockedValue { $0.subscriptions.removeAll { $0.characteristic.uuid == characteristic.uuid } }
    subscription.task.cancel()
    await subscription.task.value
  }

  private func show(_ octets: Data, of characteristic: RemoteCharacteristic, _ format: PresentationFormat?) throws {
    let text = ValueText(octets, of: characteristic.uuid, format: format)
    let time = stage.now - start
    guard output.json else {
      return try say("\(time.seconds.fixed(3))  \(KnownNames.title(of: characteristic.uuid))  \(text.line)")
    }
    var record = JSONRecord("notification")
    record.add(time: time, on: stage)
    record.add("device", characteristic.service.peripheral.id.uuidString)
    record.add(characteristic)
    text.add(to: &record)
    try put(record.line + "\n")
  }

  // MARK: Expectations

  private func expect(_ expectation: RunExpectation, _ step: RunStep, _ peripheral: Peripheral?) async throws {
    let variables = variables
    guard let peripheral else {
      let text = expectation.target.text(variables)
      return try report(step, try expectation.isMet(variables), "\(expectation.text(variables)), got \(text)")
    }
    let path = try AttributePath(expectation.target.text(variables))
    let title: String
    if let characteristic = try? await path.characteristic(on: peripheral, stage),
      let subscription = subscription(to: characteristic)
    {
      title = KnownNames.title(of: characteristic.uuid)
      return try await expect(expectation, step, of: subscription, title)
    }
    let reading = try await path.read(on: peripheral, stage)
    title = KnownNames.title(of: reading.uuid)
    let isMet = try expectation.isMet(by: reading.text, variables)
    try report(step, isMet, "\(title) \(expectation.text(variables)), got \(reading.text.line)")
  }

  /// Waits for a value of a subscription that meets an expectation.
  private func expect(
    _ expectation: RunExpectation, _ step: RunStep, of subscription: Subscription, _ title: String
  ) async throws {
    let variables = variables
    let seconds = expectation.limit ?? stage.timeout
    let last = NIOLockedValueBox<String?>(nil)
    do {
      try await withTimeLimit(stage.limit(seconds)) {
        while let octets = try await subscription.values.next() {
          let text = ValueText(octets, of: subscription.characteristic.uuid, format: subscription.format)
          last.withLockedValue { $0 = text.line }
          if try expectation.isMet(by: text, variables) { return }
        }
        throw Failure("the subscription to \(title) has ended", status: ExitStatus.linkLost)
      }
    } catch is TimeLimitExceeded {
      let got = last.withLockedValue { $0 }.map { "the last one is \($0)" } ?? "none has arrived"
      let text = "\(title) \(expectation.text(variables)) within \(seconds.short) s; \(got)"
      return try report(step, false, text, status: ExitStatus.timeLimit)
    }
    try report(step, true, "")
  }

  /// Reports the result of a step `expect`.
  ///
  /// - Throws: `Failure` if the expectation is not met.
  private func report(
    _ step: RunStep, _ isMet: Bool, _ text: String, status: Int32 = ExitStatus.breaches
  ) throws {
    if output.json {
      var record = JSONRecord("expectation")
      record.add(time: stage.now - start, on: stage)
      record.add("step", step.text)
      record.add("worked", .flag(isMet))
      record.add("failure", isMet ? nil : "expected \(text)")
      try put(record.line + "\n")
    } else if isMet {
      try say("ok  \(step.text)")
    }
    guard isMet else { throw Failure("expected \(text)", status: status) }
  }
}

/// The values of a subscription that no step has looked at, in their order.
private final class ValueQueue: Sendable {
  private struct State {
    var values: [Data] = []
    var isOver = false
    var error: (any Error)?
    /// Wakes the step that waits for a value.
    var waiter: AsyncStream<Void>.Continuation?
  }

  private let state = NIOLockedValueBox(State())

  func add(_ value: Data) { change { $0.values.append(value) } }

  /// Ends the queue. Values that are in it stay.
  func finish(_ error: (any Error)?) { change { ($0.isOver, $0.error) = (true, error) } }

  private func change(_ body: (inout State) -> Void) {
    let waiter = state.withLockedValue { state in
      body(&state)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.finish()
  }

  /// Takes the next value, or waits for it; nil: the subscription has ended.
  ///
  /// - Throws: the error that has ended the subscription, or `CancellationError`.
  func next() async throws -> Data? {
    while true {
      let (wake, waiter) = AsyncStream.makeStream(of: Void.self)
      let (value, isOver, error) = state.withLockedValue { state -> (Data?, Bool, (any Error)?) in
        guard state.values.isEmpty else { return (state.values.removeFirst(), false, nil) }
        if !state.isOver { state.waiter = waiter }
        return (nil, state.isOver, state.error)
      }
      if let value { return value }
      if let error { throw error }
      if isOver { return nil }
      for await _ in wake {}
      try Task.checkCancellation()
    }
  }
}

extension ValueText {
  /// The value for a variable: the digits of a number without its unit, the text or the words, or the octets.
  fileprivate var plain: String {
    if fields.count == 1, let number = fields[0].number { return number }
    return text ?? decoded ?? hexadecimal
  }
}
