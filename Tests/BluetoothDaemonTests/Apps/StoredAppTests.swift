import BluetoothHost
import BluetoothWire
import Requirements
import TestSupport
import Testing

@testable import BluetoothDaemon

/// The sessions of apps that outlive the daemon: the process of a server is killed and started again.
@Suite("Restoration after a crash of the daemon")
struct StoredAppTests {
  /// The receiver of an app's events.
  final class Launcher: AppClient {
    private let events = EventLog<AppEvent>()
    func receive(_ event: AppEvent) { events.append(event) }

    /// Returns the restore identifiers of the launches since the last call.
    func launches() -> [RestoreIdentifiers] {
      events.take().compactMap { if case .launch(let identifiers) = $0 { identifiers } else { nil } }
    }
  }

  /// A program of the app, with a central manager.
  final class Program {
    let recorder = CentralRecorder()
    let session: CentralSession

    init(_ air: DaemonNetwork) {
      let owner = SessionOwner(app: "app", restoreIdentifier: "scale")
      session = CentralSession(client: recorder, owner: owner, in: air.devices[1].sessions)
      air.run()
    }

    func texts() -> [String] { recorder.take().map(\.text) }
  }

  let air = DaemonNetwork()
  let store = MemoryBondStore()
  let sensor: Sensor
  let launcher = Launcher()

  init() {
    sensor = Sensor(air, air.add("Sensor"))
    sensor.add(10, 0x180D, [.dynamic(0x2A37, [.notify])])
    sensor.advertise()
    _ = air.add("Phone", bonds: store, policy: .open, storesApps: true)
  }

  private func send(_ request: AppRequest) {
    air.devices[1].sessions.send(request, ofApp: "app")
    air.run()
  }

  /// Starts a program in the foreground.
  private func launch() -> Program {
    send(.launched(AppManifest(), isInFront: true))
    return Program(air)
  }

  /// Lets a program find the sensor and connect to it.
  @discardableResult
  private func connect(_ program: Program, reconnects: Bool = false) throws -> PeerHandle {
    program.session.send(.scan(ScanRequest(services: [0x180D], solicitedServices: [], allowsDuplicates: false)))
    air.advance()
    let peer = try #require(program.recorder.take().lazy.compactMap(\.discovery).first).peer.handle
    program.session.send(.stopScan)
    program.session.send(.connect(peer, delay: .zero, reconnects: reconnects))
    program.session.send(.requestAlerts(peer, .disconnection))
    air.advance()
    try #require(program.recorder.take().contains { if case .connected = $0 { true } else { false } })
    return peer
  }

  /// Kills the daemon and starts it again. The sensor stays out of range.
  private func crash(isOn: Bool = true) {
    // The last change is on the disk after a second.
    air.advance(12)
    air.devices[0].isInRange = false
    air.restart(1)
    air.devices[1].sessions.setClient(launcher, ofApp: "app")
    // The process of the server knows how to launch the app.
    send(.launchable(true))
    air.setPower(isOn, of: 1)
    air.advance(2)
  }

  /// Brings the sensor into range, which advertises again.
  private func meet() {
    air.bringBack(0)
    sensor.send(.stopAdvertising)
    sensor.advertise()
    air.advance(2)
  }

  @Test("A link of a terminated app becomes a pending connection, whose completion launches and restores the app")
  func link() throws {
    do { try connect(launch(), reconnects: true) }
    send(.terminated(.system))
    let identifier = try #require(air.devices[1].directory.peer(PeerHandle(index: 0))?.identifier)
    crash()
    #expect(launcher.launches() == [])
    meet()
    #expect(launcher.launches() == [RestoreIdentifiers(centrals: ["scale"])])
    #expect(air.linkCount(1) == 1)

    let program = Program(air)
    let events = program.recorder.take()
    #expect(events.map(\.text).prefix(3) == ["restored 1 peers", "state poweredOn", "connected 0 20"])
    guard case .restored(let restored)? = events.first, let peer = restored.peers.first else {
      Issue.record("not restored")
      return
    }
    #expect(peer.info.identifier == identifier)
    #expect(peer.info.name == "Sensor")
    #expect(peer.reconnects)
    #expect(peer.maximumWriteLength == nil)
    #expect(peer.services == nil)
    let user = try #require(air.devices[1].daemon.peers[peer.info.handle].users.first)
    #expect(user.alerts == .disconnection)
    // The restored session takes commands.
    program.session.send(.discoverServices(peer.info.handle, nil))
    air.run()
    #expect(program.texts().contains { $0.hasPrefix("services") })
  }

