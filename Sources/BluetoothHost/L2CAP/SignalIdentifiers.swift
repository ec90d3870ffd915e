/// The identifiers of this side's signalling packets: 1 to 255, in turn · Vol 3, Part A, 4.
struct SignalIdentifiers {
  private var last: UInt8 = 0

  mutating func next() -> UInt8 {
    last = last == .max ? 1 : last + 1
    return last
  }
}
