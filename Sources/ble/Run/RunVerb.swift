import ArgumentParser
import BluetoothAir
import BluetoothTransport
import Foundation

/// The verb that runs several steps on one link.
struct RunVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs the steps of a file on one link: connect, read, write, expect and others.",
    discussion: """
      Each line of the file is a step, and # begins a comment. All lines are checked before the first step runs, and \
      the first step that fails ends the run: an expectation that is not met gives the exit status 4. The standard \
      input (-) is a prompt at a terminal, where a step that fails does not end the run. The steps:

      \(RunStep.helpLines.map { "  " + $0 }.joined(separator: "\n"))
      """
  )
  .examples("ble run check.ble --world gym", "ble run - --set device=strap --json")

  @Argument(
    help: ArgumentHelp("The file with the steps; -: the standard input.", valueName: "file"), completion: .file())
  var file: String
  @Option(
    help: ArgumentHelp("Sets a variable, for which $NAME stands in the file. May be repeated.", valueName: "name=value")
  )
  var set: [String] = []
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  /// The largest length of a file, in octets.
  private static let maximum = 1 << 20

  func run() throws {
    let variables = try Dictionary(set.map { try Self.variable($0) }) { $1 }
    let names = Set(variables.keys)
    let source = try source(names)
    try Stage(adapter).run(isEndless: source.isPrompt) { stage in
      try await RunSession(source, variables: variables, stage, output).run()
    }
  }

  /// Returns the steps. In virtual time the world does not wait for a person, so the standard input is read as a whole.
  private func source(_ variables: Set<String>) throws -> any RunSource {
    if file == "-", !adapter.virtualTime { return RunPrompt(variables: variables) }
    let text = String(decoding: try InputFile.content(of: file, limit: Self.maximum), as: UTF8.self)
    return try RunText(text, named: file, variables: variables)
  }

  /// Reads a value of `--set`.
  private static func variable(_ text: String) throws -> (String, String) {
    guard let sign = text.firstIndex(of: "=") else {
      throw Failure("invalid --set \"\(text)\": expected NAME=VALUE, such as device=strap", status: ExitStatus.usage)
    }
    let name = try RunStep.variable(RunWord(source: String(text[..<sign]), isQuoted: false))
    return (name, String(text[text.index(after: sign)...]))
  }
}
