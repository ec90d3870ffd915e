import BluetoothHost
import BluetoothWire

/// The advertising sets of apps, each with a set of the host.
struct AdvertisingSetTable {
  private struct Entry {
    let session: PeripheralSessionID
    let id: LocalSetID
    let handle: HCI.AdvertisingHandle
    /// The number of starts without an answer.
    var awaited = 0
  }

  private var entries: [Entry] = []
  private var lastHandle: UInt8 = 0

  private func index(of handle: HCI.AdvertisingHandle) -> Int? { entries.firstIndex { $0.handle == handle } }

  /// The owners of the sets, one for each set.
  var owners: [PeripheralSessionID] { entries.map(\.session) }

  func contains(_ id: LocalSetID, of session: PeripheralSessionID) -> Bool {
    entries.contains { $0.session == session && $0.id == id }
  }

  /// Notes a start, and returns the host's set, which is a new one for an unknown ID; nil: all sets are in use.
  mutating func start(_ id: LocalSetID, of session: PeripheralSessionID) -> HCI.AdvertisingHandle? {
    if let index = entries.firstIndex(where: { $0.session == session && $0.id == id }) {
      entries[index].awaited += 1
      return entries[index].handle
    }
    guard let handle = newHandle() else { return nil }
    entries.append(Entry(session: session, id: id, handle: handle, awaited: 1))
    return handle
  }

  /// Returns a free handle, 0x01 to 0xEF. Handles are assigned in turn, so that a late answer to a stopped set is not
  /// taken for that of a new one.
  private mutating func newHandle() -> HCI.AdvertisingHandle? {
    for _ in 1...HCI.AdvertisingHandle.maximum.rawValue {
      lastHandle = lastHandle == HCI.AdvertisingHandle.maximum.rawValue ? 1 : lastHandle + 1
      let handle = HCI.AdvertisingHandle(rawValue: lastHandle)
      if index(of: handle) == nil { return handle }
    }
    return nil
  }

  /// Notes the host's answer. Returns the session, the ID, and the number of starts that the answer is for; nil: the
  /// set has been stopped.
  mutating func answered(
    _ handle: HCI.AdvertisingHandle, isFailure: Bool
  ) -> (session: PeripheralSessionID, id: LocalSetID, starts: Int)? {
    guard let index = index(of: handle) else { return nil }
    let entry = entries[index]
    if isFailure { entries.remove(at: index) } else { entries[index].awaited = 0 }
    return (entry.session, entry.id, entry.awaited)
  }

  /// Removes a set that has ended, and returns its owner.
  mutating func ended(_ handle: HCI.AdvertisingHandle) -> (session: PeripheralSessionID, id: LocalSetID)? {
    guard let index = index(of: handle) else { return nil }
    let entry = entries.remove(at: index)
    return (entry.session, entry.id)
  }

  /// Removes a set. Returns the host's set, and the number of starts without an answer; nil: there is no such set.
  mutating func stop(
    _ id: LocalSetID, of session: PeripheralSessionID
  ) -> (handle: HCI.AdvertisingHandle, starts: Int)? {
    guard let index = entries.firstIndex(where: { $0.session == session && $0.id == id }) else { return nil }
    let entry = entries.remove(at: index)
    return (entry.handle, entry.awaited)
  }

  /// Removes all sets of a session, and returns the host's sets.
  mutating func removeAll(of session: PeripheralSessionID) -> [HCI.AdvertisingHandle] {
    let handles = entries.filter { $0.session == session }.map(\.handle)
    entries.removeAll { $0.session == session }
    return handles
  }
}
