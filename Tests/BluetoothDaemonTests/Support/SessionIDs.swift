import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// Returns the identifiers of two central sessions, for tests of tables that only distinguish sessions.
func centralSessions() -> (CentralSessionID, CentralSessionID) {
  (SessionID(key: SlotKey(index: 0, generation: 0)), SessionID(key: SlotKey(index: 1, generation: 0)))
}

/// Returns the identifiers of two peripheral sessions.
func peripheralSessions() -> (PeripheralSessionID, PeripheralSessionID) {
  (SessionID(key: SlotKey(index: 0, generation: 0)), SessionID(key: SlotKey(index: 1, generation: 0)))
}

/// Like `#require`, for the results of mutating calls, which the macro does not support.
func unwrapped<T>(_ value: T?, sourceLocation: SourceLocation = #_sourceLocation) throws -> T {
  try #require(value, sourceLocation: sourceLocation)
}
