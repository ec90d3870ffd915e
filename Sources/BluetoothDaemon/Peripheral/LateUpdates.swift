import BluetoothWire
import DequeModule

/// The updates that apps in the background have sent faster than their platform allows. They wait for their time, and
/// keep the credits of the apps meanwhile, so that the apps stop.
struct LateUpdates {
  struct Update {
    let session: PeripheralSessionID
    let characteristic: LocalAttributeID
    let value: ByteSlice
    let centrals: [PeerHandle]?
    /// The time at which the update is sent.
    fileprivate(set) var time = Instant.zero
  }

  private var updates = Deque<Update>()
  /// The earliest times of the next updates, for the sessions with limits.
  private var nextTimes: [PeripheralSessionID: Instant] = [:]

  /// The time of the next update; nil: none waits.
  var deadline: Instant? { updates.first?.time }

  /// Enters an update, and returns true if it must wait.
  ///
  /// - Parameter spacing: the minimum time between two updates of the session.
  mutating func delay(_ update: Update, by spacing: TimeSpan, at now: Instant) -> Bool {
    var update = update
    update.time = max(now, nextTimes[update.session] ?? now)
    nextTimes[update.session] = update.time + spacing
    guard update.time > now else { return false }
    let place = updates.firstIndex { $0.time > update.time } ?? updates.endIndex
    updates.insert(update, at: place)
    return true
  }

  /// Removes and returns the next update whose time has come.
  mutating func takeDue(at now: Instant) -> Update? {
    guard let first = updates.first, first.time <= now else { return nil }
    return updates.removeFirst()
  }

  /// Removes and returns the updates of a session, in order.
  mutating func removeAll(of session: PeripheralSessionID) -> [Update] {
    nextTimes[session] = nil
    let removed: [Update] = updates.filter { $0.session == session }
    updates.removeAll { $0.session == session }
    return removed
  }

  /// Removes and returns all updates.
  mutating func removeAll() -> [Update] {
    // An array that is made of an empty deque writes to the storage that all empty arrays of the process share.
    defer { self = LateUpdates() }
    return updates.isEmpty ? [] : Array(updates)
  }
}
