import BluetoothAdapters
import BluetoothTransport

/// The value of `--adapter`: `[NAME=]SPECIFIER`.
struct AdapterOption {
  let name: String
  let specifier: any AdapterSpecifier

  /// The kinds of adapters that a server can share: all but those of other servers.
  static var schemes: [any AdapterScheme] { AdapterRegistry.schemes.filter { $0.kind != .server } }

  init(_ text: String) throws(SpecifierProblem) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    // A path may have the character, too, so only a name before the scheme counts.
    let isNamed = parts.count == 2 && !parts[0].contains(":")
    let specifier = isNamed ? parts[1] : text
    self.specifier = try AdapterRegistry.specifier(specifier, of: Self.schemes)
    name = isNamed ? parts[0] : specifier
    guard !name.isEmpty, name.utf8.count <= 64, !name.contains(",") else {
      throw SpecifierProblem(description: "invalid name: expected 1 to 64 octets without a comma")
    }
  }

  /// True if the adapter is a device of the server's own simulated air.
  var isSimulated: Bool { specifier.kind == .simulated }

  /// The text for messages.
  var text: String { isSimulated ? "\(name) (simulated)" : name == "\(specifier)" ? name : "\(name) (\(specifier))" }
}
