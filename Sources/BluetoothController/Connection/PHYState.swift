import BluetoothWire

/// The PHYs of a connection and this device's preferences · Vol 6, Part B, 5.1.10.
struct PHYState {
  /// The PHYs of the next packets.
  var transmit: RadioPHY
  var receive: RadioPHY
  /// The PHYs of the last packets. Between the event before an instant and the event at the instant, `transmit` and
  /// `receive` are not in use yet.
  var current: (transmit: RadioPHY, receive: RadioPHY)
  /// The PHYs that the host prefers for this connection, or for new connections: the content of LL_PHY_REQ and
  /// LL_PHY_RSP.
  var preferences: LL.PHYPreferences
  /// True if the host prefers S=2 while the transmit PHY is LE Coded. S=8 has a longer range, and is the default
  /// without a preference · Vol 4, Part E, 7.8.49.
  var prefersS2 = false

  init(_ phy: RadioPHY, preferences: LL.PHYPreferences) {
    transmit = phy
    receive = phy
    current = (phy, phy)
    self.preferences = preferences
  }

  /// The modulation of packets sent.
  var modulation: Modulation { modulation(on: transmit) }

  /// Returns the modulation of packets sent on `phy`.
  func modulation(on phy: RadioPHY) -> Modulation {
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

  /// Returns the PHYs that a central chooses from the preferences of both devices: the fastest PHY that both prefer
  /// in a direction, and none for a direction that does not change · 5.1.10.
  func update(with peer: LL.PHYPreferences) -> LL.PHYUpdate {
    LL.PHYUpdate(
      centralToPeripheral: Self.choice(preferences.transmit.intersection(peer.receive), current: transmit),
      peripheralToCentral: Self.choice(preferences.receive.intersection(peer.transmit), current: receive))
  }

  private static func choice(_ phys: HCI.PHYs, current: RadioPHY) -> HCI.PHYs {
    for phy in [HCI.PHYs.le2M, .le1M, .leCoded] where phys.contains(phy) {
      return phy.single == current ? [] : phy
    }
    return []
  }

  /// Sets the preferences of LE Set PHY for a controller with these features · Vol 4, Part E, 7.8.49.
  mutating func prefer(_ preference: HCI.PHYPreference, options: UInt16, features: HCI.LEFeatures) {
    preferences = LL.PHYPreferences(preference, of: features)
    // PHY_Options: 0 no preference, 1: S=2, 2: S=8.
    prefersS2 = options & 0b11 == 1
  }

  /// Applies LL_PHY_UPDATE_IND; returns true if a PHY changes.
  mutating func apply(_ update: LL.PHYUpdate, role: ConnectionRole) -> Bool {
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

extension LL.PHYPreferences {
  /// Creates the preferences of the host; without a preference, all PHYs.
  init(_ preference: HCI.PHYPreference, of features: HCI.LEFeatures) {
    self.init(transmit: preference.transmit ?? features.phys, receive: preference.receive ?? features.phys)
  }

  /// Returns the error if the host of a controller with these features can't have this preference; nil: it can · Vol
  /// 4, Part E, 7.8.48, 7.8.49.
  func refusal(with features: HCI.LEFeatures) -> HCI.ErrorCode? {
    if transmit.isEmpty || receive.isEmpty { return .invalidHCICommandParameters }
    return transmit.union(receive).isSubset(of: features.phys) ? nil : .unsupportedFeatureOrParameterValue
  }

  /// Returns the part of the preferences that a controller with these features supports; LE 1M if there is none.
  func possible(with features: HCI.LEFeatures) -> LL.PHYPreferences {
    func possible(_ phys: HCI.PHYs) -> HCI.PHYs {
      let result = phys.intersection(features.phys)
      return result.isEmpty ? .le1M : result
    }
    return LL.PHYPreferences(transmit: possible(transmit), receive: possible(receive))
  }
}
