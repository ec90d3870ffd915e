/// A reproducible random number generator: a seed gives the same sequence on every machine. Independent streams are
/// split off by name, so that draws of one device never shift the sequence of another.
///
/// The generator is xoshiro256**, seeded by SplitMix64 (Blackman and Vigna, 2018). It is unsuitable for keys that
/// must stay secret from an attacker who knows the seed.
package struct RandomStream: RandomNumberGenerator, Sendable {
  private var state: (UInt64, UInt64, UInt64, UInt64)
  private let seed: UInt64

  package init(seed: UInt64) {
    self.seed = seed
    var mixer = seed
    func next() -> UInt64 {
      mixer &+= 0x9E37_79B9_7F4A_7C15
      var z = mixer
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
    state = (next(), next(), next(), next())
  }

  /// Returns the generator for `name` under this generator's seed. The result does not depend on the numbers drawn so
  /// far.
  package func split(_ name: String) -> RandomStream {
    // FNV-1a over the name, starting from the seed.
    var hash = seed ^ 0xCBF2_9CE4_8422_2325
    for octet in name.utf8 { hash = (hash ^ UInt64(octet)) &* 0x100_0000_01B3 }
    return RandomStream(seed: hash)
  }

  package mutating func next() -> UInt64 {
    func rotated(_ value: UInt64, by count: UInt64) -> UInt64 { value << count | value >> (64 - count) }
    let result = rotated(state.1 &* 5, by: 7) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = rotated(state.3, by: 45)
    return result
  }
}
