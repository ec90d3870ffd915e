import ArgumentParser
import BluetoothAdapters
import BluetoothDaemonProtocol

/// The command that lists the clients of a server.
struct Clients: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Lists the programs that use a btserver.")

  @Option(
    help: ArgumentHelp(
      "The server, as in COREBLUETOOTH_ADAPTER: server, server:PATH or server:tcp:HOST:PORT.", valueName: "specifier"))
  var server = "server"

  @Option(help: ArgumentHelp("A file with the token of a server on TCP.", valueName: "file"))
  var tokenFile: String?

  func run() throws {
    let specifier: ServerSpecifier
    do throws(AdapterError) { specifier = try ServerSpecifier(server) } catch {
      throw ValidationError(error.description)
    }
    do {
      let token = try tokenFile.map { try ServerToken.read($0) } ?? []
      var table = TextTable(["program", "process", "user", "adapter", "managers"])
      // This program is a client, too, and has no manager.
      for client in try ServerQuestion.clients(of: specifier, token: token) where client.sessions > 0 {
        table.add([
          client.origin ?? "-", client.process.map { "\($0)" } ?? "-", client.user.map { "\($0)" } ?? "-",
          client.adapter, "\(client.sessions)",
        ])
      }
      try say(table.isEmpty ? "no programs" : table.text)
    } catch let error as AdapterError {
      throw Failure(error.description)
    }
  }
}
