import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

@Suite("Peer directory")
struct PeerDirectoryTests {
  let directory = PeerDirectory()
  let first = PeerIdentifier(high: 1, low: 1)
  let second = PeerIdentifier(high: 2, low: 2)
  let address = DeviceAddress(0xC000_0000_0001, .random)

  @Test("3.12 Known peers are returned in the order of the request, unknown ones are omitted")
  func retrieves() {
    let one = directory.add(first, address, name: nil)
    let two = directory.add(second, address, name: "Two")
    #expect(directory.peers([second, PeerIdentifier(high: 3, low: 3), first]) == [two, one])
    #expect(directory.peers([]) == [])
  }

  @Test("A number names the peers that have had it, and none of a slot or a generation to come")
  func numbers() {
    #expect(directory.handle(0) == nil)
    let one = directory.add(first, address, name: nil).handle
    let later = one.next
    #expect(directory.handle(one.index) == one)
    #expect(directory.handle(one.index + 1) == nil)
    #expect(directory.handle(later.index) == nil)
    directory.remove([one])
    #expect(directory.handle(one.index) == one && directory.peer(one) == nil)
    #expect(directory.handle(later.index) == nil)
    #expect(directory.add(second, address, name: nil).handle == later)
    #expect(directory.handle(one.index) == one && directory.handle(later.index) == later)
    #expect(directory.handle(later.next.index) == nil)
  }

  @Test("2.6 A peer's name is cached")
  func names() {
    let one = directory.add(first, address, name: nil)
    directory.setName("One", of: one.handle)
    #expect(directory.peer(first)?.name == "One")
    #expect(directory.peer(one.handle)?.name == "One")
  }

  @Test("3.12 Connected peers are found by any of the services, whichever manager connected them", .requirement("A025"))
  func connected() {
    let one = directory.add(first, address, name: nil)
    let two = directory.add(second, address, name: nil)
    directory.setConnected(one.handle, services: [])
    directory.setConnected(two.handle, services: [0x180D, 0x1800])
    #expect(directory.connectedPeers(offering: [0x180A, 0x180D]) == [two])
    directory.setConnected(one.handle, services: [0x180A])
    #expect(directory.connectedPeers(offering: [0x180A, 0x180D]) == [one, two])
    #expect(directory.connectedPeers(offering: []) == [])
    directory.setDisconnected(one.handle)
    #expect(directory.connectedPeers(offering: [0x180A, 0x180D]) == [two])
    directory.setAllDisconnected()
    #expect(directory.connectedPeers(offering: [0x180A, 0x180D]) == [])
  }

  @Test("Peers are found by name or a part of it, by address with or without its type, and by identifier")
  func searched() {
    let one = directory.add(first, address, name: "One")
    let two = directory.add(second, DeviceAddress(0xC000_0000_0002, .public), name: "One")
    let three = directory.add(
      PeerIdentifier(high: 5, low: 5), DeviceAddress(0xC000_0000_0005, .public), name: "Someone")
    func found(_ text: String) -> [PeerInfo] { DeviceMatch.best(of: directory.peers(named: text)).map(\.peer) }
    #expect(found("One") == [one, two])
    #expect(found("one") == [one, two])
    #expect(found("Some") == [three])
    #expect(directory.peers(named: "ONE").map(\.match) == [.name, .name, .partOfName])
    #expect(found(second.digits) == [two])
    for text in ["\(address)", "C0:00:00:00:00:01", "c0:00:00:00:00:01"] { #expect(found(text) == [one]) }
    for text in ["", "Two", "C0:00:00:00:01", "C0:00:00:00:00:03", PeerIdentifier(high: 3, low: 3).digits] {
      #expect(found(text) == [])
    }
  }

  @Test("A handle of another adapter denotes no peer")
  func foreignHandle() {
    #expect(directory.peer(PeerHandle(index: 0)) == nil)
  }
}
