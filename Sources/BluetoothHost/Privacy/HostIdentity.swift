import BluetoothWire

/// The identity of a bonded device: its identity address and its keys · Vol 3, Part H, 2.4.2.
package struct HostIdentity: Hashable, Sendable {
  /// The identity address, which stays the same whatever addresses the device uses on the air.
  package var address: DeviceAddress
  private var peerSecret: Secret<UInt128>
  private var localSecret: Secret<UInt128>
  /// True for device privacy mode: the device may use its identity address although it has private addresses
  /// · Vol 6, Part B, 4.7.
  package var isDevicePrivacy: Bool

  package init(address: DeviceAddress, peerKey: UInt128, localKey: UInt128, isDevicePrivacy: Bool = false) {
    self.address = address
    peerSecret = Secret(peerKey)
    localSecret = Secret(localKey)
    self.isDevicePrivacy = isDevicePrivacy
  }

  /// The peer's Identity Resolving Key, which generates its private addresses; 0: the peer has none.
  package var peerKey: UInt128 {
    get { peerSecret.value }
    set { peerSecret.value = newValue }
  }
  /// The local Identity Resolving Key, which generates this device's private addresses for this peer; 0: none.
  package var localKey: UInt128 {
    get { localSecret.value }
    set { localSecret.value = newValue }
  }
}
