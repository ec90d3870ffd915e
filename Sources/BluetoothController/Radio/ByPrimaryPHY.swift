import BluetoothWire

/// A value for each of the primary PHYs · Vol 6, Part B, 4.4.3: LE 1M and LE Coded.
struct ByPrimaryPHY<Value> {
  var le1M: Value?
  var leCoded: Value?

  /// The value for this PHY. LE 2M, which is for secondary channels only, has none.
  subscript(phy: RadioPHY) -> Value? {
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

extension ByPrimaryPHY: Sendable where Value: Sendable {}
