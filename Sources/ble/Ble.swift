// Overview
//
// `ble` is the command line of this package: it looks at devices, uses them, plays them, simulates worlds, reads
// captures, and controls airs and servers.
//
// The idea: a verb is a thin client of a product. What a verb does is in the libraries; the verb reads arguments,
// chooses the adapter and prints. A `Stage` is the adapter of a verb and the time in which it runs, so that a verb
// works in the same way on a controller in real time and on a device of a world file in virtual time.
//
// Callers: people and scripts. Results go to the standard output, as text or with `--json` in a form for programs, and
// complaints to the standard error output.
//
// Invariants:
// - No protocol rules here. A rule that a verb needs belongs in a library, where a test in virtual time can reach it.
// - A failure is one `Failure` with its lines and its status, and names what the user can do.
// - Text from the air is printed without control sequences.
// - Writing to a closed pipe, or beyond the limit of a file's size, fails with an error; no signal ends the program
//   then.
//
// Where to begin: `Stage.swift`, then one verb: `Scan.swift` or `ReadVerb.swift`. `Output.swift` and `TextTable.swift`
// print; `ValueSyntax.swift` and `AttributePath.swift` read what users type; `DeviceTrial.swift` has `ble try`; the
// folders `Capture` and `Serve` have the two largest groups of verbs.
//
// Specification: none. Documentation/Ble.md and Ble-reference.md are for users.

import ArgumentParser
import BluetoothAdapters
import BluetoothTransport
import BluetoothWire
import Foundation
import Logging

#if !AllAdapters
  #error("ble needs the trait AllAdapters of this package")
#endif

/// The command line of this package.
@main
struct Ble: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ble", abstract: "Bluetooth Low Energy from the command line.", version: PackageVersion.text,
    groupedSubcommands: [
      CommandGroup(
        name: "Device",
        subcommands: [
          Scan.self, Inspect.self, Try.self, RSSI.self, Read.self, Write.self, Subscribe.self, RunVerb.self, Pair.self,
          L2CAP.self, Doctor.self,
        ]),
      CommandGroup(
        name: "Capture and simulation", subcommands: [CaptureCommand.self, Monitor.self, Simulate.self]),
      CommandGroup(
        name: "Played device", subcommands: [Serve.self, BeaconVerb.self, Clone.self, Replay.self]),
      CommandGroup(name: "File transfer", subcommands: [Send.self, Receive.self]),
      CommandGroup(name: "Air and bond", subcommands: [Air.self, BlueZVerb.self, LockstepVerb.self, Bonds.self]),
      CommandGroup(
        name: "Server", subcommands: [Clients.self, Apps.self, Why.self, Settings.self, Alerts.self]),
      CommandGroup(name: "Other", subcommands: [UUIDVerb.self, Completions.self]),
    ])

  /// Runs the command, and reports a failure in one line.
  static func main() {
    // An output that is closed is an output that can't be written.
    StandardFiles.openClosed(.fails)
    // Ignore these signals, so that writing to a closed pipe, or beyond the file size limit, fails with an error
    // instead.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    LoggingSystem.bootstrap { TerminalLogHandler(label: $0) }
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      if let failure = error as? OutputFailure { failure.exit() }
      if let failure = error as? Failure {
        complain(lines: failure.lines)
        Foundation.exit(failure.status)
      }
      let status = exitCode(for: error)
      guard !status.isSuccess else { printHelp(message(for: error)) }
      var message = message(for: error)
      if message.hasSuffix(".") { message.removeLast() }
      if status == .validationFailure {
        message = UsageAdvice.message(message, about: Array(CommandLine.arguments.dropFirst()))
      }
      complain(lines: message.components(separatedBy: "\n"))
      Foundation.exit(status.rawValue)
    }
  }
}

extension Ble {
  /// Prints a requested text (help, version, shell completions), and ends the program.
  private static func printHelp(_ text: String) -> Never {
    do throws(OutputFailure) { try put(text + "\n") } catch { error.exit() }
    Foundation.exit(EXIT_SUCCESS)
  }
}
