import DequeModule
import NIOConcurrencyHelpers

/// The channels that centrals have opened and that no iteration has taken, and the iterations that wait for a channel.
///
/// An iteration that is cancelled takes no channel: the next one gets it.
final class ChannelQueue: Sendable {
  /// The maximum number of channels that wait for an iteration.
  static let maximumCount = 16

  private struct State {
    var channels: Deque<L2CAPChannel> = []
    /// Not empty only while there are no channels.
    var waiters: Deque<PendingOperation<L2CAPChannel?>> = []
    /// The end of all iterations: nil, or an error; nil before.
    var end: Result<L2CAPChannel?, any Error>?
  }

  private let state = NIOLockedValueBox(State())

  /// Waits for a channel. Returns nil, or throws an error, at the end of the queue.
  func next() async throws -> L2CAPChannel? {
    try Task.checkCancellation()
    let operation = PendingOperation<L2CAPChannel?>()
    let result = state.withLockedValue { state -> Result<L2CAPChannel?, any Error>? in
      if let channel = state.channels.popFirst() { return .success(channel) }
      if let end = state.end { return end }
      state.waiters.append(operation)
      return nil
    }
    if let result { return try result.get() }
    return try await operation.value(onCancel: { [self] in
      state.withLockedValue { state in state.waiters.removeAll { $0 === operation } }
    })
  }

  /// Adds a channel for the iteration that has waited longest, or for a later one. Without room for it, no reference to
  /// the channel remains, so it closes.
  func add(_ channel: L2CAPChannel) {
    let resume = state.withLockedValue { state -> (() -> Void)? in
      guard state.end == nil else { return nil }
      // A cancellation removes the waiter before it ends the operation, so a queued operation has not ended.
      if let waiter = state.waiters.popFirst() { return waiter.decide(.success(channel)) }
      if state.channels.count < Self.maximumCount { state.channels.append(channel) }
      return nil
    }
    resume?()
  }

  /// Ends all iterations, as soon as they have got the channels that wait.
  ///
  /// - Parameter error: the error that they throw; nil: none.
  func finish(throwing error: (any Error)? = nil) {
    let end: Result<L2CAPChannel?, any Error> = error.map { .failure($0) } ?? .success(nil)
    let waiters = state.withLockedValue { state in
      state.end = state.end ?? end
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.finish(end) }
  }
}
