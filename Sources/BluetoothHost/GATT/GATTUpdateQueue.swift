import BluetoothWire
import DequeModule

/// Values on their way to one client, by notification or by indication: one indication at a time, and 30 s to confirm
/// it · Vol 3, Part F, 3.3.2, 3.3.3.
struct GATTUpdateQueue {
  private enum Kind {
    case value
    /// The range that it tells of, to which another one can be added.
    case serviceChanged(ClosedRange<AttributeHandle>)
  }

  private struct Update {
    let handle: AttributeHandle
    var bytes: ByteSlice
    var kind: Kind
    let order: UInt64

    var isValue: Bool {
      if case .value = kind { return true }
      return false
    }
  }

  private struct Outstanding {
    let handle: AttributeHandle
    let isValue: Bool
    let until: Instant
  }

  private var queue: Deque<Update> = []
  private var outstanding: Outstanding?

  /// When the confirmation is overdue.
  var deadline: Instant? { outstanding?.until }
  /// The place of the first one in the order of all that the server sends.
  var nextOrder: UInt64? { queue.first?.order }

  mutating func append(_ handle: AttributeHandle, _ bytes: ByteSlice, order: UInt64) {
    queue.append(Update(handle: handle, bytes: bytes, kind: .value, order: order))
  }

  /// Service Changed with `range`, and with that of the one that waits already, if there is one.
  mutating func appendServiceChanged(
    _ range: ClosedRange<AttributeHandle>, at handle: AttributeHandle, order: UInt64, pool: PacketPool
  ) {
    func bytes(_ range: ClosedRange<AttributeHandle>) -> ByteSlice {
      var writer = ByteWriter(pool, capacity: 4)
      writer.append(range.lowerBound)
      writer.append(range.upperBound)
      return writer.finish()
    }
    for index in queue.indices {
      guard case .serviceChanged(let earlier) = queue[index].kind else { continue }
      let whole =
        min(earlier.lowerBound, range.lowerBound)...max(earlier.upperBound, range.upperBound)
      queue[index].kind = .serviceChanged(whole)
      queue[index].bytes = bytes(whole)
      return
    }
    queue.append(Update(handle: handle, bytes: bytes(range), kind: .serviceChanged(range), order: order))
  }

  /// The next PDU that may leave now. What the client does not want any more is dropped.
  mutating func take(_ subscriptions: GATTSubscriptions, at now: Instant, context: inout GATTContext) -> ATT.PDU? {
    while let update = queue.first {
      let subscription = subscriptions[update.handle]
      let value = update.bytes.prefix(context.mtu - 3)
      if subscription.contains(.notification) {
        queue.removeFirst()
        complete(update.handle, update.isValue, &context)
        return .handleValueNotification(handle: update.handle, value: value)
      }
      if subscription.contains(.indication) {
        guard outstanding == nil else { return nil }
        queue.removeFirst()
        outstanding = Outstanding(
          handle: update.handle, isValue: update.isValue, until: now + ATT.transactionTimeout)
        return .handleValueIndication(handle: update.handle, value: value)
      }
      queue.removeFirst()
      complete(update.handle, update.isValue, &context)
    }
    return nil
  }

  /// The client has confirmed; without an indication that is ignored.
  mutating func confirm(_ context: inout GATTContext) {
    guard let outstanding else { return }
    self.outstanding = nil
    complete(outstanding.handle, outstanding.isValue, &context)
  }

  private func complete(_ handle: AttributeHandle, _ isValue: Bool, _ context: inout GATTContext) {
    if isValue { context.events.append(.updateSent(handle)) }
  }
}
