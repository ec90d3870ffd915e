/// Where the chance of pairing comes from: keys, random numbers, passkeys.
///
/// A generator of a seed gives the same for the same seed, so that captures repeat; whoever knows or guesses the seed has all
/// keys. That is for a simulated air only: everywhere else it has to be one that nobody can guess.
package struct KeyGenerator: RandomNumberGenerator, Sendable {
  private var source: any RandomNumberGenerator & Sendable

  package init(_ source: some RandomNumberGenerator & Sendable) { self.source = source }

  package mutating func next() -> UInt64 { source.next() }
}
