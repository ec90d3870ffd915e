import BluetoothWire

/// One client's configuration of the characteristics that it has subscribed to, by value handle. It lasts as long as
/// the bearer, as it shall for a client that is not bonded · Vol 3, Part G, 3.3.3.3.
struct GATTSubscriptions {
  private var entries: [(value: AttributeHandle, subscription: GATTSubscription)] = []

  /// What the client asked for; empty: nothing.
  subscript(value: AttributeHandle) -> GATTSubscription {
    get {
      for entry in entries where entry.value == value { return entry.subscription }
      return []
    }
    set {
      entries.removeAll { $0.value == value }
      if !newValue.isEmpty { entries.append((value, newValue)) }
    }
  }

  /// Forgets the characteristics for which `isGone` says so, and names them.
  mutating func remove(where isGone: (AttributeHandle) -> Bool) -> [AttributeHandle] {
    let gone = entries.map(\.value).filter(isGone)
    entries.removeAll { isGone($0.value) }
    return gone
  }
}
