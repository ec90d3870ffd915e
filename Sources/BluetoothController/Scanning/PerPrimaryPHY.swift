import BluetoothWire

/// Something for each of the PHYs that advertising begins on · Vol 6, Part B, 4.4.3: LE 1M and LE Coded.
struct PerPrimaryPHY<Value> {
  var le1M: Value?
  var leCoded: Value?

  /// Nothing is ever kept for LE 2M, which exists on the secondary channels only.
  subscript(phy: PHY) -> Value? {
    get {
      switch phy {
      case .le1M: le1M
      case .leCoded: leCoded
      case .le2M: nil
      }
    }
    set {
      switch phy {
      case .le1M: le1M = newValue
      case .leCoded: leCoded = newValue
      case .le2M: break
      }
    }
  }

  var isEmpty: Bool { le1M == nil && leCoded == nil }
}

extension PerPrimaryPHY: Sendable where Value: Sendable {}
