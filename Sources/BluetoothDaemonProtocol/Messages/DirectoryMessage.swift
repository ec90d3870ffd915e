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

  var type: DirectoryMessageType {
    switch self {
    case .peer: .peer
    case .connected: .connected
    case .disconnected: .disconnected
    case .removed: .removed
    case .access: .access
    case .features: .features
    }
  }

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .peer(let number, let identifier, let address, let name, let bond):
      writer.append(number)
      writer.append(identifier)
      writer.append(address)
      writer.append(optional: name) { $0.append($1) }
      writer.append(optional: bond) { $0.append($1) }
    case .connected(let peer, let services):
      writer.append(peer)
      writer.append(list: services) { $0.append($1) }
    case .disconnected(let peer): writer.append(peer)
    case .removed(let number): writer.append(number)
    case .access(let access): writer.append(access)
    case .features(let features): writer.append(features.rawValue)
    }
  }

  init(_ type: DirectoryMessageType, from reader: inout MessageReader) throws(DecodingError) {
    switch type {
    case .peer:
      let number = try reader.uint32()
      let identifier = try reader.identifier()
      let address = try reader.address()
      let name = try reader.name()
      self = .peer(
        number: number, identifier, address, name: name,
        try reader.optional { (reader) throws(DecodingError) in try reader.bond() })
    case .connected:
      let peer = try reader.peer()
      self = .connected(peer, services: try reader.uuids())
    case .disconnected: self = .disconnected(try reader.peer())
    case .removed: self = .removed(number: try reader.uint32())
    case .access: self = .access(try reader.access())
    case .features: self = .features(AdapterFeatures(rawValue: try reader.uint8()))
    }
  }
}
