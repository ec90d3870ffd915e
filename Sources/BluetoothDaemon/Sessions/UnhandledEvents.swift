import BluetoothHost

/// The events of a session that the app's process got and has not handled, the oldest one first.
package enum UnhandledEvents: Sendable {
  case central(CentralSessionID, [CentralEvent])
  case peripheral(PeripheralSessionID, [PeripheralEvent])
}

extension CentralEvent {
  /// False for an event that concerns only objects of one process, or that a new process gets anyway.
  var outlivesProcess: Bool {
    switch self {
    case .restored, .stateChanged, .packetReceived, .synchronization, .channelOpened(_, .success), .barrierReached,
      .readyToWriteWithoutResponse:
      false
    default: true
    }
  }
}

extension PeripheralEvent {
  /// False for an event that concerns only objects of one process, or that a new process gets anyway. The requests of
  /// centrals fail at the end of the process.
  var outlivesProcess: Bool {
    switch self {
    case .restored, .stateChanged, .readRequested, .writeRequested(.some, _, _), .channelPublished, .channelUnpublished,
      .channelOpened, .advertisingSetStarted, .advertisingSetEnded, .link, .indicationConfirmed, .barrierReached,
      .readyToUpdate:
      false
    default: true
    }
  }
}
