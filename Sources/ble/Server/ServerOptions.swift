import ArgumentParser
import BluetoothAdapters
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

  /// The server of the option, or of the environment.
  private var specifier: String {
    if let server { return server }
    let text = ProcessInfo.processInfo.environment["COREBLUETOOTH_ADAPTER"] ?? ""
    return (try? ServerSpecifier(text)) == nil ? "server" : text
  }

  /// Returns the options for one adapter of the server; nil: the adapter that the options name.
  func of(adapter: String?) throws -> ServerOptions {
    guard let adapter else { return self }
    guard server?.contains(",") != true else { throw ValidationError("two names of an adapter") }
    var options = self
    options.server = "\(specifier.prefix { $0 != "," }),\(adapter)"
    return options
  }

  /// Calls `body` with the server, and reports its failure in one line.
  func ask<Result>(_ body: (ServerQuestion) throws -> Result) throws -> Result {
    try withServer { try body(ServerQuestion(to: $0, token: $1)) }
  }

  /// Calls `body` with the address of the server and the token, and reports its failure in one line.
  func withServer<Result>(_ body: (ServerSpecifier, _ token: [UInt8]) throws -> Result) throws -> Result {
    try Self.withServer(specifier, tokenFile: tokenFile, body)
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
      return try body(specifier, try token(for: specifier, tokenFile))
    } catch let error as AdapterError {
      throw Failure(error.description, status: ExitStatus.noAdapter)
    } catch let refusal as ServerQuestion.Refusal {
      throw Failure(refusal.description)
    }
  }

  /// Returns the token for a server: that of the file, or of the environment for a server on TCP.
  private static func token(for server: ServerSpecifier, _ file: String?) throws -> [UInt8] {
    if let file { return try ServerToken.read(file) }
    guard case .tcp = server.place,
      let file = ProcessInfo.processInfo.environment[ServerSpecifier.tokenVariable], !file.isEmpty
    else { return [] }
    return try ServerToken.read(file)
  }
}
