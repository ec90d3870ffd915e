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
package enum RefusalReason: UInt8, Hashable, Sendable {
  /// Server and client have no version of the protocol in common.
  case version
  /// The token is missing or wrong, or this user may not use the server.
  case notPermitted
  /// The server has no adapter of this name.
  case unknownAdapter
  /// The server has too many clients or sessions.
  case tooMany
  /// The client has violated the protocol.
  case protocolViolation
  /// The client does not take its events.
  case tooSlow
  /// The server is stopping.
  case stopping
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

  private var type: UInt16 {
    switch self {
    case .welcome: ConnectionMessageType.welcome.rawValue
    case .refused: ConnectionMessageType.refused.rawValue
    case .unknownMessage: ConnectionMessageType.unknownMessage.rawValue
    case .clients: ConnectionMessageType.clients.rawValue
    case .app(let report): report.type.rawValue
    case .directory(let message): message.type.rawValue
    case .central(_, let event): event.type.rawValue
    case .peripheral(_, let event): event.type.rawValue
    case .writeCredits: CountMessageType.writeCredits.rawValue
    case .updateCredits: CountMessageType.updateCredits.rawValue
    case .channelOctets: ChannelMessageType.octets.rawValue
    case .channelTaken: ChannelMessageType.credit.rawValue
    case .channelCut: ChannelMessageType.loss.rawValue
    case .channelEnded: ChannelMessageType.end.rawValue
    }
  }

  /// Encodes the message. `MessageWriter.frame` returns the octets, unless the message can't be sent.
  package func encode(_ numbering: PeerNumbering) -> MessageWriter {
    var writer = MessageWriter(type, numbering)
    switch self {
    case .welcome(let welcome):
      writer.append(DaemonProtocol.magic)
      writer.append(welcome.version)
      writer.append(welcome.adapter)
    case .refused(let refusal):
      writer.append(DaemonProtocol.magic)
      writer.append(refusal.reason.rawValue)
      writer.append(refusal.text)
    case .unknownMessage(let type): writer.append(type)
    case .clients(let clients): writer.append(list: clients) { $0.append($1) }
    case .app(let report): report.encode(into: &writer)
    case .directory(let message): message.encode(into: &writer)
    case .central(let session, let event):
      writer.append(session.value)
      event.encode(into: &writer)
    case .peripheral(let session, let event):
      writer.append(session.value)
      event.encode(into: &writer)
    case .writeCredits(let session, let peer, let count):
      writer.append(session.value)
      writer.append(peer)
      writer.append(count)
    case .updateCredits(let session, let count):
      writer.append(session.value)
      writer.append(count)
    case .channelOctets(let channel, let octets):
      writer.append(channel.key.rawValue)
      writer.append(octets)
    case .channelTaken(let channel, let octets):
      writer.append(channel.key.rawValue)
      writer.append(octets)
    case .channelCut(let channel): writer.append(channel.key.rawValue)
    case .channelEnded(let channel, let end):
      writer.append(channel.key.rawValue)
      writer.append(end)
    }
    return writer
  }

  /// Decodes a message; see `ClientMessage.init`.
  package init(_ frame: Frame, _ numbering: PeerNumbering) throws(DecodingError) {
    var reader = MessageReader(frame.payload, numbering)
    self = try Self.read(frame.type, &reader)
    try reader.end()
  }

  private static func read(_ type: UInt16, _ reader: inout MessageReader) throws(DecodingError) -> ServerMessage {
    if let type = CentralEventType(rawValue: type) {
      let session = try reader.session()
      return .central(session, try CentralEvent(type, from: &reader))
    }
    if let type = PeripheralEventType(rawValue: type) {
      let session = try reader.session()
      return .peripheral(session, try PeripheralEvent(type, from: &reader))
    }
    if let type = AppReportType(rawValue: type) { return .app(try AppReport(type, from: &reader)) }
    if let type = DirectoryMessageType(rawValue: type) {
      return .directory(try DirectoryMessage(type, from: &reader))
    }
    switch type {
    case ConnectionMessageType.welcome.rawValue:
      guard try reader.uint32() == DaemonProtocol.magic else { throw .invalid(field: "protocol") }
      let version = try reader.uint16()
      return .welcome(Welcome(version: version, adapter: try reader.text()))
    case ConnectionMessageType.refused.rawValue:
      guard try reader.uint32() == DaemonProtocol.magic else { throw .invalid(field: "protocol") }
      let reason = try reader.value(RefusalReason.self)
      return .refused(Refusal(reason, try reader.text()))
    case ConnectionMessageType.unknownMessage.rawValue: return .unknownMessage(type: try reader.uint16())
    case ConnectionMessageType.clients.rawValue:
      return .clients(try reader.list { (reader) throws(DecodingError) in try reader.connectedClient() })
    case CountMessageType.writeCredits.rawValue:
      let session = try reader.session()
      let peer = try reader.peer()
      return .writeCredits(session, peer, count: try reader.uint32())
    case CountMessageType.updateCredits.rawValue:
      let session = try reader.session()
      return .updateCredits(session, count: try reader.uint32())
    case ChannelMessageType.octets.rawValue:
      let channel = try reader.channel()
      return .channelOctets(channel, try reader.slice(atMost: DaemonProtocol.maximumChannelPart))
    case ChannelMessageType.credit.rawValue:
      let channel = try reader.channel()
      return .channelTaken(channel, octets: try reader.uint32())
    case ChannelMessageType.loss.rawValue: return .channelCut(try reader.channel())
    case ChannelMessageType.end.rawValue:
      let channel = try reader.channel()
      return .channelEnded(channel, try reader.channelEnd())
    default: throw .unknown(code: type)
    }
  }
}
