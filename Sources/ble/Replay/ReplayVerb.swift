import AccessoryPlayer
import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothTypes
import BluetoothWire
import CoreBluetoothExtras

/// The verb that plays a device of a capture.
struct Replay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays a device of a capture: its advertising, and the answers of its GATT server.",
    discussion: """
      The capture has packets on the air, or those between a host and its controller. The advertising data change at the \
      times of the capture, again and again. Attributes are those whose discovery the capture shows. Reads get the \
      answers of the capture in their order, and subscribers its notifications. Writes are stored, and have no other \
      effect.
      """
  )
  .examples("ble replay room.pcapng --device strap", "ble replay room.pcapng --device strap -o strap.yaml")

  @Argument(
    help: ArgumentHelp("The capture; - is the standard input.", valueName: "capture"), completion: .file())
  var file: String
  @Option(
    help: ArgumentHelp("The device, if the capture shows several: its address or its name.", valueName: "device"))
  var device: String?
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp(
      "Writes a file for ble serve in place of playing: JSON if its name ends with .json, else YAML; -: the standard "
        + "output.", valueName: "file"), completion: .file())
  var path: String?
  @Flag(help: "Replaces a file that exists.")
  var force = false
  @OptionGroup var duration: DurationOption
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if path == nil { try duration.requireEnd(adapter, or: "--output") }
  }

  func run() throws {
    if let path { try OutputFile.check(path, replaces: force) }
    let input = try CaptureInput(path: file)
    let found = try CapturedDevices(of: input).device(device)
    let name = found.name ?? "device"
    var advertising = found.advertising
    if !advertising.isHeard {
      let structures: [ADStructure] = [.flags(), ADStructure(.completeLocalName, Array(name.utf8.prefix(26)))]
      advertising.add(.advInd, structures.flatMap(\.octets), isConnectable: true, at: .zero)
    }
    let recording = RecordingFile(named: name, advertising, found.server.tree)
    for note in Self.notes(found, recording) { complain("note: \(note)") }
    if let path {
      let text = path.hasSuffix(".json") ? recording.json + "\n" : recording.yaml(by: "replay")
      try OutputFile.write(text, to: path)
      return try input.checkEnd()
    }
    if let cut = input.cut { complain("note: \(cut)") }
    let (title, description) = try Self.description(of: recording)
    for note in PublishedForm.notes(about: description) { complain("note: \(note)") }
    let timeline = advertising.timeline
    try Serve.play(
      description, named: title, duration, adapter, output, timeline: timeline.count > 1 ? timeline : [],
      answers: found.server.answers)
  }

  /// Returns the recording as a world file describes it.
  private static func description(
    of recording: RecordingFile
  ) throws -> (name: String, description: PeripheralDescription) {
    let file: WorldFile
    do throws(WorldFileFailure) { file = try WorldFile(text: recording.json, named: "the recording") } catch {
      throw Failure(error, status: ExitStatus.ambiguous)
    }
    guard let member = file.members.first, let description = member.description else {
      throw Failure("the capture describes no device", status: ExitStatus.ambiguous)
    }
    return (ServedFile.title(of: member), description)
  }

  /// Returns the parts of the device that are not played, a line for each kind.
  private static func notes(_ device: CapturedDevices.Device, _ recording: RecordingFile) -> [String] {
    var notes = recording.notes
    if !device.advertising.isHeard {
      notes.append("the capture has no advertising of \(device.title): it advertises with its name only")
    }
    if device.advertising.isConnectable, !device.server.hasServices {
      notes.append("the capture shows no services of \(device.title)")
    }
    if device.encryptedPackets > 0 {
      notes.append(
        "\(device.encryptedPackets) packets of its links are encrypted: ble capture decrypt makes them readable")
    }
    return notes + device.server.notes
  }
}
