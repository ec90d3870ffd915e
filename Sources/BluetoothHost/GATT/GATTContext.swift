import BluetoothWire
import DequeModule

/// What the client and the server of one bearer share.
struct GATTContext {
  let pool: PacketPool
  /// The largest ATT_MTU that this side takes.
  let maximumMTU: Int
  private(set) var mtu = ATT.defaultMTU
  /// The link's; the permissions of the database depend on it.
  var security = LinkSecurity.none
  /// Why the bearer is closed; nil: it is open.
  var closed: GATTError?
  var events: Deque<GATTEvent> = []

  init(maximumMTU: Int, pool: PacketPool) {
    self.maximumMTU = max(ATT.defaultMTU, min(maximumMTU, ATT.maximumMTU))
    self.pool = pool
  }

  /// The result of an exchange: the smaller of the two sides, but never below the default · Vol 3, Part F, 3.4.2.
  mutating func agreeMTU(with peer: UInt16) {
    let agreed = max(ATT.defaultMTU, min(maximumMTU, Int(peer)))
    guard agreed != mtu else { return }
    mtu = agreed
    events.append(.mtuChanged(agreed))
  }
}

extension ATT {
  /// The largest ATT_MTU of this host: a value of the longest kind, its handle and offset, and the opcode fit.
  package static let maximumMTU = 517
  /// How long an answer to a request or an indication may take · Vol 3, Part F, 3.3.3.
  package static let transactionTimeout = TimeSpan.seconds(30)
}
