import BluetoothWire

/// Where the bonds of one adapter are kept, and what the adapter keeps for itself.
///
/// Calls wait until what they do is done, for a store on disk until it would survive a loss of power: some milliseconds
/// each. They may come from any thread.
package protocol BondStore: Sendable {
  /// How many bonds there is room for.
  var limit: Int { get }

  /// All bonds, by address. What can't be read hides nothing else: it is among the problems.
  func load() throws(BondStoreError) -> StoredBonds

  /// Keeps a record in place of the one with the same identity address.
  ///
  /// - Throws: `BondStoreError.full` if it would be one more than `limit`; what was there stays.
  func save(_ record: BondRecord) throws(BondStoreError)

  /// Whether there is a bond with that device.
  func contains(_ identity: DeviceAddress) throws(BondStoreError) -> Bool

  /// Keeps what has changed of a bond that there is.
  ///
  /// - Returns: false if there is none any more, or another one: another program has forgotten the device, or paired with it.
  ///   Then nothing is kept.
  func update(_ record: BondRecord) throws(BondStoreError) -> Bool

  /// Forgets a device.
  ///
  /// - Returns: whether there was a record.
  @discardableResult
  func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool

  /// When a bond was kept or forgotten last, by whichever program, in nanoseconds since 1970-01-01 00:00:00 UTC; nil: other
  /// programs can't change this store.
  func lastChange() -> Int64?

  /// Tells programs that wait for it in `FileBondStore.reach` that this one has taken in what they have changed.
  func acknowledgeChanges()

  /// What the adapter keeps for itself; the first time `make` says what it is to be.
  ///
  /// If it can't be read that is an error: with new secrets no peer would know the adapter again.
  func secrets(_ make: () -> AdapterSecrets) throws(BondStoreError) -> AdapterSecrets

  /// Whether the user lets this app use the adapter; nil: nobody has said.
  func access(of app: String) throws(BondStoreError) -> Bool?

  /// Keeps what the user has said of this app.
  func setAccess(_ isAllowed: Bool, of app: String) throws(BondStoreError)
}

extension BondStore {
  package func lastChange() -> Int64? { nil }
  package func acknowledgeChanges() {}
}

/// What a store holds.
package struct StoredBonds: Hashable, Sendable {
  package var records: [BondRecord] = []
  /// What was found that is no bond, or not as it should be, for the log.
  package var problems: [Problem] = []

  package init(records: [BondRecord] = [], problems: [Problem] = []) {
    self.records = records
    self.problems = problems
  }

  /// A file that is not as it should be.
  package struct Problem: Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
      /// It is not one of this store's files.
      case foreign
      /// It can't be understood: broken, half, or of another device than its name says.
      case malformed(String)
      /// A later version of this software has written it.
      case laterFormat(Int)
      /// Others could read or write it. It is closed to them now, and was taken in; whoever has read it has the keys.
      case wasOpen(mode: UInt32)
      /// Others can read or write it. It was taken in, and left open; whoever has read it has the keys.
      case isOpen(mode: UInt32)
      /// It belongs to another user, or is no plain file; it was not read.
      case untrusted
      /// The system refused to give it.
      case unreadable(FileError)
    }

    package let path: String
    package let reason: Reason

    package init(path: String, reason: Reason) {
      self.path = path
      self.reason = reason
    }

    /// One line.
    package var description: String {
      switch reason {
      case .foreign: "\(path): not a file of this store; it is left alone"
      case .malformed(let text): "\(path): not a bond, and left alone: \(text)"
      case .laterFormat(let format): "\(path): written by a later version (format \(format)), and left alone"
      case .wasOpen(let mode):
        "\(path): other users had access to the keys (mode \(String(mode, radix: 8))); closed now. "
          + "If that was not meant to be, forget the device and pair anew"
      case .isOpen(let mode):
        "\(path): other users have access to the keys (mode \(String(mode, radix: 8))); chmod 600 closes it. "
          + "If that was not meant to be, forget the device and pair anew"
      case .untrusted: "\(path): not a plain file of this user, and not read"
      case .unreadable(let error): "\(error)"
      }
    }
  }
}

/// Why a store did not do what it was asked for.
package enum BondStoreError: Error, Hashable, Sendable {
  /// There are as many bonds as there may be.
  case full(limit: Int)
  /// The record would be a file that is not read again.
  case tooLarge(octets: Int, limit: Int)
  /// The system refused something.
  case file(FileError)
  /// The folder is none, or belongs to another user.
  case untrustedFolder(String)
  /// So many programs use the adapter already.
  case crowded(limit: Int)
  /// The adapter's own file is not as it should be.
  case secrets(StoredBonds.Problem)
  /// The list of apps is not as it should be.
  case apps(StoredBonds.Problem)
  /// There is neither a folder for data nor a home.
  case noFolder
}

extension BondStoreError: CustomStringConvertible {
  /// One line.
  package var description: String {
    switch self {
    case .full(let limit): "there are \(limit) bonds already: forget a device first"
    case .tooLarge(let octets, let limit): "the bond has \(octets) octets as JSON; at most \(limit) are kept"
    case .file(let error): "\(error)"
    case .untrustedFolder(let path): "\(path): not a folder of this user; bonds are not kept there"
    case .crowded(let limit): "\(limit) programs use the adapter already"
    case .secrets(let problem): "the adapter's own keys can't be read: \(problem)"
    case .apps(let problem): "what the user has said of apps can't be read: \(problem)"
    case .noFolder: "neither XDG_DATA_HOME nor HOME says where bonds are to be kept"
    }
  }
}
