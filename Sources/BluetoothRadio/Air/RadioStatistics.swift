import BluetoothWire

/// The activity of a radio since it was added to its world.
package struct RadioStatistics: Hashable, Sendable {
  /// The time spent transmitting at one power.
  package struct Transmitting: Hashable, Sendable {
    /// The transmit power in whole dBm.
    package var power: Int
    package var time: TimeSpan

    package init(power: Int, time: TimeSpan) {
      self.power = power
      self.time = time
    }
  }

  /// The number of packets whose transmission has begun; packets of a muted radio do not count.
  package var packetsSent = 0
  /// The number of packets received without error.
  package var packetsReceived = 0
  /// The number of packets received with a wrong CRC.
  package var crcErrors = 0
  /// The number of packets that the radio locked onto without detecting the access address, or that a fault made it
  /// miss.
  package var missedPackets = 0
  /// The time spent transmitting at each power, in the order of first use, including time while the radio was muted.
  package var transmitting: [Transmitting] = []
  /// The time spent receiving: listening, with or without a packet.
  package var receiving = TimeSpan.zero
  /// The time spent neither transmitting nor receiving.
  package var idle = TimeSpan.zero

  /// The total air time of the radio's packets.
  package var airTime: TimeSpan { transmitting.reduce(.zero) { $0 + $1.time } }
}

/// The statistics of a radio, and the measurement of the time spent in each activity.
struct RadioMeter {
  enum Activity: Equatable {
    case idle, receiving
    case transmitting(power: Int)
  }

  /// The counters, without the time in `latest` and without the current activity since `since`.
  var counts = RadioStatistics()
  private var activity = Activity.idle
  private var since: Instant
  /// The most recent transmit power, and the time at that power that `counts` does not contain yet. Most radios use a
  /// single power, so counting their packets does not search `counts.transmitting`.
  private var latest: RadioStatistics.Transmitting?

  init(at now: Instant) { since = now }

  /// Records that the radio's activity changes at `now`.
  mutating func change(to next: Activity, at now: Instant) {
    count(until: now)
    since = now
    activity = next
  }

  /// Counts the packets of skipped advertising events. The radio was idle before and between these packets.
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
