import ArgumentParser
import BluetoothAir
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
      .examples("ble settings allow thermometer", "ble settings allow thermometer --json")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var app: String
    @OptionGroup var output: OutputOptions

    func run() throws {
      try options.ask { try $0.perform(.setPermission(app: app, true)) }
      try output.emit(
        JSONRecord("setting", ["setting": .text("permission"), "app": .text(app), "allowed": .flag(true)]))
    }
  }

  struct Deny: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Denies an app the use of Bluetooth. It loses its links at once."
    )
    .examples("ble settings deny thermometer", "ble settings deny thermometer --json")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var app: String
    @OptionGroup var output: OutputOptions

    func run() throws {
      try options.ask { try $0.perform(.setPermission(app: app, false)) }
      try output.emit(
        JSONRecord("setting", ["setting": .text("permission"), "app": .text(app), "allowed": .flag(false)]))
    }
  }

  struct Power: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Switches an adapter on or off.")
      .examples("ble settings power off", "ble settings power on hci:0")

    enum State: String, CaseIterable, ExpressibleByArgument { case on, off }

    @OptionGroup var options: ServerOptions
    @Argument(help: "on or off") var state: State
    @Argument(help: "The name of the adapter; the server's first one if it is omitted.") var adapter: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
      let isOn = state == .on
      try options.of(adapter: adapter).ask { try $0.perform(.setPower(isOn)) }
      try output.emit(
        JSONRecord(
          "setting", ["setting": .text("power"), "adapter": adapter.map { .text($0) }, "on": .flag(isOn)]))
    }
  }

  struct ResetIdentifiers: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reset-identifiers",
      abstract: "Gives all devices new identifiers for all apps. Links end, and bonds stay."
    )
    .examples("ble settings reset-identifiers", "ble settings reset-identifiers hci:0")

    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the adapter; the server's first one if it is omitted.") var adapter: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
      try options.of(adapter: adapter).ask { try $0.perform(.resetIdentifiers(forgetsBonds: false)) }
      try output.emit(
        JSONRecord("setting", ["setting": .text("identifiers"), "adapter": adapter.map { .text($0) }]))
    }
  }

  struct ResetNetwork: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reset-network",
      abstract: "Resets the network settings: forgets all bonds, and gives all devices new identifiers for all apps."
    )
    .examples("ble settings reset-network", "ble settings reset-network hci:0")

    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the adapter; the server's first one if it is omitted.") var adapter: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
      try options.of(adapter: adapter).ask { try $0.perform(.resetIdentifiers(forgetsBonds: true)) }
      try output.emit(
        JSONRecord("setting", ["setting": .text("network"), "adapter": adapter.map { .text($0) }]))
    }
  }

  struct Notifications: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lets a bonded accessory get the notifications of the system, or forbids it."
    )
    .examples("ble settings notifications allow watch", "ble settings notifications deny watch")

    enum Choice: String, CaseIterable, ExpressibleByArgument { case allow, deny }

    @OptionGroup var options: ServerOptions
    @Argument(help: "allow or deny") var choice: Choice
    @Argument(help: "The name of the accessory, its address, or an identifier by which an app knows it.")
    var device: String
    @OptionGroup var output: OutputOptions

    func run() throws {
      let (device, isAllowed) = (device, choice == .allow)
      try options.ask { try $0.perform(.setSharing(peer: device, isAllowed)) }
      try output.emit(
        JSONRecord(
          "setting", ["setting": .text("notifications"), "device": .text(device), "allowed": .flag(isAllowed)]))
    }
  }
}
