import BluetoothWire

/// A source of interference in the band that is not a device of the world.
///
/// Its activity is a function of the time and of the world's seed, so it needs no events, and costs no computing time
/// while no receiver listens near it.
package struct InterferenceSource: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case wiFi(WiFiTransmitter)
    case microwaveOven(MicrowaveOven)
    case classicBluetooth(ClassicBluetooth)
    case jammer(Jammer)
  }

  package var kind: Kind
  package var position: GridPosition
  /// The transmit power in dBm over the whole bandwidth while the source transmits; for a jammer, the power on each of
  /// its channels.
  package var power: Decibel

  package init(_ kind: Kind, at position: GridPosition, power: Decibel) {
    self.kind = kind
    self.position = position
    self.power = power
  }

  /// Returns the phase that contains `now`. `seed` distinguishes sources of the same kind.
  func phase(at now: Instant, seed: UInt64) -> InterferencePhase {
    switch kind {
    case .wiFi(let source): source.pattern.phase(at: now, seed: seed)
    case .microwaveOven(let source): source.phase(at: now, seed: seed)
    case .classicBluetooth(let source): source.phase(at: now, seed: seed)
    case .jammer(let source): source.pattern.phase(at: now, seed: seed)
    }
  }

  /// Returns the attenuation of the source in a receiver on `channel`, in decibels. `frequency` is the source's current
  /// frequency in MHz; only kinds with a variable frequency use it.
  func rejection(on channel: RadioChannel, _ modulation: Modulation, frequency: Int) -> Decibel {
    switch kind {
    case .wiFi(let source): source.rejection(on: channel, modulation)
    case .microwaveOven, .classicBluetooth:
      Selectivity.rejection(atOffset: frequency - channel.megahertz, modulation)
    case .jammer(let source): source.rejection(on: channel, modulation)
    }
  }
}

/// A period in which the activity of a source does not change.
struct InterferencePhase: Equatable {
  /// The transmit frequency in MHz; 0 if the source's frequency does not vary; nil while the source is silent.
  var frequency: Int?
  /// The end of the phase.
  var until: Instant
}

/// A pattern of bursts with constant length: one burst in each period, at a pseudo-random offset.
package struct BurstPattern: Hashable, Sendable {
  /// The length of a burst, 1 µs to 1,000 s.
  package let length: TimeSpan
  /// The duty cycle, 1 to 1,000 thousandths.
  package let perMille: Int

  /// Creates a pattern. Values outside their ranges are clamped.
  package init(length: TimeSpan, dutyCyclePerMille: Int) {
    self.length = min(max(length, .microseconds(1)), .seconds(1_000))
    perMille = min(max(dutyCyclePerMille, 1), 1_000)
  }

  /// Continuous transmission.
  package static let always = BurstPattern(length: .seconds(1), dutyCyclePerMille: 1_000)

  func phase(at now: Instant, seed: UInt64) -> InterferencePhase {
    let period = length.nanoseconds * 1_000 / Int64(perMille)
    let (number, _) = now.nanoseconds.quotientAndRemainder(dividingBy: period)
    let slack = UInt64(period - length.nanoseconds) + 1
    let delay = Int64(ChannelRandom.mixed(seed ^ UInt64(bitPattern: number)) % slack)
    let start = Instant(nanoseconds: number * period + delay)
    if now < start { return InterferencePhase(frequency: nil, until: start) }
    let end = start + length
    if now < end { return InterferencePhase(frequency: 0, until: end) }
    return InterferencePhase(frequency: nil, until: Instant(nanoseconds: (number + 1) * period))
  }
}
