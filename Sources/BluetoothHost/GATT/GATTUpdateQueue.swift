import BluetoothWire
import DequeModule

/// Values on their way to one client, by notification or by indication: one indication at a time, and 30 s to confirm
/// it · Vol 3, Part F, 3.3.2, 3.3.3. Service Changed goes before all values · Vol 3, Part G, 2.5.2.1.
struct GATTUpdateQueue {
  private struct Update {
    let handle: AttributeHandle
    let bytes: ByteSlice
    let order: UInt64
  }

  /// A change that the client is to be told of, with those that have come since.
  private struct Change {
    let handle: AttributeHandle
    var range: ClosedRange<AttributeHandle>
    let order: UInt64
  }

  private struct Outstanding {
    let handle: AttributeHandle
    /// The change that it tells of; nil: it has a value.
    let change: ClosedRange<AttributeHandle>?
    let until: Instant
  }

  private var queue: Deque<Update> = []
  private var waitingChange: Change?
  private var outstanding: Outstanding?

  /// When the confirmation is overdue.
  var deadline: Instant? { outstanding?.until }

  /// Whether nothing waits.
  @inline(__always)
  var isEmpty: Bool { queue.isEmpty && waitingChange == nil }

  /// The place of the first one in the order of all that the server sends.
  var nextOrder: UInt64? {
    guard let change = waitingChange?.order else { return queue.first?.order }
    return queue.first.map { min($0.order, change) } ?? change
  }

  /// All changes that the client has not confirmed.
  var unconfirmedChange: ClosedRange<AttributeHandle>? {
    guard let waiting = waitingChange?.range else { return outstanding?.change }
    return outstanding?.change.map { $0.union(waiting) } ?? waiting
  }

  mutating func append(_ handle: AttributeHandle, _ bytes: ByteSlice, order: UInt64) {
    queue.append(Update(handle: handle, bytes: bytes, order: order))
  }

  /// Service Changed with `range`, and with that of the one that waits already, if there is one.
  mutating func appendServiceChanged(
    _ range: ClosedRange<AttributeHandle>, at handle: AttributeHandle, order: UInt64
  ) {
    if let earlier = waitingChange?.range {
      waitingChange?.range = earlier.union(range)
    } else {
      waitingChange = Change(handle: handle, range: range, order: order)
    }
  }

  /// The next PDU that may leave now. What the client does not want any more, or may not get over this link, is dropped.
  ///
  /// A client that does not know the database as it is (`isHeldBack`) gets no values: they wait until it has confirmed
  /// the change, and are dropped if nobody has told it of one.
  mutating func take(
    _ subscriptions: GATTSubscriptions, isHeldBack: Bool, at now: Instant, context: inout GATTContext
  ) -> ATT.PDU? {
    if waitingChange != nil, outstanding == nil, let pdu = takeChange(subscriptions, at: now, &context) { return pdu }
    if isHeldBack, unconfirmedChange != nil { return nil }
    while let update = queue.first {
      let permitted = isHeldBack ? [] : subscriptions.permitted(update.handle, context.security)
      if permitted.contains(.indication), !permitted.contains(.notification) {
        guard outstanding == nil else { return nil }
        queue.removeFirst()
        outstanding = Outstanding(handle: update.handle, change: nil, until: now + ATT.transactionTimeout)
        return .handleValueIndication(handle: update.handle, value: update.bytes.prefix(context.mtu - 3))
      }
      queue.removeFirst()
      context.events.append(.updateSent(update.handle))
      if permitted.contains(.notification) {
        return .handleValueNotification(handle: update.handle, value: update.bytes.prefix(context.mtu - 3))
      }
    }
    return nil
  }

  private mutating func takeChange(
    _ subscriptions: GATTSubscriptions, at now: Instant, _ context: inout GATTContext
  ) -> ATT.PDU? {
    guard let change = waitingChange else { return nil }
    waitingChange = nil
    guard subscriptions.permitted(change.handle, context.security).contains(.indication) else { return nil }
    outstanding = Outstanding(handle: change.handle, change: change.range, until: now + ATT.transactionTimeout)
    var writer = ByteWriter(context.pool, capacity: 4)
    writer.append(change.range.lowerBound)
    writer.append(change.range.upperBound)
    return .handleValueIndication(handle: change.handle, value: writer.finish())
  }

  /// The client has confirmed; without an indication that is ignored. True: it knows of all changes now.
  mutating func confirm(_ context: inout GATTContext) -> Bool {
    guard let outstanding else { return false }
    self.outstanding = nil
    guard outstanding.change == nil else { return waitingChange == nil }
    context.events.append(.updateSent(outstanding.handle))
    return false
  }
}
