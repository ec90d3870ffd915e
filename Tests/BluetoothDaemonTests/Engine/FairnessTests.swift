import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// Three users on one adapter, as behind a server. One of them sends all requests in generated sequences and handles no
/// event. The others find, connect, read, advertise and accept within the bounds that Documentation/Security.md states.
@Suite struct FairnessTests {
  /// The bounds, in advertising events of 100 ms.
  private static let bound = 10

  private let air = DaemonNetwork()
  /// The device that the users share.
  private let shared: Int
  /// The first user's app with a central manager.
  private let alice: Phone
  /// The second user's app with a peripheral manager.
  private let bob: Sensor
  /// A device that serves the first user's app, and one that uses the second user's service.
  private let sensor: Sensor
  private let watch: Phone

  init() {
    shared = air.add("Shared", shares: AppShares(links: 64, advertisingSets: 4, attributes: 1_024))
    alice = Phone(air, shared, SessionOwner(app: "alice", user: ClientUser(1)))
    bob = Sensor(air, shared, SessionOwner(app: "bob", user: ClientUser(2)))
    sensor = Sensor(air, air.add("Sensor"))
    watch = Phone(air, air.add("Watch"))
    sensor.add(10, 0xFFF0, [.dynamic(0xFFF1, [.read, .notify])])
  }

  /// The third user: sessions of several apps, of which each handles no event and is disconnected for that, as by a
  /// server.
  private final class Mallory {
    private let air: DaemonNetwork
    private let device: Int
    private var random: RandomStream
    private var apps: [(central: Phone, peripheral: Sensor)] = []
    private var nextNumber: UInt32 = 100
    /// The kinds of requests that were sent.
    private(set) var kinds: Set<String> = []

    init(_ air: DaemonNetwork, _ device: Int, seed: UInt64) {
      self.air = air
      self.device = device
      random = RandomStream(seed: seed).split("mallory")
      for number in 0..<4 { apps.append(app(number)) }
    }

    private func app(_ number: Int) -> (central: Phone, peripheral: Sensor) {
      let owner = SessionOwner(app: "mallory \(number)", user: ClientUser(3))
      return (Phone(air, device, owner), Sensor(air, device, owner))
    }

    private func draw(_ count: UInt32) -> UInt32 { UInt32(truncatingIfNeeded: random.next() % UInt64(count)) }
    private func peer() -> PeerHandle { PeerHandle(index: draw(8) == 0 ? draw(.max) : draw(6)) }
    private func attribute() -> RemoteAttributeID { RemoteAttributeID(UInt16(draw(24))) }
    private func link() -> LinkRequest {
      .connectionParameters(
        LinkParameters(minimumInterval: 3_200, maximumInterval: 3_200, latency: 2, supervisionTimeout: 3_200))
    }

