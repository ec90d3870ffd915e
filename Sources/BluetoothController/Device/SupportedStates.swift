import BluetoothWire

extension ControllerConfiguration {
  /// The states of LE Read Supported States. Bluetooth 4.0 has the first 29 bits; the further states of a peripheral
  /// came later.
  var supportedStates: UInt64 {
    version > HCI.Version.bluetooth40 ? roles.supportedStates : roles.supportedStates & 0x1FFF_FFFF
  }
}

extension ControllerRoles {
  /// The states and combinations of states of LE Read Supported States. The link layer supports all of them, as far
  /// as the roles permit · Vol 4, Part E, 7.8.27.
  var supportedStates: UInt64 {
    var bits: UInt64 = 0
    for (bit, needed) in Self.rolesOfStates.enumerated() where needed.isSubset(of: self) { bits |= 1 << bit }
    return bits
  }

  /// The roles that each bit, 0 to 41, requires. Connectable advertising requires the peripheral role; initiating
  /// requires the central role.
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
