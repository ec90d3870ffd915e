import BluetoothWire

/// A Bluetooth BR/EDR connection: 1,600 hops a second over 79 channels of 1 MHz · Vol 2, Part B, 2.
package struct ClassicBluetooth: Hashable, Sendable {
  /// The duty cycle: the share of slots that carry a packet, 1 to 1,000 thousandths.
  package let perMille: Int

  package init(dutyCyclePerMille: Int = 1_000) { perMille = min(max(dutyCyclePerMille, 1), 1_000) }

  /// The length of a slot, in nanoseconds.
  private static let slot: Int64 = 625_000
  /// The longest packet of one slot, in nanoseconds · Vol 2, Part B, 6.5.
  private static let packet: Int64 = 366_000
  private static let channels: UInt64 = 79

  func phase(at now: Instant, seed: UInt64) -> InterferencePhase {
    let (number, elapsed) = now.nanoseconds.quotientAndRemainder(dividingBy: Self.slot)
    let start = number * Self.slot
    let random = ChannelRandom.mixed(seed ^ UInt64(bitPattern: number))
    guard elapsed < Self.packet, (random >> 32) % 1_000 < UInt64(perMille) else {
      return InterferencePhase(frequency: nil, until: Instant(nanoseconds: start + Self.slot))
    }
    return InterferencePhase(
      frequency: 2_402 + Int((random & 0xFFFF_FFFF) % Self.channels),
      until: Instant(nanoseconds: start + Self.packet))
  }
}
