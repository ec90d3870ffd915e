import BluetoothWire

/// The ATT bearer of one link, client and server · Vol 3, Part F, 3.2.11; Vol 3, Part G.
package struct GATTBearer {
  package init(role: Link.Role, maximumMTU: Int, pool: PacketPool) {}

  /// When `timeReached` wants to be called.
  package var deadline: Instant? { nil }
  /// The ATT_MTU, 23 to `maximumMTU`.
  package var mtu: Int { ATT.defaultMTU }
  /// A transaction timed out, or the peer broke the rules of sequence: nothing is sent or taken in any more, and the
  /// link is to be ended · Vol 3, Part F, 3.3.3.
  package var isClosed: Bool { false }
  /// Whether the link is encrypted; the permissions of the database depend on it.
  package var isEncrypted: Bool = false

  /// The link is there. A central begins with the MTU exchange.
  package mutating func start(at now: Instant) {}
  /// Takes in one ATT PDU of the peer, of any content.
  package mutating func receive(_ octets: ByteSlice, database: inout GATTDatabase, at now: Instant) {}
  package mutating func timeReached(_ now: Instant) {}
  /// Begins a procedure of the client as soon as those before it have ended; it ends with `GATTEvent.completed`.
  package mutating func request(_ request: GATTRequest, token: GATTToken, at now: Instant) {}
  /// Answers a request of the peer; `value` is what a read gives, from the offset that was asked for, and empty for a
  /// write. A request that was answered before is ignored.
  package mutating func respond(
    to request: GATTServerRequest, with result: Result<ByteSlice, ATT.ErrorCode>, database: inout GATTDatabase,
    at now: Instant
  ) {}
  /// Sends a value to the client in the way in which it has subscribed, cut to MTU − 3 octets. Each call is followed
  /// by one `GATTEvent.updateSent`, at once if the client has not subscribed.
  package mutating func update(_ value: AttributeHandle, with bytes: ByteSlice, at now: Instant) {}
  /// The database has changed: ends the subscriptions to what is not there any more, and sends Service Changed to a
  /// client that has asked for it · Vol 3, Part G, 7.1.
  package mutating func databaseChanged(
    _ range: ClosedRange<AttributeHandle>, in database: GATTDatabase, at now: Instant
  ) {}
  /// The next PDU for the link; to be called only when the link has room for it.
  package mutating func takePDU(at now: Instant) -> ATT.PDU? { nil }
  package mutating func takeEvent() -> GATTEvent? { nil }
}
