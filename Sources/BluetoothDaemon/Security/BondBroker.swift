import BluetoothHost
import BluetoothWire

/// The broker of pairing: it asks the user, stores bonds, and reports only failures to apps.
struct BondBroker {
  private var bonds: BondManager
  /// The pairings in progress or ended, by the links that have had one.
  private var pairings: [HCI.ConnectionHandle: Pairing] = [:]

  /// The latest pairing on a link.
  private struct Pairing {
    /// The open question to the user.
    var prompt: PromptID?
    /// True if a user, or an app of this device, wants the pairing.
    let isConfirmed: Bool
    /// The user whose app has requested the pairing, if a fixed rule answers the questions; nil: none.
    let requester: ClientUser?
  }

  /// - Parameter store: the bond store.
  init(_ store: any BondStore) { bonds = BondManager(store) }

  // MARK: Bonds

  /// Restores the bonds of former runs: keys for the host, and the identifiers that apps know.
  mutating func recallBonds(_ context: inout DaemonContext) {
    let records = bonds.all
    guard !records.isEmpty else { return }
    context.host.setBonds(records.map(\.bond), at: .zero)
    for record in records { adopt(record, &context) }
    publish(&context)
  }

  /// Updates the bonds in the directory.
  private func publish(_ context: inout DaemonContext) {
    context.inputDevices.noteChange()
    context.directory.setBonds(
      bonds.records.compactMapValues {
        BondInfo($0.bond, getsNotifications: $0.getsNotifications ?? false)
      })
  }

  /// True if `takeNotes` returns lines.
  var hasNotes: Bool { bonds.hasNotes }

  /// Removes and returns the lines about bonds for the log.
  mutating func takeNotes() -> [String] { bonds.takeNotes() }

  /// Stores the changed signature counters of a bond.
  mutating func keepCounters(of bond: HostBond, at now: Instant, _ context: inout DaemonContext) {
    guard var record = bonds.records[bond.identity] else { return }
    record.bond = bond
    keep(record, at: now, &context)
  }

  private mutating func keep(_ record: BondRecord, at now: Instant, _ context: inout DaemonContext) {
    if !bonds.update(record) { drop(record.identity, at: now, &context) }
  }

  /// Forgets a device: its keys and all other stored data about it. Its link ends.
  mutating func forget(_ identity: DeviceAddress, at now: Instant, _ context: inout DaemonContext) {
    bonds.remove(identity)
    drop(identity, at: now, &context)
  }

  /// Ends the links of a peer whose bond no longer exists, and removes the bond from the host.
  private mutating func drop(_ identity: DeviceAddress, at now: Instant, _ context: inout DaemonContext) {
    for index in context.links.indices where context.peers[context.links[index].peer].address == identity {
      // `removeBond` disconnects only links that use the bond. This call also disconnects a link that is older than its
      // bond.
      context.links.endWithBond(index, at: now, &context.host)
    }
    context.host.removeBond(identity, at: now)
    publish(&context)
  }

  /// Imports a bond from another source, in place of an existing bond with the same device. Apps that know the device
  /// still know it by the same identifier. A failure to store the bond is logged.
  mutating func take(_ record: BondRecord, at now: Instant, _ context: inout DaemonContext) {
    var record = record
    if let known = bonds.records[record.identity] {
      record.identifier = known.identifier
      record.name = record.name ?? known.name
    } else if let handle = context.peers.handle(of: record.identity) {
      record.identifier = context.peers[handle].info.identifier
      record.name = record.name ?? context.peers[handle].info.name
    } else if record.identifier == .unknown, let handle = context.enter(record.identity, isLinked: true) {
      record.identifier = context.peers[handle].info.identifier
    }
    guard bonds.keep(record) else { return }
    adopt(record, &context)
    publish(&context)
    context.host.setBonds(bonds.all.map(\.bond), at: now)
  }

  /// True if other programs can change the bonds.
  var isShared: Bool { bonds.isShared }

  /// Applies the changes that other programs have made: ends the links to forgotten devices; uses new bonds from the
  /// next link on. Returns false if there are none.
  mutating func takeStoreChanges(at now: Instant, _ context: inout DaemonContext) -> Bool {
    guard let changes = bonds.takeChanges() else { return false }
    for identity in changes.forgotten { drop(identity, at: now, &context) }
    for record in changes.new { adopt(record, &context) }
    publish(&context)
    if !changes.new.isEmpty { context.host.setBonds(bonds.all.map(\.bond), at: now) }
    return true
  }

