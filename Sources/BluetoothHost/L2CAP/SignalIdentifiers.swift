/// The identifiers of this side's signalling packets: 1 to 255, in turn, without those whose request is still open
/// · Vol 3, Part A, 4.
struct SignalIdentifiers {
  private var last: UInt8 = 0
  /// A bit for each identifier whose request is open. The owners of requests see to it that there are never so many.
  private var open = SIMD4<UInt64>()

  /// An identifier of a packet that has no answer.
  mutating func next() -> UInt8 {
    repeat { last = last == .max ? 1 : last + 1 } while isOpen(last)
    return last
  }

  /// An identifier of a request, which stays its own until `close`.
  mutating func nextOfRequest() -> UInt8 {
    let identifier = next()
    open[Int(identifier >> 6)] |= 1 << UInt64(identifier & 63)
    return identifier
  }

  /// The request has ended.
  mutating func close(_ identifier: UInt8) { open[Int(identifier >> 6)] &= ~(1 << UInt64(identifier & 63)) }

  func isOpen(_ identifier: UInt8) -> Bool { open[Int(identifier >> 6)] & 1 << UInt64(identifier & 63) != 0 }
}
