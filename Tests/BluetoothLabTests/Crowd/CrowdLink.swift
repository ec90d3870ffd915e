import BluetoothWire

/// One end of a connection, as a host of a crowd knows it.
struct CrowdLink {
  /// A procedure that a host starts and that ends with an event.
  enum Procedure: String {
    case disconnection, version, features, connectionUpdate, phyUpdate, encryption, clockAccuracy
  }

  let handle: HCI.ConnectionHandle
  let isCentral: Bool
  /// The identity of the peer if it is known, else its address on the air.
  let peer: UInt64
  let addresses: CrowdHost.AddressPair
  /// The index in `CrowdNotes.streams`.
  let stream: Int
  var sent = 0
  /// The packets in the controller that are not completed.
  var inFlight = 0
  var assembly: [UInt8] = []
  var isEncrypted = false
  /// The pending procedures, each with its start.
  private(set) var pending: [(procedure: Procedure, since: Instant)] = []

  init(handle: HCI.ConnectionHandle, isCentral: Bool, peer: UInt64, addresses: CrowdHost.AddressPair, stream: Int) {
    self.handle = handle
    self.isCentral = isCentral
    self.peer = peer
    self.addresses = addresses
    self.stream = stream
  }

  func isPending(_ procedure: Procedure) -> Bool { pending.contains { $0.procedure == procedure } }

  mutating func begin(_ procedure: Procedure, at now: Instant) { pending.append((procedure, now)) }

  mutating func end(_ procedure: Procedure) { pending.removeAll { $0.procedure == procedure } }

  /// A key that both ends know, whether or not they know each other's identity.
  var key: UInt128 { UInt128(addresses.central) << 64 | UInt128(addresses.peripheral) &* 0x9E37_79B9 }
}

extension HCI.Command {
  /// The procedure that this command starts if the controller accepts it, and its connection.
  var procedure: (HCI.ConnectionHandle, CrowdLink.Procedure)? {
    switch self {
    case .disconnect(let handle, _): (handle, .disconnection)
    case .readRemoteVersionInformation(let handle): (handle, .version)
    case .leReadRemoteFeatures(let handle): (handle, .features)
    case .leConnectionUpdate(let handle, _, _): (handle, .connectionUpdate)
    case .leSetPHY(let handle, _, _): (handle, .phyUpdate)
    case .leEnableEncryption(let handle, _, _, _): (handle, .encryption)
    case .leRequestPeerSCA(let handle): (handle, .clockAccuracy)
    default: nil
    }
  }
}
