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

  /// Encodes the message. `MessageWriter.frame` returns the octets, unless the message can't be sent.
  package func encode(_ numbering: PeerNumbering) -> MessageWriter {
    var writer = MessageWriter(numbering)
    encode(into: &writer)
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
    if let row = CentralCommand.table[type] {
      let session = try SessionNumber(from: &reader)
      let seenStates = try reader.uint32()
      return .central(session, try row.decode(&reader), seenStates: seenStates)
    }
    if let row = PeripheralCommand.table[type] {
      let session = try SessionNumber(from: &reader)
      let seenStates = try reader.uint32()
      return .peripheral(session, try row.decode(&reader), seenStates: seenStates)
    }
    if let row = AppMessage.table[type] { return .app(try row.decode(&reader)) }
    guard let row = table[type] else { throw .unknown(code: type) }
    return try row.decode(&reader)
  }
}

extension ClientMessage: MessageGroup {
  struct Rows {
    let hello = MessageRow(
      0x0001, "hello", "the first message: the versions that the client can speak, and what it wants",
      ClientMessage.hello, "greeting")
    let unknownMessage = MessageRow(
      0x0004, "unknownMessage", "the client does not know the type of a message", ClientMessage.unknownMessage, "type")
    let introduce = MessageRow(
      0x0005, "introduce",
      "a device that the client knows from before, and that becomes a peer, if a central manager may use Bluetooth",
      ClientMessage.introduce, "device")
    let listClients = MessageRow(0x0006, "listClients", "answered by `clients`", ClientMessage.listClients)
    let openCentral = MessageRow(
      0x0100, "openCentral", "opens the session of a central manager", ClientMessage.openCentral,
      "number, which the client chooses")
    let closeCentral = MessageRow(
      0x0101, "closeCentral", "closes the session of a central manager", ClientMessage.closeCentral, "session")
    let openPeripheral = MessageRow(
      0x0200, "openPeripheral", "opens the session of a peripheral manager", ClientMessage.openPeripheral,
      "number, which the client chooses")
    let closePeripheral = MessageRow(
      0x0201, "closePeripheral", "closes the session of a peripheral manager", ClientMessage.closePeripheral, "session")
    let channelOctets = MessageRow(
      0x0400, "channelOctets", "octets that the app has written to a channel",
      { (channel: ChannelHandle, part: ChannelPart) in ClientMessage.channelOctets(channel, part.octets) }, "channel",
      "octets")
    let channelRead = MessageRow(
      0x0401, "channelRead", "the app has read frames of octets", ClientMessage.channelRead, "channel",
      "number of frames")
    let closeChannel = MessageRow(
      0x0402, "closeChannel", "the app has closed a channel", ClientMessage.closeChannel, "channel")
    let eventsHandled = MessageRow(
      0x0500, "eventsHandled",
      "the app has handled events; the next process of the app gets the others, if its session is preserved",
      ClientMessage.eventsHandled, "session", "number of further events")
  }

  static let rows = Rows()
  static let table = RowTable<ClientMessage>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .central(let session, let command, let seenStates):
      session.encode(into: &writer)
      seenStates.encode(into: &writer)
      command.encode(into: &writer)
    case .peripheral(let session, let command, let seenStates):
      session.encode(into: &writer)
      seenStates.encode(into: &writer)
      command.encode(into: &writer)
    case .app(let message): message.encode(into: &writer)
    case .hello(let hello): rows.hello.encode(hello, into: &writer)
    case .unknownMessage(let type): rows.unknownMessage.encode(type, into: &writer)
    case .introduce(let address): rows.introduce.encode(address, into: &writer)
    case .listClients: rows.listClients.encode(into: &writer)
    case .openCentral(let session): rows.openCentral.encode(session, into: &writer)
    case .closeCentral(let session): rows.closeCentral.encode(session, into: &writer)
    case .openPeripheral(let session): rows.openPeripheral.encode(session, into: &writer)
    case .closePeripheral(let session): rows.closePeripheral.encode(session, into: &writer)
    case .channelOctets(let channel, let octets):
      rows.channelOctets.encode(channel, ChannelPart(octets: octets), into: &writer)
    case .channelRead(let channel, let frames): rows.channelRead.encode(channel, frames, into: &writer)
    case .closeChannel(let channel): rows.closeChannel.encode(channel, into: &writer)
    case .eventsHandled(let session, let count): rows.eventsHandled.encode(session, count, into: &writer)
    }
  }
}

extension SessionNumber: MessageField {
  @inline(__always) func encode(into writer: inout MessageWriter) { writer.append(value) }
  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) { self.init(try reader.uint32()) }
  static func words(_ types: inout TypeList) -> String { "session" }
}

extension Hello: MessageStructure {
  static var blank: Hello { Hello() }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    var (lowest, highest) = (versions.lowerBound, versions.upperBound)
    try visitor.magic()
    try visitor.field("lowest version", &lowest)
    try visitor.field("highest version", &highest)
    try visitor.check(lowest <= highest, "versions")
    versions = lowest...highest
    try visitor.field("name of the adapter; empty: the first one", &adapter)
    try visitor.field("name of the program", &program)
    try visitor.field("token; empty on a Unix socket", &token, as: Token.self)
  }
}

extension FieldVisitor {
  /// Visits the number by which a socket of another program is recognized.
  mutating func magic() throws(Failure) {
    var number = DaemonProtocol.magic
    try field("0x53425442 (`BTBS`)", &number)
    try check(number == DaemonProtocol.magic, "protocol")
  }
}

/// The token of a user.
struct Token: LimitedOctets {
  static var limit: Int { Hello.maximumTokenLength }
  let octets: ByteSlice
}
