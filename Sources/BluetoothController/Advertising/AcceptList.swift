import BluetoothWire

/// The Filter Accept List · Vol 6, Part B, 4.3.1.
struct AcceptList {
  static let capacity = 16

  private var addresses: [DeviceAddress] = []
  /// Devices that advertise anonymously are on it too; they exist in extended advertising only.
  private var hasAnonymous = false

  func contains(_ address: DeviceAddress) -> Bool { addresses.contains(address) }

  /// False when there is no room. What is there already stays there once.
  mutating func insert(_ peer: HCI.PeerAddress) -> Bool {
    guard let address = peer.deviceAddress else {
      hasAnonymous = true
      return true
    }
    guard !addresses.contains(address) else { return true }
    guard addresses.count < Self.capacity else { return false }
    addresses.append(address)
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