  /// Stores the identifiers by which apps know the bonded devices from now on.
  mutating func updateIdentifiers(at now: Instant, _ context: inout DaemonContext) {
    for var record in bonds.all {
      guard let peer = context.peers.handle(of: record.identity),
        context.peers[peer].info.identifier != record.identifier
      else { continue }
      record.identifier = context.peers[peer].info.identifier
      keep(record, at: now, &context)
    }
  }

  /// Informs other programs that their changes have been applied.
  func acknowledgeChanges() { bonds.acknowledgeChanges() }

  // MARK: Notifications

  /// True if there is no bond.
  var isEmpty: Bool { bonds.records.isEmpty }

  /// Returns the bond with a device; nil: none.
  func record(of identity: DeviceAddress) -> BondRecord? { bonds.records[identity] }

  /// Stores whether the user lets a peer get the notifications of the system.
  mutating func setSharing(_ isAllowed: Bool, of record: BondRecord, at now: Instant, _ context: inout DaemonContext) {
    var record = record
    record.getsNotifications = isAllowed
    keep(record, at: now, &context)
    publish(&context)
  }

  // MARK: Input devices

  /// Returns the bonded input devices, and stores which ones these are.
  mutating func inputDevices(at now: Instant, _ context: inout DaemonContext) -> [PeerHandle] {
    var peers: [PeerHandle] = []
    for var record in records {
      guard let peer = context.peers.handle(of: record.identity) else { continue }
      if !record.isInputDevice, offersInput(peer, context) {
        record.isInputDevice = true
        keep(record, at: now, &context)
      }
      if record.isInputDevice { peers.append(peer) }
    }
    return peers
  }

  /// True if a peer is known to offer the Human Interface Device service.
  private func offersInput(_ peer: PeerHandle, _ context: borrowing DaemonContext) -> Bool {
    let service = SystemAttribute.humanInterfaceDevice
    if context.peers[peer].advertisedServices.contains(service) { return true }
    guard let link = context.links.index(of: peer) else { return false }
    return context.database(of: link).primaryServices?.contains { $0.uuid == service } ?? false
  }

  // MARK: Apps

  /// Returns the user's answer about an app; nil: none.
  mutating func access(of app: String) -> Bool? { bonds.access(of: app) }

  /// Returns the user's answers about all apps.
  mutating func permissions() -> AppPermissions { bonds.permissions() }

  /// Stores the user's answer about an app. Returns the reason why that is not possible; nil: it is stored.
  @discardableResult
  mutating func keepAccess(_ isAllowed: Bool, of app: String) -> BondStoreError? {
    bonds.keepAccess(isAllowed, of: app)
  }

  /// Stores the name of an app that uses the adapter.
  mutating func noteUse(of app: String) { bonds.noteUse(of: app) }

  /// Reserves the stored apps for this program. Returns false if another program has them.
  mutating func reserveStoredApps() -> Bool { bonds.reserveStoredApps() }

  /// Lets other programs use the stored apps.
  mutating func releaseStoredApps() { bonds.releaseStoredApps() }

  /// Returns the apps with sessions of a former run to preserve.
  mutating func storedApps(afterRestart: Bool) -> [StoredApp] { bonds.storedApps(afterRestart: afterRestart) }

  /// Stores the apps with sessions to preserve.
  mutating func keepApps(_ apps: [StoredApp]) { bonds.keepApps(apps) }

  /// Stores the number of times that the user has reset the identifiers of peers.
  mutating func keepIdentifierGeneration(_ generation: UInt32) { bonds.keepIdentifierGeneration(generation) }

  /// Stores if the user has switched the adapter off.
  mutating func keepSwitchedOff(_ isSwitchedOff: Bool) { bonds.keepSwitchedOff(isSwitchedOff) }

  // MARK: Pairing

  /// Passes the data stored with a bond to the peer table and the host.
  private mutating func adopt(_ record: BondRecord, _ context: inout DaemonContext) {
    context.peers.recall(record)
    if let clientRecord = record.clientRecord { context.host.clientRecords[record.identity] = clientRecord }
    if let cache = record.cache { context.host.setServerCache(cache, of: record.identity) }
  }

