import NIOConcurrencyHelpers
import Testing

@testable import BluetoothDaemon

/// A recorder of events in place of a central manager.
final class CentralRecorder: CentralClient {
  private let events = NIOLockedValueBox<[CentralEvent]>([])

  func receive(_ event: CentralEvent) { events.withLockedValue { $0.append(event) } }

  /// Returns the events since the last call.
  func take() -> [CentralEvent] {
    events.withLockedValue { events in
      defer { events.removeAll() }
      return events
    }
  }
}

/// A recorder of events in place of a peripheral manager; see `CentralRecorder`.
final class PeripheralRecorder: PeripheralClient {
  private let events = NIOLockedValueBox<[PeripheralEvent]>([])

  func receive(_ event: PeripheralEvent) { events.withLockedValue { $0.append(event) } }

  /// Returns the events since the last call.
  func take() -> [PeripheralEvent] {
    events.withLockedValue { events in
      defer { events.removeAll() }
      return events
    }
  }
}

/// A counter of wakeups.
final class WakeCounter: AdapterExecutor {
  private let count = NIOLockedValueBox(0)
  var wakes: Int { count.withLockedValue { $0 } }
  func wake() { count.withLockedValue { $0 += 1 } }
}
