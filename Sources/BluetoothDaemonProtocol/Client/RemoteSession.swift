import BluetoothDaemon
import DequeModule

/// A session of this process, as its connection to the server knows it.
struct RemoteSession {
  let number: SessionNumber
  let counters: SessionCounters
  /// The restore identifier of the app's manager; nil: none.
  let restoreIdentifier: String?
  /// The number of state changes that the client has got, modulo 2³².
  private(set) var states: UInt32 = 0
  /// The state that the client has got last; nil: none.
  private(set) var latestState: AdapterState?
  /// `states` when the server's session was opened: the server counts from there.
  private var statesBefore: UInt32 = 0
  /// The number of events from the server on this connection.
  private var events = 0
  /// The number of them that the server knows to be handled.
  private var acknowledged = 0
  /// The numbers of the barriers that the server has not answered.
  var barriers: Deque<UInt32> = []
  /// True if the app observes its links: the server must be told on each connection.
  var observesLinks = false

  init(_ number: SessionNumber, _ counters: SessionCounters, _ owner: SessionOwner?) {
    self.number = number
    self.counters = counters
    restoreIdentifier = owner?.restoreIdentifier
  }

  /// Begins a new connection.
  mutating func open() {
    statesBefore = states
    events = 0
    acknowledged = 0
  }

  mutating func noteEvent() { events += 1 }

  mutating func noteState(_ state: AdapterState) {
    states &+= 1
    latestState = state
  }

  /// Returns the number of state changes of this connection that the app has seen; nil: the app sent its command before
  /// it knew the state at the beginning of the connection.
  func seenStates(_ all: UInt32) -> UInt32? {
    let seen = Int32(bitPattern: all &- statesBefore)
    return seen < 0 ? nil : UInt32(seen)
  }

  /// The number of state changes on this connection.
  var allStates: UInt32 { states &- statesBefore }

  /// Returns the number of events that have been handled since the last call.
  ///
  /// Events of this process wait on the app's queue, too, so the result can be too low, but never too high. The last
  /// waiting events are reported with the next events of the server: they don't limit it. Those of a session with a
  /// restore identifier are reported at once, so that the server knows what the next process of the app must get.
  mutating func takeHandledEvents() -> Int {
    // The queue that is above the low mark wakes the connection when it has fallen to it.
    _ = counters.backlog.awaitLow()
    if restoreIdentifier != nil { _ = counters.backlog.awaitEmpty() }
    let handled = max(0, events - counters.backlog.count - acknowledged)
    acknowledged += handled
    return handled
  }
}

/// An open L2CAP channel whose other end is in the server.
struct RemoteChannel {
  /// The server's handle.
  let handle: ChannelHandle
  let pipe: ChannelPipe
  /// The number of octets that have been sent and that the daemon has not taken.
  var unacknowledged = 0
  /// True if octets that the daemon had taken are lost.
  var isCut = false
  /// True if the app has closed the channel, and the server knows.
  var isClosing = false
}

/// An attempt to connect to a peer that the server does not know yet.
struct WaitingAttempt {
  let session: CentralSessionID
  /// The command `connect`.
  let command: CentralCommand
}
