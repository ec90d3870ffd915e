import BluetoothWire

/// A store of the bonds of one adapter and of the adapter's own secrets.
///
/// Calls block until they are complete. For a store on disk that means until the data would survive a loss of power:
/// some milliseconds for each call. Calls may come from any thread.
package protocol BondStore: Sendable {
  /// The maximum number of bonds.
  var limit: Int { get }

  /// Returns all bonds, sorted by address. An unreadable bond is listed among the problems and does not affect the
  /// other bonds.
  func load() throws(BondStoreError) -> StoredBonds

  /// Stores a record in place of the one with the same identity address.
  ///
  /// - Throws: `BondStoreError.full` if the number of bonds would exceed `limit`; the store is then unchanged.
  func save(_ record: BondRecord) throws(BondStoreError)

  /// Returns true if there is a bond with that device.
  func contains(_ identity: DeviceAddress) throws(BondStoreError) -> Bool

  /// Stores the changes of an existing bond.
  ///
  /// - Returns: false if the bond no longer exists or has other keys: another program has forgotten the device, or
  ///   paired with it. The store is then unchanged.
  func update(_ record: BondRecord) throws(BondStoreError) -> Bool

  /// Removes the bond with a device.
  ///
  /// - Returns: true if there was a record.
  @discardableResult
  func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool

  /// Returns the time of the last change of any bond, by any program, in nanoseconds since 1970-01-01 00:00:00 UTC;
  /// nil: other programs can't change this store.
  func lastChange() -> Int64?

  /// Informs programs that wait in `FileBondStore.reach` that this program has applied their changes.
  func acknowledgeChanges()

  /// Returns the adapter's own secrets; creates them with `make` the first time.
  ///
  /// Unreadable secrets are an error: with new secrets no peer would recognize the adapter.
  func secrets(_ make: () -> AdapterSecrets) throws(BondStoreError) -> AdapterSecrets

  /// Stores the number of times that the user has reset the identifiers of peers with the adapter's own secrets. Does
  /// nothing if there are no secrets.
  func setIdentifierGeneration(_ generation: UInt32) throws(BondStoreError)

  /// Stores with the adapter's own secrets if the user has switched the adapter off. Does nothing if there are no
  /// secrets.
  func setSwitchedOff(_ isSwitchedOff: Bool) throws(BondStoreError)

  /// Returns all decisions of the user on apps, and the names of `noteUse`.
  func permissions() throws(BondStoreError) -> AppPermissions

  /// Returns whether the user lets this app use the adapter; nil: the user has not decided.
  func access(of app: String) throws(BondStoreError) -> Bool?

  /// Stores the user's decision on this app.
  func setAccess(_ isAllowed: Bool, of app: String) throws(BondStoreError)

  /// Stores the name of an app that uses the adapter. The names are in the result of `permissions`.
  func noteUse(of app: String) throws(BondStoreError)

  /// Reserves the stored apps for this program, until the result is released.
  ///
  /// - Throws: `sessionsInUse` if another program has reserved them: this one must neither use nor change them.
  func reserveStoredApps() throws(BondStoreError) -> any Sendable

  /// Returns the apps with sessions to preserve.
  ///
  /// - Parameter afterRestart: true if they may have been stored before the machine was started.
  func storedApps(afterRestart: Bool) throws(BondStoreError) -> [StoredApp]

  /// Stores the apps with sessions to preserve, in place of the former ones.
  ///
  /// - Returns: the names of the apps that are missing because they, or all together, are too large.
  func setStoredApps(_ apps: [StoredApp]) throws(BondStoreError) -> [String]
}

extension BondStore {
  package func lastChange() -> Int64? { nil }
  package func acknowledgeChanges() {}
  /// Returns the apps with sessions to preserve; none if they were stored before the machine was started.
  package func storedApps() throws(BondStoreError) -> [StoredApp] { try storedApps(afterRestart: false) }
  /// A store that no other program can use needs no reservation.
  package func reserveStoredApps() throws(BondStoreError) -> any Sendable { true }
}

