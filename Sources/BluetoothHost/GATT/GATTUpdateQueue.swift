import BluetoothWire
import DequeModule

/// The notifications and indications for one client: one indication at a time, with 30 s for its confirmation
/// · Vol 3, Part F, 3.3.2, 3.3.3. Service Changed precedes all values · Vol 3, Part G, 2.5.2.1.
struct GATTUpdateQueue {
  private struct Update {
    let handle: AttributeHandle
    let bytes: ByteSlice
    let order: UInt64
  }

  /// A change to announce to the client, combined with later changes.
  private struct Change {
    let handle: AttributeHandle
    var range: ClosedRange<AttributeHandle>
    let order: UInt64
  }

  private struct Outstanding {
    let handle: AttributeHandle
    /// The range in an indication of Service Changed; nil: it is an indication of a value.
    let change: ClosedRange<AttributeHandle>?
    let until: Instant
  }

  private var queue: Deque<Update> = []
  private var waitingChange: Change?
  private var outstanding: Outstanding?

  /// The time limit for the confirmation.
  var deadline: Instant? { outstanding?.until }

  /// True if no update is queued.
  @inline(__always)
  var isEmpty: Bool { queue.isEmpty && waitingChange == nil }

  /// The position of the first update in the sequence of all PDUs that the server sends.
  var nextOrder: UInt64? {
    guard let change = waitingChange?.order else { return queue.first?.order }
    return queue.first.map { min($0.order, change) } ?? change
  }

  /// The range of all changes that the client has not confirmed.
  var unconfirmedChange: ClosedRange<AttributeHandle>? {
    guard let waiting = waitingChange?.range else { return outstanding?.change }
    return outstanding?.change.map { $0.union(waiting) } ?? waiting
  }

  mutating func append(_ handle: AttributeHandle, _ bytes: ByteSlice, order: UInt64) {
    queue.append(Update(handle: handle, bytes: bytes, order: order))
  }

  /// Queues Service Changed with `range`, combined with the one that is already queued.
  mutating func appendServiceChanged(
    _ range: ClosedRange<AttributeHandle>, at handle: AttributeHandle, order: UInt64
  ) {
    if let earlier = waitingChange?.range {
      waitingChange?.range = earlier.union(range)
    } else {
      waitingChange = Change(handle: handle, range: range, order: order)
    }
  }

  /// Removes and returns the next PDU that may be sent now. Values are dropped if the client has ended its
  /// subscription or the link's security is insufficient.
  ///
  /// - Parameter isHeldBack: True if the client is not change-aware. Its values wait until it has confirmed Service
  ///   Changed; they are dropped if no Service Changed is pending.
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

  /// Handles a confirmation; without an indication it is ignored. Returns true if the client has now confirmed all
  /// changes.
  mutating func confirm(_ context: inout GATTContext) -> Bool {
    guard let outstanding else { return false }
    self.outstanding = nil
    guard outstanding.change == nil else { return waitingChange == nil }
    context.events.append(.updateSent(outstanding.handle))
    return false
  }
}
