import BluetoothDaemon
import NIOConcurrencyHelpers

/// The number of events that the app at the other end of a connection has not handled, and the session that counts them
/// for the daemon.
///
/// The session is set after it has been opened, and its first event may arrive before that.
final class ProxyCounts<Role: SessionRole, Event: Sendable>: Sendable {
  private struct State {
    var session: Session<Role>?
    /// The number of events before the session was set.
    var early = 0
    /// The number of events that the app has not handled.
    var waiting = 0
    /// The number of events that the app has handled.
    var handled = 0
    /// The events that the app has not handled, the oldest one first; nil: they are not kept.
    var unhandled: [Event]?
  }

  private let state: NIOLockedValueBox<State>

  /// - Parameter keepsEvents: true if the next process of the app gets the events that this one does not handle.
  init(keepsEvents: Bool) { state = NIOLockedValueBox(State(unhandled: keepsEvents ? [] : nil)) }

  /// The session; nil: not set yet, or closed.
  var session: Session<Role>? { state.withLockedValue { $0.session } }

  /// The number of events that the app has handled since the session began, for comparison.
  var handledCount: Int { state.withLockedValue { $0.handled } }

  /// True if the daemon holds the links that bring more events.
  var isFull: Bool { state.withLockedValue { $0.session?.backlog.isFull } ?? false }

  /// True if the app has handled so few events that the connection must end.
  var isExhausted: Bool { state.withLockedValue { $0.waiting >= SessionLimits.maximumWaitingEvents } }

  func set(_ session: Session<Role>) {
    state.withLockedValue { state in
      state.session = session
      for _ in 0..<state.early { session.eventQueued() }
      state.early = 0
    }
  }

  /// Counts an event for the app.
  ///
  /// - Parameter event: the event, with octets that stay valid. Evaluated if events are kept.
  func eventQueued(_ event: @autoclosure () -> Event) {
    state.withLockedValue { state in
      state.waiting += 1
      if state.unhandled != nil { state.unhandled?.append(event()) }
      if let session = state.session { session.eventQueued() } else { state.early += 1 }
    }
  }

  /// Counts events that the app has handled. Returns false if there were not so many.
  func eventsHandled(_ count: Int) -> Bool {
    let session: Session<Role>?? = state.withLockedValue { state in
      guard count <= state.waiting else { return nil }
      state.waiting -= count
      state.handled += count
      if state.unhandled != nil { state.unhandled?.removeFirst(count) }
      return .some(state.session)
    }
    guard let session else { return false }
    for _ in 0..<count { session?.eventHandled() }
    return true
  }

  /// Returns the session and the events that the app has not handled, and keeps no more events; nil: the session has
  /// been closed, or its events are not kept.
  func takeUnhandled() -> (session: Session<Role>, events: [Event])? {
    state.withLockedValue { state -> (session: Session<Role>, events: [Event])? in
      guard let session = state.session, let events = state.unhandled else { return nil }
      state.unhandled = nil
      return (session, events)
    }
  }

  /// Returns the session, which the caller closes.
  func take() -> Session<Role>? { state.withLockedValue { $0.session.take() } }
}
