import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothHost
import BluetoothLab
import BluetoothServer
import BluetoothWire
import TestSupport
import Testing

extension CentralEvent {
  fileprivate var packet: AdvertisingReport? {
    if case .packetReceived(let packet) = self { packet.report } else { nil }
  }
  fileprivate var train: SyncEvent? { if case .synchronization(_, let event, _) = self { event } else { nil } }
  fileprivate var trainEnd: SyncEnd? {
    if case .synchronization(_, .ended(let end), _) = self { end } else { nil }
  }
}

extension PeripheralEvent {
  fileprivate var set: (id: LocalSetID, error: SessionError?)? {
    if case .advertisingSetStarted(let id, let error) = self { (id, error) } else { nil }
  }
  fileprivate var advertisingError: SessionError? {
    if case .advertisingStarted(let error) = self { error } else { nil }
  }
  fileprivate var link: LinkInfo? { if case .link(_, .changed(let link)) = self { link } else { nil } }
  fileprivate var requestEnd: LinkRequest.Kind? {
    if case .link(_, .requestEnded(let kind, _)) = self { kind } else { nil }
  }
}

/// Advertising sets, synchronizations and a peripheral's view of its links, of programs that share adapters through a
/// server, over its real socket.
@Suite(.timeLimit(.minutes(10)))
struct SharedSetTests {
  private func broadcast(_ data: ByteSlice, train: ByteSlice? = nil) -> HostAdvertising {
    var result = HostAdvertising(data: data, scanResponse: [])
    result.shape.type = .nonConnectableUndirected
    var extended = HostAdvertising.ExtendedPDUs()
    extended.advertisingSID = 4
    result.shape.extended = extended
    result.train = train.map { HostAdvertising.PeriodicTrain(interval: 24, data: $0) }
    return result
  }

  @Test("A program's train reaches another program, and is lost when the program ends")
  func train() async throws {
    let bench = try ServerBench()
    let lamp = RemotePeripheral(bench.adapter("lamp"))
    let lampSession = lamp.adapter.openPeripheralSession(for: lamp)
    try await lamp.poweredOn()
    lampSession.send(.startSet(LocalSetID(number: 7), broadcast([2, 10, 4], train: [3, 0x16, 1, 2])))
    let start = try await lamp.first(\.set)
    #expect(start.id == LocalSetID(number: 7) && start.error == nil)

    let phone = RemoteCentral(bench.adapter("phone"))
    let session = phone.adapter.openCentralSession(for: phone)
    try await phone.state(.poweredOn)
    var request = ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: true)
    request.packets = PacketScan(isActive: false, includesLECoded: false)
    session.send(.scan(request))
    let packet = try await phone.first { event in event.packet.flatMap { $0.advertisingSet == 4 ? $0 : nil } }
    #expect(packet.periodicInterval == 24)
    session.send(.stopScan)
    session.send(.synchronize(1, SyncRequest(advertiser: packet.address, advertisingSID: 4, timeout: 100)))
    guard case .established(let properties) = try await phone.first(\.train) else {
      Issue.record("the first event is not the establishment")
      return
    }
    #expect(properties.interval == 24)
    guard case .report(let report) = try await phone.first(\.train) else {
      Issue.record("the second event is no report")
      return
    }
    #expect(report.data == [3, 0x16, 1, 2])
    lampSession.close()
    #expect(try await phone.first(\.trainEnd) == .lost)
  }

  @Test("Data that are too long for any advertising are refused by name, end their set, and keep the connection")
  func tooLong() async throws {
    let bench = try ServerBench()
    let lamp = RemotePeripheral(bench.adapter("lamp"))
    let session = lamp.adapter.openPeripheralSession(for: lamp)
    try await lamp.poweredOn()
    let set = LocalSetID(number: 1)
    let long = ByteSlice([UInt8](repeating: 0, count: HostAdvertising.maximumExtendedLength + 1))
    session.send(.startSet(set, broadcast([2, 10, 4])))
    #expect(try await lamp.first(\.set).error == nil)
    session.send(.startSet(set, broadcast(long)))
    #expect(try await lamp.first(\.set).error == .outOfSpace)
    session.send(.startSet(set, broadcast([2, 10, 4], train: long)))
    #expect(try await lamp.first(\.set).error == .outOfSpace)
    session.send(.advertise(broadcast(long)))
    #expect(try await lamp.first(\.advertisingError) == .outOfSpace)
    session.send(.startSet(set, broadcast([2, 10, 4])))
    #expect(try await lamp.first(\.set).error == nil)
    #expect(bench.server.connectedClients.count == 1)
  }

  @Test("A session has a limited number of synchronizations, and another session is served beside it")
  func limit() async throws {
    let bench = try ServerBench()
    let (greedy, other) = (RemoteCentral(bench.adapter()), RemoteCentral(bench.adapter()))
    let session = greedy.adapter.openCentralSession(for: greedy)
    let otherSession = other.adapter.openCentralSession(for: other)
    try await greedy.state(.poweredOn)
    try await other.state(.poweredOn)
    func request(_ number: UInt32) -> CentralCommand {
      let absent = DeviceAddress(0xC000_0000_0000 + UInt64(number), .random)
      return .synchronize(number, SyncRequest(advertiser: absent, advertisingSID: 1, timeout: 100))
    }
    let limit = UInt32(SessionLimits.synchronizations)
    for number in 0..<limit { session.send(request(number)) }
    session.send(request(limit))
    #expect(try await greedy.first(\.trainEnd) == .refused(.outOfSpace))
    // A withdrawn one makes room. The barrier shows that the request was not refused.
    session.send(.endSynchronization(3))
    session.send(request(limit))
    session.send(.barrier(1))
    let refusal = try await greedy.first { event -> SyncEnd?? in
      if case .barrierReached = event { .some(nil) } else { event.trainEnd.map { .some($0) } }
    }
    #expect(refusal == nil)
    otherSession.send(request(0))
    otherSession.send(.barrier(2))
    #expect(try await other.first(\.barrier) == 2)
    _ = try await other.find(Flashlight.service, by: otherSession)
  }

  @Test("A peripheral that observes its links gets their properties, also after a restart of the server")
  func links() async throws {
    let bench = try ServerBench()
    let lamp = RemotePeripheral(bench.adapter("lamp"))
    let lampSession = lamp.adapter.openPeripheralSession(for: lamp)
    // The connection to the server does not exist yet.
    lampSession.send(.observeLinks)
    let phone = RemoteCentral(bench.adapter("phone"))
    let session = phone.adapter.openCentralSession(for: phone)
    let service = BluetoothUUID(0xFF30)
    for isRestarted in [false, true] {
      if isRestarted {
        bench.server.stop()
        try bench.restart()
      }
      try await lamp.poweredOn()
      try await phone.state(.poweredOn)
      lampSession.send(.startAdvertising(localName: nil, services: [service]))
      let peer = try await phone.find(service, by: session).handle
      session.send(.connect(peer, delay: .zero, reconnects: false))
      #expect(try await phone.first(\.connected) == peer)
      let link = try await lamp.first(\.link)
      #expect(link.properties.values.interval == 24)
    }
    // The link of the second round: the lamp's request for it is answered.
    let central = try await lamp.first { if case .link(let central, .changed) = $0 { central } else { nil } }
    lampSession.send(.changeLink(central.handle, .dataLength(HCI.DataLength(octets: 27, time: 328))))
    #expect(try await lamp.first(\.requestEnd) == .dataLength)
  }
}
