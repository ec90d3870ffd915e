import BluetoothRadio
import BluetoothWire

/// Open-loop advertising: a set that expects no answer advertises while the controller does nothing else, so its
/// events can be computed without running the controller. See `CulledTransmitters`.
extension AdvertisingEngine {
  /// Returns the set as open-loop advertising; nil if the set expects responses, has a limit or has an event in
  /// progress, or if any set has a duration.
  mutating func openLoopAdvertising(of index: Int) -> OpenLoopAdvertising? {
    guard sets.deadline == .distantFuture else { return nil }
    return sets[index]?.advertiser?.openLoopAdvertising
  }

  /// Skips all events of the set in `openLoopAdvertising` that end at `limit` or before, and returns their packets;
  /// nil: none.
  mutating func skip(
    _ index: Int, until limit: Instant, random: inout RandomStream, radio: inout RadioControl
  ) -> SkippedPackets? {
    guard let skipped = sets[index]?.advertiser?.skip(until: limit, random: &random) else { return nil }
    schedule(index, radio: &radio)
    return skipped
  }
}
