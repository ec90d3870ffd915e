import ArgumentParser
import BluetoothAir
import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras

/// The verb that tries a device without its app.
struct Try: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tries a device without its app: runs through each of its profiles, and tells what works.",
    discussion: """
      Each step is a line: ok or failed, the step, and the values with their units. Steps read values, listen to \
      measurements, and request data from control points; they change no settings: a sensor tag gets those back \
      that it had. A fob gives a mild alert. A protected value makes the devices pair, as in any app. A device that \
      sends values only if its user does something may send none. A failed step gives the exit status 4.
      """
  )
  .examples("ble try strap --world gym", "ble try \"glucose 1\" --listen 10s --json")

  @OptionGroup var device: DeviceChoice
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long to listen to each kind of measurement (default: 3, or 2 more than a measurement interval of up to 60 "
        + "that the device tells).", valueName: "time"),
    transform: TimeArgument.seconds(of:))
  var listen: Double?
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard let listen else { return }
    guard listen > 0, listen <= 1e6 else { throw ValidationError("--listen must be more than 0, up to 1000000") }
  }

  func run() throws { try HeldLog.during { try runSteps() } }

  private func runSteps() throws {
    try Stage(adapter).run { stage in
      let central = try await stage.makeCentral()
      let found = try await device.find(by: central, on: stage)
      let failures = try await stage.withLink(to: found) { peripheral in
        let trial = DeviceTrial(of: peripheral, listening: listen, stage) { try put(line(of: $0, peripheral) + "\n") }
        if !output.json { try put(output.style.bold(found.title.printable) + "\n") }
        return try await trial.run()
      }
      guard failures > 0 else { return }
      throw Failure(
        "\(found.title): \(failures == 1 ? "1 step has" : "\(failures) steps have") failed", status: ExitStatus.breaches
      )
    }
  }

  private func line(of step: DeviceTrial.Step, _ peripheral: Peripheral) -> String {
    guard output.json else {
      if step.isFirst { return output.style.bold(KnownNames.title(of: step.service)) + "\n" + text(of: step) }
      return text(of: step)
    }
    var record = JSONRecord("trial")
    record.add("device", peripheral.id.uuidString)
    record.add("service", step.service.uuidString)
    record.add("name", KnownNames.uuid(step.service.uuidString).flatMap { KnownNames.name(of: $0) })
    record.add("step", step.title)
    record.add("worked", .flag(step.failure == nil))
    record.add("values", step.values.isEmpty ? nil : .list(step.values.map(\.json)))
    record.add("failure", step.failure)
    return record.line
  }

  private func text(of step: DeviceTrial.Step) -> String {
    let state = step.failure == nil ? "ok    " : "failed"
    let count = step.values.count > 1 && step.isMeasurement ? "\(step.values.count) values, the last one: " : ""
    let values = step.isMeasurement ? step.values.suffix(1) : step.values[...]
    let detail = step.failure ?? (count + values.map(\.description).joined(separator: ", "))
    return "  \(state)  \(step.title)\(detail.isEmpty ? "" : ": \(detail)")".printable
  }
}
