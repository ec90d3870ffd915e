import BluetoothWire
import DequeModule

/// The queued events of a host and its counters.
struct HostOutput {
  private var events: Deque<HostEvent> = []
  /// Counters of invalid, unexpected and discarded input.
  var metrics = HostMetrics()

  /// Queues an event for the upper layer.
  @inline(__always)
  mutating func tell(_ event: HostEvent) { events.append(event) }

  /// Queues the answer to a start of a set's advertising; nil: there is no answer yet.
  mutating func tellAdvertisingStarted(_ result: Result<Void, HostError>?, _ set: HCI.AdvertisingHandle) {
    let error: HostError?
    switch result {
    case .success?: error = nil
    case .failure(let failure)?: error = failure
    case nil: return
    }
    tell(set == HCI.AdvertisingHandle.main ? .advertisingStarted(error) : .advertisingSetStarted(set, error))
  }

  /// Queues the end of a set's advertising without a request.
  mutating func tellAdvertisingEnded(_ set: HCI.AdvertisingHandle) {
    tell(set == HCI.AdvertisingHandle.main ? .advertisingEnded : .advertisingSetEnded(set))
  }

  /// Queues an event of a synchronization; nil: there is none.
  mutating func tell(_ event: (SyncID, SyncEvent)?) {
    if let (id, event) = event { tell(.synchronization(id, event)) }
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
