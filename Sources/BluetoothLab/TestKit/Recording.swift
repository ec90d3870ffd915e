import NIOConcurrencyHelpers

/// A recorded callback with its time.
public struct Recorded<Event: Hashable & Sendable>: Hashable, Sendable {
  /// The world's radio time at which the app got the callback.
  public var time: Duration
  /// The callback.
  public var event: Event
}

extension Recorded: CustomStringConvertible {
  /// The time and the callback, such as `1.250000 s connected("Heart Rate")`.
  public var description: String { "\(time.secondsText) \(event)" }
}

/// The callbacks of a delegate in their order. Any thread may use it.
final class Recording<Event: Hashable & Sendable>: Sendable {
  private let world: World
  private let recorded = NIOLockedValueBox<[Recorded<Event>]>([])

  init(in world: World) { self.world = world }

  func append(_ event: Event) {
    let record = Recorded(time: world.now, event: event)
    recorded.withLockedValue { $0.append(record) }
  }

  var all: [Recorded<Event>] { recorded.withLockedValue { $0 } }
  var count: Int { recorded.withLockedValue { $0.count } }

  /// Returns the first event since the event number `start` for which `match` returns a value.
  func first<Value>(since start: Int, _ match: (Event) throws -> Value?) rethrows -> Value? {
    for record in all.dropFirst(start) {
      if let value = try match(record.event) { return value }
    }
    return nil
  }
}
