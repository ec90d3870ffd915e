import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// A store of bonds that last as long as the process: those of virtual devices without a folder.
package final class MemoryBondStore: BondStore {
  private struct State {
    var records: [DeviceAddress: BondRecord] = [:]
    var secrets: AdapterSecrets?
    var apps = AppPermissions()
    var storedApps: [StoredApp] = []
  }

  package let limit: Int
  private let state = NIOLockedValueBox(State())

  package init(limit: Int = PlatformPolicy.macos.bondLimit) { self.limit = limit }

  package func load() throws(BondStoreError) -> StoredBonds {
    StoredBonds(records: state.withLockedValue { Array($0.records.values) }.sortedByIdentity)
  }

  package func save(_ record: BondRecord) throws(BondStoreError) {
    let isFull = state.withLockedValue { state in
      if state.records[record.identity] == nil, state.records.count >= limit { return true }
      state.records[record.identity] = record
      return false
    }
    if isFull { throw .full(limit: limit) }
  }

  package func contains(_ identity: DeviceAddress) throws(BondStoreError) -> Bool {
    state.withLockedValue { $0.records[identity] != nil }
  }

  package func update(_ record: BondRecord) throws(BondStoreError) -> Bool {
    state.withLockedValue { state in
      guard let stored = state.records[record.identity], stored.bond.hasSameKeys(as: record.bond) else { return false }
      state.records[record.identity] = record
      return true
    }
  }

  package func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool {
    state.withLockedValue { $0.records.removeValue(forKey: identity) != nil }
  }

  package func secrets(_ make: () -> AdapterSecrets) throws(BondStoreError) -> AdapterSecrets {
    state.withLockedValue { state in
      let secrets = state.secrets ?? make()
      state.secrets = secrets
      return secrets
    }
  }

  package func setIdentifierGeneration(_ generation: UInt32) throws(BondStoreError) {
    state.withLockedValue { $0.secrets?.identifierGeneration = generation }
  }

  package func setSwitchedOff(_ isSwitchedOff: Bool) throws(BondStoreError) {
    state.withLockedValue { $0.secrets?.isSwitchedOff = isSwitchedOff }
  }

  package func permissions() throws(BondStoreError) -> AppPermissions { state.withLockedValue { $0.apps } }

  package func access(of app: String) throws(BondStoreError) -> Bool? { state.withLockedValue { $0.apps[app] } }

  package func setAccess(_ isAllowed: Bool, of app: String) throws(BondStoreError) {
    state.withLockedValue { $0.apps.set(isAllowed, for: app) }
  }

  package func noteUse(of app: String) throws(BondStoreError) {
    state.withLockedValue { $0.apps.noteUse(of: app) }
  }

  package func storedApps(afterRestart: Bool) throws(BondStoreError) -> [StoredApp] {
    state.withLockedValue { $0.storedApps }
  }

  package func setStoredApps(_ apps: [StoredApp]) throws(BondStoreError) -> [String] {
    state.withLockedValue { $0.storedApps = apps }
    return []
  }
}

extension [BondRecord] {
  /// The records in a deterministic order.
  package var sortedByIdentity: [BondRecord] {
    sorted { ($0.identity.value, $0.identity.kind.rawValue) < ($1.identity.value, $1.identity.kind.rawValue) }
  }
}