  /// All bonds, oldest first.
  var records: [BondRecord] { bonds.all }

  /// Stores both sides' GATT caches with the bond at the end of a link: the peer's client record, and the cache of the
  /// peer's database.
  mutating func keepDatabases(of address: DeviceAddress, at now: Instant, _ context: inout DaemonContext) {
    guard var record = bonds.records[address] else { return }
    record.clientRecord = context.host.clientRecords[address] ?? record.clientRecord
    record.cache = context.host.serverCache(of: address) ?? record.cache
    keep(record, at: now, &context)
  }

  // MARK: Host events

  /// Handles the host's event of pairing and encryption on a link.
  mutating func handle(
    _ event: SecurityEvent, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    switch event {
    case .prompt(let prompt): ask(prompt, on: link, at: now, &context)
    case .promptEnded: withdrawPrompt(of: link, &context)
    case .keypress(let type):
      let connection = context.links[link].link.handle
      if let id = pairings[connection]?.prompt { context.prompts.keypress(type, for: id) }
    case .replacementAttempted(let reason): replacementAttempted(reason, on: link, &context)
    case .paired(let outcome):
      if let bond = outcome.bond {
        paired(bond, replacesUnproven: outcome.replacesUnproven, on: link, at: now, &context)
      }
      context.deliver(.system(.pairingEnded(context.links[link].peer, nil)))
    case .failed(let failure):
      context.deliver(.system(.pairingEnded(context.links[link].peer, failure)))
      failed(failure, on: link, at: now, &context)
    // Requests that wait for security continue in the host.
    case .changed: break
    }
  }

  private mutating func ask(
    _ prompt: PairingPrompt, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    withdrawPrompt(of: link, &context)
    let handle = context.links[link].link.handle
    let peer = context.links[link].peer
    let info = context.peers[peer].info
    let pairing = Prompt.Pairing(
      identifier: info.identifier, name: info.name, isLocallyInitiated: context.host.hasDemand(on: handle),
      replacesBond: context.host.isBonded(handle), isProven: context.host.isProven(handle))
    let users = pairing.isLocallyInitiated ? users(of: peer, context) : []
    pairings[handle] = Pairing(
      isConfirmed: pairing.isLocallyInitiated || !context.prompts.isAutomatic,
      requester: context.prompts.isAutomatic ? requester(among: users, context) : nil)
    let asking = asking(among: users, &context)
    guard users.isEmpty || asking != nil else { return context.host.answer(.no, on: handle, at: now) }
    pairings[handle]?.prompt = context.prompts.ask(.pairing(prompt, pairing), of: asking, at: now)
  }

  /// The users whose central managers are connected to a peer, without repetition, in the order of their requests.
  private func users(of peer: PeerHandle, _ context: borrowing DaemonContext) -> [ClientUser] {
    var users: [ClientUser] = []
    for user in context.peers[peer].users where user.phase == .connected {
      guard let session = context.sessions[.central(user.session)], !users.contains(session.user) else { continue }
      users.append(session.user)
    }
    return users
  }

  /// Returns the user to whose share a bond counts: of the users of the link, the first one who has room, so that nobody
  /// can use up the share of another one by a connection to a device that only they use.
  private func requester(among users: [ClientUser], _ context: borrowing DaemonContext) -> ClientUser? {
    guard context.shares.hasSeveralPrograms else { return nil }
    return users.first { bonds.hasRoom(for: $0) } ?? users.first
  }

  /// Returns the user to whose share a question counts: of the users of the link, the first one who has room; nil: none
  /// has.
  private func asking(among users: [ClientUser], _ context: inout DaemonContext) -> ClientUser? {
    for user in users where context.mayAsk(for: user) { return user }
    return nil
  }

  /// Withdraws the question about pairing on a link.
  private mutating func withdrawPrompt(of link: DaemonLinkIndex, _ context: inout DaemonContext) {
    if let id = pairings[context.links[link].link.handle]?.prompt.take() { context.prompts.withdraw(id) }
  }

  /// Forgets the pairing on a link that has ended.
  mutating func linkEnded(_ link: DaemonLinkIndex, _ context: inout DaemonContext) {
    withdrawPrompt(of: link, &context)
    pairings[context.links[link].link.handle] = nil
  }

