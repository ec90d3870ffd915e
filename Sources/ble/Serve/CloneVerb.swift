import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// The verb that records a device, so that another one can play it.
struct Clone: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Records the advertising, the attributes and the values of a device in a file for ble serve.",
    discussion: """
      The file is a world file, so that ble air --world simulates the device as well. Reading a protected value makes \
      the devices pair, as in any app; --no-values prevents that.
      """
  )
  .examples("ble clone strap -o strap.yaml", "ble clone strap --handles --no-values -o strap.json")

  @OptionGroup var device: DeviceChoice
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file, JSON if its name ends with .json, else YAML; -: the standard output."),
    completion: .file())
  var path = "-"
  @Flag(help: "Replaces a file that exists.")
  var force = false
  @Flag(inversion: .prefixedNo, help: "Reads the values.")
  var values = true
  @Flag(help: "Records the handles of the attributes.")
  var handles = false
  @Flag(help: "Writes each value back, to learn which permissions writes need.")
  var probeWrites = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How long to observe the advertising (default: 3).", valueName: "time"),
    transform: TimeArgument.seconds(of:))
  var observe = 3.0
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard observe > 0, observe <= 1e6 else { throw ValidationError("--observe must be more than 0, up to 1000000") }
    if probeWrites, !values { throw ValidationError("--probe-writes needs the values, which --no-values leaves out") }
    if output.json, path == "-" { throw ValidationError("with --json, expected --output FILE") }
  }

  func run() throws {
    try Stage(adapter).run { stage in
      // A file that can't be written is found before the device.
      try OutputFile.check(path, replaces: force)
      let file = try OutputFile(path)
      let central = try await stage.makeCentral()
      let found = try await device.find(by: central, on: stage)
      let advertising = try await observed(found, central, stage)
      var tree = GATTTree(services: [])
      if advertising.isConnectable {
        tree = try await stage.withLink(to: found) {
          try await GATTTree(of: $0, readsValues: values, probesWrites: probeWrites, stage)
        }
      }
      let recording = RecordingFile(named: found.name ?? "device", advertising, tree, handles: handles)
      for note in recording.notes { complain("note: \(note)") }
      try write(recording, found, to: file)
    }
  }

  /// Observes the advertising of a device for the time of `--observe`.
  ///
  /// - Throws: `Failure` with exit status 2 if the device does not advertise in this time, or with exit status 69 if
  ///   the adapter is lost or turned off.
  func observed(
    _ found: DeviceChoice.Candidate, _ central: Central, _ stage: Stage
  ) async throws -> RecordedAdvertising {
    let box = NIOLockedValueBox(RecordedAdvertising())
    do {
      try await withTimeLimit(stage.limit(observe)) {
        for try await packet in central.packets() where packet.peripheral == found.peripheral {
          box.withLockedValue { $0.add(packet) }
        }
      }
    } catch is TimeLimitExceeded {
      // The recording has the packets so far.
    } catch { throw await stage.failure(of: error, "observing \(found.title)", by: central) }
    let advertising = box.withLockedValue { $0 }
    guard advertising.isHeard else { throw Failure.silence(of: found, for: observe) }
    return advertising
  }

  private func write(_ recording: RecordingFile, _ found: DeviceChoice.Candidate, to file: OutputFile) throws {
    try file.write(Array((path.hasSuffix(".json") ? recording.json + "\n" : recording.yaml).utf8))
    try file.finish()
    guard output.json else { return }
    var record = JSONRecord("clone")
    record.add("device", found.peripheral.id.uuidString)
    record.add("name", found.name)
    record.add("file", path)
    record.add("serviceCount", recording.counts.services)
    record.add("characteristicCount", recording.counts.characteristics)
    record.add("valueCount", recording.counts.values)
    try put(record.line + "\n")
  }
}
