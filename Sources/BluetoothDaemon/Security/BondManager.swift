// Design: changes of bonds
//
// - The choices of a system are a `PlatformPolicy`: `apple` requests a bond whenever it pairs, and has room for 64
//   bonds. A device may set another number; at the limit a new bond is an error.
// - Changes of a bond (counters, the knowledge of either server) replace an existing record and never create one. A
//   device that the user has forgotten with another program stays forgotten, and the running program learns of it then.
//   `ble bonds` is such a program. A program with a real controller checks the folder's modification time each second,
//   reads new records, and then sets the time of `in-use.lock`, for which `ble bonds` waits (`FileBondStore.reach`).
// - The counter of a received signature is written before the value is reported (the first 32 on a link each, then only
//   every 32nd), and the counter of an own signature before the write is sent.

import BluetoothHost
import BluetoothWire

/// The stored bonds of one adapter, and the log lines about them.
struct BondManager {
  private let store: any BondStore
  private(set) var records: [DeviceAddress: BondRecord] = [:]
  /// The bonds that could not be written. Their absence from the store does not mean that another program removed them.
  private var unwritten: Set<DeviceAddress> = []
  /// The time of the latest change of the store that this program has read.
  private var seenChange: Int64?
  /// True if the store was read a second time after the change at `seenChange`. The second read is necessary because
  /// file systems record times in coarse steps.
  private var isSettled = true
  /// The apps whose sessions are too large to be stored, as the log says.
  private var largeApps: Set<String> = []
  /// The apps whose use has been noted in this run.
  private var usingApps: Set<String> = []
  /// The reservation of the stored apps; nil: they are not reserved.
  private var reservation: (any Sendable)?
  /// The lines that wait to be logged.
  private var notes: [String] = []
  /// The maximum number of waiting lines; later ones are dropped, because the first lines of a long series say the
  /// most.
  private static let maximumNotes = 32

  init(_ store: any BondStore) {
    self.store = store
    seenChange = store.lastChange()
    do throws(BondStoreError) {
      let stored = try store.load()
      for record in stored.records { records[record.identity] = record }
      for problem in stored.problems { note("\(problem)") }
    } catch {
      note("can't load the bonds: \(error)")
    }
  }

