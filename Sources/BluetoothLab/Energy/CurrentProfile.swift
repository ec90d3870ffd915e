/// What a chip draws, by what it does.
public struct CurrentProfile: Hashable, Sendable, Codable {
  /// A current of the transmitter at a power.
  public struct Transmitting: Hashable, Sendable, Codable {
    /// dBm.
    public var power: Double
    /// Milliamperes.
    public var current: Double

    /// What is drawn at a power (dBm), in milliamperes.
    public init(at power: Double, _ current: Double) {
      self.power = power
      self.current = current
    }
  }

  /// Milliamperes while it listens.
  public var receiving: Double
  /// Milliamperes while it sends, at some powers; between them the current grows evenly with the power in dBm, and
  /// beyond them it stays.
  public var transmitting: [Transmitting]
  /// Microamperes at all other times, with the sleep clock running.
  public var sleeping: Double

  /// What a chip draws. Without any value for `transmitting`, sending costs nothing.
  public init(receiving: Double, transmitting: [Transmitting], sleeping: Double) {
    self.receiving = receiving
    self.transmitting = transmitting.sorted { $0.power < $1.power }
    self.sleeping = sleeping
  }

  /// A combined chip of telephones of 2011 (BCM4330): 68 mA to listen.
  public static let bcm4330 = CurrentProfile(
    receiving: 68, transmitting: [Transmitting(at: -20, 30), Transmitting(at: 0, 45), Transmitting(at: 10, 65)],
    sleeping: 100)
  /// Its successor of 2012 (BCM4334): 36 mA to listen.
  public static let bcm4334 = CurrentProfile(
    receiving: 36, transmitting: [Transmitting(at: -20, 18), Transmitting(at: 0, 27), Transmitting(at: 10, 40)],
    sleeping: 60)
  /// A single-mode chip of the first generation, run from a coin cell without a converter.
  public static let firstSingleMode = CurrentProfile(
    receiving: 19.6,
    transmitting: [
      Transmitting(at: -23, 16), Transmitting(at: -6, 18), Transmitting(at: 0, 21),
      Transmitting(at: 4, 27),
    ], sleeping: 1)
  /// A single-mode chip of today with a converter: 5 mA.
  public static let modern = CurrentProfile(
    receiving: 4.6,
    transmitting: [
      Transmitting(at: -20, 2.6), Transmitting(at: 0, 4.8), Transmitting(at: 4, 7),
      Transmitting(at: 8, 14), Transmitting(at: 20, 95),
    ], sleeping: 1.5)

  /// The nRF52832 with its converter at 3 V, processor asleep, as its product specification 1.1 has it.
  public static let nRF52832 = CurrentProfile(
    receiving: 6.5, transmitting: [Transmitting(at: -40, 4.1), Transmitting(at: 0, 7.1)], sleeping: 1.9)

  /// Milliamperes while it sends with this power, dBm.
  public func transmitting(at power: Double) -> Double {
    guard let first = transmitting.first, let last = transmitting.last else { return 0 }
    if power <= first.power { return first.current }
    for (lower, upper) in zip(transmitting, transmitting.dropFirst()) where power <= upper.power {
      let part = upper.power > lower.power ? (power - lower.power) / (upper.power - lower.power) : 1
      return lower.current + part * (upper.current - lower.current)
    }
    return last.current
  }
}

/// A battery.
public struct Cell: Hashable, Sendable, Codable {
  /// Milliampere-hours.
  public var capacity: Double
  /// The most that it gives for a moment, milliamperes.
  public var peak: Double
  /// What it loses by itself, per cent a year.
  public var selfDischarge: Double

  /// A battery with this capacity (mAh), which gives at most `peak` (mA) and loses `selfDischarge` (%) a year.
  public init(capacity: Double, peak: Double, selfDischarge: Double = 1) {
    self.capacity = capacity
    self.peak = peak
    self.selfDischarge = selfDischarge
  }

  /// 20 mm across, 3.2 mm high.
  public static let cr2032 = Cell(capacity: 220, peak: 20)
  /// 20 mm across, 2.5 mm high.
  public static let cr2025 = Cell(capacity: 160, peak: 20)
  /// 24 mm across, 5 mm high.
  public static let cr2450 = Cell(capacity: 620, peak: 30)
  /// Two alkaline cells of size AAA, one behind the other.
  public static let twoAAA = Cell(capacity: 1_200, peak: 500, selfDischarge: 3)
  /// What a telephone has.
  public static let telephone = Cell(capacity: 3_000, peak: 2_000, selfDischarge: 30)

  /// How many days it lasts at this current (mA), with what it loses by itself.
  public func days(at current: Double) -> Double {
    let losing = capacity * selfDischarge / 100 / 365
    let daily = current * 24 + losing
    return daily > 0 ? capacity / daily : .infinity
  }
}
