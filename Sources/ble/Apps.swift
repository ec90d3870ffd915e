import ArgumentParser
import BluetoothAdapters
import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothWire

/// The command for the apps of a server.
struct Apps: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the apps of a btserver, and changes their life as a user does.",
    subcommands: [List.self, Background.self, Foreground.self, Suspend.self, Quit.self], defaultSubcommand: List.self)

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the apps with their states.")
    @OptionGroup var options: ServerOptions

    func run() throws {
      var table = TextTable(["app", "state", "adapter", "managers", "processes", "permission", "launched for events"])
      var questions: [(String, String)] = []
      for app in try options.ask({ try $0.apps() }) {
        let processes = app.processes.map { "\($0)" }.joined(separator: " ")
        let access =
          switch app.access {
          case .allowed: "allowed"
          case .denied: "denied"
          case .undetermined: app.question == nil ? "not asked" : "asked"
          }
        if let question = app.question, !questions.contains(where: { $0.0 == app.name }) {
          questions.append((app.name, question))
        }
        table.add([
          app.name, "\(app.state)", app.adapter, "\(app.sessions)", processes.isEmpty ? "-" : processes, access,
          app.hasCommand ? "yes" : "no",
        ])
      }
      try say(table.isEmpty ? "no apps" : table.text)
      for (name, usage) in questions {
        try say("\(name) would like to use Bluetooth\(usage.isEmpty ? "" : ": " + usage)".printable)
        // The name can be a path, in which another user has chosen characters of the shell.
        let word = name.shellWord
        try say("answer with: ble settings allow \(word), or: ble settings deny \(word)".printable)
      }
    }
  }

  struct Background: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sends an app to the background.")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var name: String
    func run() throws { try options.ask { try $0.perform(.controlApp(name, .background)) } }
  }

  struct Foreground: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Brings an app to the foreground.")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var name: String
    func run() throws { try options.ask { try $0.perform(.controlApp(name, .foreground)) } }
  }

  struct Suspend: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Suspends an app that is in the background.")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var name: String
    func run() throws { try options.ask { try $0.perform(.controlApp(name, .suspend)) } }
  }

  struct Quit: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ends an app. Nothing of it is restored, and no event launches it.")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var name: String
    func run() throws { try options.ask { try $0.perform(.controlApp(name, .quit)) } }
  }
}
