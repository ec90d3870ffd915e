import BluetoothWire
import DequeModule

/// The state that the client and the server of one bearer share.
struct GATTContext {
  let pool: PacketPool
  /// The largest ATT_MTU that this side accepts.
  let maximumMTU: Int
  private(set) var mtu = ATT.defaultMTU
  /// The security of the link, which determines the access to the database.
  var security = HostLinkSecurity.none
  /// The reason why the bearer is closed; nil: it is open.
  var closed: GATTError?
  var events: Deque<GATTEvent> = []

  init(maximumMTU: Int, pool: PacketPool) {
    self.maximumMTU = max(ATT.defaultMTU, min(maximumMTU, ATT.maximumMTU))
    self.pool = pool
  }

  /// Applies the result of an MTU exchange: the smaller of both sides' values, but at least the default
  /// · Vol 3, Part F, 3.4.2.
  mutating func agreeMTU(with peer: UInt16) {
    let agreed = max(ATT.defaultMTU, min(maximumMTU, Int(peer)))
    guard agreed != mtu else { return }
    mtu = agreed
    events.append(.mtuChanged(agreed))
  }
}

extension ATT {
  /// The largest ATT_MTU of this host: room for a value of maximum length with its opcode, handle and offset.
  package static let maximumMTU = 517
  /// The maximum time for the response to a request or the confirmation of an indication · Vol 3, Part F, 3.3.3.
  package static let transactionTimeout = TimeSpan.seconds(30)
}
