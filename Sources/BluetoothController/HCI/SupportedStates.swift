import BluetoothWire

/// What a device of a configuration can be at all.
package struct ControllerRoles: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let advertiser = ControllerRoles(rawValue: 1 << 0)
  package static let scanner = ControllerRoles(rawValue: 1 << 1)
  package static let central = ControllerRoles(rawValue: 1 << 2)
  package static let peripheral = ControllerRoles(rawValue: 1 << 3)
  package static let all: ControllerRoles = [.advertiser, .scanner, .central, .peripheral]
}

extension ControllerConfiguration {
  /// Bluetooth 4.0 has the first 29 bits: what a peripheral does besides came later.
  var supportedStates: UInt64 {
    version > Self.version40 ? roles.supportedStates : roles.supportedStates & 0x1FFF_FFFF
  }
}

extension ControllerRoles {
  /// The states and combinations of states of LE Read Supported States, all of which this link layer has as far as the
  /// roles go · Vol 4, Part E, 7.8.27.
  var supportedStates: UInt64 {
    var bits: UInt64 = 0
    for (bit, needed) in Self.rolesOfStates.enumerated() where needed.isSubset(of: self) { bits |= 1 << bit }
    return bits
  }

  /// The roles that belong to each bit, 0 to 41. An advertiser that can be connected to is a peripheral-to-be; an initiator
  /// is a central-to-be.
  private static let rolesOfStates: [ControllerRoles] = {
    let broadcaster: ControllerRoles = .advertiser
    let connectable: ControllerRoles = [.advertiser, .peripheral]
    return [
      // Alone: the four ways of advertising, the two of scanning, initiating, peripheral.
      broadcaster, broadcaster, connectable, connectable, .scanner, .scanner, .central, .peripheral,
      // Advertising with passive, then with active scanning.
      [.scanner, broadcaster], [.scanner, broadcaster], [.scanner, connectable], [.scanner, connectable],
      [.scanner, broadcaster], [.scanner, broadcaster], [.scanner, connectable], [.scanner, connectable],
      // Non-connectable and scannable advertising with initiating, as central, as peripheral.
      [.central, broadcaster], [.central, broadcaster], [.central, broadcaster], [.central, broadcaster],
      [.peripheral, broadcaster], [.peripheral, broadcaster],
      // Scanning with initiating, as central, as peripheral.
      [.scanner, .central], [.scanner, .central], [.scanner, .central], [.scanner, .central],
      [.scanner, .peripheral], [.scanner, .peripheral],
      // Initiating as central.
      .central,
      // Low duty cycle directed advertising: alone, with the two ways of scanning.
      connectable, [.scanner, connectable], [.scanner, connectable],
      // The three connectable ways of advertising with initiating, as central, as peripheral.
      [.central, connectable], [.central, connectable], [.central, connectable],
      [.central, connectable], [.central, connectable], [.central, connectable],
      connectable, connectable, connectable,
      // Initiating as peripheral.
      [.central, .peripheral],
    ]
  }()
}
