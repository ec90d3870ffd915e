import BluetoothDaemon
import BluetoothHost
import BluetoothLab
import BluetoothWire
import Testing

/// Complete systems with packet loss on the air and apps that act at random.
@Suite("Torture")
struct TortureTests {
  @Test("No acknowledged data is lost or repeated, and every request has one answer", arguments: 0..<6)
  func invariants(seed: Int) {
    let run = Run(seed: UInt64(seed))
    run.play(rounds: 60)
    #expect(run.complaints == [])
    #expect(run.phones.map(\.connections).reduce(0, +) > 0)
  }

  @Test("When all apps have stopped, the world becomes idle", arguments: 0..<3)
  func rest(seed: Int) {
    let run = Run(seed: UInt64(seed) + 40)
    run.play(rounds: 20)
    run.stopAll()
    run.world.run(for: .seconds(5))
    let before = run.world.now
    run.world.runUntilIdle()
    #expect(run.world.now == before)
  }

  @Test("The same seed gives the same course", arguments: [3, 5])
  func determinism(seed: Int) {
    let runs = (0..<2).map { _ in Run(seed: UInt64(seed)) }
    for run in runs { run.play(rounds: 40) }
    #expect(runs[0].log.count > 30)
    #expect(runs[0].log == runs[1].log)
  }
}

/// The records of the test and its apps.
private final class Notes {
  var log: [String] = []
  var complaints: [String] = []
  var now: () -> Duration = { .zero }
  func write(_ text: String) { log.append("\(now()) \(text)") }
  func complain(_ text: String) { complaints.append("\(now()) \(text)") }
}

private final class Run {
  let notes = Notes()
  let world: World
  var random: RandomStream
  let sensor: TortureSensor
  let sensorDevice: Device
  var phones: [TorturePhone] = []
  var phoneDevices: [Device] = []
  var others: [TorturePhone] = []
  var beacons: [TortureSensor] = []

  var log: [String] { notes.log }
  var complaints: [String] { notes.complaints }

  init(seed: UInt64) {
    let world = World(seed: seed)
    self.world = world
    notes.now = { world.now }
    random = RandomStream(seed: seed &+ 77)
    sensorDevice = world.makeDevice(named: "sensor")
    sensor = TortureSensor("sensor", sensorDevice.adapter, notes, service: 0x180D)
    for number in 0..<2 {
      let device = world.makeDevice(named: "phone \(number)", at: Position(x: 60 + Double(random.next() % 35)))
      phoneDevices.append(device)
      phones.append(TorturePhone("phone \(number)", device.adapter, notes, service: 0x180D))
    }
    // These devices only disturb the others and are not checked.
    for number in 0..<2 {
      let beacon = world.makeDevice(named: "beacon \(number)", at: Position(x: 50, y: 20 * Double(number)))
      beacons.append(TortureSensor("beacon \(number)", beacon.adapter, Notes(), service: 0x180F))
      let scanner = world.makeDevice(named: "scanner \(number)", at: Position(x: 45, y: 20 * Double(number)))
      others.append(TorturePhone("scanner \(number)", scanner.adapter, Notes(), service: 0x180F))
    }
  }

  func stopAll() {
    for phone in phones + others { phone.stop() }
    for sensor in [sensor] + beacons { sensor.stop() }
  }

  func play(rounds: Int) {
    world.run(for: .seconds(2))
    for _ in 0..<rounds {
      let place = Int(random.next() % 2)
      switch random.next() % 40 {
      case 0: phoneDevices[place].setPower(false)
      case 1: phoneDevices[place].move(to: Position(x: 400))
      case 2: if random.next() % 3 == 0 { sensorDevice.setPower(false) }
      case 3: phones[place].cancel()
      default: phones[place].doSomething(&random)
      }
      if random.next() % 2 == 0 { sensor.update(&random) }
      for other in others { other.doSomething(&random) }
      world.run(for: .milliseconds(Int64(random.next() % 300)))
      if random.next() % 8 == 0 {
        sensorDevice.setPower(true)
        for device in phoneDevices {
          device.setPower(true)
          device.move(to: Position(x: 60 + Double(random.next() % 35)))
        }
      }
    }
    // All devices are quiet and near, so every open request must be answered.
    for device in phoneDevices { device.move(to: Position(x: 3)) }
    world.run(for: .seconds(40))
    for phone in phones { phone.finish() }
  }
}

