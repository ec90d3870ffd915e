import BluetoothWire

/// The selectivity of receivers: the attenuation of signals on other channels · Vol 6, Part A, 4.2.
///
/// The specification's C/I is the interference that a receiver must tolerate; every receiver here tolerates exactly
/// that. A signal interferes like a co-channel signal that is weaker by 21 dB − C/I, where 21 dB is the co-channel C/I
/// of the uncoded PHYs. The better C/I of the coded PHYs is therefore their coding gain against interference, as their
/// sensitivity is their coding gain against noise. The specification lets the manufacturer choose a receiver's image
/// frequency, at which C/I may be worse: these receivers have no image frequency.
enum Selectivity {
  /// Returns the attenuation of a signal whose centre frequency is `offset` MHz from the receiver's.
  @inline(__always)
  static func rejection(atOffset offset: Int, _ modulation: Modulation) -> Decibel {
    switch modulation {
    case .le1M: rejection(atDistance: Int(offset.magnitude))
    // LE 2M has the same C/I at twice the frequency offset.
    case .le2M: rejection(atDistance: Int(offset.magnitude) / 2)
    // C/I of S=8: 12, 6, −26, −36 dB; of S=2: 17, 11, −21, −31 dB.
    case .codedS8: rejection(atDistance: Int(offset.magnitude)) + Decibel(9)
    case .codedS2: rejection(atDistance: Int(offset.magnitude)) + Decibel(4)
    }
  }

  /// Returns the attenuation of a signal whose channel number differs from the receiver's by `channels`; channels are 2
  /// MHz apart.
  @inline(__always)
  static func rejection(channels: Int32, _ modulation: Modulation) -> Decibel {
    // The most frequent case first: most channels are far away.
    if channels >= 3, case .le1M = modulation { return far }
    return rejection(atOffset: 2 * Int(channels), modulation)
  }

  private static let far = Decibel(48)

  /// Returns the attenuation from C/I 21, 15, −17 and −27 dB at 0, 1, 2 and from 3 MHz on.
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
