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

extension ConnectedClient: MessageStructure {
  static var blank: ConnectedClient {
    ConnectedClient(process: nil, user: nil, origin: nil, adapter: "", sessions: 0)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("number of its process; none: it is connected over TCP", &process)
    try visitor.field("user", &user)
    try visitor.field("path of its program, or its address", &origin)
    try visitor.field("adapter", &adapter)
    try visitor.field("number of its sessions", &sessions)
  }
}
