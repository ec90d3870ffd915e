import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import BluetoothDaemon

/// A recorder of events in place of a central manager.
final class CentralRecorder: CentralClient {
  private let events = EventLog<CentralEvent>()

  func receive(_ event: CentralEvent) { events.append(event) }

  /// Returns the events since the last call.
  func take() -> [CentralEvent] { events.take() }
}

/// A recorder of events in place of a peripheral manager; see `CentralRecorder`.
final class PeripheralRecorder: PeripheralClient {
  private let events = EventLog<PeripheralEvent>()

  func receive(_ event: PeripheralEvent) { events.append(event) }

  /// Returns the events since the last call.
  func take() -> [PeripheralEvent] { events.take() }
}

/// A counter of wakeups.
final class WakeCounter: AdapterExecutor {
  private let count = NIOLockedValueBox(0)
  var wakes: Int { count.withLockedValue { $0 } }
  func wake() { count.withLockedValue { $0 += 1 } }
}
