import BluetoothWire

/// What a link is like at the moment, as far as the controller has told.
package struct LinkProperties: Hashable, Sendable {
  package var values: HCI.ConnectionValues
  /// One physical layer each.
  package var transmitPHY = HCI.PHYs.le1M
  package var receivePHY = HCI.PHYs.le1M
  package var transmitLength = HCI.DataLength(octets: 27, time: 328)
  package var receiveLength = HCI.DataLength(octets: 27, time: 328)
  /// What the peer's link layer can do; nil: nobody has asked yet.
  package var remoteFeatures: HCI.LEFeatures?

  package init(values: HCI.ConnectionValues) { self.values = values }
}

extension HCI.PHYs {
  /// The layer that an event names by its number · Vol 4, Part E, 7.7.65.12; nil: there is none.
  init?(number: UInt8) {
    switch number {
    case 1: self = .le1M
    case 2: self = .le2M
    case 3: self = .leCoded
    default: return nil
    }
  }
}
