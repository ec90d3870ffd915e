import BluetoothWire

/// Something that disturbs the band and is no device: it hears nothing, and costs nothing while nobody listens near it.
///
/// What it does at an instant follows from that instant and the world's seed alone; nobody has to run it.
package struct InterferenceSource: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case wiFi(WiFiTransmitter)
    case microwaveOven(MicrowaveOven)
    case classicBluetooth(ClassicBluetooth)
    case jammer(Jammer)
  }

  package var kind: Kind
  package var position: GridPosition
  /// dBm, while it sends, over its whole width; a jammer's on each of its channels.
  package var power: Decibel

  package init(_ kind: Kind, at position: GridPosition, power: Decibel) {
    self.kind = kind
    self.position = position
    self.power = power
  }

  /// What it does at `now`. `seed` tells it from others of its kind.
  func phase(at now: Instant, seed: UInt64) -> InterferencePhase {
    switch kind {
    case .wiFi(let source): source.pattern.phase(at: now, seed: seed)
    case .microwaveOven(let source): source.phase(at: now, seed: seed)
    case .classicBluetooth(let source): source.phase(at: now, seed: seed)
    case .jammer(let source): source.pattern.phase(at: now, seed: seed)
    }
  }

  /// What a receiver on `channel` does not get of it, while it sends on `frequency` (MHz) if that varies.
  func rejection(on channel: RadioChannel, _ modulation: Modulation, frequency: Int) -> Decibel {
    switch kind {
    case .wiFi(let source): source.rejection(on: channel, modulation)
    case .microwaveOven, .classicBluetooth:
      Selectivity.rejection(atOffset: frequency - channel.megahertz, modulation)
    case .jammer(let source): source.rejection(on: channel, modulation)
    }
  }
}

/// What a source does for a while.
struct InterferencePhase: Equatable {
  /// MHz; nil: it is silent. 0 where the source's frequency does not vary.
  var frequency: Int?
  /// When something else begins.
  var until: Instant
}

/// Bursts of one length, each somewhere within its share of time.
package struct BurstPattern: Hashable, Sendable {
  /// How long a burst lasts, 1 µs to 1,000 s.
  package let length: TimeSpan
  /// The share of time that bursts take, 1 to 1,000 thousandths.
  package let perMille: Int

  /// Values outside their ranges are held at them.
  package init(length: TimeSpan, dutyCyclePerMille: Int) {
    self.length = min(max(length, .microseconds(1)), .seconds(1_000))
    perMille = min(max(dutyCyclePerMille, 1), 1_000)
  }

  /// Without a pause.
  package static let always = BurstPattern(length: .seconds(1), dutyCyclePerMille: 1_000)

  func phase(at now: Instant, seed: UInt64) -> InterferencePhase {
    let period = length.nanoseconds * 1_000 / Int64(perMille)
    let (number, _) = now.nanoseconds.quotientAndRemainder(dividingBy: period)
    let slack = UInt64(period - length.nanoseconds) + 1
    let delay = Int64(AirChance.mixed(seed ^ UInt64(bitPattern: number)) % slack)
    let start = Instant(nanoseconds: number * period + delay)
    if now < start { return InterferencePhase(frequency: nil, until: start) }
    let end = start + length
    if now < end { return InterferencePhase(frequency: 0, until: end) }
    return InterferencePhase(frequency: nil, until: Instant(nanoseconds: (number + 1) * period))
  }
}
