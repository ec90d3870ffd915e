/// The PSMs that apps publish, and the sessions that own them.
struct PublishedChannels {
  private(set) var owners: [UInt16: PeripheralSessionID] = [:]

  func owner(of psm: UInt16) -> PeripheralSessionID? { owners[psm] }
  mutating func add(_ psm: UInt16, _ session: PeripheralSessionID) { owners[psm] = session }

  /// Removes a PSM. Returns false if the session does not own it.
  mutating func remove(_ psm: UInt16, _ session: PeripheralSessionID) -> Bool {
    guard owners[psm] == session else { return false }
    owners[psm] = nil
    return true
  }

  /// Returns the PSMs of a session, sorted so that all consequences are the same in each run.
  func all(of session: PeripheralSessionID) -> [UInt16] { owners.filter { $0.value == session }.keys.sorted() }

  mutating func removeAll() -> [UInt16] {
    defer { owners = [:] }
    return owners.keys.sorted()
  }
}
