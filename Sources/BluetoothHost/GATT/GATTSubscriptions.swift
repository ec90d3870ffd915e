import BluetoothWire

/// One client's configuration of the characteristics that it has subscribed to, by value handle · Vol 3, Part G, 3.3.3.3.
struct GATTSubscriptions {
  struct Entry {
    let value: AttributeHandle
    var subscription: GATTSubscription
    /// What the link must have for the value to be sent over it.
    var requirement: GATTRequirement
  }

  /// By value handle, ascending.
  private(set) var entries: [Entry] = []

  /// What the client asked for; empty: nothing.
  subscript(value: AttributeHandle) -> GATTSubscription {
    let place = place(of: value)
    return place < entries.count && entries[place].value == value ? entries[place].subscription : []
  }

  /// How this value may be sent over a link with this security; empty: not at all.
  func permitted(_ value: AttributeHandle, _ security: LinkSecurity) -> GATTSubscription {
    let place = place(of: value)
    guard place < entries.count, entries[place].value == value,
      entries[place].requirement.refusal(for: security) == nil
    else { return [] }
    return entries[place].subscription
  }

  mutating func set(_ value: AttributeHandle, _ subscription: GATTSubscription, _ requirement: GATTRequirement) {
    let place = place(of: value)
    let isThere = place < entries.count && entries[place].value == value
    let entry = Entry(value: value, subscription: subscription, requirement: requirement)
    switch (isThere, subscription.isEmpty) {
    case (true, true): entries.remove(at: place)
    case (true, false): entries[place] = entry
    case (false, true): break
    case (false, false): entries.insert(entry, at: place)
    }
  }

  /// Forgets the characteristics for which `isGone` says so, and names them.
  mutating func remove(where isGone: (AttributeHandle) -> Bool) -> [AttributeHandle] {
    let gone = entries.map(\.value).filter(isGone)
    entries.removeAll { isGone($0.value) }
    return gone
  }

  /// Where the first entry stands that is not before `value`.
  private func place(of value: AttributeHandle) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].value < value { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
