import ArgumentParser
import BluetoothDissection
import BluetoothProfiles
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// The verb that prints the notifications of characteristics, and writes values on the same link.
struct Subscribe: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the notifications or indications of a characteristic as they arrive.",
    discussion: """
      Each value is a line: the seconds since the subscription, the characteristic if there are several, the octets, \
      the text if they are readable, and the decoded value with its units. Values are written when all subscriptions \
      are made, so that the answers of a control point arrive.
      """
  )
  .examples("ble subscribe strap 2A37 --count 3", "ble subscribe strap 2A37 --write 2A39=0x01 --for 1min")

  @OptionGroup var device: DeviceChoice
  @Argument(help: ArgumentHelp(AttributePath.help + " Several: all on one link.", valueName: "characteristic"))
  var characteristics: [String]
  @Option(
    help: ArgumentHelp(
      "Writes a value, as ble write does, when all subscriptions are made; several times: in this order.",
      valueName: "characteristic=value"))
  var write: [String] = []
  @Option(parsing: .unconditional, help: "Ends after this number of values.")
  var count: Int?
  @OptionGroup var duration: DurationOption
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    if count == nil { try duration.requireEnd(adapter, or: "--count") }
  }

  func run() throws {
    let paths = try characteristics.map { try AttributePath($0) }
    let writes = try write.map { try PlannedWrite($0) }
    try Stage(adapter).run(isEndless: duration.seconds == nil && count == nil) { stage in
      try await stage.withDevice(device) { peripheral in
        var sources: [Source] = []
        for path in paths { sources.append(try await source(path, on: peripheral, stage)) }
        // A value that can't be written is found before the subscriptions.
        var targets: [(attribute: AttributePath.Attribute, octets: Data)] = []
        for planned in writes {
          targets.append((try await planned.path.find(on: peripheral, stage), planned.octets))
        }
        try await listen(to: sources, writing: targets, stage)
      }
    }
  }

  /// A characteristic with notifications or indications.
  private struct Source: Sendable {
    let characteristic: RemoteCharacteristic
    let format: PresentationFormat?
  }

  /// Finds a characteristic.
  ///
  /// - Throws: `Failure` if it has no notifications and no indications.
  private func source(_ path: AttributePath, on peripheral: Peripheral, _ stage: Stage) async throws -> Source {
    let characteristic = try await path.notifying(on: peripheral, stage)
    return Source(characteristic: characteristic, format: try await characteristic.presentationFormat(stage))
  }

  /// Subscribes to all characteristics, writes the values, and prints what arrives.
  private func listen(
    to sources: [Source], writing targets: [(attribute: AttributePath.Attribute, octets: Data)], _ stage: Stage
  ) async throws {
    let values = try await withTimeLimit(stage.stepLimit) {
      try await RemoteCharacteristic.subscribe(to: sources.map(\.characteristic)) { (index: $0, octets: $1) }
    }
    let start = stage.now
    let received = NIOLockedValueBox(0)
    let isComplete = try await duration.run(on: stage) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await send(targets, stage) }
        group.addTask {
          for try await (index, octets) in values {
            try put(line(octets, sources[index], isOneOf: sources.count, stage.now - start, stage) + "\n")
            let number = received.withLockedValue { received in
              received += 1
              return received
            }
            if number == count { return }
          }
          // A cancelled stream ends without an error.
          try Task.checkCancellation()
        }
        // The first error ends the other task.
        while try await group.next() != nil {}
      }
    }
    let number = received.withLockedValue { $0 }
    guard !isComplete, let seconds = duration.seconds, let count, number < count else { return }
    throw Failure(
      "\(number == 1 ? "1 value" : "\(number) values") of \(count) within \(seconds.short) s",
      status: ExitStatus.timeLimit)
  }

  /// Writes the values, one after the other.
  private func send(_ targets: [(attribute: AttributePath.Attribute, octets: Data)], _ stage: Stage) async throws {
    for (attribute, octets) in targets {
      let record: JSONRecord
      do { record = try await attribute.write(octets, stage) } catch let error as CBATTError {
        throw Failure.of(error, "writing \(KnownNames.title(of: attribute.uuid))")
      }
      try output.emit(record)
    }
  }

  private func line(
    _ octets: Data, _ source: Source, isOneOf count: Int, _ time: Duration, _ stage: Stage
  ) -> String {
    let characteristic = source.characteristic
    let text = ValueText(octets, of: characteristic.uuid, format: source.format)
    guard output.json else {
      let title = count > 1 ? KnownNames.title(of: characteristic.uuid) + "  " : ""
      return "\(time.seconds.fixed(3))  \(title)\(text.line)".printable
    }
    var record = JSONRecord("notification")
    record.add(time: time, on: stage)
    record.add("device", characteristic.service.peripheral.id.uuidString)
    record.add(characteristic)
    text.add(to: &record)
    return record.line
  }
}

extension AttributePath {
  /// Finds a characteristic with notifications or indications.
  ///
  /// - Throws: `Failure` if it has none.
  func notifying(on peripheral: Peripheral, _ stage: Stage) async throws -> RemoteCharacteristic {
    let characteristic = try await characteristic(on: peripheral, stage)
    guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
      throw Failure(
        "\(KnownNames.title(of: characteristic.uuid)) has no notifications and no indications",
        status: ExitStatus.refused)
    }
    return characteristic
  }
}

/// A value of `ble subscribe --write`: `2A39=0x01`, `"record access control point=0x0101"`.
struct PlannedWrite: Sendable {
  let path: AttributePath
  let octets: Data

  /// - Throws: `Failure` if the text has no `=`, or one of its parts is invalid.
  init(_ text: String) throws {
    guard let sign = text.firstIndex(of: "=") else {
      throw Failure(
        "invalid --write \"\(text)\": expected CHARACTERISTIC=VALUE, such as 2A39=0x01", status: ExitStatus.usage)
    }
    path = try AttributePath(String(text[..<sign]))
    octets = try WrittenValue(String(text[text.index(after: sign)...])).octets
  }
}
