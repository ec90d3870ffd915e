import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

/// The identifiers of peers that apps get · behaviour 2.7.
@Suite("Identifiers and private addresses")
struct IdentifierTests {
  /// The apps of sensors; releasing one ends its activity.
  private final class Sensors {
    var all: [Sensor] = []
  }

  let air = DaemonNetwork()
  private let sensors = Sensors()

  /// Returns an app that scans for an advertising sensor. Neither controller has a resolving list.
  ///
  /// - Parameter privacy: The lifetime of the sensor's private addresses in seconds; nil: it uses none.
  private func phone(privacy: UInt16?, bonds: any BondStore = MemoryBondStore()) -> Phone {
    let sensor = Sensor(air, air.add("Sensor", privacy: privacy))
    sensors.all.append(sensor)
    let phone = Phone(air, air.add("Phone", bonds: bonds))
    sensor.advertise()
    _ = phone.takeEvents()
    return phone
  }

  private func identifier(_ peer: PeerHandle, _ phone: Phone) -> PeerIdentifier? {
    phone.directory.peer(peer)?.identifier
  }

  /// The sensor's address on the air.
  private var address: DeviceAddress { air.devices[0].controller.address }
  private var identity: DeviceAddress { air.devices[0].daemon.host.address }

  /// Starts a pairing at the phone, on its existing link.
  private func pairUp(_ phone: Phone) {
    let service = air.devices[phone.device].daemon.links[0].link.handle
    air.devices[phone.device].daemon.host.secure(service, .encrypted, at: air.now)
    air.devices[phone.device].daemon.takeHostEvents(at: air.now)
    air.run()
  }

  @Test(
    "An unbonded peer under a new private address is a new peer, and an attempt to its old address stays pending",
    .requirement("L065", "L177"))
  func unbonded() throws {
    let phone = phone(privacy: 10)
    let (old, oldAddress) = (try phone.find(), address)
    air.advance(100)
    #expect(address != oldAddress)
    let new = try phone.find()
    #expect(identifier(new, phone) != identifier(old, phone))
    phone.send(.connect(old, delay: .zero, reconnects: false))
    air.advance(200)
    #expect(phone.takeEvents() == [])
    // Both attempts are pending at the same time.
    let newest = try phone.find()
    phone.send(.connect(newest, delay: .zero, reconnects: false))
    air.advance(2)
    #expect(phone.takeEvents().first == "connected \(newest.index) 20")
  }

  @Test("A bonded peer keeps its identifier under every address: it is discovered and can be connected to")
  func bonded() throws {
    let phone = phone(privacy: 10)
    let peer = try phone.findAndConnect()
    let known = identifier(peer, phone)
    pairUp(phone)
    #expect(air.devices[1].daemon.bondRecords.map(\.identity) == [identity])
    phone.send(.cancelConnection(peer))
    var addresses: Set<UInt64> = []
    for _ in 0..<3 {
      air.advance(100)
      addresses.insert(address.value)
      #expect(try phone.find() == peer)
    }
    #expect(addresses.count == 3)
    _ = phone.takeEvents()
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(3)
    #expect(phone.takeEvents().first == "connected \(peer.index) 20")
    #expect(identifier(peer, phone) == known)
    let handle = try #require(air.devices[1].daemon.links.first).link.handle
    #expect(air.devices[1].daemon.host.security(of: handle).isBonded)
  }

  @Test("A pending connection to a bonded peer completes when the peer returns under another address")
  func pending() throws {
    let phone = phone(privacy: 10)
    let peer = try phone.findAndConnect()
    pairUp(phone)
    phone.send(.cancelConnection(peer))
    air.carryAway(0)
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(300)
    #expect(phone.takeEvents() == [])
    air.bringBack(0)
    air.advance(3)
    #expect(phone.takeEvents().first == "connected \(peer.index) 20")
  }

