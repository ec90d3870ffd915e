import BluetoothWire

/// The PHYs of a connection, and those that this device would like · Vol 6, Part B, 5.1.10.
struct PHYState {
  /// The PHYs of the next packets.
  var transmit: PHY
  var receive: PHY
  /// The PHYs of the last packets. Between the event before an instant and the one at it, `transmit` and `receive` are
  /// planned only.
  var current: (transmit: PHY, receive: PHY)
  /// What the host wants, or said that new connections shall have: LL_PHY_REQ and LL_PHY_RSP say it.
  var preferences: LL.PHYPreferences
  /// Which coding the host would like while the transmitter's PHY is LE Coded; S=8 reaches farther, and is the choice when
  /// the host has none · Vol 4, Part E, 7.8.49.
  var prefersS2 = false

  init(_ phy: PHY, preferences: LL.PHYPreferences) {
    transmit = phy
    receive = phy
    current = (phy, phy)
    self.preferences = preferences
  }

  /// How packets are sent.
  var modulation: Modulation { modulation(on: transmit) }

  /// How packets would be sent on `phy`.
  func modulation(on phy: PHY) -> Modulation {
    switch phy {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: prefersS2 ? .codedS2 : .codedS8
    }
  }

  /// The slowest modulation that the peer's packets may have.
  var slowestReceiveModulation: Modulation {
    switch receive {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: .codedS8
    }
  }

  /// What a central decides when both have told what they would like: of the PHYs that both want for a direction the
  /// fastest, and nothing for a direction that stays as it is · 5.1.10.
  func update(with peer: LL.PHYPreferences) -> LL.PHYUpdate {
    LL.PHYUpdate(
      centralToPeripheral: Self.choice(preferences.transmit.intersection(peer.receive), current: transmit),
      peripheralToCentral: Self.choice(preferences.receive.intersection(peer.transmit), current: receive))
  }

  private static func choice(_ phys: HCI.PHYs, current: PHY) -> HCI.PHYs {
    for phy in [HCI.PHYs.le2M, .le1M, .leCoded] where phys.contains(phy) {
      return phy.single == current ? [] : phy
    }
    return []
  }

  /// Takes what LL_PHY_UPDATE_IND says; says whether anything changes.
  mutating func apply(_ update: LL.PHYUpdate, role: Connection.Role) -> Bool {
    let (transmit, receive) =
      role == .central
      ? (update.centralToPeripheral, update.peripheralToCentral)
      : (update.peripheralToCentral, update.centralToPeripheral)
    let before = (self.transmit, self.receive)
    self.transmit = transmit.single ?? self.transmit
    self.receive = receive.single ?? self.receive
    return before != (self.transmit, self.receive)
  }
}

extension HCI.LEFeatures {
  /// What a controller with these features sends and receives.
  var phys: HCI.PHYs {
    var result = HCI.PHYs.le1M
    if contains(.le2MPHY) { result.insert(.le2M) }
    if contains(.leCodedPHY) { result.insert(.leCoded) }
    return result
  }
}

extension LL.PHYPreferences {
  /// The part of a wish that a controller with these features can fulfil; LE 1M where there is none.
  func possible(with features: HCI.LEFeatures) -> LL.PHYPreferences {
    func possible(_ phys: HCI.PHYs) -> HCI.PHYs {
      let result = phys.intersection(features.phys)
      return result.isEmpty ? .le1M : result
    }
    return LL.PHYPreferences(transmit: possible(transmit), receive: possible(receive))
  }
}
