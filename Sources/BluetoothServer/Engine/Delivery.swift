import DequeModule

/// An event that is to be handed to its client now.
package enum Delivery {
  case central(any CentralClient, CentralEvent)
  case peripheral(any PeripheralClient, PeripheralEvent)
}

/// Events on their way to the sessions, in order.
struct Outbox {
  private enum Item {
    case central(CentralSession, CentralEvent)
    case peripheral(PeripheralSession, PeripheralEvent)
  }

  private var items = Deque<Item>(minimumCapacity: 32)

  mutating func append(_ event: CentralEvent, for session: CentralSession) {
    items.append(.central(session, event))
  }

  mutating func append(_ event: PeripheralEvent, for session: PeripheralSession) {
    items.append(.peripheral(session, event))
  }

  var isEmpty: Bool { items.isEmpty }

  /// The next event that still has a client. A session whose client is gone is closed.
  mutating func take() -> Delivery? {
    while let item = items.popFirst() {
      switch item {
      case .central(let session, let event):
        if let client = session.client { return .central(client, event) }
        session.close()
      case .peripheral(let session, let event):
        if let client = session.client { return .peripheral(client, event) }
        session.close()
      }
    }
    return nil
  }
}
