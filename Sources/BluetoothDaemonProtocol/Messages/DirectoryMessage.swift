import BluetoothDaemon
import BluetoothWire

/// A change of the directory of peers. The server sends it before the first event that refers to what it changes.
package enum DirectoryMessage: Hashable, Sendable {
  /// A peer is new, or has changed. `number` names it in all later messages; see `PeerNumbering`.
  case peer(number: UInt32, PeerIdentifier, DeviceAddress, name: String?, BondInfo?)
  case connected(PeerHandle, services: [BluetoothUUID])
  case disconnected(PeerHandle)
  /// The server has forgotten a peer: `number` names none.
  case removed(number: UInt32)
  case access(AppAccess)
  case features(AdapterFeatures)

  /// The message of a change of the server's directory.
  package init(_ change: DirectoryChange) {
    switch change {
    case .peer(let peer, let address, let bond):
      self = .peer(number: peer.handle.index, peer.identifier, address, name: peer.name, bond)
    case .connected(let peer, let services): self = .connected(peer, services: services)
    case .disconnected(let peer): self = .disconnected(peer)
    case .removed(let peer): self = .removed(number: peer.index)
    case .access(let access): self = .access(access)
    case .features(let features): self = .features(features)
    }
  }
}

extension DirectoryMessage: MessageGroup {
  struct Rows {
    let peer = MessageRow(
      0x0600, "peer", "a peer is new, or has changed",
      { (number: UInt32, device: KnownDevice, name: String?, bond: BondInfo?) in
        DirectoryMessage.peer(number: number, device.identifier, device.address, name: name, bond)
      }, "number by which later messages name it", "device", "name", "bond")
    let connected = MessageRow(
      0x0601, "connected", "a link, whichever device has initiated it",
      { (peer: PeerHandle, services: [BluetoothUUID]) in DirectoryMessage.connected(peer, services: services) }, "peer",
      "known services of the peer")
    let disconnected = MessageRow(0x0602, "disconnected", "the end of a link", DirectoryMessage.disconnected, "peer")
    let access = MessageRow(0x0603, "access", "the permission of the app", DirectoryMessage.access, "permission")
    let features = MessageRow(
      0x0604, "features", "the features of the controller", DirectoryMessage.features,
      "bits: 0 extended scan and connect, 1 privacy")
    let removed = MessageRow(
      0x0605, "removed", "the server has forgotten a peer",
      { (number: UInt32) in DirectoryMessage.removed(number: number) },
      "number, which names no peer any more")
  }

  static let rows = Rows()
  static let table = RowTable<DirectoryMessage>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .peer(let number, let identifier, let address, let name, let bond):
      rows.peer.encode(number, KnownDevice(identifier: identifier, address: address), name, bond, into: &writer)
    case .connected(let peer, let services): rows.connected.encode(peer, services, into: &writer)
    case .disconnected(let peer): rows.disconnected.encode(peer, into: &writer)
    case .access(let access): rows.access.encode(access, into: &writer)
    case .features(let features): rows.features.encode(features, into: &writer)
    case .removed(let number): rows.removed.encode(number, into: &writer)
    }
  }
}

/// The identifier and the address of a peer.
struct KnownDevice: MessageStructure {
  var identifier: PeerIdentifier
  var address: DeviceAddress

  static var blank: KnownDevice { KnownDevice(identifier: .blank, address: DeviceAddress(0, .public)) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("identifier", &identifier)
    try visitor.field("address", &address)
  }
}
