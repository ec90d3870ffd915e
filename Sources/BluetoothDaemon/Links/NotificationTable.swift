import BluetoothHost
import BluetoothWire

/// The sessions that get notifications and indications of one peer. The peer has one Client Characteristic
/// Configuration for the whole device: it is on while any session is subscribed.
struct NotificationTable {
  /// A session's request to subscribe or unsubscribe. The requests for one characteristic are handled one after the
  /// other.
  struct Change {
    /// The session; nil: it has ended, and gets no event.
    var session: CentralSessionID?
    let isOn: Bool
  }

  enum State: Equatable {
    case idle
    /// Waiting for the discovery of the Client Characteristic Configuration descriptor.
    case findingDescriptor
    case writing
  }

  struct Entry {
    /// The handle of the characteristic's value.
    let characteristic: AttributeHandle
    fileprivate(set) var subscribers: [CentralSessionID] = []
    fileprivate(set) var changes: [Change] = []
    fileprivate(set) var state = State.idle
  }

  private(set) var entries: [Entry] = []

  func index(of characteristic: AttributeHandle) -> Int? {
    entries.firstIndex { $0.characteristic == characteristic }
  }

  subscript(index: Int) -> Entry {
    @inline(__always) get { entries[index] }
  }

  /// Notes that an entry waits for the discovery of the Client Characteristic Configuration descriptor.
  mutating func beginFinding(_ index: Int) { entries[index].state = .findingDescriptor }

  /// Notes that the discovery that an entry has waited for has succeeded.
  mutating func endFinding(_ index: Int) { entries[index].state = .idle }

  /// Notes that the first change of an entry is being written to the peer.
  mutating func beginWriting(_ index: Int) { entries[index].state = .writing }

  mutating func append(_ change: Change, for characteristic: AttributeHandle) {
    let index = index(of: characteristic) ?? entries.count
    if index == entries.count { entries.append(Entry(characteristic: characteristic)) }
    entries[index].changes.append(change)
  }

  /// The next step for the first waiting change of an entry.
  enum Decision: Equatable {
    /// No request to the peer is necessary: the session is, or is not, a subscriber now.
    case settled(CentralSessionID?, isOn: Bool)
    /// The peer's Client Characteristic Configuration must change.
    case configure(isOn: Bool)
  }

  /// Handles the first change of an idle entry as far as possible without the peer. Returns nil if there is no change
  /// or the entry is busy.
  mutating func decide(_ index: Int) -> Decision? {
    guard entries[index].state == .idle, let change = entries[index].changes.first else { return nil }
    if change.isOn {
      // The session that wanted to subscribe has ended.
      guard let session = change.session else { return settle(index) }
      if entries[index].subscribers.isEmpty { return .configure(isOn: true) }
      if !entries[index].subscribers.contains(session) { entries[index].subscribers.append(session) }
      return settle(index)
    }
    if let session = change.session {
      guard entries[index].subscribers.contains(session) else { return settle(index) }
      guard entries[index].subscribers.count == 1 else {
        entries[index].subscribers.removeAll { $0 == session }
        return settle(index)
      }
    } else if !entries[index].subscribers.isEmpty {
      return settle(index)
    }
    return .configure(isOn: false)
  }

  /// Completes the first change after the peer's answer and returns it; nil: there is none.
  mutating func configured(_ index: Int, succeeded: Bool) -> Change? {
    guard !entries[index].changes.isEmpty else { return nil }
    let change = entries[index].changes.removeFirst()
    entries[index].state = .idle
    guard succeeded else { return change }
    if !change.isOn {
      entries[index].subscribers.removeAll { $0 == change.session }
    } else if let session = change.session {
      entries[index].subscribers.append(session)
    } else if !entries[index].changes.contains(where: { $0.isOn && $0.session != nil }) {
      // Undoes the subscription for a session that has ended meanwhile.
      entries[index].changes.append(Change(session: nil, isOn: false))
    }
    return change
  }

  private mutating func settle(_ index: Int) -> Decision {
    let change = entries[index].changes.removeFirst()
    return .settled(change.session, isOn: change.isOn)
  }

  /// Undoes the subscriptions of a session that has ended, without events for it.
  mutating func leave(_ session: CentralSessionID) {
    for index in entries.indices {
      let isBusy = entries[index].state != .idle
      for change in entries[index].changes.indices where entries[index].changes[change].session == session {
        entries[index].changes[change].session = nil
      }
      // A change that has not begun leaves nothing to undo.
      let waiting = entries[index].changes.dropFirst(isBusy ? 1 : 0).filter { $0.session != nil || !$0.isOn }
      entries[index].changes = Array(entries[index].changes.prefix(isBusy ? 1 : 0)) + waiting
      guard entries[index].subscribers.contains(session) else { continue }
      entries[index].subscribers.removeAll { $0 == session }
      if entries[index].subscribers.isEmpty { entries[index].changes.append(Change(session: nil, isOn: false)) }
    }
  }

  /// Forgets all subscriptions: the link is being ended.
  mutating func removeAll() { entries.removeAll() }

  /// Removes the characteristics in `range`, which no longer exist.
  mutating func forget(_ range: ClosedRange<AttributeHandle>) {
    entries.removeAll { range.contains($0.characteristic) }
  }
}