  @Test(
    "A scan of a terminated app goes on with its services and options, and a discovery launches the app",
    .requirement("A099"))
  func scan() throws {
    let request = ScanRequest(services: [0x180D], solicitedServices: [0x1812], allowsDuplicates: true)
    do {
      let program = launch()
      air.devices[0].isInRange = false
      program.session.send(.scan(request))
      air.run()
    }
    send(.terminated(.system))
    crash()
    #expect(air.devices[1].controller.isScanning)
    #expect(launcher.launches() == [])
    meet()
    #expect(launcher.launches().count == 1)
    let events = Program(air).recorder.take()
    guard case .restored(let restored)? = events.first else {
      Issue.record("not restored")
      return
    }
    #expect(restored.scan == request)
    #expect(events.contains { $0.discovery != nil })
  }

  @Test("A program that outlives the daemon is not launched beside itself, and nothing is restored when it is back")
  func returned() throws {
    let former = launch()
    try connect(former)
    crash()
    withExtendedLifetime(former) {}
    meet()
    #expect(air.linkCount(1) == 1)
    #expect(launcher.launches() == [])
    // The server says so of a process that has been connected before.
    send(.terminated(.user))
    #expect(air.linkCount(1) == 0)
    let program = launch()
    #expect(program.texts() == ["state poweredOn"])
    air.pass(.seconds(60))
    #expect(launcher.launches() == [])
  }

  @Test("A program that has ended with the daemon is launched for an event, 15 s after the start at the earliest")
  func endedWithDaemon() throws {
    let former = launch()
    try connect(former)
    crash()
    withExtendedLifetime(former) {}
    meet()
    air.pass(.seconds(13))
    #expect(launcher.launches() == [])
    air.pass(.seconds(2))
    #expect(launcher.launches().map(\.centrals) == [["scale"]])
    #expect(Program(air).texts().prefix(3) == ["restored 1 peers", "state poweredOn", "connected 0 20"])
  }

  @Test(
    "An app that the user has ended, or has denied the use of Bluetooth, is not restored by a later daemon",
    .requirement("A102"))
  func ended() throws {
    for request in [AppRequest.terminated(.user), .permissionChanged(false)] {
      let other = StoredAppTests()
      let program = other.launch()
      try other.connect(program)
      other.send(request)
      other.crash()
      withExtendedLifetime(program) {}
      other.meet()
      other.air.pass(.seconds(60))
      #expect(other.launcher.launches() == [])
      #expect(other.air.linkCount(1) == 0)
    }
  }

  @Test("A denied app is not launched for the state if the adapter is off after the crash")
  func deniedWhileOff() throws {
    let program = launch()
    try connect(program)
    send(.permissionChanged(false))
    crash(isOn: false)
    withExtendedLifetime(program) {}
    air.pass(.seconds(60))
    #expect(launcher.launches() == [])
    #expect(try store.storedApps() == [])
  }

  @Test("If the adapter is off after the crash, the app is launched for the state and has lost everything")
  func off() throws {
    try connect(launch())
    send(.terminated(.system))
    crash(isOn: false)
    #expect(launcher.launches().count == 1)
    #expect(Program(air).texts() == ["restored 0 peers", "state poweredOff"])
    #expect(try store.storedApps().first?.centrals.first?.peers == [])
  }

