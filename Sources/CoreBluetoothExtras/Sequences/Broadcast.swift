import NIOConcurrencyHelpers

/// Sends events to any number of iterations.
final class Broadcast<Event: Sendable>: Sendable {
  private struct State {
    var continuations: [Int: AsyncStream<Event>.Continuation] = [:]
    var next = 0
    /// The event that a new iteration gets first.
    var first: Event?
    var isFinished = false
  }

  private let state: NIOLockedValueBox<State>
  private let repeatsLatest: Bool

  /// Creates a broadcast.
  ///
  /// - Parameters:
  ///   - repeatsLatest: true if new iterations get the latest event first.
  ///   - first: the latest event at the beginning; nil: none.
  init(repeatsLatest: Bool = false, from first: Event? = nil) {
    self.repeatsLatest = repeatsLatest
    state = NIOLockedValueBox(State(first: first))
  }

  /// Forgets the latest event: new iterations get later events only, until the next one.
  func forgetLatest() { state.withLockedValue { $0.first = nil } }

  /// The number of iterations.
  var count: Int { state.withLockedValue { $0.continuations.count } }

  func send(_ event: Event) {
    state.withLockedValue { state in
      if repeatsLatest, !state.isFinished { state.first = event }
      for continuation in state.continuations.values { continuation.yield(event) }
    }
  }

  /// Sends an event unless it equals the latest one.
  func sendIfChanged(_ event: Event) where Event: Equatable {
    state.withLockedValue { state in
      guard state.first != event else { return }
      state.first = event
      for continuation in state.continuations.values { continuation.yield(event) }
    }
  }

  /// Ends all iterations.
  ///
  /// - Parameter last: the only event of later iterations; nil: the latest one, if the broadcast repeats it.
  func finish(with last: Event? = nil) {
    let continuations = state.withLockedValue { state in
      state.isFinished = true
      if let last { state.first = last }
      defer { state.continuations = [:] }
      return state.continuations
    }
    for continuation in continuations.values { continuation.finish() }
  }

  /// Begins an iteration.
  ///
  /// - Parameter first: the event that the iteration gets first; nil: the latest one, if the broadcast repeats it.
  func subscribe(from first: Event? = nil) -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    let number: Int? = state.withLockedValue { state in
      if let first = first ?? state.first { continuation.yield(first) }
      guard !state.isFinished else { return nil }
      state.next += 1
      state.continuations[state.next] = continuation
      return state.next
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.unsubscribe(number) }
    return stream
  }

  private func unsubscribe(_ number: Int) {
    // Released outside the lock.
    _ = state.withLockedValue { $0.continuations.removeValue(forKey: number) }
  }
}
