import BluetoothWire

/// The links that the controller has and the host does not know, because their LE Connection Complete was lost.
///
/// The host can only disconnect such a link. From the start of the link, the host's view of advertising and
/// initiating is wrong.
struct UnknownLinks {
  private struct Entry {
    let handle: HCI.ConnectionHandle
    let due: Instant
  }

  /// The time for which a handle may be unknown: some transports deliver data before events that were sent earlier.
  static let grace = TimeSpan.seconds(1)
  /// The maximum number of unknown links. The host ignores more until some of them have ended.
  private static let maximumCount = 8

  private var entries: [Entry] = [] { didSet { deadline = entries.first?.due } }
  /// The time at which the next link is disconnected. It is stored because it is read much more often than it
  /// changes.
  private(set) var deadline: Instant?

  /// Notes that the controller has mentioned a link with this handle.
  mutating func heard(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard entries.count < Self.maximumCount, !entries.contains(where: { $0.handle == handle }) else { return }
    entries.append(Entry(handle: handle, due: now + Self.grace))
  }

  /// Removes the link with this handle, because it is known or has ended.
  mutating func remove(_ handle: HCI.ConnectionHandle) {
    if !entries.isEmpty { entries.removeAll { $0.handle == handle } }
  }

  mutating func removeAll() {
    if !entries.isEmpty { entries.removeAll() }
  }

  /// Removes and returns the next link that must be disconnected now.
  mutating func takeDue(_ now: Instant) -> HCI.ConnectionHandle? {
    guard let first = entries.first, first.due <= now else { return nil }
    return entries.removeFirst().handle
  }
}
