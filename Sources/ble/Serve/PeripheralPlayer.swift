import AccessoryPlayer
import BluetoothAir
import BluetoothDissection
import BluetoothLab
import BluetoothProfiles
import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// A described peripheral that an adapter plays.
final class PeripheralPlayer: Sendable {
  /// A published characteristic.
  struct Entry: Sendable {
    let service: BluetoothUUID
    /// The number of this service among those with its UUID, from 0.
    let instance: Int
    let description: PeripheralDescription.Characteristic
    let local: LocalCharacteristic
    /// The indices of the characteristics whose value is a value written to this one.
    var echoes: [Int] = []
  }

  struct State {
    /// The published services, by their indices in the description.
    var published: [Int: LocalService] = [:]
    /// The present values.
    var values: [[UInt8]]
    /// The number of values of each sequence that have been used.
    var counts: [Int]
    /// The numbers of written values that wait in `written`, by the index of the characteristic.
    var waiting: [Int: Int] = [:]
    /// The numbers of recorded answers that reads have got.
    var answered: [Int: Int] = [:]
    /// The centrals that have made a request or a subscription.
    var centrals: Set<RemoteCentral> = []
  }

  /// The maximum number of written values of a characteristic that wait to be sent. Each sends the present value, so that
  /// the latest one is sent although others are left out.
  private static let maximumWaiting = 256

  let description: PeripheralDescription
  private let name: String
  let peripheral: LocalPeripheral
  let stage: Stage
  private let isJSON: Bool
  private let timeline: [RecordedAdvertising.Frame]
  /// The recorded answers to successive reads, by the index of the characteristic.
  private let answers: [Int: [[UInt8]]]
  private let output: @Sendable (String) throws -> Void
  /// The indices of the characteristics of each service.
  let members: [Range<Int>]
  let entries: [Entry]
  let state: NIOLockedValueBox<State>
  let start: Duration
  /// The indices of characteristics with a value that waits to be sent because a central has written it.
  private let written = AsyncStream.makeStream(of: Int.self)
  /// The centrals that have just appeared.
  private let arrivals = AsyncStream.makeStream(of: RemoteCentral.self)

  /// Creates a player.
  ///
  /// - Parameters:
  ///   - name: the name of the device in messages.
  ///   - timeline: the advertising data, again and again, in place of those of the description; empty: none.
  ///   - answers: the answers to successive reads, of which the last one stays.
  ///   - output: takes the lines that tell what centrals do.
  init(
    _ description: PeripheralDescription, named name: String, by peripheral: LocalPeripheral, _ stage: Stage,
    isJSON: Bool, timeline: [RecordedAdvertising.Frame] = [], answers: [CapturedServer.Answers] = [],
    _ output: @escaping @Sendable (String) throws -> Void = { try put($0 + "\n") }
  ) {
    (self.description, self.name, self.peripheral) = (description, name, peripheral)
    (self.stage, self.isJSON, self.output, start) = (stage, isJSON, output, stage.now)
    self.timeline = timeline
    var instances: [BluetoothUUID: Int] = [:]
    var members: [Range<Int>] = []
    var entries: [Entry] = []
    for service in description.services {
      let first = entries.count
      let instance = instances[service.uuid, default: 0]
      instances[service.uuid] = instance + 1
      for characteristic in service.characteristics {
        entries.append(
          Entry(
            service: service.uuid, instance: instance, description: characteristic,
            local: PublishedForm.characteristic(characteristic)))
      }
      for index in entries.indices.dropFirst(first) {
        let names = service.echoes(of: entries[index].description.uuid)
        entries[index].echoes = entries.indices.dropFirst(first).filter { names.contains(entries[$0].description.uuid) }
      }
      members.append(first..<entries.count)
    }
    (self.members, self.entries) = (members, entries)
    self.answers = Dictionary(
      answers.flatMap { answer in
        entries.indices.filter { index in
          entries[index].service == answer.service && entries[index].instance == answer.instance
            && entries[index].description.uuid == answer.characteristic
        }.map { ($0, answer.values) }
      }, uniquingKeysWith: { first, _ in first })
    state = NIOLockedValueBox(
      State(values: entries.map { $0.description.values.first ?? [] }, counts: entries.map { _ in 1 }))
  }

