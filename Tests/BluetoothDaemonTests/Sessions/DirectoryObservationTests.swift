import BluetoothWire
import NIOConcurrencyHelpers
import Testing

@testable import BluetoothDaemon

/// The changes of a directory for its copy in another process.
@Suite struct DirectoryObservationTests {
  private let directory = PeerDirectory()
  private let calls = NIOLockedValueBox(0)

  private func observe() -> DirectoryObservation {
    let calls = calls
    return directory.observe { calls.withLockedValue { $0 += 1 } }
  }

  private var callCount: Int { calls.withLockedValue { $0 } }

  private func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(number, .public) }

  private func add(_ number: UInt64, _ name: String? = nil) -> PeerInfo {
    directory.add(PeerIdentifier(high: 1, low: number), address(number), name: name)
  }

  /// All pending changes.
  private func all(_ observation: DirectoryObservation, by part: Int = 100) -> [DirectoryChange] {
    var result: [DirectoryChange] = []
    while true {
      let changes = directory.changes(for: observation, maximum: part)
      #expect(changes.count <= max(part, 2))
      if changes.isEmpty { return result }
      result += changes
    }
  }

  @Test("A new copy gets all that the directory holds: peers before the links to them", arguments: [1, 2, 3, 100])
  func beginning(part: Int) {
    let (one, two) = (add(1, "one"), add(2))
    directory.setConnected(two.handle, services: [BluetoothUUID(0x180D)])
    let bond = BondInfo(isSecureConnections: true, isAuthenticated: false, keySize: 16)
    directory.setBonds([address(1): bond])
    directory.access = .denied
    directory.features = .privacy
    #expect(
      all(observe(), by: part) == [
        .access(.denied), .features(.privacy), .peer(one, address(1), bond), .peer(two, address(2), nil),
        .connected(two.handle, services: [BluetoothUUID(0x180D)]),
      ])
  }

  @Test("Changes that follow each other are one change, with one call of the observer until they are taken")
  func coalescing() {
    var one = add(1)
    let observation = observe()
    _ = all(observation)
    for number in 0..<1_000 { directory.setName("name \(number)", of: one.handle) }
    directory.setAddress(address(9), of: one.handle)
    directory.setConnected(one.handle, services: [])
    directory.setDisconnected(one.handle)
    one.name = "name 999"
    #expect(callCount == 1)
    #expect(all(observation) == [.peer(one, address(9), nil), .disconnected(one.handle)])
    directory.setName("last", of: one.handle)
    #expect(callCount == 2)
    // A request without an effect is not reported as a change.
    _ = all(observation)
    directory.setName("last", of: one.handle)
    directory.setAllDisconnected()
    #expect(callCount == 2)
  }

  @Test("A peer that an event names is taken early, and not again with the others")
  func early() {
    let (one, two, three) = (add(1), add(2), add(3))
    let observation = observe()
    #expect(directory.changes(of: [two.handle], for: observation) == [.peer(two, address(2), nil)])
    #expect(directory.changes(of: [two.handle], for: observation).isEmpty)
    #expect(directory.changes(of: [PeerHandle(index: 99)], for: observation).isEmpty)
    let rest = all(observation).dropFirst(2)
    #expect(Array(rest) == [.peer(one, address(1), nil), .peer(three, address(3), nil)])
    directory.setName("x", of: two.handle)
    let changed = directory.changes(of: [one.handle, two.handle], for: observation)
    #expect(changed == [.peer(PeerInfo(handle: two.handle, identifier: two.identifier, name: "x"), address(2), nil)])
    #expect(all(observation).isEmpty)
  }

  @Test("A bond that is made, changed or forgotten is a change of its peer only")
  func bonds() {
    let (one, two) = (add(1), add(2))
    let observation = observe()
    _ = all(observation)
    let bond = BondInfo(isSecureConnections: false, isAuthenticated: false, keySize: 7)
    directory.setBonds([address(2): bond])
    #expect(all(observation) == [.peer(two, address(2), bond)])
    directory.setBonds([address(1): bond, address(2): bond])
    #expect(all(observation) == [.peer(one, address(1), bond)])
    directory.setBonds([:])
    #expect(Set(all(observation)) == [.peer(one, address(1), nil), .peer(two, address(2), nil)])
  }

  @Test("Credits that a daemon returns are reported with their peer, and no more than were taken")
  func credits() {
    let counters = SessionCounters()
    let log = NIOLockedValueBox<[String]>([])
    counters.observeCredits { peer, count in log.withLockedValue { $0.append("\(peer?.index ?? 99) \(count)") } }
    let credits = counters.writeCredits(for: PeerHandle(index: 4))
    for _ in 0..<3 { #expect(credits.take()) }
    #expect(!credits.put(2))
    #expect(!credits.put(5))
    #expect(!credits.put())
    #expect(counters.updateCredits.take())
    _ = counters.updateCredits.put()
    #expect(log.withLockedValue { $0 } == ["4 2", "4 1", "99 1"])
    while credits.take() {}
    counters.returnAllCredits()
    #expect(credits.isAvailable)
  }
}
