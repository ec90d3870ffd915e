import BluetoothWire

/// The current properties of a link, as reported by the controller.
package struct HostLinkProperties: Hashable, Sendable {
  package var values: HCI.ConnectionValues
  /// The PHYs for transmission and reception, each a single PHY.
  package var transmitPHY = HCI.PHYs.le1M
  package var receivePHY = HCI.PHYs.le1M
  package var transmitLength = HCI.DataLength(octets: 27, time: 328)
  package var receiveLength = HCI.DataLength(octets: 27, time: 328)
  /// The features of the peer's link layer; nil: not read yet.
  package var remoteFeatures: HCI.LEFeatures?

  package init(values: HCI.ConnectionValues) { self.values = values }
}

extension HCI.PHYs {
  /// Creates the PHY from its number in an event · Vol 4, Part E, 7.7.65.12; nil: the number is unknown.
  init?(number: UInt8) {
    switch number {
    case 1: self = .le1M
    case 2: self = .le2M
    case 3: self = .leCoded
    default: return nil
    }
  }
}
