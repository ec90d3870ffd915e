import ArgumentParser
import BluetoothAdapters
import BluetoothDaemonProtocol

/// The command that lists the clients of a server.
struct Clients: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Lists the programs that use a btserver.")

  @OptionGroup var options: ServerOptions

  func run() throws {
    var table = TextTable(["program", "process", "user", "adapter", "managers"])
    // This program is a client, too, and has no manager.
    for client in try options.withServer({ try ServerQuestion.clients(of: $0, token: $1) }) where client.sessions > 0 {
      table.add([
        client.origin ?? "-", client.process.map { "\($0)" } ?? "-", client.user.map { "\($0)" } ?? "-",
        client.adapter, "\(client.sessions)",
      ])
    }
    try say(table.isEmpty ? "no programs" : table.text)
  }
}
