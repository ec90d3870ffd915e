import ArgumentParser
import BluetoothAir
import BluetoothTransport
import BluetoothWire
import Foundation

/// Runs unchanged programs in the time of a simulated air.
struct LockstepVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lockstep", abstract: "Runs unchanged programs in the virtual time of an air that they join over HCI.",
    usage: "ble lockstep [OPTIONS] -- PROGRAM [ARGUMENTS] [--and PROGRAM [ARGUMENTS]] …",
    discussion: """
      The programs see one clock, which moves only while all of them wait: an hour of their life takes seconds, and \
      the same seed gives the same run. They join the air at tcp:127.0.0.1:6402. Documentation/Lockstep.md lists what \
      follows the time.
      """
  )
  .examples(
    "ble lockstep --world gym --capture scan.pcapng -- python3 scan.py tcp-client:127.0.0.1:6402",
    "ble lockstep -- ./sensor --and ./phone")

  @Option(
    help: ArgumentHelp(
      "A world: a file (YAML or JSON) or an example: \(ExampleWorlds.list).", valueName: "file"), completion: .file())
  var world: String?

  @Option(
    help: ArgumentHelp(
      "The seed for all randomness (default: the seed in the world file, or 0).", valueName: "number"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "The address at which hosts join: tcp:127.0.0.1:PORT, a port that only the programs see, or unix:PATH. May be "
        + "repeated (default: tcp:127.0.0.1:6402).", valueName: "specifier"))
  var hci: [String] = []

  @Option(
    help: ArgumentHelp("Captures the air and the HCI of every device in this pcapng file.", valueName: "file"),
    completion: .file())
  var capture: String?

  @Flag(help: "Captures packets of encrypted links in plain text.")
  var captureDecrypted = false

  @Flag(help: "Writes the session keys of encrypted links to a file next to the capture.")
  var captureKeys = false

  @Option(help: ArgumentHelp("The program whose end ends the run: all, first or last.", valueName: "program"))
  var until = LockstepOptions.End.all

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Ends the run after this virtual time in seconds, or with ms, s, min, h or d.", valueName: "time"),
    transform: TimeArgument.seconds(of:))
  var duration: Double?

  @Flag(help: "Lets the other programs go on if a program fails.")
  var keepGoing = false

  @Flag(help: "Gives the programs the system's random numbers instead of those of the seed.")
  var systemRandom = false

  @Flag(help: "Prints the virtual time, the real time and the number of grants at the end.")
  var stats = false

  @Argument(parsing: .postTerminator, help: ArgumentHelp("The programs, separated by --and.", valueName: "program"))
  var programs: [String] = []

  private var commands: [LockstepProgram] {
    get throws {
      try programs.split(separator: "--and", omittingEmptySubsequences: false).map { arguments in
        guard let program = LockstepProgram(Array(arguments)) else {
          throw ValidationError("expected a program after -- and after each --and: ble lockstep -- PROGRAM")
        }
        return program
      }
    }
  }

  func validate() throws {
    _ = try commands
    _ = try specifiers
    if let duration, !(duration > 0 && duration <= 1e9) {
      throw ValidationError("--for must be more than 0, up to 1000000000 seconds")
    }
    try OutputOptions.requireName(capture, of: "--capture")
    if captureDecrypted || captureKeys, capture == nil {
      throw ValidationError("--capture-decrypted and --capture-keys require --capture FILE")
    }
  }

  private var specifiers: [TransportSpecifier] {
    get throws {
      try hci.map { text in
        do throws(SpecifierProblem) { return try TransportSpecifier(text) } catch {
          throw ValidationError("invalid --hci \"\(text)\": \(error)")
        }
      }
    }
  }

  func run() throws {
    var options = LockstepOptions(library: try Self.library())
    if let world {
      do throws(WorldFileFailure) { options.air.file = try WorldFile(path: world) } catch {
        throw Failure(error, status: Air.Status.wrongInput)
      }
      options.air.usedFiles.append(world)
    }
    options.air.seed = seed ?? options.air.file?.seed ?? 0
    options.programs = try commands
    if !hci.isEmpty { options.hosts = try specifiers }
    options.capturePath = capture.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    (options.capturesDecrypted, options.capturesKeys) = (captureDecrypted, captureKeys)
    (options.until, options.stopsOnFailure, options.answersRandomness) = (until, !keepGoing, !systemRandom)
    options.limit = duration.map { .nanoseconds(Int64(($0 * 1e9).rounded())) }
    let result: LockstepResult
    let wasInterrupted: Bool
    do {
      let lockstep = try Lockstep(options)
      let interrupt = Interrupt(cleanUp: { lockstep.cleanUp() }, { lockstep.requestEnd() })
      result = try lockstep.run { complain(lines: $0.components(separatedBy: "\n")) }
      wasInterrupted = interrupt.hasOccurred
    } catch {
      throw Failure("\(error)")
    }
    if stats { complain(Self.figures(of: result)) }
    if wasInterrupted { throw Interrupt.failure }
    if result.hasStalled { Foundation.exit(EXIT_FAILURE) }
    // The status of the first program that has failed, as shells have it.
    for (_, end) in result.ends {
      switch end {
      case .exited(0), .stopped: continue
      case .exited(let status): Foundation.exit(status)
      case .killed(let signal): Foundation.exit(128 + signal)
      }
    }
  }

  private static func figures(of result: LockstepResult) -> String {
    let time = Double(result.time.nanoseconds) / 1e9
    let elapsed = result.elapsed / .seconds(1)
    return String(
      format: "%.6f s of virtual time in %.3f s (%.0f times real time), %llu grants, %llu turns", time, elapsed,
      time / max(elapsed, 0.001), result.grants, result.turns)
  }

  /// The path of the library that the programs load: beside this program, or in the folder `lib` beside its folder.
  private static func library() throws -> String {
    let name = "libble-lockstep.so"
    guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
      throw Failure("can't find the folder of this program")
    }
    let folder = URL(fileURLWithPath: program).deletingLastPathComponent()
    for path in [name, "../lib/\(name)", "../lib/ble/\(name)"] {
      let path = folder.appendingPathComponent(path).standardizedFileURL.path
      if FileManager.default.isReadableFile(atPath: path) { return path }
    }
    throw Failure(
      "\(name) is neither beside \(program) nor in ../lib; build it with: swift build --product ble-lockstep")
  }
}

extension LockstepOptions.End: ExpressibleByArgument {}
