import ArgumentParser
import BluetoothAdapters
import BluetoothTransport
import BluetoothWire
import Foundation
import Logging

/// The command line of this package.
@main
struct Ble: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ble", abstract: "Bluetooth Low Energy from the command line.", version: PackageVersion.text,
    subcommands: [
      Scan.self, Inspect.self, Try.self, RSSI.self, Read.self, Write.self, Subscribe.self, Pair.self, L2CAP.self,
      Doctor.self,
      CaptureCommand.self, Monitor.self, Simulate.self,
      Serve.self, BeaconVerb.self, Clone.self, Replay.self, Send.self, Receive.self,
      Air.self, Bonds.self, Clients.self, Apps.self, Why.self, Settings.self, Alerts.self, UUIDVerb.self,
      Completions.self,
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
