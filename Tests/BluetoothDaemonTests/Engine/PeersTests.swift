import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

@Suite("Peers")
struct PeersTests {
  let address = DeviceAddress(0xC011_2233_4455, .random)

  func table(seed: UInt64 = 1) -> (Peers, PeerDirectory) {
    let directory = PeerDirectory()
    return (Peers(identifiers: RandomStream(seed: seed), directory: directory), directory)
  }

  @Test("2.7 An address has one identifier, a random UUID", .requirement("G014"))
  func identifier() throws {
    var (peers, directory) = table()
    let handle = try unwrapped(peers.enter(address))
    #expect(peers.enter(address) == handle)
    let identifier = peers[handle].info.identifier
    #expect(identifier.high >> 12 & 0xF == 4)
    #expect(identifier.low >> 62 == 0b10)
    #expect(directory.peer(identifier)?.handle == handle)
  }

  @Test("2.7 The identifier does not depend on the order of the peers, and differs with another seed")
  func independence() throws {
    var (first, _) = table()
    var (second, _) = table()
    var (third, _) = table(seed: 2)
    _ = second.enter(DeviceAddress(1, .public))
    let one = try unwrapped(first.enter(address))
    let two = try unwrapped(second.enter(address))
    let three = try unwrapped(third.enter(address))
    #expect(first[one].info.identifier == second[two].info.identifier)
    #expect(first[one].info.identifier != third[three].info.identifier)
  }

  @Test("A public and a random address with the same octets are two peers", .requirement("L110"))
  func kinds() {
    var (peers, _) = table()
    #expect(peers.enter(DeviceAddress(7, .public)) != peers.enter(DeviceAddress(7, .random)))
  }

  @Test("A flood of addresses fills the table up to its limit")
  func limit() {
    var (peers, _) = table()
    for value in 0..<UInt64(Peers.limit) { _ = peers.enter(DeviceAddress(value, .random)) }
    #expect(peers.enter(address) == nil)
    #expect(peers.enter(DeviceAddress(0, .random)) == PeerHandle(index: 0))
  }

  @Test("G3 After a flood of addresses there is still room for a peer that connects")
  func roomForLinks() {
    var (peers, _) = table()
    for value in 0..<UInt64(Peers.limit + 1_000) { _ = peers.enter(DeviceAddress(value, .random)) }
    let linked = peers.enter(address, isLinked: true)
    #expect(linked == PeerHandle(index: UInt32(Peers.limit)))
  }

  @Test("A reset gives all peers new identifiers, the same ones in a later run, and forgets those of bonds")
  func reset() throws {
    var (peers, directory) = table()
    let bonded = DeviceAddress(7, .public)
    let saved = PeerIdentifier(high: 1, low: 2)
    peers.recall(BondRecord(HostBond(identity: bonded), identifier: saved))
    let handles = try [unwrapped(peers.enter(address)), unwrapped(peers.enter(bonded))]
    let former = handles.map { peers[$0].info.identifier }
    #expect(former[1] == saved)
    peers.resetIdentifiers()
    let new = handles.map { peers[$0].info.identifier }
    #expect(Set(former + new).count == 4)
    #expect(former.allSatisfy { directory.peer($0) == nil })
    #expect(new.map { directory.peer($0)?.handle } == handles)
    var later = Peers(identifiers: RandomStream(seed: 1), generation: 1, directory: PeerDirectory())
    let laterHandles = try [unwrapped(later.enter(address)), unwrapped(later.enter(bonded))]
    #expect(laterHandles.map { later[$0].info.identifier } == new)
    peers.resetIdentifiers()
    #expect(Set(handles.map { peers[$0].info.identifier }).isDisjoint(with: former + new))
  }

  @Test("After a reset, a peer and the entry that it has replaced have different identifiers")
  func resetOfReplaced() throws {
    var (peers, directory) = table()
    let identity = DeviceAddress(7, .public)
    let replaced = try unwrapped(peers.enter(identity))
    let peer = try unwrapped(peers.enter(address))
    #expect(peers.identify(peer, as: identity) == replaced)
    peers.resetIdentifiers()
    #expect(peers[peer].info.identifier != peers[replaced].info.identifier)
    #expect(directory.peer(peers[peer].info.identifier)?.handle == peer)
  }
}
