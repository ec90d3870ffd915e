/// An asynchronous sequence of events. Each iterator gets the events that occur after its creation, in their order.
///
/// An iteration ends when its task is cancelled or the central is closed.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never

  /// The source of the events, which iterations retain.
  let owner: any AnyObject & Sendable
  let subscribe: @Sendable () -> AsyncStream<Element>

  /// Begins an iteration.
  public func makeAsyncIterator() -> Iterator { Iterator(owner: owner, base: subscribe().makeAsyncIterator()) }

  /// An iteration over the events.
  public struct Iterator: AsyncIteratorProtocol {
    let owner: any AnyObject & Sendable
    var base: AsyncStream<Element>.Iterator

    /// Waits for the next event. Returns nil at the end.
    public mutating func next() async -> Element? { await base.next() }

    /// Waits for the next event. Returns nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await base.next(isolation: actor)
    }
  }
}

/// An asynchronous sequence of events that can end with an error.
///
/// An iteration begins the activity that leads to the events, such as a scan, and ends it when the iterator is released
/// (at the end of the `for` loop) or when the task is cancelled.
public struct ThrowingEventSequence<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = any Error

  /// The source of the events, which iterations retain.
  let owner: any AnyObject & Sendable
  let subscribe: @Sendable () -> AsyncThrowingStream<Element, any Error>

  /// Begins an iteration, and with it the activity.
  public func makeAsyncIterator() -> Iterator { Iterator(owner: owner, base: subscribe().makeAsyncIterator()) }

  /// An iteration over the events.
  public struct Iterator: AsyncIteratorProtocol {
    let owner: any AnyObject & Sendable
    var base: AsyncThrowingStream<Element, any Error>.Iterator

    /// Waits for the next event.
    ///
    /// - Throws: the error that ended the activity; `CancellationError` if the task is cancelled.
    public mutating func next() async throws -> Element? { try await next(isolation: nil) }

    /// Waits for the next event.
    ///
    /// - Throws: the error that ended the activity; `CancellationError` if the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
      if let event = try await base.next(isolation: actor) { return event }
      try Task.checkCancellation()
      return nil
    }
  }
}
