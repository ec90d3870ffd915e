import BluetoothDaemon
import BluetoothDaemonProtocol
import NIOConcurrencyHelpers

/// The peers that a server has named: its numbers, and the handles of this process. The numbers are valid for one
/// connection, the handles for the life of the process.
final class RemotePeers: Sendable {
  /// The maximum number of peers in the life of a process: a server that names more violates the protocol.
  static let limit = 4 * PeerNumbering.maximumCount

  private struct Numbers {
    var byPeer: [PeerHandle: UInt32] = [:]
    var peers: [UInt32: PeerHandle] = [:]
    var knownCount = 0
  }

  private let numbers = NIOLockedValueBox(Numbers())
  private let directory: PeerDirectory

  init(_ directory: PeerDirectory) { self.directory = directory }

  var numbering: PeerNumbering {
    PeerNumbering(
      number: { peer in self.numbers.withLockedValue { $0.byPeer[peer] } },
      peer: { number in self.numbers.withLockedValue { $0.peers[number] } })
  }

  /// Forgets all numbers, and what belongs to the connection.
  func reset() {
    numbers.withLockedValue { numbers in
      numbers.byPeer.removeAll()
      numbers.peers.removeAll()
    }
    directory.setAllDisconnected()
  }

  /// Takes in a change of the server's directory. Returns false if there are too many peers.
  func take(_ message: DirectoryMessage) -> Bool {
    switch message {
    case .peer(let number, let identifier, let address, let name, let bond):
      let peer: PeerHandle
      // The user has reset the identifiers.
      if let former = numbers.withLockedValue({ $0.peers[number] }) { directory.setIdentifier(identifier, of: former) }
      if let known = directory.peer(identifier) {
        peer = known.handle
        if let former = directory.address(of: peer), former != address { directory.setBond(nil, of: former) }
        directory.setAddress(address, of: peer)
        directory.setName(name, of: peer)
      } else {
        guard numbers.withLockedValue({ $0.knownCount < Self.limit }) else { return false }
        peer = directory.add(identifier, address, name: name).handle
      }
      directory.setBond(bond, of: address)
      return numbers.withLockedValue { numbers in
        guard numbers.peers.count < PeerNumbering.maximumCount || numbers.peers[number] != nil else { return false }
        numbers.knownCount = max(numbers.knownCount, Int(peer.index) + 1)
        numbers.peers[number] = peer
        numbers.byPeer[peer] = number
        return true
      }
    case .connected(let peer, let services): directory.setConnected(peer, services: services)
    case .disconnected(let peer): directory.setDisconnected(peer)
    case .access(let access): directory.access = access
    case .features(let features): directory.features = features
    }
    return true
  }
}
