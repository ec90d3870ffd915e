import BluetoothTransport
import Foundation

/// The value of `--adapter`: `[NAME=]SPECIFIER`.
struct AdapterOption: Hashable {
  enum Kind: Hashable {
    /// A device of the server's own simulated air.
    case virtual
    case controller(TransportSpecifier)
  }

  let name: String
  let kind: Kind

  init(_ text: String) throws(TransportSpecifier.Problem) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    // A path may have the character, too, so only a name before the scheme counts.
    let isNamed = parts.count == 2 && !parts[0].contains(":")
    let specifier = isNamed ? parts[1] : text
    kind = specifier == "virtual" ? .virtual : .controller(try TransportSpecifier(specifier))
    name = isNamed ? parts[0] : specifier
    guard !name.isEmpty, name.utf8.count <= 64, !name.contains(",") else {
      throw TransportSpecifier.Problem(description: "invalid name: expected 1 to 64 octets without a comma")
    }
  }

  /// The device that only one adapter can use; nil: there is none. Each connection to an air has a controller of its own.
  /// The path of a serial line has no symbolic links, so that each of its names gives the same device.
  var device: String? {
    switch kind {
    case .controller(.hci(let number)): "hci:\(number)"
    case .controller(.serial(let device, _, _)): Self.resolved(device)
    case .controller(.tcp), .controller(.unix), .virtual: nil
    }
  }

  /// Returns the absolute path of a file without symbolic links. They stay if the file does not exist.
  private static func resolved(_ path: String) -> String {
    guard let pointer = realpath(path, nil) else { return URL(fileURLWithPath: path).standardizedFileURL.path }
    defer { free(pointer) }
    return String(cString: pointer)
  }

  /// The text for messages.
  var text: String {
    switch kind {
    case .virtual: "\(name) (simulated)"
    case .controller(let specifier): name == "\(specifier)" ? name : "\(name) (\(specifier))"
    }
  }
}
