/// The link layer's index of a radio channel: 0 to 36 for data channels, 37 to 39 for primary advertising channels ·
/// Vol 6, Part B, 1.4.1.
package struct ChannelIndex: Hashable, Sendable {
  package let number: UInt8

  /// Creates a channel index. Traps if `number` is outside 0…39.
  package init(_ number: UInt8) {
    precondition(number < 40, "channel index \(number) does not exist")
    self.number = number
  }

  package init(_ channel: RadioChannel) {
    switch channel.number {
    case 0: number = 37
    case 12: number = 38
    case 39: number = 39
    case 1..<12: number = channel.number - 1
    default: number = channel.number - 2
    }
  }

  package var radioChannel: RadioChannel {
    switch number {
    case 37: RadioChannel(0)
    case 38: RadioChannel(12)
    case 39: RadioChannel(39)
    case 0..<11: RadioChannel(number + 1)
    default: RadioChannel(number + 2)
    }
  }
}

/// The set of data channels in use, out of 37: bit n stands for channel index n · Vol 6, Part B, 4.5.8.1.
package struct ChannelMap: Hashable, Sendable {
  package let bits: UInt64

  /// Creates a map from its bits. Bits above the 37th are reserved and ignored.
  package init(bits: UInt64) { self.bits = bits & Self.allBits }

  private static let allBits: UInt64 = 0x1F_FFFF_FFFF
  package static let all = ChannelMap(bits: allBits)

  package var count: Int { bits.nonzeroBitCount }

  package func contains(_ channel: UInt8) -> Bool { channel < 37 && bits >> UInt64(channel) & 1 == 1 }

  /// True if the map has at least two channels, as a connection requires · 4.5.8.1.
  package var isValid: Bool { count >= 2 }

  /// Returns the used channel that has `rank` used channels below it. There must be more than `rank` used channels.
  func channel(rank: Int) -> UInt8 {
    var rest = bits
    for _ in 0..<rank { rest &= rest &- 1 }
    return UInt8(truncatingIfNeeded: rest.trailingZeroBitCount)
  }
}
