import NIOConcurrencyHelpers

/// A list of events that any thread can append to and take from.
package final class EventLog<Event: Sendable>: Sendable {
  private let events = NIOLockedValueBox<[Event]>([])

  package init() {}

  package func append(_ event: Event) { events.withLockedValue { $0.append(event) } }

  /// The events that have not been taken.
  package var pending: [Event] { events.withLockedValue { $0 } }

  /// Returns the events since the last call.
  package func take() -> [Event] {
    events.withLockedValue { events in
      defer { events.removeAll() }
      return events
    }
  }
}
