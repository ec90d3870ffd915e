import BluetoothWire

/// What a receiver takes away from signals beside its channel · Vol 6, Part A, 4.2.
///
/// The specification's C/I is what a receiver must stand; here all stand just that: a signal counts as much as one on the
/// same channel that is weaker by 21 dB less the C/I, 21 dB being the C/I of the uncoded PHYs on their own channel. The
/// better C/I of the coded ones is so what their coding gains against others, as their sensitivity is what it gains against
/// noise. A receiver's image frequency, at which it may be worse, is its maker's choice: these have none.
enum Selectivity {
  /// What a signal whose centre is `offset` MHz away from the receiver's loses.
  @inline(__always)
  static func rejection(atOffset offset: Int, _ modulation: Modulation) -> Decibel {
    switch modulation {
    case .le1M: rejection(atDistance: Int(offset.magnitude))
    // The same at twice the distances.
    case .le2M: rejection(atDistance: Int(offset.magnitude) / 2)
    // C/I 12, 6, −26, −36 dB and 17, 11, −21, −31 dB.
    case .codedS8: rejection(atDistance: Int(offset.magnitude)) + Decibel(9)
    case .codedS2: rejection(atDistance: Int(offset.magnitude)) + Decibel(4)
    }
  }

  /// The same for one whose channel is so many numbers away: each is 2 MHz.
  @inline(__always)
  static func rejection(channels: Int32, _ modulation: Modulation) -> Decibel {
    // Most channels are far away.
    if channels >= 3, case .le1M = modulation { return far }
    return rejection(atOffset: 2 * Int(channels), modulation)
  }

  private static let far = Decibel(48)

  /// C/I 21, 15, −17 and −27 dB at 0, 1, 2 and from 3 MHz on.
  @inline(__always)
  private static func rejection(atDistance megahertz: Int) -> Decibel {
    switch megahertz {
    case 0: Decibel(0)
    case 1: Decibel(6)
    case 2: Decibel(38)
    default: far
    }
  }
}
