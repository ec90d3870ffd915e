import ArgumentParser
import BluetoothProfiles
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import NIOConcurrencyHelpers

/// The verb that prints the notifications of a characteristic.
struct Subscribe: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the notifications or indications of a characteristic as they arrive.",
    discussion: """
      Each value is a line: the seconds since the subscription, the octets, the text if they are readable, and the \
      decoded value with its units.
      """)

  @OptionGroup var device: DeviceChoice
  @Argument(help: ArgumentHelp(AttributePath.help))
  var characteristic: String
  @Option(parsing: .unconditional, help: "Ends after this number of values.")
  var count: Int?
  @Option(
    name: .customLong("for"), parsing: .unconditional,
    help: ArgumentHelp("Ends after this time (default: until interrupted).", valueName: "seconds"))
  var duration: Double?
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    if let duration, !(duration > 0 && duration <= 1e6) {
      throw ValidationError("--for must be more than 0, up to 1000000")
    }
    if adapter.virtualTime, duration == nil, count == nil {
      throw ValidationError("with --virtual-time, expected --count or --for")
    }
  }

  func run() throws {
    let path = try AttributePath(characteristic)
    try Stage(adapter).run(isEndless: duration == nil && count == nil) { stage in
      try await stage.withDevice(device) { peripheral in
        let characteristic = try await path.characteristic(on: peripheral, stage)
        guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
          throw Failure(
            "\(KnownNames.title(of: characteristic.uuid)) has no notifications and no indications",
            status: ExitStatus.refused)
        }
        try await listen(to: characteristic, stage)
      }
    }
  }

  private func listen(to characteristic: RemoteCharacteristic, _ stage: Stage) async throws {
    let format = try await characteristic.presentationFormat(stage)
    let values = try await characteristic.subscribe(within: stage.stepLimit)
    let start = stage.now
    let received = NIOLockedValueBox(0)
    let loop: @Sendable () async throws -> Void = {
      for try await value in values {
        let text = ValueText(value, of: characteristic.uuid, format: format)
        try put(line(text, characteristic, stage.now - start) + "\n")
        let number = received.withLockedValue { received in
          received += 1
          return received
        }
        if number == count { return }
      }
    }
    guard let duration else { return try await loop() }
    do { try await withTimeLimit(stage.limit(duration), loop) } catch is TimeLimitExceeded {
      let number = received.withLockedValue { $0 }
      guard let count, number < count else { return }
      throw Failure(
        "\(number == 1 ? "1 value" : "\(number) values") of \(count) within \(duration.short) s",
        status: ExitStatus.timeLimit)
    }
  }

  private func line(_ text: ValueText, _ characteristic: RemoteCharacteristic, _ time: Duration) -> String {
    guard output.json else { return "\(time.seconds.fixed(3))  \(text.line)".printable }
    var record = JSONRecord("notification")
    record.add("time", .decimal(time.seconds, places: 6))
    record.add("device", characteristic.service.peripheral.id.uuidString)
    record.add(characteristic)
    text.add(to: &record)
    return record.line
  }
}
