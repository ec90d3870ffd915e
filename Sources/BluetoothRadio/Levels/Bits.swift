import BluetoothWire

/// Random decisions about the correct reception of bits.
///
/// The *cost* of bits is −log₂ of the probability that all of them are received correctly, in units of 2⁻⁴⁰.
enum Bits {
  /// A cost with which bits are never correct: a probability of 2⁻⁶⁵, below the resolution of a random number of 64
  /// bits.
  static let hopeless: UInt64 = 65 << 40

  /// Returns the cost of one bit at this ratio of signal to noise and interference (see `ErrorRates`).
  static func cost(at ratio: Decibel) -> UInt64 {
    let row = (Int(ratio.steps) - ErrorRates.first * 256) * ErrorRates.rowsPerDecibel / 256
    if row < 0 { return ErrorRates.costs[0] }
    return row < ErrorRates.costs.count ? ErrorRates.costs[row] : 0
  }

  /// Returns true if bits with this total cost are correct. This holds for the smallest values of `draw`, a share of
  /// 2^−cost of all values.
  static func arrive(cost: UInt64, draw: UInt64) -> Bool {
    guard cost > 0 else { return true }
    // −log₂ (draw / 2⁶⁴), in units of 2⁻²⁴.
    let drawn = Int64(64 << FixedPoint.fraction) - FixedPoint.log2(max(1, draw))
    return UInt64(drawn) >= cost >> UInt64(40 - FixedPoint.fraction)
  }
}

/// The random numbers of the radio channel. Each number is a hash of the seed and of the decision that it is for, so
/// that additional packets or radios do not change the random numbers of others.
struct ChannelRandom {
  private let seed: UInt64

  init(_ generator: RandomStream) {
    var generator = generator
    seed = generator.next()
  }

  /// Returns the random bits that decide the reception, at `receiver`, of part `part` of the packet that `sender` began
  /// to transmit at `start`.
  func draw(sender: Int32, receiver: Int, start: Instant, part: UInt64) -> UInt64 {
    let pair = UInt64(UInt32(bitPattern: sender)) << 32 | UInt64(UInt32(truncatingIfNeeded: receiver))
    return Self.mixed(Self.mixed(seed ^ UInt64(bitPattern: start.nanoseconds)) ^ Self.mixed(pair) &+ part)
  }

  /// Returns the random bits that decide the shadowing between two radios. `key` is the same for both orders of the
  /// pair.
  func draw(pair key: UInt64) -> UInt64 { Self.mixed(Self.mixed(seed &+ 0x5AD0_0000) ^ key) }

  /// Returns the seed from which a source of interference derives its times.
  func seed(ofSource number: Int) -> UInt64 { Self.mixed(seed &+ 0x50CE_0000 &+ UInt64(number)) }

  /// The finalizer of SplitMix64: each bit of the result depends on each bit of `value`.
  static func mixed(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
