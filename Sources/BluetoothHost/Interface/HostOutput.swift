import DequeModule

/// The queued events of a host and its counters.
struct HostOutput {
  private var events: Deque<HostEvent> = []
  /// Counters of invalid, unexpected and discarded input.
  var metrics = HostMetrics()

  /// Queues an event for the upper layer.
  @inline(__always)
  mutating func tell(_ event: HostEvent) { events.append(event) }

  /// Queues the answer to a start of advertising; nil: there is no answer yet.
  mutating func tellAdvertisingStarted(_ result: Result<Void, HostError>?) {
    switch result {
    case .success?: tell(.advertisingStarted(nil))
    case .failure(let error)?: tell(.advertisingStarted(error))
    case nil: break
    }
  }

  /// Removes and returns the next event for the upper layer.
  @inline(__always)
  mutating func takeEvent() -> HostEvent? { events.popFirst() }
}

/// Counters of input and answers that a host has discarded.
package struct HostMetrics: Hashable, Sendable {
  /// Events that could not be parsed.
  package var malformedEvents = 0
  /// Packets and events that a controller never sends, or not in this state.
  package var unexpectedPackets = 0
  /// Packets and events for links that do not exist.
  package var unknownLinks = 0
  /// Frames and fragments that could not be reassembled.
  package var droppedFrames = 0
  /// Answers that were dropped because too many were queued.
  package var droppedAnswers = 0
}
