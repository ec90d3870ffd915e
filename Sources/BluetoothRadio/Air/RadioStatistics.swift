import BluetoothWire

/// What a radio has done since it was added to its world.
package struct RadioStatistics: Hashable, Sendable {
  /// Time spent sending at one power.
  package struct Transmitting: Hashable, Sendable {
    /// dBm, whole.
    package var power: Int
    package var time: TimeSpan

    package init(power: Int, time: TimeSpan) {
      self.power = power
      self.time = time
    }
  }

  /// Packets whose sending has begun.
  package var packetsSent = 0
  /// Packets that arrived without a wrong bit.
  package var packetsReceived = 0
  /// Packets that arrived with a wrong CRC.
  package var crcErrors = 0
  /// Packets that it heard the beginning of, but not their access address.
  package var missedPackets = 0
  /// Time spent sending, for each power that was used, in the order of first use.
  package var transmitting: [Transmitting] = []
  /// Time spent listening, whether something came or not.
  package var receiving = TimeSpan.zero
  /// All other time.
  package var idle = TimeSpan.zero

  /// Time that its packets have taken on the air.
  package var airTime: TimeSpan { transmitting.reduce(.zero) { $0 + $1.time } }
}

/// Keeps a radio's statistics, and counts how long it does what.
struct RadioMeter {
  enum Activity: Equatable {
    case idle, receiving
    case transmitting(power: Int)
  }

  /// Without `latest`.
  var counts = RadioStatistics()
  private var activity = Activity.idle
  private var since: Instant
  /// The power that was sent at last, and what is not in `counts` of its time: most radios have one power only, and so their
  /// packets need no array.
  private var latest: RadioStatistics.Transmitting?

  init(at now: Instant) { since = now }

  /// From `now` on the radio does something else.
  mutating func change(to next: Activity, at now: Instant) {
    count(until: now)
    since = now
    activity = next
  }

  /// Counts packets that the radio, which has been idle, has sent one after the other.
  mutating func skip(_ packets: SkippedPackets) {
    counts.packetsSent += packets.count
    counts.idle += packets.end - since - packets.airTime
    count(packets.airTime, at: packets.power.rounded)
    since = packets.end
  }

  func statistics(at now: Instant) -> RadioStatistics {
    var copy = self
    copy.count(until: now)
    copy.enterLatest()
    return copy.counts
  }

  private mutating func count(until now: Instant) {
    let span = now - since
    switch activity {
    case .idle: counts.idle += span
    case .receiving: counts.receiving += span
    case .transmitting(let power): count(span, at: power)
    }
  }

  private mutating func count(_ span: TimeSpan, at power: Int) {
    if latest?.power != power {
      enterLatest()
      latest = RadioStatistics.Transmitting(power: power, time: .zero)
    }
    latest?.time += span
  }

  private mutating func enterLatest() {
    guard let latest else { return }
    for index in counts.transmitting.indices where counts.transmitting[index].power == latest.power {
      counts.transmitting[index].time += latest.time
      return
    }
    counts.transmitting.append(latest)
  }
}
