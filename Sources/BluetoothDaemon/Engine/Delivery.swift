import DequeModule

/// An event for one client, ready for delivery.
package enum Delivery {
  case central(any CentralClient, CentralEvent)
  case peripheral(any PeripheralClient, PeripheralEvent)
  case channel(ChannelPipe)

  /// Delivers the event to its client.
  package func handOver() {
    switch self {
    case .central(let client, let event): client.receive(event)
    case .peripheral(let client, let event): client.receive(event)
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
        if case .stateChanged = event, !client.queuesEvents { session.states.noteSeen() }
        return .central(client, event)
      case .peripheral(let session, let event):
        guard let client = session.client else {
          session.close()
          continue
        }
        if case .stateChanged = event, !client.queuesEvents { session.states.noteSeen() }
        return .peripheral(client, event)
      case .channel(let pipe): return .channel(pipe)
      }
    }
    return nil
  }
}
