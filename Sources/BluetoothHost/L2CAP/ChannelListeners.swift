import BluetoothWire

/// The SPSMs that peers may open channels to.
struct ChannelListeners {
  /// The dynamic SPSMs, which each device may assign freely · Vol 3, Part A, 4.22.
  static let dynamicSPSMs: ClosedRange<UInt16> = 0x0080...0x00FF
  /// The SPSM of Enhanced ATT, which this host does not support · Vol 3, Part G, 5.3.
  private static let enhancedATT: UInt16 = 0x0027

  /// The settings and the required security of each SPSM.
  private(set) var all: CreditChannels.Listeners = [:]

  /// Adds a listener at `spsm`; nil: at the first free dynamic SPSM. Returns the SPSM; nil: it is in use, none is free,
  /// or it is invalid.
  mutating func publish(_ spsm: UInt16?, _ listener: CreditChannels.Listener) -> UInt16? {
    guard let spsm = spsm ?? Self.dynamicSPSMs.first(where: { all[$0] == nil }), 0x0001...0x00FF ~= spsm,
      spsm != Self.enhancedATT, all[spsm] == nil
    else { return nil }
    all[spsm] = listener
    return spsm
  }

  /// Removes the listener at `spsm`. Returns false if there is none.
  mutating func unpublish(_ spsm: UInt16) -> Bool { all.removeValue(forKey: spsm) != nil }
}
