import ArgumentParser
import BluetoothDissection
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
  @OptionGroup var duration: DurationOption
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    if count == nil { try duration.requireEnd(adapter, or: "--count") }
  }

  func run() throws {
    let path = try AttributePath(characteristic)
    try Stage(adapter).run(isEndless: duration.seconds == nil && count == nil) { stage in
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
    let isComplete = try await duration.run(on: stage) {
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
    let number = received.withLockedValue { $0 }
    guard !isComplete, let seconds = duration.seconds, let count, number < count else { return }
    throw Failure(
      "\(number == 1 ? "1 value" : "\(number) values") of \(count) within \(seconds.short) s",
      status: ExitStatus.timeLimit)
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
