import NIOConcurrencyHelpers
import Testing

@testable import BluetoothDaemon

/// A central manager's place, taken by a list of what it was told.
final class CentralRecorder: CentralClient {
  private let events = NIOLockedValueBox<[CentralEvent]>([])

  func receive(_ event: CentralEvent) { events.withLockedValue { $0.append(event) } }

  /// What was told since the last call.
  func take() -> [CentralEvent] {
    events.withLockedValue { events in
      defer { events.removeAll() }
      return events
    }
  }
}

/// A peripheral manager's place; see `CentralRecorder`.
final class PeripheralRecorder: PeripheralClient {
  private let events = NIOLockedValueBox<[PeripheralEvent]>([])

  func receive(_ event: PeripheralEvent) { events.withLockedValue { $0.append(event) } }

  /// What was told since the last call.
  func take() -> [PeripheralEvent] {
    events.withLockedValue { events in
      defer { events.removeAll() }
      return events
    }
  }
}

/// Counts how often it was woken.
final class WakeCounter: AdapterExecutor {
  private let count = NIOLockedValueBox(0)
  var wakes: Int { count.withLockedValue { $0 } }
  func wake() { count.withLockedValue { $0 += 1 } }
}
