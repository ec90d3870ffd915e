import BluetoothCrypto
import BluetoothWire
import DequeModule
import NIOConcurrencyHelpers

/// The features of an adapter's controller that this host uses.
package struct AdapterFeatures: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Extended scanning, and connecting to extended advertising.
  package static let extendedScanAndConnect = AdapterFeatures(rawValue: 1 << 0)
  /// Resolvable private addresses.
  package static let privacy = AdapterFeatures(rawValue: 1 << 1)
}

/// The adapter's knowledge of its peers and of apps' permission to use the adapter. Only the executor writes the
/// directory; every thread can read it without waiting for the executor.
///
/// All copies are the same directory.
package struct PeerDirectory: Sendable {
  fileprivate struct Entry {
    var info: PeerInfo
    var address: DeviceAddress
  }

  fileprivate struct Connected {
    var handle: PeerHandle
    var services: [BluetoothUUID]
  }

  fileprivate struct State {
    /// The peers by the slots of their handles, nil in a vacant slot, and the number of peers that have had the slot.
    var slots: [(entry: Entry?, peerCount: Int)] = []
    /// The handles of the next peers in the vacant slots, the slot that has been vacant for the longest time first.
    var vacancies: Deque<PeerHandle> = []
    /// The number of objects of apps for each peer that has some.
    var holds: [PeerHandle: Int] = [:]
    /// The bonds by the identity addresses of their peers.
    var bonds: [DeviceAddress: BondInfo] = [:]
    var byIdentifier: [PeerIdentifier: PeerHandle] = [:]
    /// The connected peers, in the order in which their links were established.
    var connected: [Connected] = []
    var access = AppAccess.allowed
    var features: AdapterFeatures = []
    /// Not empty only in a server: the copies of this directory in other processes.
    var observations: [WeakObservation] = []
    /// Not nil once the adapter has had an app.
    var apps: AppKnowledge?
    var alertObserver: (@Sendable (Alert) -> Void)?
  }

  fileprivate struct WeakObservation {
    weak var observation: DirectoryObservation?
  }

  private let state = NIOLockedValueBox(State())

  package init() {}

  /// The permission of apps to use the adapter.
  package var access: AppAccess {
    get { state.withLockedValue { $0.access } }
    nonmutating set {
      change { state in
        state.access = newValue
        return { $0.hasAccess = true }
      }
    }
  }

  /// The features of the adapter's controller; empty until the adapter is powered on for the first time.
  package var features: AdapterFeatures {
    get { state.withLockedValue { $0.features } }
    nonmutating set {
      change { state in
        state.features = newValue
        return { $0.hasFeatures = true }
      }
    }
  }

  // MARK: Apps

  /// Prepares the directory for apps, before the first one is known.
  ///
  /// - Parameters:
  ///   - identifierKey: the key from which the identifiers of apps are derived.
  ///   - access: the permission of an app about which nothing is known.
  func prepareForApps(identifierKey: Block, access: AppAccess) {
    state.withLockedValue { state in
      if state.apps == nil { state.apps = AppKnowledge(identifierKey: identifierKey, access: access) }
    }
  }

  /// Returns the permission of an app.
  package func access(ofApp app: String) -> AppAccess {
    state.withLockedValue { $0.apps?.access(of: app) ?? $0.access }
  }

  func setAccess(_ access: AppAccess, ofApp app: String) {
    change { state in
      state.apps?.setAccess(access, of: app)
      // The copies of other apps get the same value again.
      return { $0.hasAccess = true }
    }
  }

  /// Returns the identifier by which an app knows a peer. Each app has other identifiers, so that apps can't find out
  /// that they use the same device. An app's identifiers are the same in all runs with the same key.
  package func identifier(_ identifier: PeerIdentifier, ofApp app: String) -> PeerIdentifier {
    state.withLockedValue { $0.apps?.identifier(identifier, ofApp: app) ?? identifier }
  }

  /// Returns the adapter's identifier of the peer that an app knows by `identifier`; nil: the adapter knows no such
  /// peer.
  package func adapterIdentifier(_ identifier: PeerIdentifier, ofApp app: String) -> PeerIdentifier? {
    state.withLockedValue { state in
      // Without apps, and in the copy of a server's directory, there are no identifiers but those of the adapter.
      guard let apps = state.apps else { return state.byIdentifier[identifier] == nil ? nil : identifier }
      if let known = apps.adapterIdentifier(identifier, ofApp: app) { return known }
      // The app may have saved the identifier in a former run.
      return state.peers.first { apps.identifier($0.info.identifier, ofApp: app) == identifier }?.info.identifier
    }
  }

  /// The maximum number of identifiers that `adapterIdentifier(_:ofApps:)` derives.
  private static let maximumDerivations = 8_192

  /// Returns the adapter's identifier of the peer that one of these apps has known by `text` in a former run; nil:
  /// there is none, or it is not among the first combinations of a peer and an app. Peers with bonds come first.
  package func adapterIdentifier(_ text: String, ofApps names: [String]) -> PeerIdentifier? {
    guard text.utf8.count == 36, let uuid = BluetoothUUID(text) else { return nil }
    let identifier = PeerIdentifier(high: uuid.high, low: uuid.low)
    // The lock is not held while the identifiers are derived.
    let (apps, peers) = state.withLockedValue { ($0.apps, $0.peers.map(\.info)) }
    guard let apps, !names.isEmpty else { return nil }
    for peer in peers.prefix(max(1, Self.maximumDerivations / names.count)) {
      if names.contains(where: { apps.derive(peer.identifier, ofApp: $0) == identifier }) { return peer.identifier }
    }
    return nil
  }

  /// The alerts that the adapter has shown about suspended apps, oldest first.
  package var alerts: [Alert] { state.withLockedValue { $0.apps.map { Array($0.alerts) } ?? [] } }

  /// Keeps an alert that the adapter has shown.
  package func append(_ alert: Alert) {
    let observer = state.withLockedValue { state in
      state.apps?.append(alert)
      return state.alertObserver
    }
    observer?(alert)
  }

  /// Sets the function that is called for each alert from now on, on the adapter's executor.
  package func observeAlerts(_ observer: @escaping @Sendable (Alert) -> Void) {
    state.withLockedValue { $0.alertObserver = observer }
  }

  /// Returns the peer with that identifier; nil if this adapter does not know it.
  package func peer(_ identifier: PeerIdentifier) -> PeerInfo? {
    state.withLockedValue { state in
      state.byIdentifier[identifier].flatMap { state[$0]?.info }
    }
  }

  /// Returns the peer that `handle` names; nil if the handle is not one of this adapter's, or if the peer has been
  /// removed.
  package func peer(_ handle: PeerHandle) -> PeerInfo? { state.withLockedValue { $0[handle]?.info } }

  /// Returns the handle with this number; nil: no peer has had it. The peer may have been removed.
  package func handle(_ number: UInt32) -> PeerHandle? {
    let handle = PeerHandle(index: number)
    let isGiven = state.withLockedValue { state in
      handle.slot < state.slots.count && handle.generation < state.slots[handle.slot].peerCount
    }
    return isGiven ? handle : nil
  }

  /// Returns the address under which the adapter knows a peer: its identity address if it has a bond, else the address
  /// in its packets; nil if the handle is not one of this adapter's.
  package func address(of handle: PeerHandle) -> DeviceAddress? {
    state.withLockedValue { $0[handle]?.address }
  }

  /// Returns the bond with a peer; nil: none.
  package func bond(with handle: PeerHandle) -> BondInfo? {
    state.withLockedValue { state in state[handle].flatMap { state.bonds[$0.address] } }
  }

  /// The peers with which the adapter has a bond, with their identity addresses, in the order of their handles.
  package var bondedPeers: [(peer: PeerInfo, address: DeviceAddress)] {
    state.withLockedValue { state in
      state.peers.filter { state.bonds[$0.address] != nil }.map { (peer: $0.info, address: $0.address) }
    }
  }

  /// Returns the known peers among `identifiers`, in the order of `identifiers`.
  package func peers(_ identifiers: [PeerIdentifier]) -> [PeerInfo] {
    state.withLockedValue { state in
      identifiers.compactMap { state.byIdentifier[$0].flatMap { state[$0]?.info } }
    }
  }

  /// A known peer with its address, and the way in which a text names it.
  package typealias NamedPeer = (element: (peer: PeerInfo, address: DeviceAddress), match: DeviceMatch)

  /// Returns the known peers that a text names, in the order of their handles: by their name or a part of it, by their
  /// address, with or without its type, or by an identifier of the adapter or of an app. An identifier of an app counts
  /// once the app has got it since the start of the adapter.
  package func peers(named text: String) -> [NamedPeer] {
    let uuid = text.utf8.count == 36 ? BluetoothUUID(text) : nil
    let value = DeviceAddress.value(text)
    return state.withLockedValue { state in
      var identifiers: Set<PeerIdentifier> = []
      if let uuid {
        let identifier = PeerIdentifier(high: uuid.high, low: uuid.low)
        identifiers = Set(state.apps?.adapterIdentifiers(identifier) ?? []).union([identifier])
      }
      return state.peers.compactMap { peer in
        let isIdentity = peer.address.value == value || identifiers.contains(peer.info.identifier)
        return DeviceMatch(text, name: peer.info.name, isIdentity: isIdentity).map {
          (element: (peer: peer.info, address: peer.address), match: $0)
        }
      }
    }
  }

  /// Returns the peers that have a link to this device, requested by any app, and that are known to offer one of
  /// `services`.
  package func connectedPeers(offering services: [BluetoothUUID]) -> [PeerInfo] {
    state.withLockedValue { state in
      state.connected
        .filter { connected in connected.services.contains { services.contains($0) } }
        .compactMap { state[$0.handle]?.info }
    }
  }

  // MARK: Changes, by the executor only

  /// The number of peers.
  package var peerCount: Int { state.withLockedValue { $0.slots.count - $0.vacancies.count } }

  /// Adds a peer under a new handle and returns it.
  @discardableResult
  package func add(_ identifier: PeerIdentifier, _ address: DeviceAddress, name: String?) -> PeerInfo {
    var info = PeerInfo(handle: PeerHandle(index: 0), identifier: identifier, name: name)
    change { state in
      if let vacancy = state.vacancies.popFirst() {
        info.handle = vacancy
      } else {
        precondition(state.slots.count < PeerHandle.maximumSlots, "too many peers")
        info.handle = PeerHandle(index: UInt32(state.slots.count))
        state.slots.append((nil, 0))
      }
      state.slots[info.handle.slot].entry = Entry(info: info, address: address)
      state.slots[info.handle.slot].peerCount += 1
      state.byIdentifier[identifier] = info.handle
      return { [info] in $0.noteAddition(of: info.handle) }
    }
    return info
  }

  /// Removes peers. Later peers get their slots, with other handles.
  package func remove(_ handles: [PeerHandle]) {
    change { state in
      let removed = handles.filter { state[$0] != nil }
      guard !removed.isEmpty else { return nil }
      var identifiers: [PeerIdentifier] = []
      for handle in removed {
        guard let identifier = state.slots[handle.slot].entry.take()?.info.identifier else { continue }
        if state.byIdentifier[identifier] == handle {
          state.byIdentifier[identifier] = nil
          identifiers.append(identifier)
        }
        state.vacancies.append(handle.next)
      }
      state.apps?.forget(identifiers)
      return { $0.noteRemoval(of: removed) }
    }
  }

  /// Removes the peers that no app has an object of, except those of `spared`.
  package func removeUnused(sparing spared: Set<PeerHandle>) {
    remove(
      state.withLockedValue { state in
        state.peers.map(\.info.handle).filter { !spared.contains($0) && state.holds[$0] == nil }
      })
  }

  // MARK: Objects of apps

  /// Keeps a peer in the directory as long as an app has an object of it.
  package func hold(_ handle: PeerHandle) { state.withLockedValue { $0.holds[handle, default: 0] += 1 } }

  package func release(_ handle: PeerHandle) {
    state.withLockedValue { state in
      let rest = state.holds[handle, default: 0] - 1
      state.holds[handle] = rest > 0 ? rest : nil
    }
  }

  /// The peers of which apps of this process have objects.
  var heldPeers: some Sequence<PeerHandle> { state.withLockedValue { $0.holds.keys } }

  // MARK: Changes of a peer, by the executor only

  /// Gives a peer another identifier: it is no longer found under the former one.
  package func setIdentifier(_ identifier: PeerIdentifier, of handle: PeerHandle) {
    change { state in
      guard let former = state[handle]?.info.identifier, former != identifier else { return nil }
      if state.byIdentifier[former] == handle { state.byIdentifier[former] = nil }
      state.slots[handle.slot].entry?.info.identifier = identifier
      state.byIdentifier[identifier] = handle
      return { $0.noteChange(of: handle) }
    }
  }

  /// Forgets the identifiers that apps have got: the adapter's identifiers behind them have been reset.
  func forgetIdentifiersOfApps() { state.withLockedValue { $0.apps?.forgetIdentifiers() } }

  package func setAddress(_ address: DeviceAddress, of handle: PeerHandle) {
    change { state in
      guard let former = state[handle]?.address, former != address else { return nil }
      state.slots[handle.slot].entry?.address = address
      return { $0.noteChange(of: handle) }
    }
  }

  package func setBonds(_ bonds: [DeviceAddress: BondInfo]) {
    change { state in
      let former = state.bonds
      state.bonds = bonds
      guard !state.observations.isEmpty else { return nil }
      let changed = state.peers.filter { former[$0.address] != bonds[$0.address] }.map(\.info.handle)
      return { pending in
        for peer in changed { pending.noteChange(of: peer) }
      }
    }
  }

  /// Sets the bond of one address, in a copy of a directory; nil: none.
  package func setBond(_ bond: BondInfo?, of address: DeviceAddress) {
    state.withLockedValue { $0.bonds[address] = bond }
  }

  package func setName(_ name: String?, of handle: PeerHandle) {
    change { state in
      guard let known = state[handle], known.info.name != name else { return nil }
      state.slots[handle.slot].entry?.info.name = name
      return { $0.noteChange(of: handle) }
    }
  }

  /// Records that a link to `handle` exists over which `services` are known to be offered. Replaces earlier services of
  /// the peer.
  package func setConnected(_ handle: PeerHandle, services: [BluetoothUUID]) {
    change { state in
      if let index = state.connected.firstIndex(where: { $0.handle == handle }) {
        guard state.connected[index].services != services else { return nil }
        state.connected[index].services = services
      } else {
        state.connected.append(Connected(handle: handle, services: services))
      }
      return { $0.noteLink(of: handle) }
    }
  }

  package func setDisconnected(_ handle: PeerHandle) {
    change { state in
      guard let index = state.connected.firstIndex(where: { $0.handle == handle }) else { return nil }
      state.connected.remove(at: index)
      return { $0.noteLink(of: handle) }
    }
  }

  package func setAllDisconnected() {
    change { state in
      let former = state.connected.map(\.handle)
      state.connected.removeAll()
      guard !former.isEmpty else { return nil }
      return { pending in
        for peer in former { pending.noteLink(of: peer) }
      }
    }
  }

  // MARK: Copies in other processes

  /// Starts to collect the changes for a copy of this directory, until the result is released.
  ///
  /// - Parameters:
  ///   - app: the app in the other process, whose permission the copy has; nil: the permission of the adapter.
  ///   - observer: see `DirectoryObservation`. The first changes, which are all that the directory holds, are there at
  ///     once and are not announced.
  package func observe(
    for app: String? = nil, _ observer: @escaping @Sendable () -> Void
  ) -> DirectoryObservation {
    let observation = DirectoryObservation(of: app, observer)
    state.withLockedValue { state in
      for link in state.connected { observation.with { $0.noteLink(of: link.handle) } }
      state.observations.append(WeakObservation(observation: observation))
    }
    return observation
  }

  /// Returns the next changes for the copy, at most `maximum`. If the result is empty, the copy has them all, and the
  /// next change is announced.
  package func changes(for observation: DirectoryObservation, maximum: Int) -> [DirectoryChange] {
    state.withLockedValue { state in
      observation.with { pending in
        var result: [DirectoryChange] = []
        if pending.hasAccess { result.append(.access(state.access(for: observation))) }
        if pending.hasFeatures { result.append(.features(state.features)) }
        (pending.hasAccess, pending.hasFeatures) = (false, false)
        while result.count < maximum, let peer = pending.removed.popLast() { result.append(.removed(peer)) }
        while result.count < maximum, let peer = pending.changed.popFirst() {
          if let change = state.change(of: peer) { result.append(change) }
        }
        while result.count < maximum, let peer = pending.added.popFirst() {
          if let change = state.change(of: peer) { result.append(change) }
        }
        while result.count < maximum, pending.slotCount < state.slots.count {
          let peer = state.slots[pending.slotCount].entry?.info.handle
          pending.slotCount += 1
          guard let peer, pending.early.remove(peer) == nil, let change = state.change(of: peer) else { continue }
          result.append(change)
        }
        // The copy knows the peers of all links by then.
        while result.count < maximum, !pending.links.isEmpty {
          let peer = pending.links.removeFirst()
          let link = state.connected.first { $0.handle == peer }
          result.append(link.map { .connected(peer, services: $0.services) } ?? .disconnected(peer))
        }
        if result.isEmpty { pending.isAnnounced = false }
        return result
      }
    }
  }

  /// Returns the pending change of the permission, because an event about the adapter's state follows; nil: none.
  package func accessChange(for observation: DirectoryObservation) -> DirectoryChange? {
    state.withLockedValue { state in
      observation.with { pending in
        guard pending.hasAccess else { return nil }
        pending.hasAccess = false
        return .access(state.access(for: observation))
      }
    }
  }

  /// Returns those of the pending changes that concern `peers`, because an event that follows refers to these peers.
  package func changes(of peers: [PeerHandle], for observation: DirectoryObservation) -> [DirectoryChange] {
    state.withLockedValue { state in
      observation.with { pending in
        peers.compactMap { peer in
          guard let change = state.change(of: peer) else { return nil }
          if pending.has(peer) { return pending.changed.remove(peer).map { _ in change } }
          if pending.added.remove(peer) == nil { pending.early.insert(peer) }
          return change
        }
      }
    }
  }

  /// Changes the state, and notes the change for each copy.
  ///
  /// - Parameter body: changes the state and returns the function that notes the change; nil: nothing has changed.
  private func change(_ body: (inout State) -> ((inout DirectoryObservation.Pending) -> Void)?) {
    let observations: [DirectoryObservation] = state.withLockedValue { state in
      guard let note = body(&state), !state.observations.isEmpty else { return [] }
      state.observations.removeAll { $0.observation == nil }
      let observations = state.observations.compactMap(\.observation)
      for observation in observations { observation.with(note) }
      return observations
    }
    for observation in observations { observation.announce() }
  }
}

extension PeerDirectory.State {
  /// The permission of the app whose copy an observation keeps.
  fileprivate func access(for observation: DirectoryObservation) -> AppAccess {
    observation.app.flatMap { apps?.access(of: $0) } ?? access
  }

  fileprivate func change(of peer: PeerHandle) -> DirectoryChange? {
    self[peer].map { .peer($0.info, $0.address, bonds[$0.address]) }
  }

  /// Returns a peer; nil: it has been removed, or the handle is not one of this adapter's.
  fileprivate subscript(handle: PeerHandle) -> PeerDirectory.Entry? {
    guard handle.slot < slots.count else { return nil }
    return slots[handle.slot].entry.flatMap { $0.info.handle == handle ? $0 : nil }
  }

  /// The peers, in the order of their slots.
  fileprivate var peers: some Sequence<PeerDirectory.Entry> { slots.lazy.compactMap { $0.entry } }
}
