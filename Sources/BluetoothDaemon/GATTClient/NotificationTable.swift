import BluetoothHost
import BluetoothWire

/// Who gets which notifications and indications of one peer. Its Client Characteristic Configuration is one for the
/// whole device: it is on while any session wants it.
struct NotificationTable {
  /// A session's wish, one after the other for each characteristic.
  struct Change {
    /// nil: the session has gone, and nobody is told.
    var session: CentralSlot?
    let isOn: Bool
  }

  enum State: Equatable {
    case idle
    /// The configuration descriptor has to be found first.
    case findingDescriptor
    case writing
  }

  struct Entry {
    /// The characteristic's value.
    let characteristic: AttributeHandle
    var subscribers: [CentralSlot] = []
    var changes: [Change] = []
    var state = State.idle
  }

  private(set) var entries: [Entry] = []

  func index(of characteristic: AttributeHandle) -> Int? {
    entries.firstIndex { $0.characteristic == characteristic }
  }

  subscript(index: Int) -> Entry {
    _read { yield entries[index] }
    _modify { yield &entries[index] }
  }

  mutating func append(_ change: Change, for characteristic: AttributeHandle) {
    let index = index(of: characteristic) ?? entries.count
    if index == entries.count { entries.append(Entry(characteristic: characteristic)) }
    entries[index].changes.append(change)
  }

  /// What the first waiting change of an entry comes to.
  enum Decision: Equatable {
    /// Nothing to do for it at the peer: the session is, or is not, a subscriber now.
    case settled(CentralSlot?, isOn: Bool)
    /// The peer's configuration has to change.
    case configure(isOn: Bool)
  }

  /// Takes the first change of an entry that is idle as far as it goes without the peer. nil: there is none, or the
  /// entry is busy.
  mutating func decide(_ index: Int) -> Decision? {
    guard entries[index].state == .idle, let change = entries[index].changes.first else { return nil }
    if change.isOn {
      // Nobody is left who wants it on.
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

  /// The peer has answered to the first change.
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
      // Switched on for a session that has gone meanwhile.
      entries[index].changes.append(Change(session: nil, isOn: false))
    }
    return change
  }

  private mutating func settle(_ index: Int) -> Decision {
    let change = entries[index].changes.removeFirst()
    return .settled(change.session, isOn: change.isOn)
  }

  /// A session has gone: what it wanted is undone, and it is told nothing.
  mutating func leave(_ session: CentralSlot) {
    for index in entries.indices {
      let isBusy = entries[index].state != .idle
      for change in entries[index].changes.indices where entries[index].changes[change].session == session {
        entries[index].changes[change].session = nil
      }
      // A change that has not begun needs nothing undone.
      let waiting = entries[index].changes.dropFirst(isBusy ? 1 : 0).filter { $0.session != nil || !$0.isOn }
      entries[index].changes = Array(entries[index].changes.prefix(isBusy ? 1 : 0)) + waiting
      guard entries[index].subscribers.contains(session) else { continue }
      entries[index].subscribers.removeAll { $0 == session }
      if entries[index].subscribers.isEmpty { entries[index].changes.append(Change(session: nil, isOn: false)) }
    }
  }

  /// The characteristics in `range` are gone.
  mutating func forget(_ range: ClosedRange<AttributeHandle>) {
    entries.removeAll { range.contains($0.characteristic) }
  }
}
