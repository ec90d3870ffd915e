import BluetoothWire

/// A microwave oven. Its magnetron radiates during a part of each mains period. During that part the frequency rises,
/// in the upper half of the band.
package struct MicrowaveOven: Hashable, Sendable {
  /// The mains period: 20 ms at 50 Hz.
  package let period: TimeSpan
  /// The duty cycle: the part of each period in which the oven radiates, 1 to 1,000 thousandths.
  package let perMille: Int

  /// Creates an oven. Values outside their ranges are clamped; a period lasts 1 ms to 1 s.
  package init(mainsPeriod: TimeSpan = .milliseconds(20), dutyCyclePerMille: Int = 500) {
    period = min(max(mainsPeriod, .milliseconds(1)), .seconds(1))
    perMille = min(max(dutyCyclePerMille, 1), 1_000)
  }

  /// The frequency in MHz at the start of the radiating part of a period is `lowest` plus a pseudo-random number from 0
  /// to `spread` − 1. Until the end of that part, the frequency rises by `drift` MHz.
  private static let lowest = 2_450
  private static let spread: UInt64 = 9
  private static let drift: Int64 = 22

  func phase(at now: Instant, seed: UInt64) -> InterferencePhase {
    let length = period.nanoseconds * Int64(perMille) / 1_000
    let (number, elapsed) = now.nanoseconds.quotientAndRemainder(dividingBy: period.nanoseconds)
    let start = number * period.nanoseconds
    guard elapsed < length else {
      return InterferencePhase(frequency: nil, until: Instant(nanoseconds: start + period.nanoseconds))
    }
    let begins = Self.lowest + Int(ChannelRandom.mixed(seed ^ UInt64(bitPattern: number)) % Self.spread)
    // The frequency drifts in steps of 1 MHz.
    let steps = Self.drift + 1
    let step = elapsed * steps / length
    let next = ((step + 1) * length + steps - 1) / steps
    return InterferencePhase(
      frequency: begins + Int(step), until: Instant(nanoseconds: start + min(max(next, elapsed + 1), length)))
  }
}
