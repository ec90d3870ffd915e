import BluetoothWire

/// A client of a server, for a list for people.
package struct ConnectedClient: Hashable, Sendable {
  /// The number of its process; nil: it is connected over TCP.
  package var process: UInt32?
  package var user: UInt32?
  /// The path of its program file, or its address; nil: unknown.
  package var origin: String?
  /// The name of the adapter that it uses.
  package var adapter: String
  /// The number of its sessions.
  package var sessions: UInt32

  package init(process: UInt32?, user: UInt32?, origin: String?, adapter: String, sessions: UInt32) {
    self.process = process
    self.user = user
    self.origin = origin
    self.adapter = adapter
    self.sessions = sessions
  }
}

extension MessageWriter {
  mutating func append(_ client: ConnectedClient) {
    append(optional: client.process) { $0.append($1) }
    append(optional: client.user) { $0.append($1) }
    append(optional: client.origin) { $0.append($1) }
    append(client.adapter)
    append(client.sessions)
  }
}

extension MessageReader {
  mutating func connectedClient() throws(DecodingError) -> ConnectedClient {
    let process = try optional { (reader) throws(DecodingError) in try reader.uint32() }
    let user = try optional { (reader) throws(DecodingError) in try reader.uint32() }
    let origin = try name()
    let adapter = try text()
    return ConnectedClient(process: process, user: user, origin: origin, adapter: adapter, sessions: try uint32())
  }
}
