import BluetoothWire

/// A request of the upper layer for other properties of a link.
package enum LinkRequest: Hashable, Sendable {
  /// The property that a request changes.
  package enum Kind: Hashable, Sendable {
    case connectionParameters, phys, dataLength
  }

  /// LE Connection Update · Vol 4, Part E, 7.8.18.
  case connectionParameters(LinkParameters)
  /// LE Set PHY · Vol 4, Part E, 7.8.49. `options` has the preferred coding of LE Coded.
  case phys(HCI.PHYPreference, options: UInt16)
  /// LE Set Data Length · Vol 4, Part E, 7.8.33.
  case dataLength(HCI.DataLength)

  package var kind: Kind {
    switch self {
    case .connectionParameters: .connectionParameters
    case .phys: .phys
    case .dataLength: .dataLength
    }
  }
}
