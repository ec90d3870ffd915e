import BluetoothRadio
import BluetoothWire

extension Controller {
  func wantsSync(_ event: ExtendedEvent) -> Bool { false }
  mutating func synchronize(to info: LL.SyncInfo, of event: ExtendedEvent, from start: Instant, at now: Instant) {}
  mutating func beginPeriodicSyncEvent(_ index: Int, at now: Instant) -> RadioStep { .done }
  mutating func losePeriodicSyncEvent(_ index: Int, at now: Instant) -> RadioClaim? { nil }
  mutating func endPeriodicSyncEvent(_ index: Int, at now: Instant) {}
  mutating func periodicSyncTimeReached(_ index: Int, at now: Instant) { perform(.done, at: now) }
  mutating func continuePeriodicSyncEvent(_ index: Int, _ event: RadioEvent, at now: Instant) {
    perform(.done, at: now)
  }
}
