import Foundation
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
  private let entries = NIOLockedValueBox<[Entry]>([])

  private struct Entry {
    var record: Recorded<Event>
    /// The identifier of the peer that the event is about, because the name in the event can change; nil: the event is
    /// about no peer.
    var peer: UUID?
  }

  init(in world: World) { self.world = world }

  func append(_ event: Event, peer: UUID? = nil) {
    let entry = Entry(record: Recorded(time: world.now, event: event), peer: peer)
    entries.withLockedValue { $0.append(entry) }
  }

  var all: [Recorded<Event>] { entries.withLockedValue { $0.map(\.record) } }
  var count: Int { entries.withLockedValue { $0.count } }

  /// Returns the first event since the event number `start` for which `match` returns a value.
  ///
  /// - Parameter peer: the identifier of the peer that the event must concern; nil: any or none.
  func first<Value>(since start: Int, of peer: UUID? = nil, _ match: (Event) throws -> Value?) rethrows -> Value? {
    let later = entries.withLockedValue { $0.dropFirst(start) }
    for entry in later where peer == nil || entry.peer == peer {
      if let value = try match(entry.record.event) { return value }
    }
    return nil
  }

  /// Returns the values that `match` returns for the events since the event number `start`, in the order of the events.
  ///
  /// - Parameter peer: the identifier of the peer that the events must concern; nil: any or none.
  func matches<Value>(since start: Int, of peer: UUID? = nil, _ match: (Event) throws -> Value?) rethrows -> [Value] {
    let later = entries.withLockedValue { $0.dropFirst(start) }
    return try later.filter { peer == nil || $0.peer == peer }.compactMap { try match($0.record.event) }
  }
}