  /// Passes an answer of the user to the host if the answer belongs to a question about pairing.
  mutating func take(_ answer: PromptQueue.Answer, at now: Instant, _ host: inout Host) {
    guard let connection = pairings.first(where: { $0.value.prompt == answer.id })?.key else { return }
    if case .keypress = answer.answer {} else { pairings[connection]?.prompt = nil }
    host.answer(answer.answer, on: connection, at: now)
  }

  /// Logs that a peer without the key of its bond has started pairing: the bonded device, or another device with its
  /// address.
  private mutating func replacementAttempted(
    _ reason: SMP.FailureReason?, on link: DaemonLinkIndex, _ context: inout DaemonContext
  ) {
    let identifier = context.peers[context.links[link].peer].info.identifier.digits
    let peer = "\(identifier): a peer without the key of its bond requests pairing"
    let advice = "if it is the same device, remove the bond (ble bonds forget)"
    if let reason {
      bonds.note("\(peer); refused with reason 0x\(reason.rawValue.hexadecimal): \(advice)")
    } else if context.prompts.isAutomatic {
      bonds.note("\(peer); refused, because no user can confirm it: \(advice)")
    } else {
      bonds.note("\(peer); asking the user")
    }
  }

  private mutating func paired(
    _ bond: HostBond, replacesUnproven: Bool, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    let peer = context.links[link].peer
    if let former = context.peers.identify(peer, as: bond.identity) {
      context.host.cancelConnecting(to: bond.identity, at: now)
      context.giveUp(former)
    }
    context.inputDevices.accept(peer)
    let former = bonds.records[bond.identity]
    let pairing = pairings[context.links[link].link.handle]
    let requester = pairing?.requester
    var isInShare = true
    if let requester, former?.isConfirmed != true { isInShare = self.isInShare(of: requester, &context) }
    let isConfirmed = pairing?.isConfirmed == true && isInShare
    var record: BondRecord
    if let former {
      record = former.renewed(bond, isConfirmed: isConfirmed, replacesUnproven: replacesUnproven)
      // A bond that was chosen before stays in its share.
      if !former.isConfirmed || !context.prompts.isAutomatic { record.requester = isInShare ? requester : nil }
    } else {
      guard isInShare else { return refuse(bond, on: link, at: now, &context) }
      record = BondRecord(bond, identifier: context.peers[peer].info.identifier)
      record.isConfirmed = isConfirmed
      record.requester = requester
    }
    record.name = context.peers[peer].info.name ?? record.name
    makeRoom(for: record, at: now, &context)
    if bonds.keep(record) { publish(&context) } else { refuse(bond, on: link, at: now, &context) }
  }

  /// Returns true if the apps of a user may request another bond. Otherwise the log has a line, once.
  private func isInShare(of requester: ClientUser, _ context: inout DaemonContext) -> Bool {
    if bonds.hasRoom(for: requester) { return true }
    context.limitNotes.note("\(requester): has its share of bonds that apps have requested, which is \(bonds.share)")
    return false
  }

  /// Removes a bond for which there is no room from the host, and ends its link.
  private mutating func refuse(
    _ bond: HostBond, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    context.host.removeBond(bond.identity, at: now)
    context.links.end(link, because: .tooManyPairedDevices, at: now, &context.host)
    publish(&context)
  }

  /// Forgets the oldest bonds that no user has confirmed, if there is no room for this one.
  private mutating func makeRoom(for record: BondRecord, at now: Instant, _ context: inout DaemonContext) {
    let linked = Set(context.links.all.map { context.peers[$0.peer].address })
    for identity in bonds.dispensable(for: record, sparing: linked) {
      bonds.note("removed the bond with \(identity): too many bonds that no user has confirmed")
      bonds.remove(identity)
      drop(identity, at: now, &context)
    }
  }

  private mutating func failed(
    _ failure: SecurityFailure, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    guard context.links[link].link.role == .central else { return }
    switch failure {
    // The peer lacks the key, so it must not be treated as the bonded device.
    case .keyMissing: context.links.end(link, because: .link(.pinOrKeyMissing), at: now, &context.host)
    case .timeout, .encryption:
      context.links.end(link, because: .encryptionTimedOut, at: now, &context.host)
    // The app's request ends with the server's error.
    case .refused, .refusedByPeer, .disconnected: break
    }
  }
}
