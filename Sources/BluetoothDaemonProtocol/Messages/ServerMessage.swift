import BluetoothDaemon
import BluetoothWire

/// The first message of a server.
package struct Welcome: Hashable, Sendable {
  /// The version of the protocol that both sides speak from now on.
  package var version: UInt16
  /// The name of the adapter that the client uses.
  package var adapter: String

  package init(version: UInt16 = DaemonProtocol.versions.upperBound, adapter: String) {
    self.version = version
    self.adapter = adapter
  }
}

/// The reason why a server closes a connection.
package enum RefusalReason: UInt8, CaseIterable, Hashable, Sendable {
  /// Server and client have no version of the protocol in common.
  case version = 0
  /// The token is missing or wrong, or this user may not use the server.
  case notPermitted = 1
  /// The server has no adapter of this name.
  case unknownAdapter = 2
  /// The server has too many clients or sessions.
  case tooMany = 3
  /// The client has violated the protocol.
  case protocolViolation = 4
  /// The client does not take its events.
  case tooSlow = 5
  /// The server is stopping.
  case stopping = 6
}

/// The server's last message on a connection.
package struct Refusal: Hashable, Sendable {
  package var reason: RefusalReason
  /// One line for the log of the client.
  package var text: String

  package init(_ reason: RefusalReason, _ text: String) {
    self.reason = reason
    self.text = text
  }
}

/// A message from the server to a client.
package enum ServerMessage: Sendable {
  case welcome(Welcome)
  case refused(Refusal)
  /// The server does not know the type of a message.
  case unknownMessage(type: UInt16)
  /// The clients of the server.
  case clients([ConnectedClient])
  case app(AppReport)
  case directory(DirectoryMessage)
  case central(SessionNumber, CentralEvent)
  case peripheral(SessionNumber, PeripheralEvent)
  /// Writes without response to a peer have been sent.
  case writeCredits(SessionNumber, PeerHandle, count: UInt32)
  /// Updates have been sent.
  case updateCredits(SessionNumber, count: UInt32)
  /// Octets that a channel has received.
  case channelOctets(ChannelHandle, ByteSlice)
  /// The daemon has taken this many more of the octets that the app has written.
  case channelTaken(ChannelHandle, octets: UInt32)
  /// The peer has closed the channel before it had all octets that the daemon has taken. `channelEnded` follows.
  case channelCut(ChannelHandle)
  case channelEnded(ChannelHandle, ChannelEnd)

  /// Encodes the message. `MessageWriter.frame` returns the octets, unless the message can't be sent.
  package func encode(_ numbering: PeerNumbering) -> MessageWriter {
    var writer = MessageWriter(numbering)
    encode(into: &writer)
    return writer
  }

  /// Decodes a message; see `ClientMessage.init`.
  package init(_ frame: Frame, _ numbering: PeerNumbering) throws(DecodingError) {
    var reader = MessageReader(frame.payload, numbering)
    self = try Self.read(frame.type, &reader)
    try reader.end()
  }

  private static func read(_ type: UInt16, _ reader: inout MessageReader) throws(DecodingError) -> ServerMessage {
    if let row = CentralEvent.table[type] {
      let session = try SessionNumber(from: &reader)
      return .central(session, try row.decode(&reader))
    }
    if let row = PeripheralEvent.table[type] {
      let session = try SessionNumber(from: &reader)
      return .peripheral(session, try row.decode(&reader))
    }
    if let row = AppReport.table[type] { return .app(try row.decode(&reader)) }
    if let row = DirectoryMessage.table[type] { return .directory(try row.decode(&reader)) }
    guard let row = table[type] else { throw .unknown(code: type) }
    return try row.decode(&reader)
  }
}

extension ServerMessage: MessageGroup {
  struct Rows {
    let welcome = MessageRow(
      0x0002, "welcome", "the first message: the version that the server has chosen", ServerMessage.welcome, "welcome")
    let refused = MessageRow(
      0x0003, "refused", "the last message: the reason why the server closes the connection", ServerMessage.refused,
      "refusal")
    let unknownMessage = MessageRow(
      0x0004, "unknownMessage", "the server does not know the type of a message", ServerMessage.unknownMessage, "type")
    let clients = MessageRow(0x0007, "clients", "the answer to `listClients`", ServerMessage.clients, "clients")
    let channelOctets = MessageRow(
      0x0400, "channelOctets", "octets that a channel has received",
      { (channel: ChannelHandle, part: ChannelPart) in ServerMessage.channelOctets(channel, part.octets) }, "channel",
      "octets")
    let channelTaken = MessageRow(
      0x0401, "channelTaken", "the daemon has taken octets that the app has written", ServerMessage.channelTaken,
      "channel", "number of further octets")
    let channelEnded = MessageRow(
      0x0402, "channelEnded", "the channel has ended, also after `closeChannel`", ServerMessage.channelEnded, "channel",
      "end")
    let channelCut = MessageRow(
      0x0403, "channelCut",
      "the peer has closed the channel before it had all octets that the daemon has taken; `channelEnded` follows",
      ServerMessage.channelCut, "channel")
    let writeCredits = MessageRow(
      0x0501, "writeCredits", "writes without response have been sent", ServerMessage.writeCredits, "session", "peer",
      "number")
    let updateCredits = MessageRow(
      0x0502, "updateCredits", "updates have been sent", ServerMessage.updateCredits, "session", "number")
  }

  static let rows = Rows()
  static let table = RowTable<ServerMessage>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .central(let session, let event):
      session.encode(into: &writer)
      event.encode(into: &writer)
    case .peripheral(let session, let event):
      session.encode(into: &writer)
      event.encode(into: &writer)
    case .app(let report): report.encode(into: &writer)
    case .directory(let message): message.encode(into: &writer)
    case .welcome(let welcome): rows.welcome.encode(welcome, into: &writer)
    case .refused(let refusal): rows.refused.encode(refusal, into: &writer)
    case .unknownMessage(let type): rows.unknownMessage.encode(type, into: &writer)
    case .clients(let clients): rows.clients.encode(clients, into: &writer)
    case .channelOctets(let channel, let octets):
      rows.channelOctets.encode(channel, ChannelPart(octets: octets), into: &writer)
    case .channelTaken(let channel, let octets): rows.channelTaken.encode(channel, octets, into: &writer)
    case .channelEnded(let channel, let end): rows.channelEnded.encode(channel, end, into: &writer)
    case .channelCut(let channel): rows.channelCut.encode(channel, into: &writer)
    case .writeCredits(let session, let peer, let count): rows.writeCredits.encode(session, peer, count, into: &writer)
    case .updateCredits(let session, let count): rows.updateCredits.encode(session, count, into: &writer)
    }
  }
}

extension Welcome: MessageStructure {
  static var blank: Welcome { Welcome(adapter: "") }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.magic()
    try visitor.field("version from now on", &version)
    try visitor.field("name of the adapter", &adapter)
  }
}

extension Refusal: MessageStructure {
  static var blank: Refusal { Refusal(.stopping, "") }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.magic()
    try visitor.field("reason", &reason)
    try visitor.field("one line for the log of the client", &text)
  }
}

extension RefusalReason: MessageEnumeration {
  static var cases: [RefusalReason] { allCases }
}