  /// Publishes the services, advertises, and serves until the task is cancelled.
  ///
  /// - Throws: always: the reason of the end.
  func play() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Requests are lost before the iteration has begun.
      let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
      group.addTask { [self] in try await answerRequests { isReady.finish() } }
      for await _ in ready {}
      let age = stage.now - start
      try await updateServices(at: age)
      group.addTask { [self] in try await watchPresences(after: age) }
      group.addTask { [self] in try await stage.watchPower(of: peripheral) }
      group.addTask { [self] in
        for await index in written.stream {
          state.withLockedValue { $0.waiting[index, default: 0] -= 1 }
          try await send(index)
        }
      }
      group.addTask { [self] in await requestConnectionParameters() }
      for index in entries.indices {
        let description = entries[index].description
        if description.hasSubscriptions { group.addTask { [self] in try await reportSubscriptions(of: index) } }
        if let period = description.period {
          group.addTask { [self] in try await sendPeriodically(index, every: period) }
        }
        if let program = description.program, program.kind == .lines {
          group.addTask { [self] in try await sendLines(of: program, index) }
        }
      }
      group.addTask { [self] in try await advertise() }
      defer { group.cancelAll() }
      // The first error ends the others.
      while try await group.next() != nil {}
    }
  }

  private func requestConnectionParameters() async {
    guard let wanted = description.preferredParameters else { return }
    for await central in arrivals.stream {
      // A central may refuse.
      try? await peripheral.requestConnectionParameters(
        of: central, interval: wanted.interval...wanted.interval, latency: wanted.latency,
        supervisionTimeout: wanted.supervisionTimeout, within: stage.stepLimit)
    }
  }

  private func met(_ central: RemoteCentral) {
    if state.withLockedValue({ $0.centrals.insert(central).inserted }) { arrivals.continuation.yield(central) }
  }

  // MARK: Advertising

  private func advertise() async throws {
    let advertising = description.advertising
    var isFirst = true
    if let phase = advertising.schedule.first {
      while !timeline.isEmpty {
        for frame in timeline {
          var parameters = PublishedForm.parameters(advertising, phase)
          (parameters.data, parameters.scanResponse) = (frame.payload, frame.scanResponse)
          try await peripheral.withAdvertising(parameters) {
            if isFirst { try reportStart() }
            isFirst = false
            try await wait(frame.duration.seconds)
          }
        }
      }
    }
    for phase in advertising.schedule {
      try await peripheral.withAdvertising(PublishedForm.parameters(advertising, phase)) {
        if isFirst { try reportStart() }
        isFirst = false
        try await wait(phase.duration?.seconds)
      }
    }
    // The services stay when the schedule has ended.
    try await wait(nil)
  }

  /// Waits for this time, or without end.
  private func wait(_ seconds: Double?) async throws {
    if let seconds { return try await stage.sleep(seconds) }
    while true { try await stage.sleep(1e6) }
  }

  // MARK: Requests

  private func answerRequests(_ begun: @Sendable () -> Void) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      var requests = peripheral.requests.makeAsyncIterator()
      begun()
      while let request = await requests.next() {
        switch request {
        case .write(let write): try answer(write)
        case .read(let read):
          met(read.central)
          guard let index = entries.firstIndex(where: { $0.local === read.characteristic }) else {
            read.reject(.attributeNotFound)
            continue
          }
          guard isAuthorized(.read, index) else {
            read.reject(.insufficientAuthorization)
            try report("read", index, read.central, nil, rejection: .insufficientAuthorization)
            continue
          }
          // The parts of a long value must be those of one value.
          if read.offset > 0 {
            read.respond(with: Data(value(index)))
          } else if entries[index].description.program?.kind == .command {
            // Other centrals do not wait for the command.
            group.addTask { [self] in
              guard let value = await commandValue(index) else {
                read.reject(.unlikelyError)
                try report("read", index, read.central, nil, rejection: .unlikelyError)
                return
              }
              try answer(read, index, value)
            }
          } else {
            try answer(read, index, nextAnswer(index))
          }
        }
      }
    }
    try Task.checkCancellation()
  }

  private func answer(_ read: ReadRequest, _ index: Int, _ value: [UInt8]) throws {
    read.respond(with: Data(value))
    try report("read", index, read.central, value)
  }

  private func isAuthorized(_ access: AttributeAccess, _ index: Int) -> Bool {
    entries[index].description.refusal?.permits(access, at: stage.now - start) ?? true
  }

  private func answer(_ write: WriteRequest) throws {
    met(write.central)
    var values: [(index: Int, value: [UInt8])] = []
    for part in write.parts {
      guard let index = entries.firstIndex(where: { $0.local === part.characteristic }) else {
        write.reject(.attributeNotFound)
        return
      }
      guard isAuthorized(.write, index) else { return try reject(write, .insufficientAuthorization) }
      let place = values.firstIndex { $0.index == index }
      let before = place.map { values[$0].value } ?? (part.offset == 0 ? [] : value(index))
      guard part.offset <= before.count else { return try reject(write, .invalidOffset) }
      let value = before.prefix(part.offset) + part.octets
      guard value.count <= entries[index].description.maximumLength else {
        return try reject(write, .invalidAttributeValueLength)
      }
      if let place { values[place].value = Array(value) } else { values.append((index, Array(value))) }
    }
    state.withLockedValue { state in
      for (index, value) in values {
        for index in [index] + entries[index].echoes { state.values[index] = value }
      }
    }
    write.accept()
    for (index, value) in values {
      try report("write", index, write.central, value)
      for index in [index] + entries[index].echoes where entries[index].description.hasSubscriptions {
        enqueue(index)
      }
    }
  }

  /// Sends the value of a characteristic when the values before have been sent.
  private func enqueue(_ index: Int) {
    let hasRoom = state.withLockedValue { state in
      guard state.waiting[index, default: 0] < Self.maximumWaiting else { return false }
      state.waiting[index, default: 0] += 1
      return true
    }
    if hasRoom { written.continuation.yield(index) }
  }

  /// Rejects a write, and prints its octets with the error.
  private func reject(_ write: WriteRequest, _ error: ATTErrorCode) throws {
    write.reject(CBATTError.Code(rawValue: Int(error.rawValue)) ?? .unlikelyError)
    guard let index = entries.firstIndex(where: { $0.local === write.characteristic }) else { return }
    try report("write", index, write.central, Array(write.value), rejection: error)
  }

  // MARK: Values

  /// Returns the value for a read: the next recorded answer, or else the present value.
  private func nextAnswer(_ index: Int) -> [UInt8] {
    guard let answers = answers[index] else { return value(index) }
    return state.withLockedValue { state in
      let number = state.answered[index, default: 0]
      if number < answers.count { state.values[index] = answers[number] }
      state.answered[index] = number + 1
      return state.values[index]
    }
  }

  private func value(_ index: Int) -> [UInt8] { state.withLockedValue { $0.values[index] } }

  private func send(_ index: Int) async throws {
    do {
      try await peripheral.update(entries[index].local, to: Data(value(index)))
    } catch let error as CBError where error.code == .invalidParameters {
      // The service is not there now, so no central is subscribed.
    }
  }

  /// Runs the command of a characteristic. Returns its value, which is the value from then on; nil: it has none.
  private func commandValue(_ index: Int) async -> [UInt8]? {
    let description = entries[index].description
    guard let program = description.program else { return nil }
    let shell = ShellProgram(program.command)
    do {
      // In virtual time, the world waits for the command.
      let output =
        stage.isReal
        ? try await shell.outputOnThread(within: stage.timeout) : try shell.output(within: stage.timeout)
      let value = try ShellProgram.value(of: output, description.output)
      state.withLockedValue { $0.values[index] = value }
      return value
    } catch {
      if !Task.isCancelled { complain(index, error) }
      return nil
    }
  }

  private func complain(_ index: Int, _ error: any Error) {
    let reason = (error as? ShellProgram.NoValue)?.reason ?? "\(error)"
    ble.complain("the program of \(title(index)): \(reason)")
  }

  private func sendPeriodically(_ index: Int, every period: Duration) async throws {
    let entry = entries[index]
    while true {
      try Task.checkCancellation()
      for await subscribers in entry.local.subscriptions where !subscribers.isEmpty { break }
      while true {
        try await stage.sleep(period.seconds)
        if entry.local.subscribers.isEmpty { break }
        if entry.description.program?.kind == .command {
          guard await commandValue(index) != nil else { continue }
        } else {
          advance(index)
        }
        try await send(index)
      }
    }
  }

  /// Takes the next value of a sequence. A single value stays, even if it was written.
  private func advance(_ index: Int) {
    let values = entries[index].description.values
    guard values.count > 1 else { return }
    state.withLockedValue { state in
      state.values[index] = values[state.counts[index] % values.count]
      state.counts[index] += 1
    }
  }

  private func sendLines(of program: ValueProgram, _ index: Int) async throws {
    let entry = entries[index]
    let title = title(index)
    let lines =
      program.command == "-"
      ? ShellProgram.standardInputLines()
      : ShellProgram(program.command).lines { ble.complain("the program of \(title) \($0)") }
    for await line in lines {
      do {
        let value = try ShellProgram.value(of: line, entry.description.output)
        state.withLockedValue { $0.values[index] = value }
      } catch {
        complain(index, error)
        continue
      }
      try await send(index)
    }
  }

  // MARK: Output

  private func title(_ index: Int) -> String { KnownNames.title(of: entries[index].local.uuid) }

  private func reportSubscriptions(of index: Int) async throws {
    var before: [RemoteCentral] = []
    for await subscribers in entries[index].local.subscriptions {
      for central in subscribers where !before.contains(central) {
        met(central)
        try report("subscribe", index, central, nil)
      }
      for central in before where !subscribers.contains(central) { try report("unsubscribe", index, central, nil) }
      before = subscribers
    }
  }

  private func reportStart() throws {
    let time = stage.now - start
    guard isJSON else { return try output("\(time.seconds.fixed(3))  serving  \(name.debugDescription)") }
    var record = JSONRecord("serving")
    record.add(time: time, on: stage)
    record.add("name", name)
    record.add("services", .list(description.services.map { .text("\($0.uuid)") }))
    record.add("data", "0x" + description.advertising.payload.octets.digits)
    record.add("scanResponse", "0x" + description.advertising.scanResponse.octets.digits)
    try output(record.line)
  }

  /// Prints what a central has done.
  ///
  /// - Parameter rejection: the error with which its request was rejected; nil: it was not.
  private func report(
    _ event: String, _ index: Int, _ central: RemoteCentral, _ value: [UInt8]?, rejection: ATTErrorCode? = nil
  ) throws {
    let time = stage.now - start
    let entry = entries[index]
    let rejection = rejection.map { SpecificationNames.title(of: $0, in: entry.service) }
    let text = value.map { ValueText($0, of: entry.local.uuid, format: format(of: entry.description)) }
    guard isJSON else {
      let parts = [time.seconds.fixed(3), event, title(index), text?.line, rejection.map { "rejected: \($0)" }]
        .compactMap { $0 }
      return try output(parts.joined(separator: "  ").printable)
    }
    var record = JSONRecord("request")
    record.add(time: time, on: stage)
    record.add("event", event)
    record.add("central", central.id.uuidString)
    record.add("service", "\(entry.service)")
    record.add("characteristic", "\(entry.description.uuid)")
    record.add("name", KnownNames.name(of: entry.description.uuid))
    text?.add(to: &record)
    record.add("error", rejection)
    try output(record.line)
  }

  private func format(of description: PeripheralDescription.Characteristic) -> PresentationFormat? {
    for case .presentationFormat(let format) in description.descriptors { return format }
    return nil
  }
}
