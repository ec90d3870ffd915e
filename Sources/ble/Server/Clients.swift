import ArgumentParser
import BluetoothAir
import BluetoothDaemonProtocol

/// The command that lists the clients of a server.
struct Clients: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Lists the programs that use a btserver.")
    .examples("ble clients", "ble clients --json")

  @OptionGroup var options: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    // This program is a client, too, and has no manager.
    let clients = try options.withServer { try ServerQuestion.clients(of: $0, token: $1) }.filter { $0.sessions > 0 }
    if output.json {
      for client in clients {
        var record = JSONRecord("client")
        record.add("program", client.origin)
        record.add("process", client.process.map { .number("\($0)") })
        record.add("user", client.user.map { .number("\($0)") })
        record.add("adapter", client.adapter)
        record.add("managers", .number("\(client.sessions)"))
        try put(record.line + "\n")
      }
      return
    }
    var table = TextTable(["program", "process", "user", "adapter", "managers"])
    for client in clients {
      table.add([
        client.origin ?? "-", client.process.map { "\($0)" } ?? "-", client.user.map { "\($0)" } ?? "-",
        client.adapter, "\(client.sessions)",
      ])
    }
    try say(lines: table.isEmpty ? ["no programs"] : table.lines)
  }
}
