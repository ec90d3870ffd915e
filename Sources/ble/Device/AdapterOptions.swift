import ArgumentParser
import BluetoothAdapters
import BluetoothAir
import BluetoothDaemonProtocol
import Foundation

/// The options that choose the adapter of a verb, and its time.
struct AdapterOptions: ParsableArguments {
  /// The adapter if none is named.
  private static let standard = "\(VirtualSpecifier())"

  @Option(
    help: ArgumentHelp(
      "The adapter: \(AdapterRegistry.forms()) (default: $\(AdapterRegistry.environmentVariable); without it, a verb "
        + "that looks for devices ends with the status 69, and others use \(Self.standard), which is alone in its world).",
      valueName: "specifier"))
  var adapter: String?

  @Option(
    help: ArgumentHelp(
      "A world file, or an example: \(ExampleWorlds.list). This program joins the simulated world (default: "
        + "$COREBLUETOOTH_WORLD).",
      valueName: "file"), completion: .file())
  var world: String?

  @Option(parsing: .unconditional, help: "With a world: the seed, in place of that of the file.")
  var seed: UInt64?

  @Flag(
    help: """
      With a world: lets its time pass as fast as the machine allows, so that the same seed gives the same output.
      """)
  var virtualTime = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The time limit of each step: the controller's start, the connection, a request (default: 30).",
      valueName: "time"), transform: TimeArgument.seconds(of:))
  var timeout = 30.0

  mutating func validate() throws {
    if adapter != nil, world != nil { throw ValidationError("expected either --adapter or --world") }
    guard timeout > 0, timeout <= 1e6 else { throw ValidationError("--timeout must be more than 0, up to 1000000") }
  }

  /// The place of the controller that the options and the environment choose.
  enum Choice: Hashable {
    /// A world file.
    case world(String)
    /// A specifier.
    case specifier(String)

    /// The adapter of the specifier; nil: it is invalid, or the choice is a world file.
    var adapter: (any AdapterSpecifier)? {
      if case .specifier(let text) = self { try? AdapterRegistry.specifier(text) } else { nil }
    }

    /// The server that has the adapter; nil: the adapter is not that of a server.
    var server: ServerSpecifier? { adapter as? ServerSpecifier }
  }

  /// The choice, and the words that say where it comes from.
  var choice: (choice: Choice, origin: String) {
    named ?? (.specifier(Self.standard), "the default, as nothing else is named")
  }

  /// The choice of the user; nil: neither an option nor the environment names a place.
  var named: (choice: Choice, origin: String)? {
    let environment = ProcessInfo.processInfo.environment
    if let world { return (.world(world), "--world") }
    if let adapter { return (.specifier(adapter), "--adapter") }
    let (worldVariable, variable) = (WorldFileAdapter.environmentVariable, AdapterRegistry.environmentVariable)
    if let path = environment[worldVariable], !path.isEmpty { return (.world(path), worldVariable) }
    if let text = environment[variable], !text.isEmpty { return (.specifier(text), variable) }
    return nil
  }
}
