import BluetoothRadio
import BluetoothWire

/// Receptions at a time that was announced: auxiliary packets, and the events of periodic advertising.
extension Controller {
  // MARK: Auxiliary packets · Vol 6, Part B, 4.4.2.2.2

  mutating func beginAuxiliaryReception(_ index: Int, at now: Instant) -> RadioStep { .done }

  /// The radio was not free in time; returns what is wanted next.
  mutating func loseAuxiliaryReception(_ index: Int, at now: Instant) -> RadioClaim? { nil }

  mutating func endAuxiliaryReception(_ index: Int, at now: Instant) {}

  mutating func auxiliaryReceptionTimeReached(_ index: Int, at now: Instant) { perform(.done, at: now) }

  mutating func continueAuxiliaryReception(_ index: Int, _ event: RadioEvent, at now: Instant) {
    perform(.done, at: now)
  }

  // MARK: Periodic advertising · Vol 6, Part B, 4.4.3.4

  mutating func beginPeriodicSyncEvent(_ index: Int, at now: Instant) -> RadioStep { .done }

  /// The radio was not free in time; returns what is wanted next.
  mutating func losePeriodicSyncEvent(_ index: Int, at now: Instant) -> RadioClaim? { nil }

  mutating func endPeriodicSyncEvent(_ index: Int, at now: Instant) {}

  mutating func periodicSyncTimeReached(_ index: Int, at now: Instant) { perform(.done, at: now) }

  mutating func continuePeriodicSyncEvent(_ index: Int, _ event: RadioEvent, at now: Instant) {
    perform(.done, at: now)
  }
}
