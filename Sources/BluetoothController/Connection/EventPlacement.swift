import BluetoothWire

/// The interval and anchor points that a central prefers for a connection after an update, or that a peripheral
/// requests.
struct EventPlacement {
  /// The interval, in units of 1.25 ms.
  var interval: UInt16
  /// Any one of the new anchor points; nil: no preference.
  var anchor: Instant?
}

extension LL.ConnectionParameterProposal.Offsets {
  private static let notGiven: UInt16 = 0xFFFF

  init(first: UInt16) { self.init(low: UInt64.max << 16 | UInt64(first), high: .max) }

  /// Returns Offset0 to Offset5 · Vol 6, Part B, 2.4.2.16; nil: not given.
  subscript(index: Int) -> UInt16? {
    let value = UInt16(
      truncatingIfNeeded: index < 4 ? low >> UInt64(16 * index) : UInt64(high) >> UInt64(16 * (index - 4)))
    return value == Self.notGiven ? nil : value
  }
}
