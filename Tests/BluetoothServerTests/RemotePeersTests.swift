import BluetoothDaemon
import BluetoothWire
import Testing

@testable import BluetoothDaemonProtocol

/// The peers of a server, as a program keeps them.
@Suite struct RemotePeersTests {
  @Test("A device that the server has forgotten stays known to the program, and has the same handle when it is back")
  func removed() throws {
    let directory = PeerDirectory()
    let peers = RemotePeers(directory)
    let identifier = PeerIdentifier(high: 1, low: 1)
    let address = DeviceAddress(0xC000_0000_0001, .random)
    #expect(peers.take(.peer(number: 7, identifier, address, name: "Lamp", nil)))
    let peer = try #require(directory.peer(identifier))
    #expect(peers.numbering.number(peer.handle) == 7 && peers.numbering.peer(7) == peer.handle)
    #expect(peers.take(.removed(number: 7)))
    #expect(peers.numbering.number(peer.handle) == nil && peers.numbering.peer(7) == nil)
    #expect(directory.address(of: peer.handle) == address, "an attempt to connect can introduce it")
    #expect(peers.take(.removed(number: 7)), "once more has no effect")
    #expect(peers.take(.peer(number: 9, identifier, address, name: "Lamp", nil)))
    #expect(peers.numbering.number(peer.handle) == 9 && peers.numbering.peer(9) == peer.handle)
  }

  @Test("A server can name any number of devices, one after the other, and objects of the app keep their devices")
  func limit() throws {
    let directory = PeerDirectory()
    let peers = RemotePeers(directory)
    func name(_ number: UInt32) -> Bool {
      peers.take(
        .peer(
          number: number, PeerIdentifier(high: 2, low: UInt64(number)),
          DeviceAddress(0xD000_0000_0000 + UInt64(number), .random), name: nil, nil))
    }
    #expect(name(0))
    let held = try #require(directory.peer(PeerIdentifier(high: 2, low: 0)))
    directory.hold(held.handle)
    for number in 1..<UInt32(RemotePeers.limit) + 10 {
      guard name(number), peers.take(.removed(number: number)) else {
        Issue.record("the server may not name \(number)")
        return
      }
    }
    #expect(directory.peerCount <= RemotePeers.limit)
    #expect(directory.peer(held.handle) == held)
    // A server that names too many at a time violates the protocol.
    var count: UInt32 = 0
    while count <= UInt32(RemotePeers.limit), name(1_000_000 + count) { count += 1 }
    #expect(count == UInt32(PeerNumbering.maximumCount) - 1, "the first one has a number, too")
  }
}
