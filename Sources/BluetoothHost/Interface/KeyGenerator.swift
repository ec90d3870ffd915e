/// The source of randomness for pairing: keys, random numbers, passkeys.
///
/// A seeded generator gives the same values for the same seed, so that captures are reproducible; an attacker who
/// knows or guesses the seed has all keys. Seeded generators are for simulated radio only: everywhere else the source
/// must be unpredictable.
package struct KeyGenerator: RandomNumberGenerator, Sendable {
  private var source: any RandomNumberGenerator & Sendable

  package init(_ source: some RandomNumberGenerator & Sendable) { self.source = source }

  package mutating func next() -> UInt64 { source.next() }
}
