/// The current consumption of a chip in each state of its radio.
public struct CurrentProfile: Hashable, Sendable, Codable {
  /// The transmitter's current at one power level.
  public struct Transmitting: Hashable, Sendable, Codable {
    /// The transmit power in dBm.
    public var power: Double
    /// The current at this power.
    public var milliamperes: Double

    /// Creates a point of the curve: the current at this power in dBm.
    public init(at power: Double, milliamperes: Double) {
      self.power = power
      self.milliamperes = milliamperes
    }
  }

  /// The current while receiving.
  public var receivingMilliamperes: Double
  /// The current while transmitting, at several power levels. Between these levels the current is interpolated linearly
  /// over dBm; outside their range, the current of the nearest level applies. With an empty list, the current is 0.
  public var transmitting: [Transmitting]
  /// The current at all other times, with the sleep clock running.
  public var sleepingMicroamperes: Double

  /// Creates a profile.
  public init(receivingMilliamperes: Double, transmitting: [Transmitting], sleepingMicroamperes: Double) {
    self.receivingMilliamperes = receivingMilliamperes
    self.transmitting = transmitting.sorted { $0.power < $1.power }
    self.sleepingMicroamperes = sleepingMicroamperes
  }

  /// The Wi-Fi and Bluetooth combination chip in phones of 2011 (BCM4330): 68 mA while receiving.
  public static let bcm4330 = CurrentProfile(
    receivingMilliamperes: 68,
    transmitting: [
      Transmitting(at: -20, milliamperes: 30), Transmitting(at: 0, milliamperes: 45),
      Transmitting(at: 10, milliamperes: 65),
    ],
    sleepingMicroamperes: 100)
  /// The Wi-Fi and Bluetooth combination chip in phones of 2012, the successor of BCM4330 (BCM4334): 36 mA while
  /// receiving.
  public static let bcm4334 = CurrentProfile(
    receivingMilliamperes: 36,
    transmitting: [
      Transmitting(at: -20, milliamperes: 18), Transmitting(at: 0, milliamperes: 27),
      Transmitting(at: 10, milliamperes: 40),
    ],
    sleepingMicroamperes: 60)
  /// A first-generation single-mode chip, powered by a coin cell without a DC/DC converter.
  public static let firstSingleMode = CurrentProfile(
    receivingMilliamperes: 19.6,
    transmitting: [
      Transmitting(at: -23, milliamperes: 16), Transmitting(at: -6, milliamperes: 18),
      Transmitting(at: 0, milliamperes: 21),
      Transmitting(at: 4, milliamperes: 27),
    ], sleepingMicroamperes: 1)
  /// A recent single-mode chip with a DC/DC converter: about 5 mA while receiving, or while transmitting with 0 dBm.
  public static let modern = CurrentProfile(
    receivingMilliamperes: 4.6,
    transmitting: [
      Transmitting(at: -20, milliamperes: 2.6), Transmitting(at: 0, milliamperes: 4.8),
      Transmitting(at: 4, milliamperes: 7),
      Transmitting(at: 8, milliamperes: 14), Transmitting(at: 20, milliamperes: 95),
    ], sleepingMicroamperes: 1.5)

  /// The nRF52832 with its DC/DC converter at 3 V and the processor asleep, from its product specification 1.1.
  public static let nRF52832 = CurrentProfile(
    receivingMilliamperes: 6.5,
    transmitting: [Transmitting(at: -40, milliamperes: 4.1), Transmitting(at: 0, milliamperes: 7.1)],
    sleepingMicroamperes: 1.9)

  /// Returns the current while transmitting at this power in dBm.
  public func transmittingMilliamperes(at power: Double) -> Double {
    guard let first = transmitting.first, let last = transmitting.last else { return 0 }
    if power <= first.power { return first.milliamperes }
    for (lower, upper) in zip(transmitting, transmitting.dropFirst()) where power <= upper.power {
      let part = upper.power > lower.power ? (power - lower.power) / (upper.power - lower.power) : 1
      return lower.milliamperes + part * (upper.milliamperes - lower.milliamperes)
    }
    return last.milliamperes
  }
}
