import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// Events about links for the sessions that observe them.
@Suite struct LinkEventTests {
  let air: DaemonNetwork
  let sensor: Sensor
  let phone: Phone

  init() {
    (air, sensor, phone) = DaemonNetwork.withSensorAndPhone()
    sensor.advertise()
    _ = sensor.takeEvents()
  }

  @Test("A session that observes its links gets their properties before it is connected, and then each change")
  func properties() throws {
    phone.send(.observeLinks)
    let peer = try phone.find()
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance()
    #expect(phone.takeEvents() == ["link 0 mtu 23", "connected 0 20", "length 0 512", "link 0 mtu 517"])
    let reason = HCI.ErrorCode.connectionTerminatedByLocalHost
    let events = phone.send(.cancelConnection(peer)).map(\.text)
    #expect(events == ["link 0 ended \(reason)", "disconnected 0 ok"])
  }

  @Test("A session that does not observe its links gets no events about them")
  func unobserved() throws {
    let peer = try phone.find()
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance()
    #expect(phone.takeEvents() == ["connected 0 20", "length 0 512"])
    #expect(phone.send(.changeLink(peer, .dataLength(HCI.DataLength(octets: 27, time: 328)))).isEmpty)
  }

  @Test("Requests for one link are executed one after the other, and each session gets its own answers")
  func requests() throws {
    let other = Phone(air, 1)
    for app in [phone, other] { app.send(.observeLinks) }
    let peer = try phone.findAndConnect()
    other.send(.connect(peer, delay: .zero, reconnects: false))
    let request = LinkRequest.dataLength(HCI.DataLength(octets: 27, time: 328))
    for app in [phone, other, phone] { app.session.send(.changeLink(peer, request)) }
    air.run()
    #expect(phone.takeEvents() == Array(repeating: "link 0 dataLength notSupported", count: 2))
    #expect(other.takeEvents() == ["link 0 dataLength notSupported"])
    #expect(phone.send(.changeLink(PeerHandle(index: 7), request)).isEmpty)
  }

  @Test("A session that leaves a link gets no answer, and the next request goes on")
  func leaving() {
    var queue = LinkRequestQueue()
    let sessions = centralSessions()
    let first = AnySession.central(sessions.0)
    let second = AnySession.central(sessions.1)
    let request = LinkRequest.dataLength(HCI.DataLength(octets: 27, time: 328))
    #expect(queue.append(request, of: first) && !queue.append(request, of: first) && !queue.append(request, of: second))
    queue.leave(first)
    #expect(queue.removeFirst()?.requester == nil)
    #expect(queue.first == request && queue.removeFirst()?.requester == second)
    #expect(queue.first == nil && queue.removeFirst() == nil)
    queue.leave(second)
  }

  @Test("The directory has the addresses of peers and the bonds with them")
  func directory() throws {
    let directory = PeerDirectory()
    let private1 = DeviceAddress(0x4000_0000_0001, .random)
    let identity = DeviceAddress(0xC000_0000_0001, .random)
    let peer = directory.add(PeerIdentifier(high: 1, low: 1), private1, name: nil)
    #expect(directory.address(of: peer.handle) == private1 && directory.bond(with: peer.handle) == nil)
    var bond = HostBond(identity: identity)
    #expect(BondInfo(bond) == nil)
    bond.ownKey = LongTermKey(.zero, size: 16, isAuthenticated: true, isSecureConnections: false)
    bond.peerKey = LongTermKey(.zero, size: 7, isAuthenticated: true, isSecureConnections: false)
    let info = try #require(BondInfo(bond))
    #expect(info.keySize == 7 && info.isAuthenticated && !info.isSecureConnections)
    directory.setBonds([identity: info])
    #expect(directory.bond(with: peer.handle) == nil)
    directory.setAddress(identity, of: peer.handle)
    #expect(directory.bond(with: peer.handle) == info && directory.address(of: peer.handle) == identity)
    let unknown = PeerHandle(index: 5)
    #expect(directory.address(of: unknown) == nil && directory.bond(with: unknown) == nil)
    directory.setAddress(identity, of: unknown)
  }
}
