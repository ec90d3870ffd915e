import BluetoothRadio
import BluetoothWire

/// Repeated advertising: a set advertises while the controller does nothing else, so that its events can be run without
/// the controller. See `RepeatedAdvertising`.
extension AdvertisingEngine {
  /// Returns the set as repeated advertising; nil if the set uses extended PDUs, has a limit or has an event in progress,
  /// or if any set has a duration.
  mutating func repeatedAdvertising(of index: Int) -> RepeatedAdvertising? {
    guard sets.deadline == .distantFuture else { return nil }
    return sets[index]?.advertiser?.repeatedAdvertising
  }

  /// Counts an event of the set in `repeatedAdvertising` that has been run on behalf of the set and has ended at `end`.
  mutating func endEvent(_ index: Int, at end: Instant, random: inout RandomStream, radio: inout RadioControl) {
    sets[index]?.advertiser?.endEvent(at: end, random: &random)
    schedule(index, radio: &radio)
  }

  /// Skips all events of the set in `repeatedAdvertising` that end at `limit` or before, and returns their packets;
  /// nil: none.
  mutating func skip(
    _ index: Int, until limit: Instant, random: inout RandomStream, radio: inout RadioControl
  ) -> SkippedPackets? {
    guard let skipped = sets[index]?.advertiser?.skip(until: limit, random: &random) else { return nil }
    schedule(index, radio: &radio)
    return skipped
  }
}
