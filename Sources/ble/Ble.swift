import ArgumentParser
import Foundation

/// The command line of this package.
@main
struct Ble: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ble", abstract: "Bluetooth Low Energy from the command line.", subcommands: [Air.self, Bonds.self])

  /// What goes wrong is said in one line.
  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      let status = exitCode(for: error)
      guard !status.isSuccess else { exit(withError: error) }
      var message = message(for: error)
      if message.hasSuffix(".") { message.removeLast() }
      complain(status == .validationFailure ? "\(message); ble --help lists what is right" : message)
      Foundation.exit(status.rawValue)
    }
  }
}

/// Why something that was asked for in the right words could not be done: one line.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// One line on the standard error.
func complain(_ text: String) { FileHandle.standardError.write(Data("ble: \(text)\n".utf8)) }
