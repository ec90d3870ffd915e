/// The identifiers of this side's signalling packets: 1 to 255 in turn, except those of pending requests
/// · Vol 3, Part A, 4.
struct SignalIdentifiers {
  private var last: UInt8 = 0
  /// The identifiers of pending requests, one bit each. The owners of the requests limit their number, so that some
  /// identifiers are always free.
  private var open = SIMD4<UInt64>()

  /// Returns an identifier for a packet without a response.
  mutating func next() -> UInt8 {
    repeat { last = last == .max ? 1 : last + 1 } while isOpen(last)
    return last
  }

  /// Returns an identifier for a request and reserves it until `close`.
  mutating func nextOfRequest() -> UInt8 {
    let identifier = next()
    open[Int(identifier >> 6)] |= 1 << UInt64(identifier & 63)
    return identifier
  }

  /// Releases the identifier of a request that has ended.
  mutating func close(_ identifier: UInt8) { open[Int(identifier >> 6)] &= ~(1 << UInt64(identifier & 63)) }

  func isOpen(_ identifier: UInt8) -> Bool { open[Int(identifier >> 6)] & 1 << UInt64(identifier & 63) != 0 }
}
