/// The index of a session in the daemon's table. It is reused once the session has closed.
protocol SessionSlot: Hashable, Sendable {
  var index: Int { get }
  init(index: Int)
}

/// The slot of a central manager's session.
struct CentralSlot: SessionSlot {
  let index: Int
}

/// The slot of a peripheral manager's session.
struct PeripheralSlot: SessionSlot {
  let index: Int
}
