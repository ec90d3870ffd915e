import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothTypes
import BluetoothWire
import NIOConcurrencyHelpers
import Testing

@testable import BluetoothAdapters

@Suite(
  "Central managers beside BlueZ", .enabled(if: PrivateBus.isAvailable, BlueZScene.needs), .timeLimit(.minutes(1)))
struct BlueZCentralTests {
  private let control = RemoteAttributeID(0x0B)
  private let measurement = RemoteAttributeID(0x0D)

  @Test("Specifiers name the first adapter or a certain one")
  func specifiers() throws {
    #expect("\(try AdapterRegistry.specifier("bluez"))" == "bluez")
    #expect("\(try AdapterRegistry.specifier("bluez:hci1"))" == "bluez:hci1")
    for text in ["bluez:", "bluez:1", "bluez:hci", "bluez:hci01", "bluez,hci0"] {
      #expect(throws: SpecifierProblem.self) { try AdapterRegistry.specifier(text) }
    }
  }

  @Test("The state follows the power of the adapter, the end of bluetoothd and its start")
  func states() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    func next() async throws -> AdapterState {
      try await client.log.next { event in
        if case .stateChanged(let state) = event { state } else { nil }
      }
    }
    scene.bluez.setPower(false)
    #expect(try await next() == .poweredOff)
    scene.bluez.setPower(true)
    #expect(try await next() == .poweredOn)
    scene.bluez.connection.close()
    #expect(try await next() == .resetting)
    let second = try await FakeBlueZ(on: scene.bus.address)
    #expect(try await next() == .poweredOn)
    second.connection.unexport(at: FakeBlueZ.adapter)
    #expect(try await next() == .resetting)
    withExtendedLifetime(session) {}
  }

  @Test("Without BlueZ or without the adapter, the adapter is unsupported until it is there")
  func missing() async throws {
    let bus = try await BlueZScene.bus()
    defer { bus.stop() }
    let adapter = BlueZScene.adapter("hci1", on: bus)
    let client = RecordingCentral()
    let session = adapter.openCentralSession(for: client, owner: nil)
    try await client.log.next { event in
      if case .stateChanged(.unsupported) = event { true } else { nil }
    }
    let bluez = try await FakeBlueZ(on: bus.address)
    let other = BlueZScene.adapter(on: bus)
    let second = RecordingCentral()
    let secondSession = other.openCentralSession(for: second, owner: nil)
    try await second.log.next { event in
      if case .stateChanged(.poweredOn) = event { true } else { nil }
    }
    withExtendedLifetime((session, secondSession, bluez)) {}
  }

  @Test("A scan reports the data of BlueZ's device once, or each packet if the app wants duplicates")
  func scan() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    session.send(.scan(ScanRequest(services: [0x180D], solicitedServices: [], allowsDuplicates: true)))
    func next() async throws -> (rssi: Int8, info: DiscoveryInfo) {
      try await client.log.next { event in
        if case .discovered(let discovery) = event { (discovery.rssi, discovery) } else { nil }
      }
    }
    let first = try await next()
    #expect(first.rssi == -60 && first.info.localName == "strap" && first.info.txPowerLevel == 4)
    #expect(first.info.services == [0x180D] && first.info.manufacturerData?.bytes == [0x4C, 0, 2, 21])
    #expect(first.info.peer.name == "strap")
    scene.bluez.advertise(-50)
    #expect(try await next().rssi == -50)
    let filter = scene.bluez.state.withLockedValue { $0.filter }
    #expect(filter["Transport"] == .string("le") && filter["DuplicateData"] == .bool(true))
    // Another service; then the first one without duplicates.
    session.send(.scan(ScanRequest(services: [0x1809], solicitedServices: [], allowsDuplicates: false)))
    session.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    #expect(try await next().rssi == -50)
    session.send(.stopScan)
    session.send(.barrier(1))
    scene.bluez.advertise(-40)
    try await client.log.next { event -> Bool? in
      switch event {
      case .barrierReached(1): return true
      case .discovered: Issue.record("the device was reported twice")
      default: break
      }
      return nil
    }
  }

  @Test("An app discovers services, characteristics and descriptors, reads, writes and gets notifications")
  func attributes() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    let peer = try await scene.connect(session, client)
    #expect(scene.adapter.directory.connectedPeers(offering: [0x180D]).map(\.handle) == [peer])
    session.send(.discoverServices(peer, [0x180D]))
    let services = try await client.log.next { event in
      if case .servicesDiscovered(peer, let result) = event { result } else { nil }
    }.get()
    #expect(services == [RemoteServiceInfo(id: RemoteAttributeID(0x0A), uuid: 0x180D, isPrimary: true)])
    session.send(.discoverCharacteristics(peer, services[0].id, nil))
    let characteristics = try await client.log.next { event in
      if case .characteristicsDiscovered(peer, _, let result) = event { result } else { nil }
    }.get()
    #expect(characteristics.map(\.id) == [control, measurement])
    #expect(characteristics.map(\.properties) == [[.read, .write, .writeWithoutResponse], [.read, .notify]])
    session.send(.discoverDescriptors(peer, measurement))
    let descriptors = try await client.log.next { event in
      if case .descriptorsDiscovered(peer, _, let result) = event { result } else { nil }
    }.get()
    #expect(descriptors == [RemoteDescriptorInfo(id: RemoteAttributeID(0x10), uuid: 0x2901)])
    #expect(try await read(RemoteAttributeID(0x10), peer, session, client).get() == [7])
    #expect(try await read(control, peer, session, client).get() == [1])
    scene.bluez.state.withLockedValue { $0.value = [] }
    #expect(try await read(control, peer, session, client) == .failure(.att(ATT.ErrorCode(rawValue: 0x81))))
    #expect(try await read(RemoteAttributeID(0x99), peer, session, client) == .failure(.invalidHandle))
    for (value, error) in [([5], nil), ([0], SessionError.att(.writeNotPermitted))] as [([UInt8], SessionError?)] {
      session.send(.write(peer, control, ByteSlice(value)))
      let found = try await client.log.next { event -> SessionError?? in
        if case .written(peer, _, let error) = event { .some(error) } else { nil }
      }
      #expect(found == error)
    }
  }

  private func read(
    _ attribute: RemoteAttributeID, _ peer: PeerHandle, _ session: CentralSession, _ client: RecordingCentral
  ) async throws -> Result<[UInt8], SessionError> {
    session.send(.read(peer, attribute))
    return try await client.log.next { event in
      if case .valueRead(peer, attribute, let result) = event { result.map(\.bytes) } else { nil }
    }
  }

  @Test("A notification is reported, and the value of an own read is not reported as one")
  func notifications() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    let peer = try await scene.connect(session, client)
    session.send(.setNotify(peer, measurement, true))
    try await client.log.next { event in
      if case .notifyStateChanged(peer, _, isNotifying: true, nil) = event { true } else { nil }
    }
    scene.bluez.notify([1, 80])
    session.send(.read(peer, measurement))
    var values: [String] = []
    while values.count < 2 {
      values.append(
        try await client.log.next { event in
          switch event {
          case .valueChanged(peer, _, let value): "notified \(value.bytes)"
          case .valueRead(peer, _, let result): "read \((try? result.get().bytes) ?? [])"
          default: nil
          }
        })
    }
    #expect(Set(values) == ["notified [1, 80]", "read [1]"])
    session.send(.setNotify(peer, measurement, false))
    try await client.log.next { event -> Bool? in
      switch event {
      case .notifyStateChanged(peer, _, isNotifying: false, nil): return true
      case .valueChanged: Issue.record("the read was reported as a notification")
      default: break
      }
      return nil
    }
  }

  @Test("Writes without response return their credits")
  func writeWithoutResponse() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    let peer = try await scene.connect(session, client)
    let credits = session.writeCredits(for: peer)
    while credits.take() { session.send(.writeWithoutResponse(peer, control, [9])) }
    try await client.log.next { event in
      if case .readyToWriteWithoutResponse(peer) = event { true } else { nil }
    }
    #expect(scene.bluez.calls.contains("WriteValue command [9]"))
  }

  @Test(
    "An attempt to connect is repeated until it succeeds; a lost link is reported, and a cancelled one has no error")
  func links() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    scene.bluez.state.withLockedValue {
      $0.connectError = DBusError("org.bluez.Error.Failed", "le-connection-abort-by-local")
    }
    let peer = try await scene.connect(session, client)
    #expect(scene.bluez.calls.filter { $0 == "Connect" }.count == 2)
    scene.bluez.disconnect()
    func end() async throws -> SessionError? {
      try await client.log.next { event -> SessionError?? in
        if case .disconnected(peer, let error, _) = event { .some(error) } else { nil }
      }
    }
    #expect(try await end() == .link(.remoteUserTerminatedConnection))
    session.send(.connect(peer, delay: .zero, reconnects: false))
    try await client.log.next { event in
      if case .connected(peer, _) = event { true } else { nil }
    }
    session.send(.cancelConnection(peer))
    #expect(try await end() == nil)
    #expect(scene.bluez.calls.contains("Disconnect"))
  }

  @Test("A service that disappears is reported, and requests that BlueZ can't serve are refused")
  func changesAndRefusals() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    let peer = try await scene.connect(session, client)
    session.send(.discoverServices(peer, nil))
    try await client.log.next { event in
      if case .servicesDiscovered(peer, .success) = event { true } else { nil }
    }
    scene.bluez.removeService()
    let services = try await client.log.next { event in
      if case .servicesModified(peer, let services) = event { services } else { nil }
    }
    #expect(services == [RemoteAttributeID(0x0A)])
    session.send(.readRSSI(peer))
    let rssi = try await client.log.next { event in
      if case .rssiRead(peer, let result) = event { result } else { nil }
    }
    #expect(rssi == .failure(.notSupported))
    session.send(.openChannel(peer, psm: 0x80))
    let error = try await client.log.next { event -> SessionError? in
      if case .channelOpened(peer, .failure(let error)) = event { error } else { nil }
    }
    #expect(error == .notSupported)
  }

  @Test("The identifier of a device is the same in all runs, and is not its address")
  func identifiers() async throws {
    let address = DeviceAddress(0xC011_2233_4455, .random)
    let own = DeviceAddress(0x001B_DC07_32EF, .public)
    let identifier = PeerIdentifier(ofDevice: address, on: own)
    #expect(identifier == PeerIdentifier(ofDevice: address, on: own))
    #expect(identifier != PeerIdentifier(ofDevice: DeviceAddress(0xC011_2233_4455, .public), on: own))
    #expect(!identifier.digits.contains("C011"))
  }
}
