import BluetoothCrypto
import BluetoothWire
import NIOConcurrencyHelpers

/// The features of an adapter's controller that this host uses.
package struct AdapterFeatures: OptionSet, Sendable {
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
  private struct Connected {
    var handle: PeerHandle
    var services: [BluetoothUUID]
  }

  private struct State {
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
    /// The permissions of apps that differ from `access`, by name.
    var accessOfApps: [String: AppAccess] = [:]
    var features: AdapterFeatures = []
    /// The key of the identifiers that apps see.
    var identifierKey = Block(high: 0, low: 0)
    var identifiersOfApps: [String: AppIdentifiers] = [:]
  }

  /// The identifiers that one app sees, and the identifiers of the adapter behind them.
  private struct AppIdentifiers {
    var ofApp: [PeerIdentifier: PeerIdentifier] = [:]
    var ofAdapter: [PeerIdentifier: PeerIdentifier] = [:]
  }

  private let state = NIOLockedValueBox(State())

  package init() {}

  /// The permission of apps to use the adapter.
  package var access: AppAccess {
    get { state.withLockedValue { $0.access } }
    nonmutating set { state.withLockedValue { $0.access = newValue } }
  }

  /// Returns the permission of an app.
  package func access(ofApp app: String) -> AppAccess {
    state.withLockedValue { $0.accessOfApps[app] ?? $0.access }
  }

  func setAccess(_ access: AppAccess, ofApp app: String) {
    state.withLockedValue { $0.accessOfApps[app] = access }
  }

  /// The features of the adapter's controller; empty until the adapter is powered on for the first time.
  package internal(set) var features: AdapterFeatures {
    get { state.withLockedValue { $0.features } }
    nonmutating set { state.withLockedValue { $0.features = newValue } }
  }

  // MARK: Identifiers of apps

  /// Sets the key from which the identifiers of apps are derived; all identifiers change.
  func setIdentifierKey(_ key: Block) {
    state.withLockedValue { state in
      state.identifierKey = key
      state.identifiersOfApps = [:]
    }
  }

  /// Returns the identifier by which an app knows a peer. Each app has other identifiers, so that apps can't find out
  /// that they use the same device. An app's identifiers are the same in all runs with the same key.
  package func identifier(_ identifier: PeerIdentifier, ofApp app: String) -> PeerIdentifier {
    state.withLockedValue { state in
      Self.derive(identifier, app, &state)
    }
  }

  private static func derive(_ identifier: PeerIdentifier, _ app: String, _ state: inout State) -> PeerIdentifier {
    if let known = state.identifiersOfApps[app]?.ofApp[identifier] { return known }
    let text = Array(app.utf8) + Array(identifier.digits.utf8)
    let digest = AES128.cmac(text, key: state.identifierKey)
    // A random UUID, version 4.
    let derived = PeerIdentifier(
      high: digest.high & ~0xF000 | 0x4000, low: digest.low & ~(0b11 << 62) | 0b10 << 62)
    state.identifiersOfApps[app, default: AppIdentifiers()].ofApp[identifier] = derived
    state.identifiersOfApps[app]?.ofAdapter[derived] = identifier
    return derived
  }

  /// Returns the adapter's identifier of the peer that an app knows by `identifier`; nil: the adapter knows no such peer.
  package func adapterIdentifier(_ identifier: PeerIdentifier, ofApp app: String) -> PeerIdentifier? {
    state.withLockedValue { state in
      if let known = state.identifiersOfApps[app]?.ofAdapter[identifier] { return known }
      // The app may have saved the identifier in a former run.
      for peer in state.peers where Self.derive(peer.identifier, app, &state) == identifier { return peer.identifier }
      return nil
    }
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

  /// Returns the known peers among `identifiers`, in the order of `identifiers`.
  package func peers(_ identifiers: [PeerIdentifier]) -> [PeerInfo] {
    state.withLockedValue { state in
      identifiers.compactMap { state.byIdentifier[$0] }.map { state.peers[Int($0.index)] }
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

  /// Adds a peer under the next handle and returns it.
  func add(_ identifier: PeerIdentifier, _ address: DeviceAddress, name: String?) -> PeerInfo {
    state.withLockedValue { state in
      let handle = PeerHandle(index: UInt32(state.peers.count))
      let info = PeerInfo(handle: handle, identifier: identifier, name: name)
      state.peers.append(info)
      state.addresses.append(address)
      state.byIdentifier[identifier] = handle
      return info
    }
  }

  func setAddress(_ address: DeviceAddress, of handle: PeerHandle) {
    state.withLockedValue { state in
      if Int(handle.index) < state.addresses.count { state.addresses[Int(handle.index)] = address }
    }
  }

  func setBonds(_ bonds: [DeviceAddress: BondInfo]) { state.withLockedValue { $0.bonds = bonds } }

  func setName(_ name: String?, of handle: PeerHandle) {
    state.withLockedValue { state in
      guard Int(handle.index) < state.peers.count else { return }
      state.peers[Int(handle.index)].name = name
    }
  }

  /// Records that a link to `handle` exists over which `services` are known to be offered. Replaces earlier services of
  /// the peer.
  func setConnected(_ handle: PeerHandle, services: [BluetoothUUID]) {
    state.withLockedValue { state in
      if let index = state.connected.firstIndex(where: { $0.handle == handle }) {
        state.connected[index].services = services
      } else {
        state.connected.append(Connected(handle: handle, services: services))
      }
    }
  }

  func setDisconnected(_ handle: PeerHandle) {
    state.withLockedValue { state in state.connected.removeAll { $0.handle == handle } }
  }

  func setAllDisconnected() {
    state.withLockedValue { state in state.connected.removeAll() }
  }
}
