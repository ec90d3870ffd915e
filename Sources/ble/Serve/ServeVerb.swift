import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras

/// The verb that plays a device that a file describes.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays a device that a file describes: its advertising, its services and its values.",
    discussion: """
      The file is a world file with a device of the kind peripheral, broadcaster or ibeacon. Each read, write and \
      subscription is a line of the output. Commands in the file run with your rights: serve only files that you trust.
      """)

  @Argument(help: "The file, YAML or JSON; -: the standard input.")
  var file: String
  @Option(help: ArgumentHelp("The device, if the file describes several.", valueName: "name"))
  var device: String?
  @OptionGroup var duration: DurationOption
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try duration.requireEnd(adapter)
  }

  func run() throws {
    let (name, description) = try chosen(from: try ServedFile.read(file))
    let lines = description.services.flatMap(\.characteristics).compactMap(\.program).filter { $0.kind == .lines }
    if adapter.virtualTime, !lines.isEmpty {
      throw Failure("a program whose lines are values does not run with --virtual-time", status: ExitStatus.usage)
    }
    guard lines.filter({ $0.command == "-" }).count + (file == "-" ? 1 : 0) <= 1 else {
      throw Failure(
        "the standard input can be the file, or give the lines of one characteristic", status: ExitStatus.usage)
    }
    for note in PublishedForm.notes(about: description) { complain("note: \(note)") }
    try Self.play(description, named: name, duration, adapter, output)
  }

  /// Plays a device until the end of the time, or until interrupted.
  ///
  /// - Parameters:
  ///   - timeline: the advertising data in place of those of the description; empty: those of the description.
  ///   - answers: the answers to successive reads.
  static func play(
    _ description: PeripheralDescription, named name: String, _ duration: DurationOption, _ adapter: AdapterOptions,
    _ output: OutputOptions, timeline: [RecordedAdvertising.Frame] = [], answers: [CapturedServer.Answers] = []
  ) throws {
    try Stage(adapter).run(isEndless: duration.seconds == nil) { stage in
      let peripheral = LocalPeripheral(adapter: stage.adapter)
      defer { peripheral.close() }
      try await stage.waitForPower(of: peripheral.waitUntilPoweredOn(within:)) { peripheral.state }
      if stage.isAlone {
        complain("note: the adapter \"virtual\" is alone in its world; name another one with --adapter or --world")
      }
      let player = PeripheralPlayer(
        description, named: name, by: peripheral, stage, isJSON: output.json, timeline: timeline, answers: answers)
      do {
        try await duration.run(on: stage) { try await player.play() }
      } catch { throw Failure.of(error, "serving \"\(name)\"") }
    }
  }

  /// Returns the device to play, and its name.
  private func chosen(from file: WorldFile) throws -> (name: String, description: PeripheralDescription) {
    let known = file.members.compactMap { member in member.description.map { (member, $0) } }
    if let device {
      guard let member = file.members.first(where: { $0.name == device }) else {
        throw Failure(
          "\(self.file) has no device \"\(device)\""
            + SpellingSuggestion.suggestion(for: device, among: file.members.map(\.name)), status: ExitStatus.notFound)
      }
      guard let description = member.description else {
        throw Failure(
          "\"\(device)\" is an accessory of the lab: expected the kind peripheral, broadcaster or ibeacon",
          status: ExitStatus.ambiguous)
      }
      return (ServedFile.title(of: member), description)
    }
    guard let first = known.first else {
      throw Failure(
        "\(self.file) has no device of the kind peripheral, broadcaster or ibeacon", status: ExitStatus.ambiguous)
    }
    guard known.count == 1 else {
      throw Failure(
        "\(self.file) describes \(known.count) devices; choose one with --device: "
          + known.map { "\"\($0.0.name)\"" }.joined(separator: ", "), status: ExitStatus.ambiguous)
    }
    return (ServedFile.title(of: first.0), first.1)
  }
}

/// Files with devices to play.
enum ServedFile {
  /// Reads a world file.
  ///
  /// - Throws: `Failure` with all problems of the file.
  static func read(_ path: String) throws -> WorldFile {
    do throws(WorldFileFailure) { return try WorldFile(path: path) } catch {
      throw Failure(error.description, status: ExitStatus.ambiguous)
    }
  }

  /// Returns the name of a device in messages.
  static func title(of member: WorldFile.Member) -> String { member.options.gapName ?? member.name }
}
