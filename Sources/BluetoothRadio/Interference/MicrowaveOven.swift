import BluetoothWire

/// A microwave oven: its magnetron runs for a part of each period of the mains, and drifts through the upper half of the
/// band while it does.
package struct MicrowaveOven: Hashable, Sendable {
  /// Of the mains: 20 ms at 50 Hz.
  package let period: TimeSpan
  /// The part of each period in which it radiates, 1 to 1,000 thousandths.
  package let perMille: Int

  /// Values outside their ranges are held at them; a period is at least 1 ms.
  package init(mainsPeriod: TimeSpan = .milliseconds(20), dutyCyclePerMille: Int = 500) {
    period = min(max(mainsPeriod, .milliseconds(1)), .seconds(1))
    perMille = min(max(dutyCyclePerMille, 1), 1_000)
  }

  /// MHz: where each half-wave begins at the lowest, how much later ones begin higher, and how far each drifts.
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
    let begins = Self.lowest + Int(AirChance.mixed(seed ^ UInt64(bitPattern: number)) % Self.spread)
    // One step of 1 MHz after the other.
    let steps = Self.drift + 1
    let step = elapsed * steps / length
    let next = ((step + 1) * length + steps - 1) / steps
    return InterferencePhase(
      frequency: begins + Int(step), until: Instant(nanoseconds: start + min(max(next, elapsed + 1), length)))
  }
}
