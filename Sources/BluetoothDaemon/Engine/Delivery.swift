import DequeModule

/// An event for one client, ready for delivery.
package enum Delivery {
  /// `states` counts the event as seen; nil: the event changes no state, or its client counts it later, on its queue.
  case central(any CentralClient, CentralEvent, states: StateCounter?)
  case peripheral(any PeripheralClient, PeripheralEvent, states: StateCounter?)
  case channel(ChannelPipe)

  /// Delivers the event to its client.
  package func handOver() {
    switch self {
    case .central(let client, let event, let states):
      states?.noteSeen()
      client.receive(event)
    case .peripheral(let client, let event, let states):
      states?.noteSeen()
      client.receive(event)
    case .channel(let pipe): pipe.announce()
    }
  }
}

/// The queue of events from the daemon to the sessions, in order.
struct Outbox {
  private enum Item {
    case central(CentralSession, CentralEvent)
    case peripheral(PeripheralSession, PeripheralEvent)
    case channel(ChannelPipe)
  }

  private var items = Deque<Item>(minimumCapacity: 32)

  mutating func append(_ event: CentralEvent, for session: CentralSession) {
    items.append(.central(session, event))
  }

  mutating func append(_ event: PeripheralEvent, for session: PeripheralSession) {
    items.append(.peripheral(session, event))
  }

  mutating func append(_ pipe: ChannelPipe) { items.append(.channel(pipe)) }

  var isEmpty: Bool { items.isEmpty }

  /// Removes and returns the next event that still has a client. Closes every session whose client has been
  /// deallocated.
  mutating func take() -> Delivery? {
    while let item = items.popFirst() {
      switch item {
      case .central(let session, let event):
        guard let client = session.client else {
          session.close()
          continue
        }
        return .central(client, event, states: event.changesState && !client.queuesEvents ? session.states : nil)
      case .peripheral(let session, let event):
        guard let client = session.client else {
          session.close()
          continue
        }
        return .peripheral(client, event, states: event.changesState && !client.queuesEvents ? session.states : nil)
      case .channel(let pipe): return .channel(pipe)
      }
    }
    return nil
  }
}

extension CentralEvent {
  fileprivate var changesState: Bool {
    if case .stateChanged = self { true } else { false }
  }
}

extension PeripheralEvent {
  fileprivate var changesState: Bool {
    if case .stateChanged = self { true } else { false }
  }
}
