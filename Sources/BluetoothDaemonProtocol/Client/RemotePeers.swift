import BluetoothDaemon
import NIOConcurrencyHelpers

/// The peers that a server has named: its numbers, and the handles of this process. The numbers are valid for one
/// connection, the handles for the life of the process.
final class RemotePeers: Sendable {
  /// The number of peers at which those are forgotten that the server does not name and of which the app has no object.
  /// A server names less at a time.
  static let limit = 2 * PeerNumbering.maximumCount

  private struct Numbers {
    var byPeer: [PeerHandle: UInt32] = [:]
    var peers: [UInt32: PeerHandle] = [:]
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
        if directory.peerCount >= Self.limit {
          directory.removeUnused(sparing: numbers.withLockedValue { Set($0.byPeer.keys) })
          guard directory.peerCount < Self.limit else { return false }
        }
        peer = directory.add(identifier, address, name: name).handle
      }
      directory.setBond(bond, of: address)
      return numbers.withLockedValue { numbers in
        guard numbers.peers.count < PeerNumbering.maximumCount || numbers.peers[number] != nil else { return false }
        numbers.peers[number] = peer
        numbers.byPeer[peer] = number
        return true
      }
    case .connected(let peer, let services): directory.setConnected(peer, services: services)
    case .disconnected(let peer): directory.setDisconnected(peer)
    case .removed(let number):
      // The app still knows the peer: an attempt to connect introduces it again.
      numbers.withLockedValue { numbers in
        guard let peer = numbers.peers.removeValue(forKey: number), numbers.byPeer[peer] == number else { return }
        numbers.byPeer[peer] = nil
      }
    case .access(let access): directory.access = access
    case .features(let features): directory.features = features
    }
    return true
  }
}
