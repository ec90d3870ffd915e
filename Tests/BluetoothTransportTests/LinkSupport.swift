import BluetoothTransport
import BluetoothWire
import NIOCore
import NIOPosix
import Testing

/// One end of a link over the system's sockets, which reports each event as it occurs.
final class LinkEnd: H4Receiver, Sendable {
  enum Note: Equatable, Sendable {
    case opened
    case packet(HCI.Packet)
    case synchronizationLost
    case closed(reason: String?, cut: Int)
  }

  let notes: AsyncStream<Note>
  private let continuation: AsyncStream<Note>.Continuation
  private let keepsOpen: Bool

  /// - Parameter keepsOpen: If false, the end closes the link on octets that are no packets.
  init(keepsOpen: Bool = true) {
    self.keepsOpen = keepsOpen
    (notes, continuation) = AsyncStream.makeStream()
  }

  func opened(_ link: H4Handler) { continuation.yield(.opened) }
  func receive(_ packet: HCI.Packet, on link: H4Handler) { continuation.yield(.packet(packet)) }
  func synchronizationLost(on link: H4Handler) {
    continuation.yield(.synchronizationLost)
    if !keepsOpen { link.close() }
  }
  func receivedAll(on link: H4Handler) {}
  func closed(_ ending: H4Ending, on link: H4Handler) {
    continuation.yield(.closed(reason: ending.reason, cut: ending.cut))
  }
}

/// A link with its events, for tests outside its event loop.
struct TransportLink {
  let loop: any EventLoop
  let handler: NIOLoopBound<H4Handler>
  private var notes: AsyncStream<LinkEnd.Note>.Iterator

  private init(_ end: LinkEnd, _ handler: NIOLoopBound<H4Handler>) {
    self.handler = handler
    loop = handler.eventLoop
    notes = end.notes.makeAsyncIterator()
  }

  static let group = MultiThreadedEventLoopGroup.singleton

  /// Returns a host's end, connected to `specifier`.
  static func connect(to specifier: TransportSpecifier) async throws -> TransportLink {
    try await make(.host, specifier.writing) { Transport.connect(specifier, with: $0, on: $1) }
  }

  /// Returns an end on a descriptor.
  static func adopt(
    _ descriptor: CInt, _ side: H4Decoder.Side = .host, _ writing: H4Handler.Writing = .stream
  ) async throws -> TransportLink {
    try await make(side, writing) { Transport.adopt(descriptor, with: $0, on: $1) }
  }

  private static func make(
    _ side: H4Decoder.Side, _ writing: H4Handler.Writing,
    _ connect: @escaping @Sendable (H4Handler, any EventLoop) -> EventLoopFuture<Void>
  ) async throws -> TransportLink {
    let loop = group.next()
    let end = LinkEnd()
    let handler = try await loop.flatSubmit {
      let handler = H4Handler(for: side, pool: PacketPool(), writing: writing, receiver: end)
      let bound = NIOLoopBound(handler, eventLoop: loop)
      return connect(handler, loop).map { bound }
    }.get()
    var link = TransportLink(end, handler)
    #expect(await link.next() == .opened)
    return link
  }

  mutating func next() async -> LinkEnd.Note? { await notes.next() }

  /// Returns all events up to and including the end of the link.
  mutating func rest() async -> [LinkEnd.Note] {
    var rest: [LinkEnd.Note] = []
    while let note = await notes.next() {
      rest.append(note)
      if case .closed = note { break }
    }
    return rest
  }

  func send(_ packets: [HCI.Packet]) async throws {
    try await loop.submit { [handler] in
      for packet in packets { handler.value.send(packet) }
      handler.value.flush()
    }.get()
  }

  func send(octets: [UInt8]) async throws {
    try await loop.submit { [handler] in
      handler.value.send(octets: octets)
      handler.value.flush()
    }.get()
  }

  func close() async throws {
    try await loop.submit { [handler] in handler.value.close() }.get()
  }
}

/// A listener with its connections, in the order in which they arrive.
struct TransportListener {
  let listener: H4Listener
  private var ends: AsyncStream<LinkEnd>.Iterator

  init(_ specifier: TransportSpecifier, _ side: H4Decoder.Side = .controller, keepsOpen: Bool = true) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: LinkEnd.self)
    ends = stream.makeAsyncIterator()
    listener = try await H4Listener.bind(specifier, on: TransportLink.group) {
      let end = LinkEnd(keepsOpen: keepsOpen)
      continuation.yield(end)
      return H4Handler(for: side, pool: PacketPool(), receiver: end)
    }.get()
  }

  var specifier: TransportSpecifier { listener.specifier }

  /// Returns the events of the next connection, from its beginning.
  mutating func next() async throws -> AsyncStream<LinkEnd.Note>.Iterator {
    try #require(await ends.next()).notes.makeAsyncIterator()
  }

  func close() async throws { try await listener.close().get() }
}

/// Packets of all kinds, and their octets, as hosts send them.
enum Sample {
  static let reset = HCI.Packet.command(opcode: .reset, parameters: ByteSlice())
  static let data = HCI.Packet.acl(
    HCI.ACLData(
      handle: HCI.ConnectionHandle(rawValue: 0x0041), boundary: .firstFlushable, payload: ByteSlice([1, 2, 3])))
  static let empty = HCI.Packet.acl(
    HCI.ACLData(handle: HCI.ConnectionHandle(rawValue: 0x0041), boundary: .continuing, payload: ByteSlice()))
  static let event = HCI.Packet.event(code: 0x10, parameters: ByteSlice([0x00]))

  static func octets(_ packets: [HCI.Packet]) -> [UInt8] {
    var buffer = ByteBuffer()
    for packet in packets { buffer.writeHCIPacket(packet) }
    return Array(buffer.readableBytesView)
  }
}
