import BluetoothDaemon
import BluetoothWire

/// The number of a session of one connection. The client assigns it and does not use it for another session.
package struct SessionNumber: Hashable, Sendable {
  package let value: UInt32
  package init(_ value: UInt32) { self.value = value }
}

/// The first message of a client.
package struct Hello: Hashable, Sendable {
  /// The versions of the protocol that the client can speak.
  package var versions: ClosedRange<UInt16>
  /// The name of the adapter that the client wants to use; empty: the server's first one.
  package var adapter: String
  /// The name of the client's program, for the log. The server does not believe it.
  package var program: String
  /// The token of the user who may use the server over TCP; empty on a Unix socket.
  package var token: ByteSlice

  /// The maximum length of a token in octets.
  package static let maximumTokenLength = 512

  package init(
    versions: ClosedRange<UInt16> = DaemonProtocol.versions, adapter: String = "", program: String = "",
    token: ByteSlice = ByteSlice()
  ) {
    self.versions = versions
    self.adapter = adapter
    self.program = program
    self.token = token
  }
}

/// A message from a client to the server.
package enum ClientMessage: Sendable {
  case hello(Hello)
  /// The client does not know the type of a message.
  case unknownMessage(type: UInt16)
  /// The client knows this device from a former run of the server. The server's directory then has it as a peer.
  case introduce(DeviceAddress)
  /// Asks for the clients of the server; answered by `clients`.
  case listClients
  case app(AppMessage)
  case openCentral(SessionNumber)
  case closeCentral(SessionNumber)
  /// A command of a central manager. `seenStates`: the number of the session's state changes on this connection that
  /// the app had seen; see `SessionCounters.seenStates`.
  case central(SessionNumber, CentralCommand, seenStates: UInt32)
  case openPeripheral(SessionNumber)
  case closePeripheral(SessionNumber)
  case peripheral(SessionNumber, PeripheralCommand, seenStates: UInt32)
  /// The app has handled this many more events of the session.
  case eventsHandled(SessionNumber, count: UInt32)
  /// Octets that the app has written to a channel.
  case channelOctets(ChannelHandle, ByteSlice)
  /// The app has read this many more frames of octets of a channel.
  case channelRead(ChannelHandle, frames: UInt32)
  /// The app has closed a channel.
  case closeChannel(ChannelHandle)

  private var type: UInt16 {
    switch self {
    case .hello: ConnectionMessageType.hello.rawValue
    case .unknownMessage: ConnectionMessageType.unknownMessage.rawValue
    case .introduce: ConnectionMessageType.introduce.rawValue
    case .listClients: ConnectionMessageType.listClients.rawValue
    case .app(let message): message.type.rawValue
    case .openCentral: SessionMessageType.openCentral.rawValue
    case .closeCentral: SessionMessageType.closeCentral.rawValue
    case .openPeripheral: SessionMessageType.openPeripheral.rawValue
    case .closePeripheral: SessionMessageType.closePeripheral.rawValue
    case .central(_, let command, _): command.type.rawValue
    case .peripheral(_, let command, _): command.type.rawValue
    case .eventsHandled: CountMessageType.eventsHandled.rawValue
    case .channelOctets: ChannelMessageType.octets.rawValue
    case .channelRead: ChannelMessageType.credit.rawValue
    case .closeChannel: ChannelMessageType.end.rawValue
    }
  }

  /// Encodes the message. `MessageWriter.frame` returns the octets, unless the message can't be sent.
  package func encode(_ numbering: PeerNumbering) -> MessageWriter {
    var writer = MessageWriter(type, numbering)
    switch self {
    case .hello(let hello):
      writer.append(DaemonProtocol.magic)
      writer.append(hello.versions.lowerBound)
      writer.append(hello.versions.upperBound)
      writer.append(hello.adapter)
      writer.append(hello.program)
      writer.append(hello.token)
    case .unknownMessage(let type): writer.append(type)
    case .introduce(let address): writer.append(address)
    case .listClients: break
    case .app(let message): message.encode(into: &writer)
    case .openCentral(let session), .closeCentral(let session), .openPeripheral(let session),
      .closePeripheral(let session):
      writer.append(session.value)
    case .central(let session, let command, let seenStates):
      writer.append(session.value)
      writer.append(seenStates)
      command.encode(into: &writer)
    case .peripheral(let session, let command, let seenStates):
      writer.append(session.value)
      writer.append(seenStates)
      command.encode(into: &writer)
    case .eventsHandled(let session, let count):
      writer.append(session.value)
      writer.append(count)
    case .channelOctets(let channel, let octets):
      writer.append(channel.key.rawValue)
      writer.append(octets)
    case .channelRead(let channel, let frames):
      writer.append(channel.key.rawValue)
      writer.append(frames)
    case .closeChannel(let channel): writer.append(channel.key.rawValue)
    }
    return writer
  }

  /// Decodes a message.
  ///
  /// - Throws: `unknown` with the type if the type is unknown: the answer is `unknownMessage`. Any other error ends the
  ///   connection.
  package init(_ frame: Frame, _ numbering: PeerNumbering) throws(DecodingError) {
    var reader = MessageReader(frame.payload, numbering)
    self = try Self.read(frame.type, &reader)
    try reader.end()
  }

  private static func read(_ type: UInt16, _ reader: inout MessageReader) throws(DecodingError) -> ClientMessage {
    if let type = CentralCommandType(rawValue: type) {
      let session = try reader.session()
      let seenStates = try reader.uint32()
      return .central(session, try CentralCommand(type, from: &reader), seenStates: seenStates)
    }
    if let type = PeripheralCommandType(rawValue: type) {
      let session = try reader.session()
      let seenStates = try reader.uint32()
      return .peripheral(session, try PeripheralCommand(type, from: &reader), seenStates: seenStates)
    }
    if let type = AppRequestType(rawValue: type) { return .app(try AppMessage(type, from: &reader)) }
    if let type = SessionMessageType(rawValue: type) {
      let session = try reader.session()
      switch type {
      case .openCentral: return .openCentral(session)
      case .closeCentral: return .closeCentral(session)
      case .openPeripheral: return .openPeripheral(session)
      case .closePeripheral: return .closePeripheral(session)
      }
    }
    switch type {
    case ConnectionMessageType.hello.rawValue: return .hello(try reader.hello())
    case ConnectionMessageType.unknownMessage.rawValue: return .unknownMessage(type: try reader.uint16())
    case ConnectionMessageType.introduce.rawValue: return .introduce(try reader.address())
    case ConnectionMessageType.listClients.rawValue: return .listClients
    case CountMessageType.eventsHandled.rawValue:
      let session = try reader.session()
      return .eventsHandled(session, count: try reader.uint32())
    case ChannelMessageType.octets.rawValue:
      let channel = try reader.channel()
      return .channelOctets(channel, try reader.slice(atMost: DaemonProtocol.maximumChannelPart))
    case ChannelMessageType.credit.rawValue:
      let channel = try reader.channel()
      return .channelRead(channel, frames: try reader.uint32())
    case ChannelMessageType.end.rawValue: return .closeChannel(try reader.channel())
    default: throw .unknown(code: type)
    }
  }
}

extension MessageReader {
  mutating func session() throws(DecodingError) -> SessionNumber { SessionNumber(try uint32()) }

  fileprivate mutating func hello() throws(DecodingError) -> Hello {
    guard try uint32() == DaemonProtocol.magic else { throw .invalid(field: "protocol") }
    let lowest = try uint16()
    let highest = try uint16()
    guard lowest <= highest else { throw .invalid(field: "versions") }
    let adapter = try text()
    let program = try text()
    return Hello(
      versions: lowest...highest, adapter: adapter, program: program,
      token: try slice(atMost: Hello.maximumTokenLength))
  }
}
