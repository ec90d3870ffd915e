import BluetoothWire
import Testing

@testable import BluetoothHost

/// The validity of a server's cache on the next link, and the events that clear it.
@Suite("The cache of servers between links")
struct ServerCacheTests {
  private static let hashRequest: [UInt8] = [0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]
  private static let servicesRequest: [UInt8] = [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]
  private static let hashResponse: [UInt8] = [0x09, 0x12, 6, 0] + HostileServer.hash

  private func connect(_ server: inout HostileServer, isBonded: Bool = false) {
    server.disconnect()
    server.bench.forget()
    server.connect()
    if isBonded { server.encrypt() }
  }

  /// Returns a host that has cached a server's database on a link with a bond or without one.
  private func acquainted(isBonded: Bool) -> HostileServer {
    var server = HostileServer()
    if isBonded { server.encrypt() }
    server.learnServices()
    return server
  }

  @Test("A17 The data of an impostor that repeats a bonded server's hash are not used on a link with the server")
  func impostor() {
    var server = acquainted(isBonded: true)
    connect(&server)
    let request = GATTRequest.discoverCharacteristics(in: 10...20)
    #expect(server.ask(request) == [Self.hashRequest])
    #expect(server.say(Self.hashResponse) == [[0x08, 10, 0, 20, 0, 0x03, 0x28]])
    _ = server.say("0907 0b00 02 0c00 372a")
    #expect(server.say("01080c000a") == [[0x12, 4, 0, 2, 0]])
    #expect(server.say("13") == [])
    server.bench.passToDeadline()
    #expect(server.takeSent() == [Self.hashRequest])
    #expect(server.say(Self.hashResponse) == [])
    connect(&server, isBonded: true)
    #expect(server.ask(.discoverPrimaryServices, token: 2) == [Self.hashRequest])
    #expect(server.say(Self.hashResponse) == [[0x12, 4, 0, 2, 0]])
    #expect(server.result(2) != nil)
    #expect(server.say("13") == [])
    #expect(server.ask(request, token: 3) == [[0x08, 10, 0, 20, 0, 0x03, 0x28]])
    server.expectUnharmed()
  }

  @Test("A17 An impostor with a bonded server's address and another database clears no cache")
  func erasingImpostor() {
    var server = acquainted(isBonded: true)
    connect(&server)
    #expect(server.ask(.discoverPrimaryServices) == [Self.hashRequest])
    #expect(server.say("010801000a") == [Self.servicesRequest])
    #expect(server.say("1106 0100ffff 0f18") == [])
    connect(&server, isBonded: true)
    #expect(server.ask(.discoverPrimaryServices) == [Self.hashRequest])
    #expect(server.say(Self.hashResponse) == [[0x12, 4, 0, 2, 0]])
    #expect(server.result() != nil)
    server.expectUnharmed()
  }

  @Test("A cache made without a bond is not used on a link with a bond, and not kept after it")
  func foundWithoutBond() {
    var server = acquainted(isBonded: false)
    connect(&server, isBonded: true)
    #expect(server.ask(.discoverPrimaryServices) == [Self.servicesRequest])
    // The same holds if the link gets its bond after the discovery.
    server = acquainted(isBonded: false)
    server.encrypt()
    #expect(server.takeSent() == [[0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x01, 0x18]])
    connect(&server)
    #expect(server.ask(.discoverPrimaryServices) == [Self.servicesRequest])
  }

  @Test("A17 Results from before encryption that differ from a bonded server's entry are reported as changed")
  func contradiction() {
    var server = acquainted(isBonded: true)
    connect(&server)
    #expect(server.ask(.discoverPrimaryServices) == [Self.hashRequest])
    #expect(server.say("010801000a") == [Self.servicesRequest])
    #expect(server.say("1106 0100ffff 0f18") == [])
    server.encrypt()
    #expect(server.takeSent() == [Self.hashRequest])
    #expect(server.say(Self.hashResponse) == [[0x12, 4, 0, 2, 0]])
    let changes = server.bench.events.compactMap { event in
      if case .gatt(_, .servicesChanged(let range, let services)) = event { [range] + services } else { nil }
    }
    #expect(changes == [[1...0xFFFF, 1...0xFFFF]])
    #expect(server.say("13") == [])
    #expect(server.ask(.discoverPrimaryServices, token: 2) == [])
    #expect(server.result(2) != nil)
  }

  @Test("64 servers without a bond do not displace the entry of a bonded server")
  func store() {
    var store = GATTCacheStore()
    let cache = GATTCache(hash: pattern(16), attributes: GATTServiceAttributes())
    func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(0xC000_0000_0000 + number, .random) }
    store.keep(cache, of: address(0), isBonded: true)
    for number in 1...UInt64(64) { store.keep(cache, of: address(number), isBonded: false) }
    #expect(store.bonded(address(0)) != nil)
    #expect((1...64).filter { store[address(UInt64($0))] != nil } == Array(2...64))
    for number in 100...UInt64(163) { store.keep(cache, of: address(number), isBonded: true) }
    #expect(store[address(0)] == nil)
    store.keep(cache, of: address(1), isBonded: false)
    #expect(store[address(1)] == nil)
    store.keep(nil, of: address(100), isBonded: false)
    #expect(store[address(100)] != nil)
    store.keep(nil, of: address(100), isBonded: true)
    #expect(store[address(100)] == nil)
  }

  // MARK: Links that end

  @Test("A link created after its cancellation keeps the server's cache")
  func unwantedLink() {
    var server = acquainted(isBonded: false)
    server.disconnect()
    let handle = HCI.ConnectionHandle(rawValue: 0x41)
    server.bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, HostHarness.peer)))
    server.bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
    server.bench.forget()
    server.connect()
    #expect(server.ask(.discoverPrimaryServices) == [Self.hashRequest])
  }

  @Test("A server that does not answer the read of its hash is still treated as a server with a hash")
  func silence() {
    var server = acquainted(isBonded: false)
    connect(&server)
    #expect(server.ask(.discoverPrimaryServices) == [Self.hashRequest])
    server.bench.passToDeadline()
    #expect(server.result() == .failure(.timeout))
    connect(&server)
    #expect(server.ask(.discoverPrimaryServices) == [Self.hashRequest])
  }

  @Test("A controller failure keeps the results of a link")
  func controllerFails() {
    var server = acquainted(isBonded: false)
    server.bench.receive(.hardwareError(1))
    server.bench.forget()
    server.connect()
    #expect(server.ask(.discoverPrimaryServices) == [Self.hashRequest])
  }
}

extension HostileServer {
  /// Encrypts the link with the key of a bond.
  fileprivate mutating func encrypt() {
    let handle = handle
    let security = HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true, isBonded: true)
    bench.perform { host, now in host.setSecurity(security, on: handle, at: now) }
  }
}
