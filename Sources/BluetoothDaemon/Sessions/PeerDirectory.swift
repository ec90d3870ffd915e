import BluetoothWire
import NIOConcurrencyHelpers

/// Features of an adapter's controller that this host uses.
package struct AdapterFeatures: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Scanning for extended advertising, and connecting to it.
  package static let extendedScanAndConnect = AdapterFeatures(rawValue: 1 << 0)
  /// Private addresses.
  package static let privacy = AdapterFeatures(rawValue: 1 << 1)
}

/// What an adapter knows of its peers, and whether apps may use it, readable from every thread without waiting for the executor. The executor alone
/// writes it.
package final class PeerDirectory: Sendable {
  private struct Connected {
    var handle: PeerHandle
    var services: [BluetoothUUID]
  }

  private struct State {
    /// By handle: `PeerHandle.index` counts from 0.
    var peers: [PeerInfo] = []
    var byIdentifier: [PeerIdentifier: PeerHandle] = [:]
    /// In the order in which the links came.
    var connected: [Connected] = []
    var access = AppAccess.allowed
    var features: AdapterFeatures = []
  }

  private let state = NIOLockedValueBox(State())

  package init() {}

  /// Whether apps may use the adapter.
  package var access: AppAccess {
    get { state.withLockedValue { $0.access } }
    set { state.withLockedValue { $0.access = newValue } }
  }

  /// The features of the adapter's controller; empty until the adapter is powered on for the first time.
  package internal(set) var features: AdapterFeatures {
    get { state.withLockedValue { $0.features } }
    set { state.withLockedValue { $0.features = newValue } }
  }

  /// The peer of that identifier; nil: unknown to this adapter.
  package func peer(_ identifier: PeerIdentifier) -> PeerInfo? {
    state.withLockedValue { state in
      state.byIdentifier[identifier].map { state.peers[Int($0.index)] }
    }
  }

  /// The peer that `handle` names; nil: not one of this adapter's handles.
  package func peer(_ handle: PeerHandle) -> PeerInfo? {
    state.withLockedValue { state in
      Int(handle.index) < state.peers.count ? state.peers[Int(handle.index)] : nil
    }
  }

  /// Those of `identifiers` that are known, in that order.
  package func peers(_ identifiers: [PeerIdentifier]) -> [PeerInfo] {
    state.withLockedValue { state in
      identifiers.compactMap { state.byIdentifier[$0] }.map { state.peers[Int($0.index)] }
    }
  }

  /// The peers that have a link to this device, whoever asked for it, and that are known to offer one of `services`.
  package func connectedPeers(offering services: [BluetoothUUID]) -> [PeerInfo] {
    state.withLockedValue { state in
      state.connected
        .filter { connected in connected.services.contains { services.contains($0) } }
        .map { state.peers[Int($0.handle.index)] }
    }
  }

  /// Adds a peer under the next handle.
  func add(_ identifier: PeerIdentifier, name: String?) -> PeerInfo {
    state.withLockedValue { state in
      let handle = PeerHandle(index: UInt32(state.peers.count))
      let info = PeerInfo(handle: handle, identifier: identifier, name: name)
      state.peers.append(info)
      state.byIdentifier[identifier] = handle
      return info
    }
  }

  func setName(_ name: String?, of handle: PeerHandle) {
    state.withLockedValue { state in
      guard Int(handle.index) < state.peers.count else { return }
      state.peers[Int(handle.index)].name = name
    }
  }

  /// A link to `handle` exists, over which `services` are known to be offered. Replaces what was known before.
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
