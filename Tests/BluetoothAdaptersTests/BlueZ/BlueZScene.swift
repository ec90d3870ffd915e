import BluetoothDBus
import BluetoothDaemon
import BluetoothTypes
import BluetoothWire
import NIOPosix
import Testing

@testable import BluetoothAdapters

/// What a session was told, in order. Octets are copied.
final class EventLog<Event: Sendable>: Sendable {
  private let stream: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func add(_ event: Event) { continuation.yield(event) }

  /// Returns the next event for which `body` has a result.
  @discardableResult
  func next<Result>(_ body: (Event) -> Result?) async throws -> Result {
    for await event in stream { if let result = body(event) { return result } }
    throw CancellationError()
  }
}

final class RecordingCentral: CentralClient {
  let log = EventLog<CentralEvent>()
  func receive(_ event: CentralEvent) { log.add(event) }
}

final class RecordingPeripheral: PeripheralClient {
  let log = EventLog<PeripheralEvent>()
  func receive(_ event: PeripheralEvent) { log.add(event) }
}

/// A private bus with a fake BlueZ, and an adapter of this module on it.
struct BlueZScene {
  let bus: PrivateBus
  let bluez: FakeBlueZ
  let adapter: BlueZAdapter

  /// The reason why tests of a bus are left out.
  static let needs: Comment = "this machine has no dbus-daemon or no libdbus-1"

  init(prompts: any Prompts = AutomaticPrompts(.accept)) async throws {
    bus = try await Self.bus()
    bluez = try await FakeBlueZ(on: bus.address)
    adapter = Self.adapter(on: bus, prompts: prompts)
  }

  static func adapter(
    _ name: String? = nil, on bus: PrivateBus, prompts: any Prompts = AutomaticPrompts(.accept)
  ) -> BlueZAdapter {
    BlueZAdapter(
      name, name: "bluez", bus: .address(bus.address), hiddenServices: [0x1801], prompts: prompts,
      on: MultiThreadedEventLoopGroup.singleton.next())
  }

  /// Starts a bus on a thread that may block.
  static func bus() async throws -> PrivateBus {
    try await NIOThreadPool.singleton.runIfActive { try PrivateBus.start() }
  }

  /// Opens a session of a central manager and waits for its state.
  func central(_ state: AdapterState = .poweredOn) async throws -> (session: CentralSession, client: RecordingCentral) {
    let client = RecordingCentral()
    let session = adapter.openCentralSession(for: client, owner: nil)
    try await client.log.next { event in
      if case .stateChanged(state) = event { true } else { nil }
    }
    return (session, client)
  }

  /// Scans until the device is found.
  func find(_ session: CentralSession, _ client: RecordingCentral) async throws -> PeerInfo {
    session.send(.scan(ScanRequest(services: [0x180D], solicitedServices: [], allowsDuplicates: false)))
    defer { session.send(.stopScan) }
    return try await client.log.next { event in
      if case .discovered(let discovery) = event { discovery.peer } else { nil }
    }
  }

  /// Finds the device, connects to it, and discovers its services.
  func connect(_ session: CentralSession, _ client: RecordingCentral) async throws -> PeerHandle {
    let peer = try await find(session, client).handle
    session.send(.connect(peer, delay: .zero, reconnects: false))
    try await client.log.next { event in
      if case .connected(peer, _) = event { true } else { nil }
    }
    session.send(.discoverServices(peer, nil))
    try await client.log.next { event in
      if case .servicesDiscovered(peer, .success) = event { true } else { nil }
    }
    return peer
  }
}
