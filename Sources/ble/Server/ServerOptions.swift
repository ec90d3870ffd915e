import ArgumentParser
import BluetoothAdapters
import BluetoothDaemonProtocol
import BluetoothTransport
import Foundation

/// The options of all commands that ask a server.
struct ServerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server: server, server:PATH or server:tcp:HOST:PORT; a name after a comma selects an adapter (default: "
        + "$COREBLUETOOTH_ADAPTER if it names a server, or server).", valueName: "specifier"))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "A file with the token of a server on TCP (default: $COREBLUETOOTH_SERVER_TOKEN_FILE).", valueName: "file"),
    completion: .file())
  var tokenFile: String?

  /// Returns the server of the option, or of the environment.
  private func specifier() throws -> ServerSpecifier {
    guard let server else {
      let text = ProcessInfo.processInfo.environment[AdapterRegistry.environmentVariable] ?? ""
      return (try? ServerSpecifier(text)) ?? ServerSpecifier(.unix(path: ServerSpecifier.defaultPath))
    }
    return try Self.specifier(server)
  }

  /// Reads the value of an option that names a server.
  static func specifier(_ text: String) throws -> ServerSpecifier {
    do throws(SpecifierProblem) { return try ServerSpecifier(text) } catch {
      throw ValidationError(AdapterError(error, in: text).description)
    }
  }

  /// Returns the options for one adapter of the server; nil: the adapter that the options name.
  func of(adapter: String?) throws -> ServerOptions {
    guard let adapter else { return self }
    var specifier = try specifier()
    guard server == nil || specifier.adapter.isEmpty else { throw ValidationError("two names of an adapter") }
    specifier.adapter = adapter
    var options = self
    options.server = "\(specifier)"
    return options
  }

  /// Calls `body` with the server, and reports its failure in one line.
  func ask<Result>(_ body: (ServerQuestion) throws -> Result) throws -> Result {
    try withServer { try body(ServerQuestion(to: $0, token: $1)) }
  }

  /// Calls `body` with the address of the server and the token, and reports its failure in one line.
  func withServer<Result>(_ body: (ServerSpecifier, _ token: [UInt8]) throws -> Result) throws -> Result {
    try Self.withServer(specifier(), tokenFile: tokenFile, body)
  }

  /// Calls `body` with the address of a server and the token, and reports its failure in one line.
  static func withServer<Result>(
    _ server: ServerSpecifier, tokenFile: String? = nil, _ body: (ServerSpecifier, _ token: [UInt8]) throws -> Result
  ) throws -> Result {
    do { return try body(server, server.token(in: tokenFile)) } catch let error as AdapterError {
      throw Failure(error.description, status: ExitStatus.noAdapter)
    } catch let refusal as ServerQuestion.Refusal {
      throw Failure(refusal.description)
    }
  }
}
