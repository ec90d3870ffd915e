import BluetoothWire

/// The Filter Accept List · Vol 6, Part B, 4.3.1.
struct AcceptList {
  static let capacity = 16

  private var addresses: [DeviceAddress] = []
  /// True if scanners accept anonymous advertisers; other roles never receive anonymous advertising.
  private(set) var hasAnonymous = false

  func contains(_ address: DeviceAddress) -> Bool { addresses.contains(address) }

  /// Adds an address, at most once. Returns false if the list is full.
  mutating func insert(_ peer: HCI.PeerAddress) -> Bool {
    let address = peer.deviceAddress
    guard !(address.map(contains) ?? hasAnonymous) else { return true }
    guard addresses.count + (hasAnonymous ? 1 : 0) < Self.capacity else { return false }
    if let address { addresses.append(address) } else { hasAnonymous = true }
    return true
  }

  mutating func remove(_ peer: HCI.PeerAddress) {
    guard let address = peer.deviceAddress else {
      hasAnonymous = false
      return
    }
    addresses.removeAll { $0 == address }
  }

  mutating func removeAll() { self = AcceptList() }
}
