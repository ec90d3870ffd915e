import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothServer
import BluetoothWire
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// A server on a Unix socket, with two devices of one air: `phone`, the first one, and `lamp`. A flashlight is in range.
final class ServerBench {
  let folder: TemporaryFolder
  private(set) var world: World
  private(set) var served: [ServedAdapter]
  private(set) var server: DaemonServer

  private let policy: PlatformPolicy
  private let apps: AppsSetup
  /// The rule for permissions, which applies to the daemons that are started from then on.
  var rule = PermissionRule.allow
  private let shares: AppShares
  let questions: UserQuestions

  init(
    limits: ServerLimits = .patient, policy: PlatformPolicy = .macos, apps: AppsSetup = AppsSetup(),
    rule: PermissionRule = .allow, shares: AppShares = AppShares()
  ) throws {
    folder = try TemporaryFolder()
    self.policy = policy
    self.rule = rule
    self.shares = shares
    questions = apps.questions ?? UserQuestions()
    self.apps = apps
    (world, served) = Self.devices(folder, policy, rule, shares, questions)
    server = DaemonServer(served, limits: limits, apps: apps)
    try server.listen(atPath: path)
  }

  deinit { server.stop() }

  var path: String { folder.file("server.sock") }

  /// Starts the server again after `stop`, with the same devices.
  func restart() throws {
    server = DaemonServer(served, limits: .patient, apps: apps)
    try server.listen(atPath: path)
  }

  /// The devices, with bonds and identities in `folder`.
  private static func devices(
    _ folder: TemporaryFolder, _ policy: PlatformPolicy, _ rule: PermissionRule, _ shares: AppShares,
    _ questions: UserQuestions
  ) -> (World, [ServedAdapter]) {
    let world = World(seed: 1, time: .real(speed: 1))
    let served = ["phone", "lamp"].map { name in
      var options = DeviceOptions()
      options.policy = policy
      // The lamp stands for an accessory, whose programs see all services of the phone.
      if name == "lamp" { options.policy.hiddenServices = PlatformPolicy.macos.hiddenServices }
      let device = world.makeDevice(
        named: name, options, bondFolder: folder.file("bonds"),
        serving: ServingOptions(rule, shares: shares, adapter: name, questions: questions))
      return ServedAdapter(name: name, adapter: device.adapter)
    }
    world.add(Flashlight(), named: "flashlight")
    return (world, served)
  }

  /// Starts the server again after `stop`, with new daemons, which have only what is stored.
  func restartDaemons() throws {
    (world, served) = Self.devices(folder, policy, rule, shares, questions)
    try restart()
  }

  /// Creates the adapter of an app in another process, as far as the server can tell.
  func adapter(
    _ name: String = "", program: String = "app", on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
    stop: @escaping ServerAdapter.Stopper = { reason, _ in Issue.record("stopped: \(reason)") }
  ) -> ServerAdapter {
    ServerAdapter(
      ServerSpecifier(.unix(path: path), adapter: name), program: program, greetingTime: .hours(1), on: loop,
      stop: stop)
  }
}

extension CentralEvent {
  /// The event with copies of its octets, which outlive it.
  var copied: CentralEvent {
    switch self {
    case .valueRead(let peer, let id, .success(let value)):
      .valueRead(peer, id, .success(ByteSlice(value.bytes)))
    case .valueChanged(let peer, let id, let value): .valueChanged(peer, id, ByteSlice(value.bytes))
    default: self
    }
  }

  var state: AdapterState? { if case .stateChanged(let state) = self { state } else { nil } }
  var discovered: PeerInfo? { if case .discovered(let discovery) = self { discovery.peer } else { nil } }
  var connected: PeerHandle? { if case .connected(let peer, _) = self { peer } else { nil } }
  var barrier: UInt32? { if case .barrierReached(let number) = self { number } else { nil } }
  var readyPeer: PeerHandle? { if case .readyToWriteWithoutResponse(let peer) = self { peer } else { nil } }
  var rssi: Result<Int8, SessionError>? { if case .rssiRead(_, let result) = self { result } else { nil } }
  var channel: Result<ChannelInfo, SessionError>? {
    if case .channelOpened(_, let result) = self { result } else { nil }
  }
  var services: Result<[RemoteServiceInfo], SessionError>? {
    if case .servicesDiscovered(_, let result) = self { result } else { nil }
  }
  var characteristics: Result<[RemoteCharacteristicInfo], SessionError>? {
    if case .characteristicsDiscovered(_, _, let result) = self { result } else { nil }
  }
  var value: Result<ByteSlice, SessionError>? { if case .valueRead(_, _, let result) = self { result } else { nil } }
  var isNotifying: Bool? { if case .notifyStateChanged(_, _, let isOn, _) = self { isOn } else { nil } }
  var restored: RestoredCentral? { if case .restored(let state) = self { state } else { nil } }
  var disconnected: PeerHandle? { if case .disconnected(let peer, _, _) = self { peer } else { nil } }
  var notification: ByteSlice? { if case .valueChanged(_, _, let value) = self { value } else { nil } }
}

