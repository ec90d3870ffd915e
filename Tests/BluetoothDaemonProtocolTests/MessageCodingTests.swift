import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemonProtocol

@Suite struct MessageCodingTests {
  private static let numbering = MessageSamples.numbering

  /// The frame in octets without its length.
  private func frame(_ octets: [UInt8]?) throws -> Frame {
    var parser = FrameParser(maximumLength: DaemonProtocol.maximumFrameLength)
    parser.append(try #require(octets))
    let frame = try #require(try parser.next())
    #expect(parser.waitingCount == 0)
    return frame
  }

  private func frames(seed: UInt64) throws -> (client: [Frame], server: [Frame]) {
    var samples = MessageSamples(seed: seed)
    return (
      try samples.clientMessages().map { try frame($0.encode(Self.numbering).frame()) },
      try samples.serverMessages().map { try frame($0.encode(Self.numbering).frame()) }
    )
  }

  @Test("Every message of a client with any fields decodes to itself", arguments: 0..<50 as Range<UInt64>)
  func clientMessages(seed: UInt64) throws {
    var samples = MessageSamples(seed: seed)
    for message in samples.clientMessages() {
      let octets = message.encode(Self.numbering).frame()
      let decoded = try ClientMessage(frame(octets), Self.numbering)
      #expect("\(decoded)" == "\(message)")
      #expect(decoded.encode(Self.numbering).frame() == octets)
    }
  }

  @Test("Every message of a server with any fields decodes to itself", arguments: 0..<50 as Range<UInt64>)
  func serverMessages(seed: UInt64) throws {
    var samples = MessageSamples(seed: seed)
    for message in samples.serverMessages() {
      let octets = message.encode(Self.numbering).frame()
      let decoded = try ServerMessage(frame(octets), Self.numbering)
      #expect("\(decoded)" == "\(message)")
      #expect(decoded.encode(Self.numbering).frame() == octets)
    }
  }

  @Test("The samples have every type of message, and no type belongs to two groups")
  func allTypes() throws {
    let (client, server) = try frames(seed: 1)
    let ofClient = MessagePage.ofClient.flatMap(\.numbers)
    let ofServer = MessagePage.ofServer.flatMap(\.numbers)
    #expect(Set(client.map(\.type)) == Set(ofClient))
    #expect(Set(server.map(\.type)) == Set(ofServer))
    #expect(ofClient.count == Set(ofClient).count)
    #expect(ofServer.count == Set(ofServer).count)
  }

  @Test("A message that ends too early, at any octet, is refused, and so is one with an octet too many")
  func truncation() throws {
    for seed in 0..<8 as Range<UInt64> {
      let (client, server) = try frames(seed: seed)
      for frame in client {
        for count in 0..<frame.payload.count {
          #expect(throws: DecodingError.self) {
            try ClientMessage(Frame(type: frame.type, payload: frame.payload.prefix(count)), Self.numbering)
          }
        }
        #expect(throws: DecodingError.excess) {
          try ClientMessage(Frame(type: frame.type, payload: ByteSlice(frame.payload.bytes + [0])), Self.numbering)
        }
      }
      for frame in server {
        for count in 0..<frame.payload.count {
          #expect(throws: DecodingError.self) {
            try ServerMessage(Frame(type: frame.type, payload: frame.payload.prefix(count)), Self.numbering)
          }
        }
        #expect(throws: DecodingError.excess) {
          try ServerMessage(Frame(type: frame.type, payload: ByteSlice(frame.payload.bytes + [0])), Self.numbering)
        }
      }
    }
  }

  @Test("A message with any octet changed is refused, or is a message that encodes to these octets")
  func corruption() throws {
    var random = RandomStream(seed: 5)
    let (client, server) = try frames(seed: 3)
    for (frame, isClient) in client.map({ ($0, true) }) + server.map({ ($0, false) }) {
      for index in 0..<frame.payload.count {
        var octets = frame.payload.bytes
        octets[index] ^= UInt8.random(in: 1...255, using: &random)
        let changed = Frame(type: frame.type, payload: ByteSlice(octets))
        let encoded: MessageWriter?
        if isClient {
          encoded = (try? ClientMessage(changed, Self.numbering))?.encode(Self.numbering)
        } else {
          encoded = (try? ServerMessage(changed, Self.numbering))?.encode(Self.numbering)
        }
        guard let encoded else { continue }
        // Sets of two equal elements are written once.
        if frame.type == CentralCommand.rows.registerForConnectionEvents.number { continue }
        #expect(try self.frame(encoded.frame()).payload == changed.payload)
      }
    }
  }

  @Test("Advertising with data that the other side would refuse can't be sent")
  func longAdvertising() {
    let limit = HostAdvertising.maximumExtendedLength
    let (longest, long) = (pattern(limit), pattern(limit + 1))
    func isSent(_ data: ByteSlice, _ scanResponse: ByteSlice = [], train: ByteSlice = []) -> Bool {
      var advertising = HostAdvertising(data: data, scanResponse: scanResponse)
      advertising.train = HostAdvertising.PeriodicTrain(interval: 6, data: train)
      let command = PeripheralCommand.startSet(LocalSetID(number: 1), advertising)
      return ClientMessage.peripheral(SessionNumber(1), command, seenStates: 0).encode(Self.numbering).frame() != nil
    }
    #expect(isSent(longest, longest, train: longest))
    #expect(!isSent(long) && !isSent([], long) && !isSent([], train: long))
  }

  private func pattern(_ count: Int) -> ByteSlice { ByteSlice([UInt8](repeating: 0xA5, count: count)) }

  @Test("The identifiers of an app's peers are those of the app on the way out, and the adapter's on the way in")
  func identifiers() throws {
    let shifted = PeerNumbering(
      number: { $0.index }, peer: { PeerHandle(index: $0) },
      outgoing: { PeerIdentifier(high: $0.high, low: $0.low + 1) },
      incoming: { PeerIdentifier(high: $0.high, low: $0.low - 1) })
    let plain = PeerNumbering(number: { $0.index }, peer: { PeerHandle(index: $0) })
    let peer = PeerInfo(
      handle: PeerHandle(index: 0), identifier: PeerIdentifier(high: 1, low: 2), name: nil)
    let event = ServerMessage.central(SessionNumber(1), .connectionEvent(peer, isConnected: true))
    let read = try ServerMessage(frame(event.encode(shifted).frame()), plain)
    guard case .central(_, .connectionEvent(let info, _)) = read else { throw DecodingError.truncated }
    #expect(info.identifier == PeerIdentifier(high: 1, low: 3))
    let filter = ConnectionEventFilter(peers: [info.identifier], services: [])
    let command = ClientMessage.central(SessionNumber(1), .registerForConnectionEvents(filter), seenStates: 0)
    let received = try ClientMessage(frame(command.encode(plain).frame()), shifted)
    guard case .central(_, .registerForConnectionEvents(let got), _) = received else { throw DecodingError.truncated }
    #expect(got?.peers == [peer.identifier])
  }

  @Test("An unknown type is told apart from invalid octets")
  func unknownType() {
    let frame = Frame(type: 0x7777, payload: [1, 2, 3])
    #expect(throws: DecodingError.unknown(code: 0x7777)) { try ClientMessage(frame, Self.numbering) }
    #expect(throws: DecodingError.unknown(code: 0x7777)) { try ServerMessage(frame, Self.numbering) }
  }

  @Test("Values that a daemon could not take are refused: unknown peers, endless delays, reversed ranges, long lists")
  func limits() throws {
    let number = SessionNumber(1)
    func message(_ command: CentralCommand) -> ClientMessage { .central(number, command, seenStates: 0) }
    let stranger = PeerHandle(index: MessageSamples.peerCount)
    // A sender does not send it, and a receiver does not take it.
    #expect(message(.readRSSI(stranger)).encode(Self.numbering).frame() == nil)
    let everyone = PeerNumbering(number: { $0.index }, peer: { PeerHandle(index: $0) })
    let octets = message(.readRSSI(PeerHandle(index: .max))).encode(everyone).frame()
    #expect(throws: DecodingError.invalid(field: "peer")) { try ClientMessage(frame(octets), Self.numbering) }
    for delay in [Int64.min, -1, .max] {
      let connect = message(.connect(PeerHandle(index: 1), delay: .nanoseconds(delay), reconnects: false))
      #expect(throws: DecodingError.invalid(field: "delay")) {
        try ClientMessage(frame(connect.encode(Self.numbering).frame()), Self.numbering)
      }
    }
    let many = [BluetoothUUID](repeating: BluetoothUUID(0x180D), count: DaemonProtocol.maximumFilterCount + 1)
    #expect(message(.discoverServices(PeerHandle(index: 1), many)).encode(Self.numbering).frame() == nil)
    let long = String(repeating: "x", count: DaemonProtocol.maximumTextLength + 1)
    let hello = ClientMessage.hello(Hello(adapter: long))
    #expect(hello.encode(Self.numbering).frame() == nil)
    let event = ServerMessage.central(
      number,
      .valueChanged(PeerHandle(index: 1), RemoteAttributeID(3), ByteSlice([UInt8](repeating: 0, count: 1 << 20))))
    #expect(event.encode(Self.numbering).frame() == nil)
  }

  @Test("A list that claims more elements than there are octets costs no memory")
  func hugeCounts() {
    var writer = MessageWriter(Self.numbering)
    writer.begin(CentralEvent.rows.servicesModified.number)
    writer.append(UInt32(1))
    writer.append(PeerHandle(index: 1))
    writer.append(UInt32.max)
    let octets = writer.frame()
    #expect(throws: DecodingError.truncated) { try ServerMessage(frame(octets), Self.numbering) }
  }
}
