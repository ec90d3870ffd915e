import ArgumentParser
import BluetoothAir
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
      .examples("ble apps", "ble apps list --json")
    @OptionGroup var options: ServerOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
      let apps = try options.ask { try $0.apps() }
      if output.json { return try put(apps.map { Self.record($0).line + "\n" }.joined()) }
      var table = TextTable(["app", "state", "adapter", "managers", "processes", "permission", "launched for events"])
      var questions: [(String, String)] = []
      for app in apps {
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
          app.isLaunchable ? "yes" : "no",
        ])
      }
      try say(lines: table.isEmpty ? ["no apps"] : table.lines)
      for (name, usage) in questions {
        try say("\(name) would like to use Bluetooth\(usage.isEmpty ? "" : ": " + usage)")
        // The name can be a path, in which another user has chosen characters of the shell.
        let word = name.shellWord
        try say("answer with: ble settings allow \(word), or: ble settings deny \(word)")
      }
    }

    private static func record(_ app: AppDescription) -> JSONRecord {
      var record = JSONRecord("app")
      record.add("name", app.name)
      record.add("state", "\(app.state)")
      record.add("adapter", app.adapter)
      record.add("managers", .number("\(app.sessions)"))
      record.add("processes", .list(app.processes.map { .number("\($0)") }))
      switch app.access {
      case .allowed: record.add("permission", "allowed")
      case .denied: record.add("permission", "denied")
      case .undetermined: record.add("permission", "undetermined")
      }
      record.add("question", app.question)
      record.add("launched", .flag(app.isLaunchable))
      return record
    }
  }

  struct Background: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sends an app to the background.")
      .examples("ble apps background thermometer", "ble apps background thermometer --server server:/tmp/s")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var name: String
    @OptionGroup var output: OutputOptions

    func run() throws {
      try options.ask { try $0.perform(.controlApp(name, .background)) }
      try output.emit(JSONRecord("appChange", ["name": .text(name), "change": .text("background")]))
    }
  }

  struct Foreground: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Brings an app to the foreground.")
      .examples("ble apps foreground thermometer", "ble apps foreground thermometer --json")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var name: String
    @OptionGroup var output: OutputOptions

    func run() throws {
      try options.ask { try $0.perform(.controlApp(name, .foreground)) }
      try output.emit(JSONRecord("appChange", ["name": .text(name), "change": .text("foreground")]))
    }
  }

  struct Suspend: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Suspends an app that is in the background.")
      .examples("ble apps suspend thermometer", "ble apps suspend thermometer --json")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var name: String
    @OptionGroup var output: OutputOptions

    func run() throws {
      try options.ask { try $0.perform(.controlApp(name, .suspend)) }
      try output.emit(JSONRecord("appChange", ["name": .text(name), "change": .text("suspend")]))
    }
  }

  struct Quit: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ends an app. Nothing of it is restored, and no event launches it."
    )
    .examples("ble apps quit thermometer", "ble apps quit thermometer --json")
    @OptionGroup var options: ServerOptions
    @Argument(help: "The name of the app, or the last part of its path.") var name: String
    @OptionGroup var output: OutputOptions

    func run() throws {
      try options.ask { try $0.perform(.controlApp(name, .quit)) }
      try output.emit(JSONRecord("appChange", ["name": .text(name), "change": .text("quit")]))
    }
  }
}
