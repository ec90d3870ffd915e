import BluetoothWire

/// What a connection has learnt of its channels by using them: on each, how many of the packets that were due came intact ·
/// Vol 6, Part B, 4.5.8.1: how channels are classified is the implementation's choice.
///
/// A channel is bad when it loses much and more than the good ones do: that is interference. Where all lose alike, the peer
/// is far away, and other channels would not help.
struct ChannelAssessment {
  /// Fewer attempts tell nothing of a channel.
  private static let enough = 10
  /// Where counts are halved: what was long ago counts less and less.
  private static let many: UInt8 = 64
  /// A channel that loses less than a fifth is never bad.
  private static let tolerableLoss = (failures: 1, of: 5)
  /// Nor is one that loses less than three times what the best quarter of the channels does.
  private static let tolerableRatio = 3
  /// How many channels the best quarter is.
  private static let bestQuarter = 9
  private static let period = TimeSpan.seconds(1)
  /// A bad channel is not used and so not heard of: after this time it gets another chance.
  private static let probation = TimeSpan.seconds(60)

  /// Empty until something fails: a connection that loses nothing costs nothing.
  private var attempts: [UInt8] = []
  private var failures: [UInt8] = []
  private var nextEvaluation = Instant.zero
  private var pardon = Instant.distantFuture
  private(set) var bad = ChannelMap(bits: 0)

  /// The channels that are known well and are not bad.
  var good: ChannelMap {
    var bits: UInt64 = 0
    for channel in attempts.indices where Int(attempts[channel]) >= Self.enough { bits |= 1 << UInt64(channel) }
    return ChannelMap(bits: bits & ~bad.bits)
  }

  /// A packet was due on this data channel, and came intact or not.
  mutating func record(_ channel: ChannelIndex, isIntact: Bool) {
    let index = Int(channel.number)
    guard index < 37 else { return }
    if attempts.isEmpty {
      guard !isIntact else { return }
      attempts = Array(repeating: 0, count: 37)
      failures = attempts
    }
    if attempts[index] >= Self.many {
      attempts[index] /= 2
      failures[index] /= 2
    }
    attempts[index] += 1
    if !isIntact { failures[index] += 1 }
  }

  /// Looks at what was recorded, once in a while; says whether other channels are bad than before.
  mutating func evaluate(at now: Instant) -> Bool {
    guard !attempts.isEmpty, now >= nextEvaluation else { return false }
    nextEvaluation = now + Self.period
    let before = bad
    if now >= pardon {
      for channel in UInt8(0)..<37 where bad.contains(channel) {
        (attempts[Int(channel)], failures[Int(channel)]) = (0, 0)
      }
      (bad, pardon) = (ChannelMap(bits: 0), .distantFuture)
    }
    let (usual, of) = bestLoss
    var bits = bad.bits
    for channel in attempts.indices where Int(attempts[channel]) >= Self.enough {
      let (lost, all) = (Int(failures[channel]), Int(attempts[channel]))
      if lost * Self.tolerableLoss.of >= all * Self.tolerableLoss.failures,
        lost * of > all * usual * Self.tolerableRatio
      {
        bits |= 1 << UInt64(channel)
      }
    }
    bad = ChannelMap(bits: bits)
    if bad.bits & ~before.bits != 0 { pardon = now + Self.probation }
    return bad != before
  }

  /// What the best quarter of the channels has lost.
  private var bestLoss: (failures: Int, of: Int) {
    var result = (failures: 0, of: 0)
    var taken: UInt64 = 0
    for _ in 0..<Self.bestQuarter {
      var best: Int?
      for channel in attempts.indices where taken >> UInt64(channel) & 1 == 0 && attempts[channel] > 0 {
        if let other = best,
          Int(failures[channel]) * Int(attempts[other]) >= Int(failures[other]) * Int(attempts[channel])
        {
          continue
        }
        best = channel
      }
      guard let best else { break }
      taken |= 1 << UInt64(best)
      result.failures += Int(failures[best])
      result.of += Int(attempts[best])
    }
    return result
  }
}