private final class TortureSensor: PeripheralClient, @unchecked Sendable {
  private static let control = LocalAttributeID(number: 2)
  private static let notified = LocalAttributeID(number: 3)
  private static let indicated = LocalAttributeID(number: 4)
  private static let commands = LocalAttributeID(number: 5)

  private let name: String
  private let notes: Notes
  private let service: BluetoothUUID
  private var session: PeripheralSession?
  private var sent: [LocalAttributeID: UInt32] = [:]
  /// The last number that each central has written without response, on its connection.
  private var received: [PeerHandle: UInt32] = [:]
  private var isOn = false

  init(_ name: String, _ adapter: any DaemonAdapter, _ notes: Notes, service: BluetoothUUID) {
    self.name = name
    self.notes = notes
    self.service = service
    session = adapter.openPeripheralSession(for: self)
  }

  func update(_ random: inout RandomStream) {
    for _ in 0..<random.next() % 4 {
      let id = random.next() % 4 == 0 ? Self.indicated : Self.notified
      guard isOn, let session, session.updateCredits.take() else { return }
      sent[id, default: 0] += 1
      let number = sent[id] ?? 0
      session.send(.update(id, ByteSlice(number.bigEndianOctets + Array(repeating: 0xAA, count: 16)), nil))
    }
  }

  func stop() { session?.send(.stopAdvertising) }

  private func publish() {
    func characteristic(
      _ id: LocalAttributeID, _ uuid: UInt16, _ properties: CharacteristicProperties, value: ByteSlice? = nil
    )
      -> LocalCharacteristicInfo
    {
      LocalCharacteristicInfo(
        id: id,
        definition: GATTCharacteristicDefinition(
          uuid: BluetoothUUID(uuid), properties: properties, permissions: [.readable, .writeable], value: value))
    }
    let service = LocalServiceInfo(
      id: LocalAttributeID(number: 1), uuid: service, isPrimary: true, includes: [],
      characteristics: [
        characteristic(Self.control, 0x2A39, [.read, .write]),
        characteristic(Self.notified, 0x2A37, .notify),
        characteristic(Self.indicated, 0x2A05, .indicate),
        characteristic(Self.commands, 0x2A38, .writeWithoutResponse),
        characteristic(
          LocalAttributeID(number: 6), 0x2A19, .read, value: ByteSlice((0..<300).map { UInt8($0 & 0xFF) })),
      ])
    session?.send(.addService(service))
    session?.send(.startAdvertising(localName: name, services: [self.service]))
  }

  func receive(_ event: PeripheralEvent) {
    switch event {
    case .stateChanged(let state):
      notes.write("\(name) \(state)")
      isOn = state == .poweredOn
      received.removeAll()
      if isOn { publish() }
    case .readRequested(let request, _, let id, let offset):
      if id != Self.control { notes.complain("\(name): a read of \(id.number)") }
      let value = (0..<40).map { UInt8($0) }
      session?.send(.respond(request, nil, value: ByteSlice(value.dropFirst(offset))))
    case .writeRequested(let request?, _, _): session?.send(.respond(request, nil, value: []))
    case .writeRequested(nil, let central, let writes):
      for write in writes {
        let number = UInt32(bigEndianOctets: write.value.bytes)
        let expected = received[central.handle].map { $0 &+ 1 } ?? 1
        if number != expected { notes.complain("\(name): command \(number) instead of \(expected)") }
        received[central.handle] = number
      }
    case .centralDisconnected(let central): received[central.handle] = nil
    case .advertisingStarted(let error): notes.write("\(name) advertises \(error == nil)")
    default: break
    }
  }
}

private final class TorturePhone: CentralClient, @unchecked Sendable {
  private let name: String
  private let notes: Notes
  private let service: BluetoothUUID
  private var session: CentralSession?
  private(set) var connections = 0
  private var peer: PeerHandle?
  private var isConnected = false
  private var characteristics: [BluetoothUUID: RemoteAttributeID] = [:]
  private var isSubscribed = false
  /// The last number received by notification or indication, on this connection.
  private var last: [RemoteAttributeID: UInt32] = [:]
  private var commands: UInt32 = 0
  private enum Question: Equatable {
    case read(RemoteAttributeID)
    case write, rssi
  }
  private var open: [Question] = []
  private var hasStopped = false

  init(_ name: String, _ adapter: any DaemonAdapter, _ notes: Notes, service: BluetoothUUID) {
    self.name = name
    self.notes = notes
    self.service = service
    session = adapter.openCentralSession(for: self)
  }

