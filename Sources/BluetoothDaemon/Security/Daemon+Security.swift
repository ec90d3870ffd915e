import BluetoothHost
import BluetoothWire

/// Pairing: asks the user, stores bonds, and reports only failures to apps.
extension Daemon {
  // MARK: Bonds

  /// Restores the bonds of former runs: keys for the host, and the identifiers that apps know.
  mutating func recallBonds() {
    let records = bonds.all
    guard !records.isEmpty else { return }
    host.setBonds(records.map(\.bond), at: .zero)
    for record in records { adopt(record) }
  }

  /// Removes and returns the lines about bonds for the log.
  package mutating func takeNotes() -> [String] { bonds.takeNotes() }

  /// Stores the changed signature counters of a bond.
  mutating func keepCounters(of bond: Bond, at now: Instant) {
    guard var record = bonds.records[bond.identity] else { return }
    record.bond = bond
    keep(record, at: now)
  }

  private mutating func keep(_ record: BondRecord, at now: Instant) {
    if !bonds.update(record) { drop(record.identity, at: now) }
  }

  /// Forgets a device: its keys and all other stored data about it. Its link ends.
  package mutating func forget(_ identity: DeviceAddress, at now: Instant) {
    bonds.remove(identity)
    drop(identity, at: now)
    takeHostEvents(at: now)
  }

  /// Ends the links of a peer whose bond no longer exists, and removes the bond from the host.
  private mutating func drop(_ identity: DeviceAddress, at now: Instant) {
    for index in links.indices where peers[links[index].peer].address == identity {
      links[index].end = .link(.connectionTerminatedByLocalHost)
      links[index].isClosing = true
      // Also a link that is older than its bond.
      host.disconnect(links[index].link.handle, at: now)
    }
    host.removeBond(identity, at: now)
  }

  /// Imports a bond from another source, in place of an existing bond with the same device. Apps that know the device
  /// still know it by the same identifier. A failure to store the bond is logged.
  package mutating func take(_ record: BondRecord, at now: Instant) {
    var record = record
    if let known = bonds.records[record.identity] {
      record.identifier = known.identifier
      record.name = record.name ?? known.name
    } else if let handle = peers.handle(of: record.identity) {
      record.identifier = peers[handle].info.identifier
      record.name = record.name ?? peers[handle].info.name
    } else if record.identifier == .unknown, let handle = peers.enter(record.identity, isLinked: true) {
      record.identifier = peers[handle].info.identifier
    }
    guard bonds.keep(record) else { return }
    adopt(record)
    host.setBonds(bonds.all.map(\.bond), at: now)
    takeHostEvents(at: now)
  }

  /// True if other programs can change the bonds: `takeStoreChanges` must then be called from time to time.
  package var hasSharedBonds: Bool { bonds.isShared }

  /// Applies the changes that other programs have made: ends the links to forgotten devices; uses new bonds from the
  /// next link on.
  package mutating func takeStoreChanges(at now: Instant) {
    guard let changes = bonds.takeChanges() else { return }
    for identity in changes.forgotten { drop(identity, at: now) }
    for record in changes.new { adopt(record) }
    if !changes.new.isEmpty { host.setBonds(bonds.all.map(\.bond), at: now) }
    takeHostEvents(at: now)
    bonds.acknowledgeChanges()
  }

  /// Passes the data stored with a bond to the peer table and the host.
  private mutating func adopt(_ record: BondRecord) {
    peers.recall(record)
    if let clientRecord = record.clientRecord { host.clientRecords[record.identity] = clientRecord }
    if let cache = record.cache { host.setServerCache(cache, of: record.identity) }
  }

  /// All bonds, oldest first.
  package var bondRecords: [BondRecord] { bonds.all }

  /// Stores with the bond, at the end of a link, what each side knows of the other's database.
  mutating func keepDatabases(of address: DeviceAddress, at now: Instant) {
    guard var record = bonds.records[address] else { return }
    record.clientRecord = host.clientRecords[address] ?? record.clientRecord
    record.cache = host.serverCache(of: address) ?? record.cache
    keep(record, at: now)
  }

  // MARK: Host events

