import BluetoothWire

/// The channel assessment of a connection: for each channel, the share of expected packets that arrived intact · Vol
/// 6, Part B, 4.5.8.1: the method of channel classification is up to the implementation.
///
/// A channel is bad if it has a high loss, and a higher one than the good channels: the cause is interference. If all
/// channels have the same loss, the peer is far away, and other channels would not help.
struct ChannelAssessment {
  /// The minimum number of attempts for a judgement of a channel.
  private static let enough: UInt8 = 10
  /// The minimum for a channel on probation: fewer attempts, so that a channel that is still bad is excluded early.
  private static let enoughOfSuspects: UInt8 = 4
  /// The number of attempts at which the counts are halved, so that old results count less and less.
  private static let many: UInt8 = 64
  /// The loss below which a channel is never bad: a fifth.
  private static let tolerableLoss = (failures: 1, of: 5)
  /// The minimum number of standard deviations of random losses by which the loss of a bad channel exceeds the usual
  /// loss.
  private static let deviations = 5
  /// The minimum of the usual loss, in units of 1/`scale`: 4 %.
  private static let usualLoss = 41
  private static let scale = 1_024
  /// The number of channels that initially count as undisturbed: the best quarter.
  private static let quarter = 9
  /// The number of rounds that refine the usual loss.
  private static let rounds = 4
  private static let period = TimeSpan.seconds(1)
  /// The exclusion time of a bad channel. An excluded channel is not used and so not measured; after the exclusion, the
  /// channel is used again on probation for the same 60 s. If the channel is bad again, the next exclusion takes twice
  /// the time, up to 16 minutes.
  private static let probation = TimeSpan.seconds(60)
  private static let mostDoublings = 4

  /// The packets expected on each channel. Empty until a packet fails, so that a connection without losses costs
  /// nothing.
  private var attempts: [UInt8] = []
  private var failures: [UInt8] = []
  /// The channels with a loss of a fifth or more, regardless of the number of attempts.
  private var lossy: UInt64 = 0
  private var nextEvaluation = Instant.zero
  private var pardon = Instant.distantFuture
  private(set) var bad = ChannelMap(bits: 0)
  /// The channels on probation, and the end of probation.
  private var suspects: UInt64 = 0
  private var watch = Instant.zero
  /// The number of consecutive probations that failed.
  private var relapses = 0
  private var hasRelapsed = false

  /// The channels that have enough attempts and are not bad.
  var good: ChannelMap {
    var bits: UInt64 = 0
    for channel in attempts.indices where attempts[channel] >= Self.enough { bits |= 1 << UInt64(channel) }
    return ChannelMap(bits: bits & ~bad.bits)
  }

  /// Records a packet that was expected on this data channel, intact or not.
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
    let bit: UInt64 = 1 << UInt64(index)
    lossy = losesMuch(index) ? lossy | bit : lossy & ~bit
  }

  /// Evaluates the records, at most once per period; returns true if the set of bad channels has changed.
  mutating func evaluate(at now: Instant) -> Bool {
    guard !attempts.isEmpty, now >= nextEvaluation else { return false }
    nextEvaluation = now + Self.period
    let before = bad
    if now >= watch { suspects = 0 }
    if now >= pardon { forgive(at: now) }
    // The usual loss is computed only if a channel could become bad, which is rare.
    guard hasCandidates else { return bad != before }
    var usual = loss(among: bestChannels)
    var bits = bad.bits
    for _ in 0..<Self.rounds {
      bits = bad.bits | channels(worseThan: usual)
      usual = loss(among: ~bits)
    }
    bad = ChannelMap(bits: bits)
    let new = bad.bits & ~before.bits
    if new != 0 {
      if new & suspects != 0, !hasRelapsed { (relapses, hasRelapsed) = (min(relapses + 1, Self.mostDoublings), true) }
      pardon = now + Self.probation * (1 << Int64(relapses))
    }
    return bad != before
  }

  /// Puts all bad channels on probation.
  private mutating func forgive(at now: Instant) {
    for channel in UInt8(0)..<37 where bad.contains(channel) {
      (attempts[Int(channel)], failures[Int(channel)]) = (0, 0)
    }
    if !hasRelapsed { relapses = 0 }
    (suspects, watch, hasRelapsed) = (bad.bits, now + Self.probation, false)
    (bad, pardon) = (ChannelMap(bits: 0), .distantFuture)
  }

  private func isKnown(_ channel: Int) -> Bool {
    attempts[channel] >= (suspects >> UInt64(channel) & 1 == 1 ? Self.enoughOfSuspects : Self.enough)
  }

  private func losesMuch(_ channel: Int) -> Bool {
    Int(failures[channel]) * Self.tolerableLoss.of >= Int(attempts[channel]) * Self.tolerableLoss.failures
  }

  /// True if a channel with enough attempts has a high loss and is not bad yet.
  private var hasCandidates: Bool {
    var rest = lossy & ~bad.bits
    while rest != 0 {
      if isKnown(rest.trailingZeroBitCount) { return true }
      rest &= rest - 1
    }
    return false
  }

  /// Returns the channels with a high loss that also exceeds `usual`.
  private func channels(worseThan usual: Int) -> UInt64 {
    var bits: UInt64 = 0
    for channel in attempts.indices where isKnown(channel) {
      let (lost, all) = (Int(failures[channel]), Int(attempts[channel]))
      let excess = lost * Self.scale - all * usual
      // The square of the deviation is compared with the variance of random losses.
      guard losesMuch(channel), excess > 0,
        excess * excess > Self.deviations * Self.deviations * all * usual * (Self.scale - usual)
      else { continue }
      bits |= 1 << UInt64(channel)
    }
    return bits
  }

  /// Returns the total loss of these channels, in units of 1/`scale`.
  private func loss(among channels: UInt64) -> Int {
    var (lost, all) = (0, 0)
    for channel in attempts.indices where channels >> UInt64(channel) & 1 == 1 {
      lost += Int(failures[channel])
      all += Int(attempts[channel])
    }
    return min(Self.scale, max(Self.usualLoss, all == 0 ? 0 : lost * Self.scale / all))
  }

  /// The quarter of the channels with the lowest loss.
  private var bestChannels: UInt64 {
    var taken: UInt64 = 0
    for _ in 0..<Self.quarter {
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
    }
    return taken
  }
}
