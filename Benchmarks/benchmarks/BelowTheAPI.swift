import BluetoothDaemon
import BluetoothHost
import BluetoothLab
import BluetoothWire

/// Sessions without the API's classes, to measure the allocations of the layers below.
enum BelowTheAPI {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("allocations per read below the API", allocationsPerRead)
  ]

  @Sendable private static func allocationsPerRead(divisor: Int) throws -> Measurement {
    let count = 10_000 / divisor
    let allocated = try allocationsPerRead(count)
    return Measurement(
      name: "heap allocations per read, below the API", result: WholeStack.text(allocated), aim: "0",
      method: "malloc and its kin counted over \(count.grouped) reads between two sessions, after 1,000 to warm up")
  }

  /// Returns the heap allocations per read on both sides together, averaged over `count` reads; nil if they cannot be
  /// counted.
  static func allocationsPerRead(_ count: Int) throws -> Double? {
    let world = World(seed: 1)
    let server = SessionServer(on: world.makeDevice(named: "server"))
    let client = SessionClient(on: world.makeDevice(named: "client", at: Position(x: 2)))
    func read(_ count: Int) throws {
      client.read(count)
      guard world.run(until: { client.readsLeft == 0 }, limit: .seconds(100_000)) else { throw DidNotHappen() }
    }
    guard world.run(until: { client.isReady }) else { throw DidNotHappen() }
    try read(1_000)
    let allocated = try allocations { try read(count) }
    withExtendedLifetime(server) {}
    return allocated.map { Double($0) / Double(count) }
  }
}

/// Runs only on the thread in `run`.
private final class SessionServer: PeripheralClient, @unchecked Sendable {
  static let service = BluetoothUUID(high: 0x6F0D_2A10_7C56_4D1F, low: 0x9E0F_31B7_A5F0_C001)
  private let adapter: any DaemonAdapter
  private var session: PeripheralSession?
  private let value = ByteSlice(Array(repeating: 0x5A, count: 20))

  init(on device: Device) {
    adapter = device.adapter
    session = adapter.openPeripheralSession(for: self)
  }

  func receive(_ event: PeripheralEvent) {
    switch event {
    case .stateChanged(.poweredOn):
      let characteristic = LocalCharacteristicInfo(
        id: LocalAttributeID(number: 2),
        definition: GATTCharacteristicDefinition(
          uuid: BluetoothUUID(high: 0x6F0D_2A10_7C56_4D1F, low: 0x9E0F_31B7_A5F0_C002), properties: .read,
          permissions: .readable, value: nil))
      session?.send(
        .addService(
          LocalServiceInfo(
            id: LocalAttributeID(number: 1), uuid: Self.service, isPrimary: true, includes: [],
            characteristics: [characteristic])))
      session?.send(.startAdvertising(localName: nil, services: [Self.service]))
    case .readRequested(let request, _, _, _): session?.send(.respond(request, nil, value: value))
    default: break
    }
  }
}

/// Runs only on the thread in `run`.
private final class SessionClient: CentralClient, @unchecked Sendable {
  private let adapter: any DaemonAdapter
  private var session: CentralSession?
  private var target: (peer: PeerHandle, attribute: RemoteAttributeID)?
  private(set) var readsLeft = 0

  init(on device: Device) {
    adapter = device.adapter
    session = adapter.openCentralSession(for: self)
  }

  var isReady: Bool { target != nil }

  func read(_ count: Int) {
    readsLeft = count
    if let target { session?.send(.read(target.peer, target.attribute)) }
  }

  func receive(_ event: CentralEvent) {
    switch event {
    case .stateChanged(.poweredOn):
      session?.send(
        .scan(ScanRequest(services: [SessionServer.service], solicitedServices: [], allowsDuplicates: false)))
    case .discovered(let discovery):
      session?.send(.stopScan)
      session?.send(.connect(discovery.peer.handle, delay: .zero, reconnects: false))
    case .connected(let peer, _): session?.send(.discoverServices(peer, nil))
    case .servicesDiscovered(let peer, .success(let services)):
      if let service = services.first { session?.send(.discoverCharacteristics(peer, service.id, nil)) }
    case .characteristicsDiscovered(let peer, _, .success(let characteristics)):
      target = characteristics.first.map { (peer, $0.id) }
    case .valueRead:
      readsLeft -= 1
      if readsLeft > 0, let target { session?.send(.read(target.peer, target.attribute)) }
    default: break
    }
  }
}
