import NIOCore

/// The connections of strangers: of clients that have not proved or said who they are. Their number is limited, and no
/// stranger keeps another one away: at the limit, a new connection displaces the oldest one of the origin that has the
/// most connections. Who holds many of them only displaces connections of his own.
package struct StrangerTable<Connection: AnyObject> {
  /// The maximum number of connections.
  package let limit: Int
  /// The connections, the oldest one first.
  private var strangers: [(connection: Connection, origin: ConnectionOrigin)] = []

  /// - Parameter limit: the maximum number of connections, at least 1.
  package init(limit: Int) { self.limit = max(1, limit) }

  package var connections: [Connection] { strangers.map(\.connection) }

  /// Adds a connection.
  ///
  /// - Returns: the connection that has been removed for it, which the caller closes; nil: there was room.
  package mutating func add(_ connection: Connection, from origin: ConnectionOrigin) -> Connection? {
    strangers.append((connection, origin))
    guard strangers.count > limit else { return nil }
    var counts: [ConnectionOrigin: Int] = [:]
    for stranger in strangers { counts[stranger.origin, default: 0] += 1 }
    let most = counts.values.max()
    guard let index = strangers.firstIndex(where: { counts[$0.origin] == most }) else { return nil }
    return strangers.remove(at: index).connection
  }

  /// Removes a connection. Has no effect on one that is not in the table.
  package mutating func remove(_ connection: Connection) {
    strangers.removeAll { $0.connection === connection }
  }
}

/// The origin of a connection, as far as it can't be chosen freely.
package enum ConnectionOrigin: Hashable, Sendable {
  /// A user of this machine.
  case user(UInt32)
  /// A host: its IPv4 address, or the first 64 bits of its IPv6 address, of which one host can have all addresses.
  case host([UInt8])

  /// Creates the origin of a connection over a network.
  ///
  /// - Parameter address: the address of the other end; nil: unknown.
  package init(_ address: SocketAddress?) {
    switch address {
    // The members `sin_addr` and `sin6_addr`.
    case .v4(let address): self = .host(withUnsafeBytes(of: address.address) { Array($0[4..<8]) })
    case .v6(let address):
      let octets = withUnsafeBytes(of: address.address) { Array($0[8..<24]) }
      let isMapped = octets.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
      self = .host(Array(isMapped ? octets.suffix(4) : octets.prefix(8)))
    case .unixDomainSocket, nil: self = .host([])
    }
  }
}

extension ConnectionOrigin: CustomStringConvertible {
  package var description: String {
    switch self {
    case .user(let user): return "user \(user)"
    case .host(let octets) where octets.count == 4: return octets.map { "\($0)" }.joined(separator: ".")
    case .host(let octets) where octets.isEmpty: return "an unknown address"
    case .host(let octets):
      let groups = stride(from: 0, to: octets.count, by: 2).map { index in
        String(UInt16(octets[index]) << 8 | UInt16(octets[index + 1]), radix: 16)
      }
      return groups.joined(separator: ":") + "::/64"
    }
  }
}
