import ArgumentParser
import BluetoothAdapters
import Foundation

/// The options that choose the adapter of a verb, and its time.
struct AdapterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The adapter, as in COREBLUETOOTH_ADAPTER, such as hci:0 or unix:PATH (default: $COREBLUETOOTH_ADAPTER, or virtual).",
      valueName: "specifier"))
  var adapter: String?

  @Option(
    help: ArgumentHelp(
      "A world file: this program joins the simulated world of the file (default: $COREBLUETOOTH_WORLD).",
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

    /// The server that has the adapter; nil: the adapter is not that of a server.
    var server: ServerSpecifier? {
      if case .specifier(let specifier) = self { try? ServerSpecifier(specifier) } else { nil }
    }
  }

  /// The choice, and the words that say where it comes from.
  var choice: (choice: Choice, origin: String) {
    let environment = ProcessInfo.processInfo.environment
    if let world { return (.world(world), "--world") }
    if let adapter { return (.specifier(adapter), "--adapter") }
    if let path = environment["COREBLUETOOTH_WORLD"], !path.isEmpty { return (.world(path), "COREBLUETOOTH_WORLD") }
    if let text = environment["COREBLUETOOTH_ADAPTER"], !text.isEmpty {
      return (.specifier(text), "COREBLUETOOTH_ADAPTER")
    }
    return (.specifier("virtual"), "the default, as nothing else is named")
  }
}

/// The exit statuses of the verbs.
enum ExitStatus {
  /// No device or attribute matches.
  static let notFound: Int32 = 1
  /// The link was lost, or could not be established; or a device that was found does not advertise any more.
  static let linkLost: Int32 = 2
  /// The peer has refused.
  static let refused: Int32 = 3
  /// A check has found breaches.
  static let breaches: Int32 = 4
  /// The command line is invalid; EX_USAGE of sysexits.h.
  static let usage: Int32 = 64
  /// Several devices match, or a file is invalid; EX_DATAERR of sysexits.h.
  static let ambiguous: Int32 = 65
  /// There is no usable adapter; EX_UNAVAILABLE of sysexits.h.
  static let noAdapter: Int32 = 69
  /// A time limit has ended; the status of timeout(1).
  static let timeLimit: Int32 = 124
  /// The user has interrupted the verb.
  static let interrupted: Int32 = 130
}