  /// All bonds, oldest first as far as their age is known.
  var all: [BondRecord] {
    Array(records.values).sortedByIdentity.enumerated()
      .sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }.map(\.element)
  }

  /// Stores a record, new or in place of the former one. Returns false if there is no room for another device.
  mutating func keep(_ record: BondRecord) -> Bool {
    var record = record
    if record.number == 0 { record.number = records[record.identity]?.number ?? 0 }
    if record.number == 0 { record.number = (records.values.map(\.number).max() ?? 0) + 1 }
    do throws(BondStoreError) {
      try store.save(record)
      unwritten.remove(record.identity)
    } catch {
      note("can't save the bond with \(record.identity): \(error)")
      if case .full = error { return false }
      unwritten.insert(record.identity)
    }
    // A bond that could not be written is valid for this run.
    records[record.identity] = record
    return true
  }

  /// Stores the changes of a bond. Returns false, and removes the bond here, too, if the user has forgotten the device
  /// in another program or paired with it there.
  mutating func update(_ record: BondRecord) -> Bool {
    if unwritten.contains(record.identity) {
      // The bond was never in the store, so its absence does not mean that another program removed it.
      records[record.identity] = record
      do throws(BondStoreError) {
        try store.save(record)
        unwritten.remove(record.identity)
      } catch {
        note("still can't save the bond with \(record.identity): \(error)")
      }
      return true
    }
    var isThere = true
    do throws(BondStoreError) {
      isThere = try records[record.identity] == record ? store.contains(record.identity) : store.update(record)
    } catch {
      note("can't save the changes to the bond with \(record.identity): \(error)")
      unwritten.insert(record.identity)
    }
    records[record.identity] = isThere ? record : nil
    return isThere
  }

  /// The maximum number of bonds that the apps of one user can request, if no user of this device is asked about them.
  var share: Int { max(1, store.limit / 2) }

  /// Returns true if the apps of a user have requested fewer bonds than their share.
  func hasRoom(for requester: ClientUser) -> Bool { records.values.count { $0.requester == requester } < share }

  /// Returns the bonds to forget so that `record` has room: the oldest of those that no user has confirmed.
  ///
  /// Unconfirmed bonds, which an automatic rule has accepted, use at most half of the store. They therefore never
  /// prevent a bond with a device that the user, or an app of this device, has chosen.
  ///
  /// - Parameter linked: identities that are never forgotten, because a link to them exists.
  func dispensable(for record: BondRecord, sparing linked: Set<DeviceAddress>) -> [DeviceAddress] {
    guard records[record.identity] == nil else { return [] }
    let unconfirmed = all.filter { !$0.isConfirmed }
    let missing = records.count + 1 - store.limit
    let surplus = record.isConfirmed ? 0 : unconfirmed.count + 1 - max(1, store.limit / 2)
    let candidates = unconfirmed.map(\.identity).filter { !linked.contains($0) }
    return Array(candidates.prefix(max(0, missing, surplus)))
  }

  mutating func remove(_ identity: DeviceAddress) {
    records[identity] = nil
    do throws(BondStoreError) {
      try store.remove(identity)
    } catch {
      note("can't delete the bond with \(identity) from disk: \(error)")
    }
  }

  // MARK: Other programs

  /// The changes that other programs have made in the store.
  struct Changes: Equatable {
    var forgotten: [DeviceAddress] = []
    /// New bonds, and bonds with other keys.
    var new: [BondRecord] = []
  }

  /// True if other programs can change the store.
  var isShared: Bool { seenChange != nil }

  /// Reads the store again if it has changed and returns the changes; nil: no change.
  mutating func takeChanges() -> Changes? {
    guard let change = store.lastChange(), change != seenChange || !isSettled else { return nil }
    isSettled = change == seenChange
    seenChange = change
    do throws(BondStoreError) {
      let changes = try self.changes(in: store.load().records)
      for identity in changes.forgotten { records[identity] = nil }
      for record in changes.new { records[record.identity] = record }
      return changes
    } catch {
      note("can't read the changes of another program: \(error)")
      return nil
    }
  }

  private func changes(in stored: [BondRecord]) throws(BondStoreError) -> Changes {
    var changes = Changes()
    for record in all where !unwritten.contains(record.identity) {
      // An unreadable file still counts as a bond.
      if try !store.contains(record.identity) { changes.forgotten.append(record.identity) }
    }
    // The store still has the former keys of a bond that could not be written.
    changes.new = stored.filter {
      !unwritten.contains($0.identity) && records[$0.identity]?.bond.hasSameKeys(as: $0.bond) != true
    }
    return changes
  }

  /// Informs other programs that their changes have been applied.
  func acknowledgeChanges() { store.acknowledgeChanges() }

  // MARK: Apps

  /// Returns the user's answer about an app; nil: none, or it can't be read, so that the user is asked again.
  mutating func access(of app: String) -> Bool? {
    do throws(BondStoreError) { return try store.access(of: app) } catch { note("\(error)") }
    return nil
  }

  /// Returns the user's answers about all apps; none if they can't be read.
  mutating func permissions() -> AppPermissions {
    do throws(BondStoreError) { return try store.permissions() } catch { note("\(error)") }
    return AppPermissions()
  }

  /// Stores the user's answer about an app.
  ///
  /// - Returns: the reason why the answer is not stored; nil: it is stored.
  mutating func keepAccess(_ isAllowed: Bool, of app: String) -> BondStoreError? {
    do throws(BondStoreError) {
      try store.setAccess(isAllowed, of: app)
      return nil
    } catch {
      note("can't save the answer of the user, which applies only to this run: \(error)")
      return error
    }
  }

  /// Stores the name of an app that uses the adapter, once in a run.
  mutating func noteUse(of app: String) {
    guard usingApps.insert(app).inserted else { return }
    do throws(BondStoreError) {
      try store.noteUse(of: app)
    } catch {
      note("can't save the name of the app \(app): \(error)")
    }
  }

  /// Reserves the stored apps for this program. Returns false if another program has them: this one must neither use
  /// nor change them.
  mutating func reserveStoredApps() -> Bool {
    guard reservation == nil else { return true }
    do throws(BondStoreError) { reservation = try store.reserveStoredApps() } catch {
      if case .sessionsInUse = error {
        note("\(error)")
        return false
      }
      // Without a lock, other programs can't be detected. A folder that can't be written is reported by `keepApps`.
    }
    return true
  }

  /// Lets other programs use the stored apps.
  mutating func releaseStoredApps() { reservation = nil }

  /// Returns the apps with sessions of a former run to preserve.
  mutating func storedApps(afterRestart: Bool) -> [StoredApp] {
    do throws(BondStoreError) { return try store.storedApps(afterRestart: afterRestart) } catch { note("\(error)") }
    return []
  }

  /// Stores the apps with sessions to preserve.
  mutating func keepApps(_ apps: [StoredApp]) {
    do throws(BondStoreError) {
      for name in try store.setStoredApps(apps) where largeApps.insert(name).inserted {
        note("\(name): its sessions are too large to outlive this run")
      }
    } catch {
      note("can't save the sessions of apps, which do not outlive this run: \(error)")
    }
  }

  /// Stores the number of times that the user has reset the identifiers of peers.
  mutating func keepIdentifierGeneration(_ generation: UInt32) {
    do throws(BondStoreError) {
      try store.setIdentifierGeneration(generation)
    } catch {
      note("can't save the reset of the identifiers, which applies only to this run: \(error)")
    }
  }

  /// Stores if the user has switched the adapter off.
  mutating func keepSwitchedOff(_ isSwitchedOff: Bool) {
    do throws(BondStoreError) {
      try store.setSwitchedOff(isSwitchedOff)
    } catch {
      note("can't save the power of the adapter, which applies only to this run: \(error)")
    }
  }

  /// True if `takeNotes` returns lines.
  var hasNotes: Bool { !notes.isEmpty }

  /// Removes and returns the lines for the log.
  mutating func takeNotes() -> [String] {
    defer { notes.removeAll() }
    return notes
  }

  /// Adds a line for the log.
  mutating func note(_ line: String) {
    if notes.count < Self.maximumNotes { notes.append(line) }
  }
}