/// The content of a store.
package struct StoredBonds: Hashable, Sendable {
  package var records: [BondRecord] = []
  /// The files that are not bonds or have defects, for the log.
  package var problems: [Problem] = []

  package init(records: [BondRecord] = [], problems: [Problem] = []) {
    self.records = records
    self.problems = problems
  }

  /// A file with a defect.
  package struct Problem: Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
      /// The file does not belong to this store.
      case foreign
      /// The content is invalid: corrupt, incomplete, or of a device that the file name does not match.
      case malformed(String)
      /// A later version of this software has written the file.
      case laterFormat(Int)
      /// Other users could read or write the file. It has been read, and its mode is now restricted; a user who has
      /// read it has the keys.
      case wasOpen(mode: UInt32)
      /// Other users can read or write the file. It has been read, and its mode is unchanged; a user who has read it
      /// has the keys.
      case isOpen(mode: UInt32)
      /// Other users could write the file, which has no keys. It was not read, and has been removed.
      case wasWritable(mode: UInt32)
      /// The file belongs to another user, or is not a regular file; it was not read.
      case untrusted
      /// The system refused to read the file.
      case unreadable(FileError)
    }

    package let path: String
    package let reason: Reason

    package init(path: String, reason: Reason) {
      self.path = path
      self.reason = reason
    }

    /// A description in one line, for the file of a bond.
    package var description: String { text(ofFileWith: "bond") }

    /// Returns a description in one line, for a file that should have this content.
    fileprivate func text(ofFileWith content: String) -> String {
      switch reason {
      case .foreign: "\(path): not a bond file; ignored"
      case .malformed(let text): "\(path): not a valid \(content); ignored: \(text)"
      case .laterFormat(let format): "\(path): written by a later version (format \(format)); ignored"
      case .wasOpen(let mode):
        "\(path): other users had access to the keys (mode \(String(mode, radix: 8))); changed to 600. "
          + "If others may have read the keys, remove the bond and pair again"
      case .isOpen(let mode):
        "\(path): other users have access to the keys (mode \(String(mode, radix: 8))); change the mode to 600. "
          + "If others may have read the keys, remove the bond and pair again"
      case .wasWritable(let mode):
        "\(path): other users could change the file (mode \(String(mode, radix: 8))); ignored and removed"
      case .untrusted: "\(path): not a regular file of this user; ignored"
      case .unreadable(let error): "\(error)"
      }
    }
  }
}

/// The reason why a store failed to perform a request.
package enum BondStoreError: Error, Hashable, Sendable {
  /// The maximum number of bonds is reached.
  case full(limit: Int)
  /// The record's file would be too large to be read again.
  case tooLarge(octets: Int, limit: Int)
  /// A system call failed.
  case file(FileError)
  /// The path is not a folder, or belongs to another user.
  case untrustedFolder(String)
  /// The maximum number of programs use the adapter already.
  case crowded(limit: Int)
  /// The file with the adapter's secrets has a defect.
  case secrets(StoredBonds.Problem)
  /// The file with the decisions on apps has a defect.
  case apps(StoredBonds.Problem)
  /// The file with the sessions of apps has a defect.
  case sessions(StoredBonds.Problem)
  /// Another program preserves sessions of apps in the folder.
  case sessionsInUse(String)
  /// The environment names neither a data folder nor a home folder.
  case noFolder
}

extension BondStoreError: CustomStringConvertible {
  /// A description in one line.
  package var description: String {
    switch self {
    case .full(let limit): "the maximum of \(limit) bonds is reached; remove a bond first"
    case .tooLarge(let octets, let limit): "bond too large: \(octets) octets as JSON, at most \(limit) are allowed"
    case .file(let error): "\(error)"
    case .untrustedFolder(let path): "\(path): not a folder of this user; can't keep bonds in it"
    case .crowded(let limit): "too many programs use the adapter: at most \(limit) are allowed"
    case .secrets(let problem):
      "can't read the identity of the adapter: \(problem.text(ofFileWith: "identity of an adapter"))"
    case .apps(let problem):
      "can't read the permissions of apps, which do not apply: \(problem.text(ofFileWith: "list of permissions"))"
    case .sessions(let problem):
      "can't read the sessions of apps, which are not restored: \(problem.text(ofFileWith: "list of sessions"))"
    case .sessionsInUse(let path):
      "another server uses \(path): this one preserves no sessions of apps. Use another folder (--bonds), or another "
        + "name of the adapter"
    case .noFolder: "no folder for bonds: set COREBLUETOOTH_BONDS, XDG_DATA_HOME or HOME"
    }
  }
}
