import BluetoothWire

/// The client's end of a session: the interface of an app's manager to the daemon. Every method may be called on any
/// thread, at any time.
///
/// Only values cross the border: requests by `send`, events by the client's `receive`. The counters are this end's
/// knowledge of how much the daemon takes; see `SessionCounters`.
package final class Session<Role: SessionRole>: Sendable {
  package let id: SessionID<Role>
  private let counters: SessionCounters
  private let sessions: LocalSessions

  fileprivate init(_ id: SessionID<Role>, _ counters: SessionCounters, in sessions: LocalSessions) {
    self.id = id
    self.counters = counters
    self.sessions = sessions
  }

  /// The number of events that wait on the app's queue.
  package var backlog: EventBacklog { counters.backlog }

  /// Counts an event that is now waiting on the app's queue. In virtual time no event waits.
  package func eventQueued() { counters.backlog.append() }

  /// Counts a queued event that the app has handled.
  package func eventHandled() {
    if counters.backlog.removeFirst() { sessions.requests.wake() }
  }

  /// The number of requests that the daemon has not taken yet, and of events that have not been delivered, of all
  /// sessions of the adapter. A server that passes on the requests of other processes takes no more of them while this
  /// number is high.
  package var pendingCount: Int { sessions.pendingCount }

  /// Calls `observer` with the number of credits and, for those of a central manager, their peer whenever the daemon
  /// returns credits. Called before the session's first command, by a client that passes the credits on to another
  /// process.
  package func observeCredits(_ observer: @escaping @Sendable (PeerHandle?, Int) -> Void) {
    counters.observeCredits(observer)
  }

  /// Counts a state change that the app is about to see. A client that queues events calls it on the app's queue.
  package func noteStateSeen() { counters.noteStateSeen() }

  /// Returns the channel that an event has reported; nil if it was taken before. The channel closes when the result is
  /// released, so a client calls it for each such event.
  package func takeChannel(_ channel: ChannelInfo) -> OpenChannel? { sessions.takeChannel(channel) }
}

package typealias CentralSession = Session<CentralRole>
package typealias PeripheralSession = Session<PeripheralRole>

// Methods for one role are extensions for that role, so that callers in other modules get code without generics.

extension Session where Role == CentralRole {
  /// Opens a session. Adapters call it to implement `openCentralSession`.
  package convenience init(client: any CentralClient, owner: SessionOwner? = nil, in sessions: LocalSessions) {
    let counters = SessionCounters()
    self.init(sessions.open(client, counters, owner), counters, in: sessions)
  }

  /// Sends a command. The daemon handles commands in order, after the commands sent before on any session.
  package func send(_ command: CentralCommand) {
    sessions.requests.post(.central(id, command, seenStates: counters.seenStates))
  }

  /// Sends a command of a client in another process.
  ///
  /// - Parameter seenStates: the number of this session's state changes that the app had seen when it sent the command.
  package func send(_ command: CentralCommand, seenStates: UInt32) {
    sessions.requests.post(.central(id, command, seenStates: seenStates))
  }

  /// Makes a device a peer of the adapter; see `DaemonRequest.introduce`.
  package func introduce(_ address: DeviceAddress) { sessions.requests.post(.introduce(address, id)) }

  /// Returns events to the daemon that the app has not handled, because its process has ended. Called before the end of
  /// the app, which the daemon then launches for them if it preserves the session.
  package func putBack(_ events: [CentralEvent]) { sessions.requests.post(.unhandled(.central(id, events))) }

  /// Returns the credits for writes without response to `peer`. The object is the same throughout the session; when a
  /// link ends, the credits of all unsent writes come back.
  package func writeCredits(for peer: PeerHandle) -> TransmitCredits { counters.writeCredits(for: peer) }

  /// Ends the session: its scan, its connection attempts and its share of links. No event follows, except one that is
  /// being delivered now.
  package func close() { sessions.close(id, counters) }
}

extension Session where Role == PeripheralRole {
  /// Opens a session. Adapters call it to implement `openPeripheralSession`.
  package convenience init(client: any PeripheralClient, owner: SessionOwner? = nil, in sessions: LocalSessions) {
    let counters = SessionCounters()
    self.init(sessions.open(client, counters, owner), counters, in: sessions)
  }

  /// Sends a command. The daemon handles commands in order, after the commands sent before on any session.
  package func send(_ command: PeripheralCommand) {
    sessions.requests.post(.peripheral(id, command, seenStates: counters.seenStates))
  }

  /// Sends a command of a client in another process; see `send` of a central manager's session.
  package func send(_ command: PeripheralCommand, seenStates: UInt32) {
    sessions.requests.post(.peripheral(id, command, seenStates: seenStates))
  }

  /// Returns events to the daemon that the app has not handled; see `putBack` of a central manager's session.
  package func putBack(_ events: [PeripheralEvent]) { sessions.requests.post(.unhandled(.peripheral(id, events))) }

  /// The credits for `PeripheralCommand.update`: one for each call, regardless of the number of centrals.
  package var updateCredits: TransmitCredits { counters.updateCredits }

  /// Ends the session: its advertising and its services. No event follows, except one that is being delivered now.
  package func close() { sessions.close(id, counters) }
}