  mutating func handle(_ event: SecurityEvent, on link: Int, at now: Instant) {
    switch event {
    case .prompt(let prompt): ask(prompt, on: link, at: now)
    case .promptEnded: withdrawPrompt(of: link)
    case .keypress(let type): if let id = links[link].prompt { desk.keypress(type, for: id) }
    case .replacementAttempted(let reason): replacementAttempted(reason, on: link)
    case .paired(let outcome):
      if let bond = outcome.bond { paired(bond, replacesUnproven: outcome.replacesUnproven, on: link, at: now) }
    case .failed(let failure): failed(failure, on: link, at: now)
    // Requests that wait for security continue in the host.
    case .changed: break
    }
  }

  private mutating func ask(_ prompt: PairingPrompt, on link: Int, at now: Instant) {
    withdrawPrompt(of: link)
    let handle = links[link].link.handle
    let info = peers[links[link].peer].info
    let pairing = Prompt.Pairing(
      identifier: info.identifier, name: info.name, isOwnWish: host.hasDemand(on: handle),
      replacesBond: host.isBonded(handle), isProven: host.isProven(handle))
    links[link].isConfirmed = pairing.isOwnWish || !desk.isAutomatic
    links[link].prompt = desk.ask(.pairing(prompt, pairing), at: now)
  }

  mutating func withdrawPrompt(of link: Int) {
    guard let id = links[link].prompt else { return }
    links[link].prompt = nil
    desk.withdraw(id)
  }

  /// Handles the next answer of the user; returns false if there is none.
  mutating func takeAnswer(at now: Instant) -> Bool {
    guard let answer = desk.takeAnswer(at: now) else { return false }
    if take(answer, at: now) { return true }
    if let link = links.indices.first(where: { links[$0].prompt == answer.id }) {
      if case .keypress = answer.answer {} else { links[link].prompt = nil }
      host.answer(answer.answer, on: links[link].link.handle, at: now)
    }
    return true
  }

  /// Logs that a peer without the key of its bond has started pairing: the bonded device, or another device with its
  /// address.
  private mutating func replacementAttempted(_ reason: SMP.FailureReason?, on link: Int) {
    let peer = "\(peers[links[link].peer].info.identifier.digits): a peer without the key of its bond requests pairing"
    let advice = "if it is the same device, remove the bond (ble bonds forget)"
    if let reason {
      bonds.note("\(peer); refused with reason 0x\(reason.rawValue.hexadecimal): \(advice)")
    } else if desk.isAutomatic {
      bonds.note("\(peer); refused, because no user can confirm it: \(advice)")
    } else {
      bonds.note("\(peer); asking the user")
    }
  }

  private mutating func paired(_ bond: Bond, replacesUnproven: Bool, on link: Int, at now: Instant) {
    let peer = links[link].peer
    if let former = peers.identify(peer, as: bond.identity) {
      host.cancelConnecting(to: bond.identity, at: now)
      giveUp(former)
    }
    let isConfirmed = links[link].isConfirmed
    var record: BondRecord
    if let former = bonds.records[bond.identity] {
      record = former.renewed(bond, isConfirmed: isConfirmed, replacesUnproven: replacesUnproven)
    } else {
      record = BondRecord(bond, identifier: peers[peer].info.identifier)
      record.isConfirmed = isConfirmed
    }
    record.name = peers[peer].info.name ?? record.name
    makeRoom(for: record, at: now)
    guard !bonds.keep(record) else { return }
    host.removeBond(bond.identity, at: now)
    end(link, because: .tooManyPairedDevices, at: now)
  }

  /// Forgets the oldest bonds that no user has confirmed, if there is no room for this one.
  private mutating func makeRoom(for record: BondRecord, at now: Instant) {
    let linked = Set(links.map { peers[$0.peer].address })
    for identity in bonds.dispensable(for: record, sparing: linked) {
      bonds.note("removed the bond with \(identity): too many bonds that no user has confirmed")
      bonds.remove(identity)
      drop(identity, at: now)
    }
  }

  private mutating func failed(_ failure: SecurityFailure, on link: Int, at now: Instant) {
    guard links[link].link.role == .central else { return }
    switch failure {
    // The peer lacks the key, so it must not be treated as the bonded device.
    case .keyMissing: end(link, because: .link(.pinOrKeyMissing), at: now)
    case .timeout, .encryption: end(link, because: .encryptionTimedOut, at: now)
    // The app's request ends with the server's error.
    case .refused, .refusedByPeer, .disconnected: break
    }
  }

  mutating func end(_ link: Int, because error: SessionError, at now: Instant) {
    // Only the first reason is reported.
    guard links[link].end == nil else { return }
    links[link].end = error
    links[link].isClosing = true
    host.disconnect(links[link].link.handle, at: now)
  }
}