  @Test("What has not gone on yet survives another crash, and what was restored can be terminated again")
  func crashes() throws {
    try connect(launch())
    send(.terminated(.system))
    crash()
    let stored = try store.storedApps()
    #expect(stored.first?.centrals.first?.peers.count == 1)
    // The adapter does not come on between these two crashes.
    air.restart(1)
    send(.launchable(true))
    air.advance(20)
    #expect(try store.storedApps() == stored)
    crash()
    #expect(try store.storedApps() == stored)
    // The user starts the app before the sensor comes.
    do { #expect(launch().texts() == ["restored 1 peers", "state poweredOn"]) }
    send(.terminated(.system))
    meet()
    #expect(launcher.launches().count == 1)
  }

  @Test("The first change is stored at once, the next ones a second later, and the last one before the end")
  func pauses() throws {
    let program = launch()
    let first = try store.storedApps()
    #expect(first.map(\.name) == ["app"])
    #expect(first.first?.wasRunning == true)
    let request = ScanRequest(services: [0x180D], solicitedServices: [], allowsDuplicates: false)
    program.session.send(.scan(request))
    air.run()
    #expect(try store.storedApps() == first)
    air.advance(11)
    #expect(try store.storedApps().first?.centrals.first?.scan == request)
    program.session.send(.stopScan)
    air.run()
    #expect(try store.storedApps().first?.centrals.first?.scan == request)
    air.devices[1].sessions.requests.post(.system(.holdStoredApps))
    air.run()
    #expect(try store.storedApps().first?.centrals.first?.scan == nil)
    // The ends of sessions are those of the server.
    send(.terminated(.user))
    air.advance(20)
    #expect(try store.storedApps().map(\.name) == ["app"])
  }

  @Test("Values, reads and writes are no reason to write to the disk")
  func hotPath() throws {
    let program = launch()
    let peer = try connect(program)
    program.session.send(.discoverServices(peer, nil))
    air.run()
    let services = try #require(program.recorder.take().lazy.compactMap(\.services).first)
    let service = try #require(services.first { $0.uuid == 0x180D })
    program.session.send(.discoverCharacteristics(peer, service.id, nil))
    air.run()
    let measurement = try #require(program.recorder.take().lazy.compactMap(\.characteristics).first?.first)
    air.advance(20)
    #expect(air.devices[1].daemon.storingDeadline == nil)
    program.session.send(.setNotify(peer, measurement.id, true))
    air.run()
    for value in 0..<5 as Range<UInt8> {
      sensor.send(.update(LocalAttributeID(number: 11), ByteSlice([value]), nil))
      #expect(program.texts().contains("value 0\(value)"))
    }
    program.session.send(.readRSSI(peer))
    air.run()
    #expect(air.devices[1].daemon.storingDeadline == nil)
  }

  @Test("Services and advertising of a terminated app go on, and a central's request launches the app")
  func peripheral() throws {
    let lamp = PeripheralRecorder()
    let owner = SessionOwner(app: "app", restoreIdentifier: "lamp")
    do {
      send(.launched(AppManifest(), isInFront: true))
      let session = PeripheralSession(client: lamp, owner: owner, in: air.devices[1].sessions)
      air.run()
      let characteristic = LocalCharacteristicInfo(
        id: LocalAttributeID(number: 2), definition: .dynamic(0x2A56, [.read, .write]))
      let fixed = LocalCharacteristicInfo(id: LocalAttributeID(number: 3), definition: .cached(0x2A57, [7]))
      session.send(
        .addService(
          LocalServiceInfo(
            id: LocalAttributeID(number: 1), uuid: 0x1815, isPrimary: true, includes: [],
            characteristics: [characteristic, fixed])))
      session.send(.startAdvertising(localName: "Lamp", services: [0x1815]))
      air.run()
      #expect(lamp.take().map(\.text).suffix(2) == ["added 1 ok", "advertising ok"])
    }
    send(.terminated(.system))
    crash()
    #expect(launcher.launches() == [])
    #expect(air.devices[1].controller.isAdvertising)

    sensor.send(.stopAdvertising)
    air.bringBack(0)
    let phone = Phone(air, 0)
    _ = phone.takeEvents()
    let peer = try phone.findAndConnect()
    let found = try phone.discover(peer)
    phone.send(.read(peer, try #require(found[0x2A57]).id))
    #expect(launcher.launches() == [], "the system answers for a fixed value")
    phone.send(.write(peer, try #require(found[0x2A56]).id, [5]))
    #expect(launcher.launches() == [RestoreIdentifiers(peripherals: ["lamp"])])

    let session = PeripheralSession(client: lamp, owner: owner, in: air.devices[1].sessions)
    air.run()
    let events = lamp.take()
    let texts = events.map(\.text).filter { !$0.hasPrefix("length") }
    #expect(texts == ["restored 1 services", "state poweredOn", "write 2 at 0: 05"])
    guard case .restored(let restored)? = events.first else {
      Issue.record("not restored")
      return
    }
    #expect(restored.services.first?.characteristics.map(\.definition.uuid) == [0x2A56, 0x2A57])
    #expect(restored.advertising == .init(localName: "Lamp", services: [0x1815]))
    #expect(restored.subscriptions.isEmpty)
    session.send(.stopAdvertising)
    air.run()
    #expect(!air.devices[1].controller.isAdvertising)
  }

  @Test("A connection above the lower limit of a later daemon fails, and the app is launched to learn of it")
  func lowerLimit() throws {
    let addresses: [UInt64] = [0xC100_0000_0001, 0xC100_0000_0002]
    let peers = addresses.map { StoredApp.Connection(address: DeviceAddress($0, .random)) }
    _ = try store.setStoredApps([StoredApp(name: "app", centrals: [.init(identifier: "scale", peers: peers)])])
    var policy = PlatformPolicy.open
    policy.linksPerApp = 1
    let device = air.add("Other", bonds: store, policy: policy, storesApps: true)
    let sessions = air.devices[device].sessions
    sessions.setClient(launcher, ofApp: "app")
    sessions.send(.launchable(true), ofApp: "app")
    air.run()
    #expect(launcher.launches() == [RestoreIdentifiers(centrals: ["scale"])])
    let notes = air.devices[device].daemon.takeNotes()
    #expect(notes.contains { $0.contains("a connection is refused, because the app has 1 connections") })
    let recorder = CentralRecorder()
    let owner = SessionOwner(app: "app", restoreIdentifier: "scale")
    let session = CentralSession(client: recorder, owner: owner, in: sessions)
    air.run()
    withExtendedLifetime(session) {
      #expect(
        recorder.take().map(\.text) == ["restored 2 peers", "state poweredOn", "failed 1 connectionLimitReached"])
    }
  }

  @Test("A policy without restoration stores nothing, and what another policy has stored ends")
  func otherPolicy() throws {
    _ = try store.setStoredApps([StoredApp(name: "app", centrals: [.init(identifier: "scale")])])
    let device = air.add("Other", bonds: store, policy: .macos, storesApps: true)
    let owner = SessionOwner(app: "app", restoreIdentifier: "scale")
    let recorder = CentralRecorder()
    let session = CentralSession(client: recorder, owner: owner, in: air.devices[device].sessions)
    air.advance(12)
    #expect(recorder.take().map(\.text) == ["state poweredOn"])
    #expect(try store.storedApps() == [])
    session.close()
  }
}

extension CentralEvent {
  fileprivate var services: [RemoteServiceInfo]? {
    if case .servicesDiscovered(_, let result) = self { try? result.get() } else { nil }
  }

  fileprivate var characteristics: [RemoteCharacteristicInfo]? {
    if case .characteristicsDiscovered(_, _, let result) = self { try? result.get() } else { nil }
  }
}
