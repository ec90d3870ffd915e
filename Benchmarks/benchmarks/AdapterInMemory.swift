import BluetoothAdapters
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// An adapter with a daemon and a host, whose controller is a function: it accepts each command at once, reports the
/// advertisers that it is given, and its only link leads to a GATT server with one notified value. No thread, no clock.
final class AdapterInMemory: DaemonAdapter, AdapterSource, @unchecked Sendable {
  // Unchecked: one thread calls `turn`, `report` and `notify`; apps use the directory and the sessions, which have locks.

  static let service: BluetoothUUID = 0x180D

  let directory = PeerDirectory()
  let deliversInPlace: Bool
  let sessions = LocalSessions()
  private let pool = PacketPool()
  private var daemon: Daemon
  private var server: HostInMemory
  private var value = AttributeHandle(0)
  private var incoming: [HCI.Packet] = []
  private var now = Instant.zero
  /// The latest event with a value for the app.
  private(set) var notification: DaemonEvent?

  private static let address = DeviceAddress(0xC000_0000_0001, .random)

  /// - Parameter deliversInPlace: True if callbacks run on the thread that calls `turn`, false if they run on the app's
  ///   own queue.
  init(deliversInPlace: Bool) throws {
    self.deliversInPlace = deliversInPlace
    let host = Host(
      configuration: HostConfiguration(deviceName: "in memory", address: Self.address), random: RandomStream(seed: 1),
      pool: pool)
    daemon = Daemon(host: host, sessions: sessions, directory: directory, random: RandomStream(seed: 2))
    server = HostInMemory(pool, 0xC000_0000_0002)
    let definition = GATTServiceDefinition(
      uuid: Self.service, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(uuid: 0x2A37, properties: [.notify], permissions: [], value: nil)
      ])
    value = try server.host.addService(definition, at: .zero).get().values[0]
    server.powerOn()
    daemon.setPower(true, at: now)
    turn()
  }

  var adapter: any DaemonAdapter { self }
  func absoluteTime() -> Double { 0 }

  func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession {
    CentralSession(client: client, owner: owner, in: sessions)
  }

  func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession {
    PeripheralSession(client: client, owner: owner, in: sessions)
  }

  /// Handles the app's calls, and everything that follows from them.
  func turn() {
    var hasMore: Bool
    repeat {
      now = now + .microseconds(1)
      daemon.handleRequests(at: now)
      hasMore = exchange()
      deliver()
    } while hasMore || !incoming.isEmpty || daemon.hasEvents
  }

  /// Passes packets between the daemon and its controller. Returns false if the daemon has sent none.
  private func exchange() -> Bool {
    var hasSent = false
    while let packet = daemon.takePacket() {
      take(packet)
      hasSent = true
    }
    server.run()
    while server.host.takeEvent() != nil {}
    server.takePackets()
    server.serve(&incoming)
    let packets = exchangeIncoming()
    for packet in packets { daemon.receive(packet, at: now) }
    return hasSent
  }

  private func exchangeIncoming() -> [HCI.Packet] {
    defer { incoming.removeAll(keepingCapacity: true) }
    return incoming
  }

  private func deliver() {
    while let event = daemon.takeEvent() {
      if case .central(_, .valueChanged) = event { notification = event }
      sessions.deliver(event)
      daemon.handleRequests(at: now)
    }
  }

  private func take(_ packet: HCI.Packet) {
    switch packet {
    case .command(let opcode, _):
      HostInMemory.answer(opcode, server.handle, pool, into: &incoming)
      guard opcode == .leCreateConnection else { return }
      incoming.append(HostInMemory.connection(server.handle, .central, to: server.address).packet(in: pool))
      server.connected(.peripheral, to: Self.address)
    case .acl(let data):
      let boundary: HCI.ACLData.Boundary = data.boundary == .continuing ? .continuing : .firstFlushable
      server.incoming.append(.acl(HCI.ACLData(handle: server.handle, boundary: boundary, payload: data.payload)))
      let completed = HCI.CompletedPackets(server.handle, count: 1, in: pool)
      incoming.append(HCI.Event.numberOfCompletedPackets(completed).packet(in: pool))
    case .event: break
    }
  }

  /// Reports an advertisement or a scan response of the server, or of another advertiser.
  func report(_ data: ByteSlice, of number: Int? = nil, isScanResponse: Bool = false) {
    let address = number.map { DeviceAddress(0xC100_0000_0000 + UInt64($0), .random) } ?? server.address
    let report = HCI.AdvertisingReport(
      type: isScanResponse ? .scanResponse : .connectableScannable, address: HCI.PeerAddress(address), data: data,
      rssi: -60)
    incoming.append(HCI.Event.leAdvertisingReport(HCI.AdvertisingReports(report, in: pool)).packet(in: pool))
    turn()
  }

  /// Sends a value of the server.
  func notify(_ octets: ByteSlice) {
    server.host.update(value, with: octets, on: server.handle, at: now)
    turn()
  }
}
