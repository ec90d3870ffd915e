import BluetoothWire

/// Links that the controller has and of which the host knows nothing: their LE Connection Complete was lost.
///
/// Such a link can be neither used nor ended, and the host's view of advertising and initiating is wrong from its start on.
struct StrayLinks {
  private struct Entry {
    let handle: HCI.ConnectionHandle
    let due: Instant
  }

  /// The time that a handle may be unknown: some transports deliver data before the events that were sent first.
  static let grace = TimeSpan.seconds(1)
  /// More are ignored until some of them are ended.
  private static let maximumCount = 8

  private var entries: [Entry] = [] { didSet { deadline = entries.first?.due } }
  /// When the next one is to be ended. Stored: it is asked for much more often than it changes.
  private(set) var deadline: Instant?

  /// The controller has told something of a link with this handle.
  mutating func heard(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard entries.count < Self.maximumCount, !entries.contains(where: { $0.handle == handle }) else { return }
    entries.append(Entry(handle: handle, due: now + Self.grace))
  }

  /// The link with this handle is known, or has ended.
  mutating func remove(_ handle: HCI.ConnectionHandle) {
    if !entries.isEmpty { entries.removeAll { $0.handle == handle } }
  }

  mutating func removeAll() {
    if !entries.isEmpty { entries.removeAll() }
  }

  /// The next link that is to be ended now.
  mutating func takeDue(_ now: Instant) -> HCI.ConnectionHandle? {
    guard let first = entries.first, first.due <= now else { return nil }
    return entries.removeFirst().handle
  }
}

extension Host {
  /// The controller tells of a link that the host does not know. If it is still unknown after a while it is ended.
  mutating func unknownLink(_ handle: HCI.ConnectionHandle, at now: Instant) {
    metrics.unknownLinks += 1
    if isOn, handle.rawValue <= HCI.ConnectionHandle.maximum.rawValue { strays.heard(handle, at: now) }
  }

  /// Ends stray links.
  mutating func endStrayLinks(_ now: Instant) {
    while let handle = strays.takeDue(now) {
      guard isOn, anyIndex(of: handle) == nil else { continue }
      events.append(.trouble(.unknownLink(handle)))
      commands.append(.disconnect(handle, reason: .remoteUserTerminatedConnection), for: .disconnect(handle))
      strayLinkFound()
    }
  }

  /// A link has come about, or has ended, without the host's knowledge: the controller may have stopped advertising or
  /// initiating for it.
  mutating func strayLinkFound() {
    advertiser.restart()
    initiator.restart()
  }
}
