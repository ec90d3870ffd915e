import BluetoothHost
import BluetoothWire

/// The bonds of one adapter as they are kept: what the store holds, and what is to be logged of it.
struct BondKeeper {
  private let store: any BondStore
  private(set) var records: [DeviceAddress: BondRecord] = [:]
  /// Lines for the log that nobody has taken yet.
  private var notes: [String] = []
  /// Older lines are worth more than the last of a long row.
  private static let maximumNotes = 32

  init(_ store: any BondStore) {
    self.store = store
    do throws(BondStoreError) {
      let stored = try store.load()
      for record in stored.records { records[record.identity] = record }
      for problem in stored.problems { note("\(problem)") }
    } catch {
      note("no bonds: \(error)")
    }
  }

  /// In an order that does not depend on chance.
  var all: [BondRecord] { Array(records.values).sortedByIdentity }

  /// Keeps a record, new or in place of the one before. False: there is no room for another device.
  mutating func keep(_ record: BondRecord) -> Bool {
    guard records[record.identity] != record else { return true }
    do throws(BondStoreError) {
      try store.save(record)
    } catch {
      note("the bond with \(record.identity) was not kept: \(error)")
      if case .full = error { return false }
    }
    // What could not be written is good for this run, at least.
    records[record.identity] = record
    return true
  }

  mutating func remove(_ identity: DeviceAddress) {
    records[identity] = nil
    do throws(BondStoreError) {
      try store.remove(identity)
    } catch {
      note("the bond with \(identity) is still on disk: \(error)")
    }
  }

  mutating func takeNotes() -> [String] {
    defer { notes.removeAll() }
    return notes
  }

  private mutating func note(_ line: String) {
    if notes.count < Self.maximumNotes { notes.append(line) }
  }
}
