import BluetoothTransport

/// The address of a `btserver`, and the name of one of its adapters: `server[:PATH][,NAME]` or
/// `server:tcp:HOST:PORT[,NAME]`.
package struct ServerSpecifier: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    case unix(path: String)
    case tcp(host: String, port: Int)
  }

  package var place: Place
  /// The name of the adapter; empty: the server's first one.
  package var adapter: String

  /// The environment variable with the path of the file that holds the token for a server over TCP.
  package static let tokenVariable = "COREBLUETOOTH_SERVER_TOKEN_FILE"

  /// The form of a specifier.
  package static let syntax = "server[:PATH][,NAME]"

  package init(_ place: Place, adapter: String = "") {
    self.place = place
    self.adapter = adapter
  }

  /// - Parameter text: the specifier with its scheme.
  package init(_ text: String) throws(SpecifierProblem) {
    var rest = text.dropFirst("server".count)
    guard text.hasPrefix("server"), rest.isEmpty || rest.first == ":" || rest.first == "," else {
      throw SpecifierProblem(description: "expected \(Self.syntax)")
    }
    adapter = ""
    if let comma = rest.lastIndex(of: ",") {
      adapter = String(rest[rest.index(after: comma)...])
      rest = rest[..<comma]
      guard !adapter.isEmpty else {
        throw SpecifierProblem(description: "the name after the comma is missing")
      }
    }
    let address = rest.dropFirst()
    if address.isEmpty {
      place = .unix(path: Self.defaultPath)
      return
    }
    switch try TransportSpecifier(address.hasPrefix("tcp:") ? String(address) : "unix:\(address)") {
    case .tcp(let host, let port): place = .tcp(host: host, port: port)
    case .unix(let path): place = .unix(path: path)
    case .serial, .hci: throw SpecifierProblem(description: "expected \(Self.syntax)")
    }
  }

  /// The path of the socket of a server of the system.
  package static let systemPath = "/run/btserver/btserver.sock"

  /// The path of the socket if none is named: in the user's runtime folder, else in that of the system.
  package static var defaultPath: String {
    let folder = SystemProcess.variable("XDG_RUNTIME_DIR") ?? ""
    return folder.isEmpty ? systemPath : folder + "/btserver.sock"
  }
}

extension ServerSpecifier {
  /// The option by which `ble` asks this server, after a space; empty: it is the default one.
  package var serverOption: String {
    place == .unix(path: Self.defaultPath) ? "" : " --server \(ServerSpecifier(place))"
  }

  /// A line for a denied app: what the user of the server can do.
  package var adviceForDeniedApp: String {
    let option = serverOption
    return "to allow it: ble settings allow NAME\(option); ble apps\(option) shows the names of apps"
  }
}

extension ServerSpecifier: CustomStringConvertible {
  package var description: String {
    let name = adapter.isEmpty ? "" : "," + adapter
    switch place {
    case .unix(let path): return "server:\(path)\(name)"
    case .tcp(let host, let port): return "server:\(TransportSpecifier.tcp(host: host, port: port))\(name)"
    }
  }
}
