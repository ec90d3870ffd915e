import BluetoothCrypto
import BluetoothWire
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
  fileprivate struct Connected {
    var handle: PeerHandle
    var services: [BluetoothUUID]
  }

  fileprivate struct State {
    /// The peers by handle: `PeerHandle.index` counts from 0.
    var peers: [PeerInfo] = []
    /// The addresses of the peers, in the same order.
    var addresses: [DeviceAddress] = []
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

  /// Returns the adapter's identifier of the peer that an app knows by `identifier`; nil: the adapter knows no such peer.
  package func adapterIdentifier(_ identifier: PeerIdentifier, ofApp app: String) -> PeerIdentifier? {
    state.withLockedValue { state in
      // Without apps, and in the copy of a server's directory, there are no identifiers but those of the adapter.
      guard let apps = state.apps else { return state.byIdentifier[identifier] == nil ? nil : identifier }
      if let known = apps.adapterIdentifier(identifier, ofApp: app) { return known }
      // The app may have saved the identifier in a former run.
      return state.peers.first { apps.identifier($0.identifier, ofApp: app) == identifier }?.identifier
    }
  }

  /// The maximum number of identifiers that `adapterIdentifier(_:ofApps:)` derives.
  private static let maximumDerivations = 8_192

  /// Returns the adapter's identifier of the peer that one of these apps has known by `text` in a former run; nil: there
  /// is none, or it is not among the first combinations of a peer and an app. Peers with bonds come first.
  package func adapterIdentifier(_ text: String, ofApps names: [String]) -> PeerIdentifier? {
    guard text.utf8.count == 36, let uuid = BluetoothUUID(text) else { return nil }
    let identifier = PeerIdentifier(high: uuid.high, low: uuid.low)
    // The lock is not held while the identifiers are derived.
    let (apps, peers) = state.withLockedValue { ($0.apps, $0.peers) }
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
      state.byIdentifier[identifier].map { state.peers[Int($0.index)] }
    }
  }

  /// Returns the peer that `handle` names; nil if the handle is not one of this adapter's.
  package func peer(_ handle: PeerHandle) -> PeerInfo? {
    state.withLockedValue { state in
      Int(handle.index) < state.peers.count ? state.peers[Int(handle.index)] : nil
    }
  }

  /// Returns the address under which the adapter knows a peer: its identity address if it has a bond, else the address
  /// in its packets; nil if the handle is not one of this adapter's.
  package func address(of handle: PeerHandle) -> DeviceAddress? {
    state.withLockedValue { state in
      Int(handle.index) < state.addresses.count ? state.addresses[Int(handle.index)] : nil
    }
  }

  /// Returns the bond with a peer; nil: none.
  package func bond(with handle: PeerHandle) -> BondInfo? {
    state.withLockedValue { state in
      Int(handle.index) < state.addresses.count ? state.bonds[state.addresses[Int(handle.index)]] : nil
    }
  }

  /// The peers with which the adapter has a bond, with their identity addresses, in the order of their handles.
  package var bondedPeers: [(peer: PeerInfo, address: DeviceAddress)] {
    state.withLockedValue { state in
      zip(state.peers, state.addresses).filter { state.bonds[$0.1] != nil }.map { (peer: $0.0, address: $0.1) }
    }
  }

  /// Returns the known peers among `identifiers`, in the order of `identifiers`.
  package func peers(_ identifiers: [PeerIdentifier]) -> [PeerInfo] {
    state.withLockedValue { state in
      identifiers.compactMap { state.byIdentifier[$0] }.map { state.peers[Int($0.index)] }
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
      return zip(state.peers, state.addresses).compactMap { peer, address in
        let isIdentity = address.value == value || identifiers.contains(peer.identifier)
        return DeviceMatch(text, name: peer.name, isIdentity: isIdentity).map {
          (element: (peer: peer, address: address), match: $0)
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
        .map { state.peers[Int($0.handle.index)] }
    }
  }

  // MARK: Changes, by the executor only

  /// Adds a peer under the next handle and returns it.
  @discardableResult
  package func add(_ identifier: PeerIdentifier, _ address: DeviceAddress, name: String?) -> PeerInfo {
    var info = PeerInfo(handle: PeerHandle(index: 0), identifier: identifier, name: name)
    change { state in
      info.handle = PeerHandle(index: UInt32(state.peers.count))
      state.peers.append(info)
      state.addresses.append(address)
      state.byIdentifier[identifier] = info.handle
      return { _ in }
    }
    return info
  }

  /// Gives a peer another identifier: it is no longer found under the former one.
  package func setIdentifier(_ identifier: PeerIdentifier, of handle: PeerHandle) {
    change { state in
      guard Int(handle.index) < state.peers.count else { return nil }
      let former = state.peers[Int(handle.index)].identifier
      guard former != identifier else { return nil }
      if state.byIdentifier[former] == handle { state.byIdentifier[former] = nil }
      state.peers[Int(handle.index)].identifier = identifier
      state.byIdentifier[identifier] = handle
      return { $0.noteChange(of: handle) }
    }
  }

  /// Forgets the identifiers that apps have got: the adapter's identifiers behind them have been reset.
  func forgetIdentifiersOfApps() { state.withLockedValue { $0.apps?.forgetIdentifiers() } }

  package func setAddress(_ address: DeviceAddress, of handle: PeerHandle) {
    change { state in
      guard Int(handle.index) < state.addresses.count, state.addresses[Int(handle.index)] != address else { return nil }
      state.addresses[Int(handle.index)] = address
      return { $0.noteChange(of: handle) }
    }
  }

  package func setBonds(_ bonds: [DeviceAddress: BondInfo]) {
    change { state in
      let former = state.bonds
      state.bonds = bonds
      guard !state.observations.isEmpty else { return nil }
      let changed = state.addresses.indices.filter { former[state.addresses[$0]] != bonds[state.addresses[$0]] }
      return { pending in
        for index in changed { pending.noteChange(of: PeerHandle(index: UInt32(index))) }
      }
    }
  }

  /// Sets the bond of one address, in a copy of a directory; nil: none.
  package func setBond(_ bond: BondInfo?, of address: DeviceAddress) {
    state.withLockedValue { $0.bonds[address] = bond }
  }

  package func setName(_ name: String?, of handle: PeerHandle) {
    change { state in
      guard Int(handle.index) < state.peers.count, state.peers[Int(handle.index)].name != name else { return nil }
      state.peers[Int(handle.index)].name = name
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
        while result.count < maximum, let peer = pending.changed.popFirst() { result.append(state.change(of: peer)) }
        while result.count < maximum, pending.peerCount < state.peers.count {
          let peer = PeerHandle(index: UInt32(pending.peerCount))
          pending.peerCount += 1
          if pending.early.remove(peer) == nil { result.append(state.change(of: peer)) }
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
          guard Int(peer.index) < state.peers.count else { return nil }
          if pending.has(peer) { return pending.changed.remove(peer).map { state.change(of: $0) } }
          pending.early.insert(peer)
          return state.change(of: peer)
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

  fileprivate func change(of peer: PeerHandle) -> DirectoryChange {
    let address = addresses[Int(peer.index)]
    return .peer(peers[Int(peer.index)], address, bonds[address])
  }
}

extension DeviceAddress {
  /// The bits of an address in the form of `description`, with or without its type; nil: the text has another form.
  fileprivate static func value(_ text: String) -> UInt64? {
    let type = " (random)"
    let parts = (text.hasSuffix(type) ? text.dropLast(type.count) : text[...]).split(separator: ":")
    guard parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
    return UInt64(parts.joined(), radix: 16)
  }
}
