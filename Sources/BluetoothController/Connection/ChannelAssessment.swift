import BluetoothWire

/// What a connection has learnt of its channels by using them: on each, how many of the packets that were due came intact ·
/// Vol 6, Part B, 4.5.8.1: how channels are classified is the implementation's choice.
///
/// A channel is bad when it loses much and more than the good ones do: that is interference. Where all lose alike, the peer
/// is far away, and other channels would not help.
struct ChannelAssessment {
  /// Fewer attempts tell nothing of a channel.
  private static let enough: UInt8 = 10
  /// The same for a channel that has just got another chance: what is bad again is found out before it costs much.
  private static let enoughOfSuspects: UInt8 = 4
  /// Where counts are halved: what was long ago counts less and less.
  private static let many: UInt8 = 64
  /// A channel that loses less than a fifth is never bad.
  private static let tolerableLoss = (failures: 1, of: 5)
  /// Nor is one that loses no more than the others do, give or take five standard deviations of chance.
  private static let deviations = 5
  /// The loss that is taken for usual at least, of `scale`: 4 %.
  private static let usualLoss = 41
  private static let scale = 1_024
  /// A quarter of the channels: the best are taken for undisturbed at first.
  private static let quarter = 9
  /// How often the measure of what is usual is made better.
  private static let rounds = 4
  private static let period = TimeSpan.seconds(1)
  /// A bad channel is not used and so not heard of: after this time it gets another chance. If it is bad again, the next one
  /// comes after twice the time, up to 16 minutes.
  private static let probation = TimeSpan.seconds(60)
  private static let mostDoublings = 4

  /// Empty until something fails: a connection that loses nothing costs nothing.
  private var attempts: [UInt8] = []
  private var failures: [UInt8] = []
  /// The channels that lose a fifth or more, known well or not.
  private var lossy: UInt64 = 0
  private var nextEvaluation = Instant.zero
  private var pardon = Instant.distantFuture
  private(set) var bad = ChannelMap(bits: 0)
  /// The channels that have got another chance, and until when they are watched more closely.
  private var suspects: UInt64 = 0
  private var watch = Instant.zero
  /// How often in a row another chance was given in vain.
  private var relapses = 0
  private var hasRelapsed = false

  /// The channels that are known well and are not bad.
  var good: ChannelMap {
    var bits: UInt64 = 0
    for channel in attempts.indices where attempts[channel] >= Self.enough { bits |= 1 << UInt64(channel) }
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
    let bit: UInt64 = 1 << UInt64(index)
    lossy = losesMuch(index) ? lossy | bit : lossy & ~bit
  }

  /// Looks at what was recorded, once in a while; says whether other channels are bad than before.
  mutating func evaluate(at now: Instant) -> Bool {
    guard !attempts.isEmpty, now >= nextEvaluation else { return false }
    nextEvaluation = now + Self.period
    let before = bad
    if now >= watch { suspects = 0 }
    if now >= pardon { forgive(at: now) }
    // Mostly there is none that could become bad: what is usual need not be known then.
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

  /// All bad channels get another chance.
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

  /// Whether a channel that is known well loses much and is not bad yet.
  private var hasCandidates: Bool {
    var rest = lossy & ~bad.bits
    while rest != 0 {
      if isKnown(rest.trailingZeroBitCount) { return true }
      rest &= rest - 1
    }
    return false
  }

  /// The channels that lose much, and more than `usual`.
  private func channels(worseThan usual: Int) -> UInt64 {
    var bits: UInt64 = 0
    for channel in attempts.indices where isKnown(channel) {
      let (lost, all) = (Int(failures[channel]), Int(attempts[channel]))
      let excess = lost * Self.scale - all * usual
      // The square of the deviation against the variance of chance.
      guard losesMuch(channel), excess > 0,
        excess * excess > Self.deviations * Self.deviations * all * usual * (Self.scale - usual)
      else { continue }
      bits |= 1 << UInt64(channel)
    }
    return bits
  }

  /// What these channels lose together, of `scale`.
  private func loss(among channels: UInt64) -> Int {
    var (lost, all) = (0, 0)
    for channel in attempts.indices where channels >> UInt64(channel) & 1 == 1 {
      lost += Int(failures[channel])
      all += Int(attempts[channel])
    }
    return min(Self.scale, max(Self.usualLoss, all == 0 ? 0 : lost * Self.scale / all))
  }

  /// The quarter that loses least.
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
