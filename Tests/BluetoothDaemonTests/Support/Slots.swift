import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// Returns two slots of central sessions, for tests of tables that only distinguish sessions.
func centralSlots() -> (CentralSlot, CentralSlot) {
  let mailbox = Mailbox()
  let client = CentralRecorder()
  var table = SessionTable<CentralSlot, Daemon.Central>()
  let first = table.insert(.init(session: CentralSession(client: client, mailbox: mailbox)))
  let second = table.insert(.init(session: CentralSession(client: client, mailbox: mailbox)))
  return (first, second)
}

/// Returns two slots of peripheral sessions.
func peripheralSlots() -> (PeripheralSlot, PeripheralSlot) {
  let mailbox = Mailbox()
  let client = PeripheralRecorder()
  var table = SessionTable<PeripheralSlot, PeripheralSession>()
  let first = table.insert(PeripheralSession(client: client, mailbox: mailbox))
  let second = table.insert(PeripheralSession(client: client, mailbox: mailbox))
  return (first, second)
}

/// Like `#require`, for the results of mutating calls, which the macro does not support.
func unwrapped<T>(_ value: T?, sourceLocation: SourceLocation = #_sourceLocation) throws -> T {
  try #require(value, sourceLocation: sourceLocation)
}