  func cancel() {
    guard let peer, isConnected else { return }
    forget()
    session?.send(.cancelConnection(peer))
  }

  func stop() {
    hasStopped = true
    session?.send(.stopScan)
    if let peer { session?.send(.cancelConnection(peer)) }
  }

  func finish() {
    if isConnected, !open.isEmpty { notes.complain("\(name): \(open) were never answered") }
  }

  func doSomething(_ random: inout RandomStream) {
    guard isConnected, let peer, let session else { return }
    for _ in 0..<1 + random.next() % 6 {
      switch random.next() % 8 {
      case 0: ask(.rssi, .readRSSI(peer))
      case 1, 2: if let id = characteristics[0x2A39] { ask(.read(id), .read(peer, id)) }
      case 3: if let id = characteristics[0x2A19] { ask(.read(id), .read(peer, id)) }
      case 4:
        let value = ByteSlice([UInt8](repeating: 1, count: Int(random.next() % 400)))
        if let id = characteristics[0x2A39] { ask(.write, .write(peer, id, value)) }
      default:
        guard let id = characteristics[0x2A38], session.writeCredits(for: peer).take() else { break }
        commands += 1
        let octets = commands.bigEndianOctets + Array(repeating: 7, count: Int(random.next() % 16))
        session.send(.writeWithoutResponse(peer, id, ByteSlice(octets)))
      }
    }
  }

  private func ask(_ question: Question, _ command: CentralCommand) {
    // One RSSI reading answers all pending requests.
    if question == .rssi, open.contains(.rssi) { return }
    open.append(question)
    session?.send(command)
  }

  private func answered(_ question: Question, _ text: String) {
    guard isConnected else { return }
    notes.write("\(name) \(text)")
    if let index = open.firstIndex(of: question) {
      // Requests of one kind are answered in order; RSSI readings are independent.
      if question != .rssi, open.prefix(index).contains(where: { $0 != .rssi }) {
        notes.complain("\(name): \(question) was answered before \(open)")
      }
      open.remove(at: index)
    } else {
      notes.complain("\(name): \(question) was answered and not asked")
    }
  }

  private func forget() {
    isConnected = false
    characteristics.removeAll()
    isSubscribed = false
    last.removeAll()
    open.removeAll()
    commands = 0
  }

  func receive(_ event: CentralEvent) {
    switch event {
    case .stateChanged(let state):
      notes.write("\(name) \(state)")
      forget()
      if state == .poweredOn { scan() }
    case .discovered(let discovery):
      notes.write("\(name) discovered \(discovery.localName ?? "?")")
      peer = discovery.peer.handle
      session?.send(.stopScan)
      session?.send(.connect(discovery.peer.handle, delay: .zero, reconnects: false))
    case .connected(let peer, _):
      notes.write("\(name) connected")
      if isConnected { notes.complain("\(name): connected twice") }
      isConnected = true
      connections += 1
      session?.send(.discoverServices(peer, [service]))
    case .connectionFailed, .disconnected:
      notes.write("\(name) \(event)")
      forget()
      scan()
    case .servicesDiscovered(let peer, .success(let services)):
      if let service = services.first { session?.send(.discoverCharacteristics(peer, service.id, nil)) }
    case .characteristicsDiscovered(let peer, _, .success(let list)):
      for characteristic in list { characteristics[characteristic.uuid] = characteristic.id }
      for characteristic in list where !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
        session?.send(.setNotify(peer, characteristic.id, true))
      }
    case .valueRead(_, let id, let result): answered(.read(id), "read \(result)")
    case .written(_, _, let error): answered(.write, "written \(String(describing: error))")
    case .rssiRead(_, let result): answered(.rssi, "rssi \(result)")
    case .valueChanged(_, let id, let value):
      guard isConnected else { return }
      let number = UInt32(bigEndianOctets: value.bytes)
      if let last = last[id], number != last &+ 1 {
        notes.complain("\(name): value \(number) of \(id) after \(last)")
      }
      last[id] = number
      notes.write("\(name) value \(number)")
    default: break
    }
  }

  private func scan() {
    guard !hasStopped else { return }
    session?.send(.scan(ScanRequest(services: [service], solicitedServices: [], allowsDuplicates: false)))
  }
}

extension UInt32 {
  fileprivate var bigEndianOctets: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) } }
  fileprivate init(bigEndianOctets octets: [UInt8]) { self = octets.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
