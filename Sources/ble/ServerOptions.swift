import ArgumentParser
import BluetoothAdapters

/// The options of all commands that ask a server.
struct ServerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server, as in COREBLUETOOTH_ADAPTER: server, server:PATH or server:tcp:HOST:PORT; a name after a comma "
        + "selects an adapter.", valueName: "specifier"))
  var server = "server"

  @Option(help: ArgumentHelp("A file with the token of a server on TCP.", valueName: "file"), completion: .file())
  var tokenFile: String?

  /// Returns the options for one adapter of the server; nil: the adapter that the options name.
  func of(adapter: String?) throws -> ServerOptions {
    guard let adapter else { return self }
    guard !server.contains(",") else { throw ValidationError("two names of an adapter") }
    var options = self
    options.server += "," + adapter
    return options
  }

  /// Calls `body` with the server, and reports its failure in one line.
  func ask<Result>(_ body: (ServerQuestion) throws -> Result) throws -> Result {
    try withServer { try body(ServerQuestion(to: $0, token: $1)) }
  }

  /// Calls `body` with the address of the server and the token, and reports its failure in one line.
  func withServer<Result>(_ body: (ServerSpecifier, _ token: [UInt8]) throws -> Result) throws -> Result {
    try Self.withServer(server, tokenFile: tokenFile, body)
  }

  /// Calls `body` with the address of a server and the token, and reports its failure in one line.
  static func withServer<Result>(
    _ server: String, tokenFile: String? = nil, _ body: (ServerSpecifier, _ token: [UInt8]) throws -> Result
  ) throws -> Result {
    let specifier: ServerSpecifier
    do throws(AdapterError) { specifier = try ServerSpecifier(server) } catch {
      throw ValidationError(error.description)
    }
    do {
      return try body(specifier, try tokenFile.map { try ServerToken.read($0) } ?? [])
    } catch let error as AdapterError {
      throw Failure(error.description, status: ExitStatus.noAdapter)
    } catch let refusal as ServerQuestion.Refusal {
      throw Failure(refusal.description)
    }
  }
}