/// A central manager on a server's adapter.
final class RemoteCentral: CentralClient {
  let adapter: ServerAdapter
  private let stream: AsyncStream<CentralEvent>
  private let continuation: AsyncStream<CentralEvent>.Continuation

  init(_ adapter: ServerAdapter) {
    self.adapter = adapter
    (stream, continuation) = AsyncStream.makeStream()
  }

  func receive(_ event: CentralEvent) { continuation.yield(event.copied) }

  /// Returns the first value that `body` finds in the events; each call continues where the last one has ended.
  @discardableResult
  func first<R>(_ body: (CentralEvent) -> R?) async throws -> R {
    for await event in stream {
      if let result = body(event) { return result }
    }
    throw CancellationError()
  }

  /// Waits for a state.
  func state(_ state: AdapterState) async throws {
    while try await first(\.state) != state {}
  }

  /// Scans for a service, and returns the first peer with it.
  func find(_ service: BluetoothUUID, by session: CentralSession) async throws -> PeerInfo {
    session.send(.scan(ScanRequest(services: [service], solicitedServices: [], allowsDuplicates: false)))
    let peer = try await first(\.discovered)
    session.send(.stopScan)
    return peer
  }

  /// Connects, and returns the characteristics of a service.
  func connect(
    to peer: PeerHandle, service: BluetoothUUID, by session: CentralSession
  ) async throws -> [RemoteCharacteristicInfo] {
    session.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(try await first(\.connected) == peer)
    session.send(.discoverServices(peer, [service]))
    let id = try #require(try await first(\.services).get().first?.id)
    session.send(.discoverCharacteristics(peer, id, nil))
    return try await first(\.characteristics).get()
  }

  /// Reads a value.
  func read(_ attribute: RemoteAttributeID, of peer: PeerHandle, by session: CentralSession) async throws -> ByteSlice {
    session.send(.read(peer, attribute))
    return try await first(\.value).get()
  }
}

extension PeripheralEvent {
  var state: AdapterState? { if case .stateChanged(let state) = self { state } else { nil } }
  var added: LocalAttributeID? { if case .serviceAdded(let id, nil) = self { id } else { nil } }
  var readRequest: CentralRequestID? { if case .readRequested(let request, _, _, _) = self { request } else { nil } }
  var command: ByteSlice? {
    if case .writeRequested(nil, _, let writes) = self { writes.first?.value } else { nil }
  }
  var subscription: LocalAttributeID? { if case .subscribed(_, let id) = self { id } else { nil } }
  var publishedPSM: UInt16? { if case .channelPublished(let psm, nil) = self { psm } else { nil } }
  var channel: ChannelInfo? { if case .channelOpened(_, let channel) = self { channel } else { nil } }
  var ready: Bool? { if case .readyToUpdate = self { true } else { nil } }
}

/// A peripheral manager on a server's adapter.
final class RemotePeripheral: PeripheralClient {
  let adapter: ServerAdapter
  private let stream: AsyncStream<PeripheralEvent>
  private let continuation: AsyncStream<PeripheralEvent>.Continuation

  init(_ adapter: ServerAdapter) {
    self.adapter = adapter
    (stream, continuation) = AsyncStream.makeStream()
  }

  func receive(_ event: PeripheralEvent) {
    if case .writeRequested(let request, let central, let writes) = event {
      let copies = writes.map {
        CentralWrite(characteristic: $0.characteristic, offset: $0.offset, value: ByteSlice($0.value.bytes))
      }
      continuation.yield(.writeRequested(request, central, copies))
    } else {
      continuation.yield(event)
    }
  }

  /// See `RemoteCentral.first`.
  @discardableResult
  func first<R>(_ body: (PeripheralEvent) -> R?) async throws -> R {
    for await event in stream {
      if let result = body(event) { return result }
    }
    throw CancellationError()
  }

  /// Waits until the adapter is on.
  func poweredOn() async throws {
    while try await first(\.state) != .poweredOn {}
  }
}

extension ServerLimits {
  /// The limits without times: beside other tests, a client of a test can need minutes for its first message.
  static var patient: ServerLimits {
    var limits = ServerLimits()
    limits.greetingTime = .hours(1)
    limits.stallTime = .hours(1)
    limits.launchTime = .hours(1)
    limits.storeTime = .minutes(10)
    limits.logPeriod = .hours(1)
    return limits
  }
}
