import BluetoothHost
import BluetoothWire

/// The events of a session that the app's process got and has not handled, the oldest one first.
package enum UnhandledEvents: Sendable {
  case central(CentralSessionID, [CentralEvent])
  case peripheral(PeripheralSessionID, [PeripheralEvent])
}

extension Daemon {
  /// Takes back the events that a process has not handled before its end, which follows: they wait for the next process.
  mutating func takeBack(_ unhandled: UnhandledEvents) {
    switch unhandled {
    case .central(let id, let events):
      guard let session = context.target(of: id), let app = context.owner(of: session) else { return }
      context.apps[app].events.putBack(events.filter(\.outlivesProcess), for: session)
      context.apps[app].hasUnhandledEvents = true
    case .peripheral(let id, let events):
      guard let session = context.target(of: id), let app = context.owner(of: session) else { return }
      context.apps[app].events.putBack(events.filter(\.outlivesProcess), for: session)
      context.apps[app].hasUnhandledEvents = true
    }
  }
}

extension WaitingEvents {
  /// Adds events that are older than all that wait.
  mutating func putBack(_ events: [CentralEvent], for session: CentralSessionID) {
    putBack(events.map { Entry.central(session, $0) })
  }

  /// Adds events that are older than all that wait.
  mutating func putBack(_ events: [PeripheralEvent], for session: PeripheralSessionID) {
    putBack(events.map { Entry.peripheral(session, $0) })
  }

  private mutating func putBack(_ older: [Entry]) {
    let all = older + entries
    removeAll()
    for entry in all {
      switch entry {
      case .central(let session, let event): add(event, for: session)
      case .peripheral(let session, let event): add(event, for: session)
      }
    }
  }
}

extension CentralEvent {
  /// False for an event that concerns only objects of one process, or that a new process gets anyway.
  fileprivate var outlivesProcess: Bool {
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
  fileprivate var outlivesProcess: Bool {
    switch self {
    case .restored, .stateChanged, .readRequested, .writeRequested(.some, _, _), .channelPublished, .channelUnpublished,
      .channelOpened, .advertisingSetStarted, .advertisingSetEnded, .link, .indicationConfirmed, .barrierReached,
      .readyToUpdate:
      false
    default: true
    }
  }
}
