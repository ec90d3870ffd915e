import AccessoryPlayer
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
      The file is a world file with a device of any kind. Each read, write and subscription is a line of the output. \
      Commands in the file run with your rights: serve only files that you trust.
      """
  )
  .examples("ble serve device.yaml --adapter hci:0", "ble serve gym --device strap --for 1min")

  @Argument(
    help: "The file, YAML or JSON, or an example: \(ExampleWorlds.list); -: the standard input.", completion: .file())
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
    let member = try chosen(from: try ServedFile.read(file))
    let name = ServedFile.title(of: member)
    guard let description = member.description else {
      return try Self.play(member.accessory, named: name, self)
    }
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
    try play(named: name, duration, adapter) { stage, peripheral in
      let player = PeripheralPlayer(
        description, named: name, by: peripheral, stage, isJSON: output.json, timeline: timeline, answers: answers)
      return { try await player.play() }
    }
  }

  /// Plays an accessory of the lab until the end of the time, or until interrupted.
  private static func play<A: Accessory>(_ accessory: A, named name: String, _ options: Serve) throws {
    for note in PublishedForm.notes(about: accessory) { complain("note: \(note)") }
    let isJSON = options.output.json
    try play(named: name, options.duration, options.adapter) { stage, peripheral in
      let log = ServedAccessoryLog(accessory, named: name, stage, isJSON: isJSON)
      let start = stage.now
      let played = PlayedAccessory(
        accessory, by: peripheral, elapsed: { stage.now - start }, pause: { try await stage.sleep($0.seconds) },
        observer: { try log.report($0) })
      return {
        do { try await played.run() } catch let error as CBError where error.code == .operationCancelled {
          throw Failure(
            "serving \"\(name)\": \(stage.lossReason(in: peripheral.state))", status: ExitStatus.noAdapter)
        }
      }
    }
  }

  /// Opens the adapter, and plays a device until the end of the time, or until interrupted.
  ///
  /// - Parameter make: returns the function that plays it.
  private static func play(
    named name: String, _ duration: DurationOption, _ adapter: AdapterOptions,
    _ make: @escaping @Sendable (Stage, LocalPeripheral) -> @Sendable () async throws -> Void
  ) throws {
    try Stage(adapter).run(isEndless: duration.seconds == nil) { stage in
      try await stage.withLocalPeripheral { peripheral in
        if stage.isAlone {
          complain("note: the adapter \"virtual\" is alone in its world; name another one with --adapter or --world")
        }
        let play = make(stage, peripheral)
        do { try await duration.run(on: stage, play) } catch {
          throw await stage.failure(of: error, "serving \"\(name)\"", by: peripheral)
        }
      }
    }
  }

  /// Returns the device to play: the one with the name that the user gives, the only one that the file describes
  /// completely, or the only one.
  private func chosen(from file: WorldFile) throws -> WorldFile.Member {
    if let device {
      guard let member = file.members.first(where: { $0.name == device }) else {
        throw Failure(
          "\(self.file) has no device \"\(device)\""
            + NameSuggestion.suggestion(for: device, among: file.members.map(\.name)), status: ExitStatus.notFound)
      }
      return member
    }
    let described = file.members.filter { $0.description != nil }
    let known = described.isEmpty ? file.members : described
    guard let first = known.first else {
      throw Failure("\(self.file) has no device", status: ExitStatus.ambiguous)
    }
    guard known.count == 1 else {
      throw Failure(
        "\(self.file) describes \(known.count) devices; choose one with --device: "
          + known.map { "\"\($0.name)\"" }.joined(separator: ", "), status: ExitStatus.ambiguous)
    }
    return first
  }
}

/// Files with devices to play.
enum ServedFile {
  /// Reads a world file.
  ///
  /// - Throws: `Failure` with all problems of the file.
  static func read(_ path: String) throws -> WorldFile {
    do throws(WorldFileFailure) { return try WorldFile(path: path) } catch {
      throw Failure(error, status: ExitStatus.ambiguous)
    }
  }

  /// Returns the name of a device in messages.
  static func title(of member: WorldFile.Member) -> String { member.options.gapName ?? member.name }
}
