/// One of the 40 radio frequency channels: 2402 + 2 k MHz · Vol 6, Part A, 2.
@usableFromInline package struct RadioChannel: Hashable, Sendable {
  /// The channel number k, 0 to 39.
  @usableFromInline package let number: UInt8

  /// Creates a channel. Traps if `number` is outside 0…39.
  package init(_ number: UInt8) {
    precondition(number < 40, "radio channel \(number) does not exist")
    self.number = number
  }

  @inlinable package var megahertz: Int { 2402 + 2 * Int(number) }
}
