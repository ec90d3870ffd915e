import ArgumentParser
import BluetoothAdapters
import BluetoothDaemonProtocol

/// The command for what a user decides in the settings of a server.
struct Settings: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Changes the settings of a btserver: who may use Bluetooth, power, identifiers, and notifications.",
    subcommands: [
      Allow.self, Deny.self, Power.self, ResetIdentifiers.self, ResetNetwork.self, Notifications.self,
    ])

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
      let isOn = state == .on
      try options.of(adapter: adapter).ask { try $0.perform(.setPower(isOn)) }
    }
  }

  struct ResetIdentifiers: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reset-identifiers",
      abstract: "Gives all devices new identifiers for all apps. Links end, and bonds stay.")

    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the adapter; the server's first one if it is omitted.") var adapter: String?

    func run() throws {
      try options.of(adapter: adapter).ask { try $0.perform(.resetIdentifiers(forgetsBonds: false)) }
    }
  }

  struct ResetNetwork: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reset-network",
      abstract: "Resets the network settings: forgets all bonds, and gives all devices new identifiers for all apps.")

    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the adapter; the server's first one if it is omitted.") var adapter: String?

    func run() throws {
      try options.of(adapter: adapter).ask { try $0.perform(.resetIdentifiers(forgetsBonds: true)) }
    }
  }

  struct Notifications: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lets a bonded accessory get the notifications of the system, or forbids it.")

    enum Choice: String, CaseIterable, ExpressibleByArgument { case allow, deny }

    @OptionGroup var options: ServerOptions
    @Argument(help: "allow or deny") var choice: Choice
    @Argument(help: "The name of the accessory, its address, or an identifier by which an app knows it.")
    var device: String

    func run() throws {
      let (device, isAllowed) = (device, choice == .allow)
      try options.ask { try $0.perform(.setSharing(peer: device, isAllowed)) }
    }
  }
}