  @Test("2.7 In the next run a bonded peer has the same identifier, whatever the seed of that run")
  func nextRun() throws {
    let store = MemoryBondStore()
    let phone = phone(privacy: 10, bonds: store)
    let peer = try phone.findAndConnect()
    pairUp(phone)
    let known = identifier(peer, phone)
    let secrets = air.devices[1].daemon.host.bonds
    // Another device, with a different seed and the bonds of the first.
    let next = Phone(air, air.add("Next", bonds: store))
    _ = next.takeEvents()
    #expect(air.devices[2].daemon.host.bonds == secrets)
    phone.send(.cancelConnection(peer))
    air.advance(100)
    let again = try next.find()
    #expect(identifier(again, next) == known && again == PeerHandle(index: 0))
  }

  @Test("A bonded central is the same peer for its peripheral under each of its addresses", .requirement("L046"))
  func central() throws {
    let sensor = Sensor(air, air.add("Sensor"))
    let phone = Phone(air, air.add("Phone", privacy: 10))
    sensor.advertise()
    _ = phone.takeEvents()
    let peer = try phone.findAndConnect()
    pairUp(phone)
    let service = air.devices[0].daemon.links[0].peer
    let before = air.devices[1].controller.address
    phone.send(.cancelConnection(peer))
    sensor.advertise()
    air.advance(100)
    #expect(air.devices[1].controller.address != before)
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(3)
    #expect(air.devices[0].daemon.links.map(\.peer) == [service])
  }

  @Test("If a known address turns out to be another peer's identity, attempts to it fail, and apps are told")
  func replaced() throws {
    let phone = phone(privacy: 10)
    // The sensor was heard by its identity once, before it became private.
    phone.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    air.hear(1, from: identity)
    // The scan response does not arrive.
    air.pass(.milliseconds(20))
    let former = try #require(phone.recorder.take().lazy.compactMap(\.discovery).first).peer.handle
    phone.send(.stopScan)
    let peer = try phone.findAndConnect()
    #expect(peer != former)
    phone.send(.connect(former, delay: .zero, reconnects: true))
    _ = phone.takeEvents()
    pairUp(phone)
    #expect(phone.takeEvents() == ["failed \(former.index) unknownPeer"])
    phone.session.send(.connect(former, delay: .zero, reconnects: false))
    air.run()
    #expect(phone.takeEvents() == ["failed \(former.index) unknownPeer"])
    phone.send(.cancelConnection(peer))
    air.advance(100)
    #expect(try phone.find() == peer)
  }

  @Test("2.7 No identifier contains octets of its peer's address", .requirement("G014"))
  func octets() {
    var peers = Peers(identifiers: RandomStream(seed: 3), directory: PeerDirectory())
    for number in UInt64(0)..<1_000 {
      let address = DeviceAddress(number &* 0x9E37_79B9_7F4A_7C15, number % 2 == 0 ? .public : .random)
      guard let peer = peers.enter(address) else { continue }
      let identifier = peers[peer].info.identifier
      let octets = [identifier.high, identifier.low].flatMap { half in
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: half >> (8 * $0)) }
      }
      let own = (0..<6).map { UInt8(truncatingIfNeeded: address.value >> (8 * $0)) }
      for part in [Array(own.prefix(3)), Array(own.suffix(3)), own.prefix(3).reversed(), own.suffix(3).reversed()] {
        let isThere = (0...13).contains { Array(octets[$0..<($0 + 3)]) == part }
        #expect(!isThere, "\(address) is in its identifier")
      }
    }
  }

  @Test("2.7 An adapter with a stable identity gives a public or static address the same identifier in each run")
  func lasting() {
    func identifiers(_ seed: UInt64, _ key: Block?) -> [PeerIdentifier] {
      let host = Host(
        configuration: HostConfiguration(deviceName: "Phone"), random: RandomStream(seed: seed), pool: PacketPool())
      var service = Daemon(
        host: host, sessions: LocalSessions(), directory: PeerDirectory(), random: RandomStream(seed: seed),
        identityKey: key)
      return [DeviceAddress(7, .public), DeviceAddress(0xC000_0000_0007, .random)].compactMap { address in
        service.peers.enter(address).map { service.peers[$0].info.identifier }
      }
    }
    let key = Block(high: 1, low: 2)
    #expect(identifiers(1, key) == identifiers(2, key))
    #expect(identifiers(1, key) != identifiers(1, Block(high: 1, low: 3)))
    #expect(identifiers(1, nil) != identifiers(2, nil))
    #expect(Set(identifiers(1, key)).count == 2)
  }
}
