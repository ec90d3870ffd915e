import ArgumentParser
import BluetoothAdapters
import BluetoothDaemonProtocol

/// The command for what a user decides in the settings of a server.
struct Settings: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Changes the settings of a btserver: who may use Bluetooth, and power.",
    subcommands: [Allow.self, Deny.self, Power.self])

  struct Allow: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Allows an app the use of Bluetooth.")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var app: String
    func run() throws { try options.ask { try $0.perform(.setPermission(app: app, true)) } }
  }

  struct Deny: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Denies an app the use of Bluetooth. It loses its links at once.")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var app: String
    func run() throws { try options.ask { try $0.perform(.setPermission(app: app, false)) } }
  }

  struct Power: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Switches an adapter on or off.")

    enum State: String, CaseIterable, ExpressibleByArgument { case on, off }

    @OptionGroup var options: ServerOptions
    @Argument(help: "on or off") var state: State
    @Argument(help: "The name of the adapter; the server's first one if it is omitted.") var adapter: String?

    func run() throws {
      var options = options
      if let adapter {
        guard !options.server.contains(",") else { throw ValidationError("two names of an adapter") }
        options.server += "," + adapter
      }
      let isOn = state == .on
      try options.ask { try $0.perform(.setPower(isOn)) }
    }
  }
}
