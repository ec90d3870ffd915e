extension LL {
  /// The channel selection algorithm of a connection · Vol 6, Part B, 4.5.8.
  package enum ChannelSelection: Hashable, Sendable {
    /// Algorithm #1 · 4.5.8.2; hopIncrement is 5 to 16.
    case algorithm1(hopIncrement: UInt8)
    /// Algorithm #2 · 4.5.8.3, with the channelIdentifier.
    case algorithm2(identifier: UInt16)

    /// Returns algorithm #2 for the connection with this access address.
    package static func algorithm2(accessAddress: UInt32) -> ChannelSelection {
      .algorithm2(
        identifier: UInt16(truncatingIfNeeded: accessAddress >> 16) ^ UInt16(truncatingIfNeeded: accessAddress))
    }

    /// Returns the channel of connection event number `event`. The number counts from 0 and, unlike connEventCounter,
    /// does not wrap at 65,536. `map` must be valid.
    package func channel(event: Int, map: ChannelMap) -> ChannelIndex {
      switch self {
      case .algorithm1(let hopIncrement):
        // lastUnmappedChannel is 0 before event 0, and every event adds hopIncrement.
        let unmapped = UInt8((Int(hopIncrement) * ((event + 1) % 37)) % 37)
        if map.contains(unmapped) { return ChannelIndex(unmapped) }
        return ChannelIndex(map.channel(rank: Int(unmapped) % map.count))
      case .algorithm2(let identifier):
        let prnE = Self.prnE(counter: UInt16(truncatingIfNeeded: event), identifier: identifier)
        let unmapped = UInt8(prnE % 37)
        if map.contains(unmapped) { return ChannelIndex(unmapped) }
        return ChannelIndex(map.channel(rank: map.count * Int(prnE) / 0x10000))
      }
    }

    /// Returns prn_e, the pseudo-random number of an event · 4.5.8.3.2.
    package static func prnE(counter: UInt16, identifier: UInt16) -> UInt16 {
      var value = counter ^ identifier
      for _ in 0..<3 {
        // PERM reverses the bits of each octet; MAM multiplies by 17 and adds.
        value = value.byteSwapped.bitReversed
        value = value &* 17 &+ identifier
      }
      return value ^ identifier
    }
  }
}

extension UInt16 {
  /// The same bits in reverse order.
  fileprivate var bitReversed: UInt16 {
    var value = self
    value = (value & 0x5555) << 1 | (value >> 1) & 0x5555
    value = (value & 0x3333) << 2 | (value >> 2) & 0x3333
    value = (value & 0x0F0F) << 4 | (value >> 4) & 0x0F0F
    return value.byteSwapped
  }
}
