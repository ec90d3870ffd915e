import BluetoothWire

/// The Client Characteristic Configurations of one client, by value handle · Vol 3, Part G, 3.3.3.3.
struct GATTSubscriptions {
  struct Entry {
    let value: AttributeHandle
    var subscription: GATTSubscription
    /// The security that the link needs before the value is sent.
    var requirement: GATTRequirement
  }

  /// The entries in ascending order of their value handles.
  private(set) var entries: [Entry] = []

  /// The client's configuration; empty: no subscription.
  subscript(value: AttributeHandle) -> GATTSubscription {
    let place = place(of: value)
    return place < entries.count && entries[place].value == value ? entries[place].subscription : []
  }

  /// Returns the ways in which this value may be sent over a link with this security; empty: none.
  func permitted(_ value: AttributeHandle, _ security: HostLinkSecurity) -> GATTSubscription {
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

  /// Removes the subscriptions for which `isGone` returns true, and returns their value handles.
  mutating func remove(where isGone: (AttributeHandle) -> Bool) -> [AttributeHandle] {
    let gone = entries.map(\.value).filter(isGone)
    entries.removeAll { isGone($0.value) }
    return gone
  }

  /// Returns the index of the first entry with a value handle of at least `value`.
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
