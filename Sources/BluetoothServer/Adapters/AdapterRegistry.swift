/// What can be given to a manager instead of a specifier: something that has an adapter.
package protocol AdapterSource: AnyObject {
  var adapter: any Adapter { get }
}

/// Why a specifier names no adapter.
package struct AdapterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line: what is wrong, and what would be right.
  package let description: String
}

/// The adapters of this process, by specifier.
package enum AdapterRegistry {
  /// What specifiers look like, for messages.
  package static let forms = "virtual, tcp:HOST:PORT, unix:PATH, serial:DEVICE[,BAUD], hci:N, server:PATH"

  /// Begins to run when a manager first asks for it.
  private static let ownDevice = RealTimeDevice(name: "virtual")

  /// The adapter that `specifier` names; the same one for the same specifier.
  package static func adapter(for specifier: String) -> Result<any Adapter, AdapterError> {
    let scheme = specifier.prefix { $0 != ":" }
    switch scheme {
    case "virtual" where specifier == "virtual":
      return .success(ownDevice.adapter)
    case "tcp", "unix", "serial", "hci", "server":
      return .failure(
        AdapterError(
          description: "the adapter \"\(specifier)\" needs a transport that this version does not have yet; use virtual"
        ))
    default:
      return .failure(
        AdapterError(description: "there is no adapter \"\(specifier)\"; right would be one of: \(forms)"))
    }
  }
}
