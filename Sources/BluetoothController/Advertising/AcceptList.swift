import BluetoothWire

/// The Filter Accept List · Vol 6, Part B, 4.3.1.
struct AcceptList {
  static let capacity = 16

  private var addresses: [DeviceAddress] = []

  func contains(_ address: DeviceAddress) -> Bool { addresses.contains(address) }

  /// False when there is no room. What is there already stays there once.
  mutating func insert(_ peer: HCI.PeerAddress) -> Bool {
    // Devices that advertise anonymously exist in extended advertising only: nothing is ever filtered by them.
    guard let address = peer.deviceAddress else { return true }
    guard !addresses.contains(address) else { return true }
    guard addresses.count < Self.capacity else { return false }
    addresses.append(address)
    return true
  }

  mutating func remove(_ peer: HCI.PeerAddress) {
    guard let address = peer.deviceAddress else { return }
    addresses.removeAll { $0 == address }
  }

  mutating func removeAll() { self = AcceptList() }
}