    private func centralCommand() -> CentralCommand {
      let (peer, attribute) = (peer(), attribute())
      switch draw(24) {
      case 0: return .scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: draw(2) == 0))
      case 1: return .stopScan
      case 2: return .synchronize(draw(80), SyncRequest(advertiser: address(), advertisingSID: 1, timeout: 100))
      case 3: return .endSynchronization(draw(80))
      case 4: return .requestAlerts(peer, [.connection, .notification])
      case 5: return .requireNotifications(peer)
      case 6: return .cancelConnection(peer)
      case 7: return .registerForConnectionEvents(ConnectionEventFilter(peers: [], services: [0xFFF0]))
      case 8: return .changeLink(peer, link())
      case 9: return .readRSSI(peer)
      case 10: return .discoverServices(peer, nil)
      case 11: return .discoverIncludedServices(peer, attribute, nil)
      case 12: return .discoverCharacteristics(peer, attribute, nil)
      case 13: return .discoverDescriptors(peer, attribute)
      case 14: return .read(peer, attribute)
      case 15: return .write(peer, attribute, [1, 2, 3])
      case 16: return .writeWithoutResponse(peer, attribute, [1])
      case 17: return .signedWriteWithoutResponse(peer, attribute, [1])
      case 18: return .setNotify(peer, attribute, draw(2) == 0)
      case 19: return .openChannel(peer, psm: UInt16(0x80 + draw(8)))
      case 20: return .barrier(draw(9))
      case 21: return .askForPower
      case 22: return .observeLinks
      default: return .connect(peer, delay: .milliseconds(Int64(draw(3))), reconnects: draw(2) == 0)
      }
    }

    private func address() -> DeviceAddress { DeviceAddress(0xE000_0000_0000 + UInt64(draw(1 << 20)), .random) }

    private func peripheralCommand() -> PeripheralCommand {
      let id = LocalAttributeID(number: draw(200))
      switch draw(17) {
      case 0:
        return .startAdvertising(
          localName: "Mallory", services: (0..<20 as Range<UInt16>).map { BluetoothUUID(0x1100 + $0) })
      case 1: return .advertise(HostAdvertising(data: [2, 1, 6], scanResponse: []))
      case 2: return .stopAdvertising
      case 3: return .startSet(LocalSetID(number: draw(16)), HostAdvertising(data: [2, 1, 6], scanResponse: []))
      case 4: return .stopSet(LocalSetID(number: draw(16)))
      case 5: return .removeService(id)
      case 6: return draw(8) == 0 ? .removeAllServices : .barrier(1)
      case 7: return .respond(CentralRequestID(number: UInt64(draw(8))), nil, value: [9])
      case 8: return .update(id, [9], draw(2) == 0 ? nil : [peer()])
      case 9: return .setConnectionLatency(.high, peer())
      case 10: return .observeLinks
      case 11: return .changeLink(peer(), link())
      case 12: return .disconnect(peer())
      case 13: return .publishChannel(isEncrypted: draw(2) == 0)
      case 14: return .unpublishChannel(psm: UInt16(0x80 + draw(64)))
      case 15: return .askForPower
      default:
        nextNumber += 200
        let characteristics = (1...100).map {
          LocalCharacteristicInfo(
            id: LocalAttributeID(number: nextNumber + $0), definition: .dynamic(0xFFE1, [.read, .write, .notify]))
        }
        return .addService(
          LocalServiceInfo(
            id: LocalAttributeID(number: nextNumber), uuid: 0xFFE0, isPrimary: true, includes: [],
            characteristics: characteristics))
      }
    }

    /// Sends so many requests of all kinds.
    func act(_ count: Int) {
      for _ in 0..<count {
        let place = Int(draw(UInt32(apps.count)))
        let (central, peripheral) = apps[place]
        switch draw(10) {
        case 0: central.session.introduce(address())
        case 1...5:
          let command = centralCommand()
          kinds.insert("central \(Self.kind(command))")
          if let peer = command.linkedPeer, command.takesCredit {
            guard central.session.writeCredits(for: peer).take() else { continue }
          }
          central.session.send(command)
        default:
          let command = peripheralCommand()
          kinds.insert("peripheral \(Self.kind(command))")
          if case .update = command { guard peripheral.session.updateCredits.take() else { continue } }
          peripheral.session.send(command)
        }
      }
      air.run()
      for place in apps.indices { forget(place) }
    }

    private static func kind(_ command: some Any) -> String { String("\(command)".prefix { $0 != "(" }) }

    /// Handles no event. A session with too many events ends, and the app comes back.
    private func forget(_ place: Int) {
      let (central, peripheral) = apps[place]
      for _ in central.recorder.take() { central.session.eventQueued() }
      for _ in peripheral.recorder.take() { peripheral.session.eventQueued() }
      guard
        max(central.session.backlog.count, peripheral.session.backlog.count) >= SessionLimits.maximumWaitingEvents
          || draw(200) == 0
      else { return }
      central.session.close()
      peripheral.session.close()
      air.run()
      apps[place] = app(place)
    }
  }

  /// Runs until `condition` holds. Returns the number of advertising events that it took; nil: it has not come within
  /// the bound.
  private func wait(_ condition: () throws -> Bool) rethrows -> Int? {
    for count in 0...Self.bound {
      if try condition() { return count }
      air.advance()
    }
    return nil
  }

  private func phoneFinds(_ phone: Phone, _ service: BluetoothUUID) throws -> PeerHandle {
    phone.session.send(.scan(ScanRequest(services: [service], solicitedServices: [], allowsDuplicates: false)))
    var found: PeerHandle?
    let time = wait {
      found = phone.recorder.take().lazy.compactMap(\.discovery).first?.peer.handle
      return found != nil
    }
    try #require(time != nil, "no device was found")
    phone.send(.stopScan)
    return try #require(found)
  }

  /// Answers the requests that the app of a server has got.
  private func serve(_ server: Sensor) {
    air.run()
    for event in server.recorder.take() {
      switch event {
      case .readRequested(let id, _, _, _), .writeRequested(let id?, _, _):
        server.send(.respond(id, nil, value: [7]), forget: false)
      default: break
      }
    }
  }

  /// Sends a command, and returns the first result that `body` finds in the answers. The requests of other apps on the
  /// link take turns with this one.
  private func ask<R>(
    _ phone: Phone, _ server: Sensor, _ command: CentralCommand, _ body: (CentralEvent) throws -> R?
  ) throws -> R {
    phone.session.send(command)
    var result: R?
    let time = try wait {
      serve(server)
      for event in phone.recorder.take() where result == nil { result = try body(event) }
      return result != nil
    }
    try #require(time != nil, "no answer to \(command)")
    return try #require(result)
  }

  /// Connects, finds the characteristic, and reads it from `server`.
  private func phoneReads(_ phone: Phone, _ peer: PeerHandle, _ uuid: BluetoothUUID, of server: Sensor) throws {
    _ = try ask(phone, server, .connect(peer, delay: .zero, reconnects: false)) { event in
      if case .connected(peer, _) = event { true } else { nil }
    }
    let services = try ask(phone, server, .discoverServices(peer, nil)) { event -> [RemoteServiceInfo]? in
      if case .servicesDiscovered(_, let result) = event { try result.get() } else { nil }
    }
    var found: RemoteCharacteristicInfo?
    for service in services where found == nil {
      let list = try ask(phone, server, .discoverCharacteristics(peer, service.id, nil)) { event in
        if case .characteristicsDiscovered(_, _, let result) = event { try result.get() } else { nil }
      }
      found = list.first { $0.uuid == uuid }
    }
    let characteristic = try #require(found)
    let value = try ask(phone, server, .read(peer, characteristic.id)) { event in
      if case .valueRead(_, _, let result) = event { try result.get() } else { nil }
    }
    #expect(value == [7])
    phone.session.send(.cancelConnection(peer))
    for _ in 0..<2 {
      air.advance()
      serve(server)
    }
    _ = phone.takeEvents()
  }

  @Test(
    "Whatever one user's apps request, the other users find, connect, read, advertise and accept within a second",
    arguments: 1...4 as ClosedRange<UInt64>)
  func oneHostileUser(seed: UInt64) throws {
    let mallory = Mallory(air, shared, seed: seed)
    for round in 0..<12 {
      mallory.act(400)
      // The first user finds, connects and reads.
      sensor.session.send(.startAdvertising(localName: "Sensor", services: [0xFFF0]))
      mallory.act(40)
      let peer = try phoneFinds(alice, 0xFFF0)
      mallory.act(40)
      try phoneReads(alice, peer, 0xFFF1, of: sensor)
      sensor.session.send(.stopAdvertising)
      serve(sensor)
      // The second user publishes, advertises and accepts.
      mallory.act(40)
      _ = bob.takeEvents()
      #expect(
        bob.add(UInt32(1_000 + 10 * round), 0xFFD0, [.dynamic(0xFFD1, [.read])]).contains(
          "added \(1_000 + 10 * round) ok"))
      bob.session.send(.startAdvertising(localName: "Bob", services: [0xFFD0]))
      bob.session.send(.publishChannel(isEncrypted: false))
      air.run()
      let events = bob.takeEvents()
      #expect(events.contains("advertising ok") && events.contains { $0.hasPrefix("published") && $0.hasSuffix("ok") })
      mallory.act(40)
      let server = try phoneFinds(watch, 0xFFD0)
      mallory.act(40)
      try phoneReads(watch, server, 0xFFD1, of: bob)
      bob.session.send(.stopAdvertising)
      bob.session.send(.removeAllServices)
      serve(bob)
      mallory.act(40)
    }
    #expect(mallory.kinds.count == 24 + 18, "all requests were made: \(mallory.kinds.sorted())")
  }

  @Test("One user can take a share of each resource, and the log has one line for each share that is used up")
  func shares() throws {
    let mallory = (0..<40).map { number in
      let owner = SessionOwner(app: "mallory \(number)", user: ClientUser(3))
      return (central: Phone(air, shared, owner), peripheral: Sensor(air, shared, owner))
    }
    func attributes(_ id: UInt32) -> PeripheralCommand {
      let list = (1...250).map {
        LocalCharacteristicInfo(id: LocalAttributeID(number: id + $0), definition: .dynamic(0xFFE1, [.read, .notify]))
      }
      return .addService(
        LocalServiceInfo(
          id: LocalAttributeID(number: id), uuid: 0xFFE0, isPrimary: true, includes: [], characteristics: list))
    }
    for (central, peripheral) in mallory {
      _ = central.takeEvents()
      _ = peripheral.takeEvents()
    }
    var taken: [SharedResource: Int] = [:]
    for (central, peripheral) in mallory {
      for event in peripheral.send(attributes(1_000)) where event.text == "added 1000 ok" {
        taken[.attributes, default: 0] += 1
      }
      for _ in 0..<4 {
        for event in peripheral.send(.publishChannel(isEncrypted: false)) where event.text.hasSuffix(" ok") {
          taken[.channels, default: 0] += 1
        }
      }
      for number in 0..<4 as Range<UInt64> {
        let address = DeviceAddress(
          0xE000_0000_0000 + UInt64(mallory.count) * number + UInt64(taken[.links, default: 0]), .random)
        central.session.introduce(address)
        air.run()
        let handle = try #require(air.devices[shared].daemon.peers.handle(of: address))
        let failed = central.send(.connect(handle, delay: .seconds(1_000), reconnects: false)).map(\.text)
        if failed == [] { taken[.links, default: 0] += 1 } else { #expect(failed.first?.hasSuffix("Reached") == true) }
        let request = SyncRequest(advertiser: address, advertisingSID: 1, timeout: 100)
        let ended = central.send(.synchronize(UInt32(number), request)).map(\.text)
        if ended == [] { taken[.synchronizations, default: 0] += 1 }
      }
    }
    #expect(taken[.attributes] == 16_384 / 751)
    #expect(taken[.channels] == 32 && taken[.links] == 128)
    let notes = air.devices[shared].daemon.takeNotes().filter { $0.hasPrefix("user 3: ") }
    #expect(Set(notes).count == notes.count && notes.count >= 3)
    // Another user has all of their share.
    #expect(bob.send(attributes(5_000)).map(\.text).contains("added 5000 ok"))
    #expect(bob.send(.publishChannel(isEncrypted: false)).map(\.text).first?.hasSuffix(" ok") == true)
    // What is given back can be taken again.
    mallory[0].peripheral.send(.removeAllServices)
    #expect(mallory[38].peripheral.send(attributes(2_000)).map(\.text).contains("added 2000 ok"))
  }
}
