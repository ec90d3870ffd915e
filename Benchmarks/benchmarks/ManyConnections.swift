import BluetoothController
import BluetoothRadio
import BluetoothWire

/// One controller with many connections: the cost of its scheduler and of the air.
enum ManyConnections {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("twenty connections", { try measure(count: 20, interval: 24, divisor: $0) }),
    ("128 connections", { try measure(count: 128, interval: 160, divisor: $0) }),
  ]

  /// Measures connections with packets of 27 octets in both directions, as many as there is room for.
  private static func measure(count: Int, interval: UInt16, divisor: Int) throws -> Measurement {
    let star = try Star(count: count, interval: interval)
    star.run(for: .seconds(2))
    let span = TimeSpan.milliseconds(max(500, 60_000 / Int64(divisor)))
    var best = Double.infinity
    var packets = 0
    var allocated: UInt64?
    for _ in 0..<3 {
      let before = star.received
      best = min(best, bestTime(of: 1) { star.run(for: span) })
      packets = star.received - before
    }
    let before = star.received
    allocated = allocations { star.run(for: span) }
    let perPacket =
      allocated.map { (Double($0) / Double(max(1, star.received - before))).rounded(to: 4) } ?? "not counted"
    let seconds = Double(span.nanoseconds) / 1e9
    let milliseconds = (Double(interval) * 1.25).rounded(to: 0)
    return Measurement(
      name: "\(count) connections at \(milliseconds) ms, 27 octets both ways at 1M",
      result: "\((seconds / best).rounded(to: 1)) × real time, \(perPacket) allocations per packet",
      aim: count == 20 ? "≥ 50 × real time, 0" : "0",
      method:
        "\(seconds.rounded(to: 0)) s of radio time, best of 3; \(Int(Double(packets) / seconds).grouped) packets a second arrived"
    )
  }
}

/// A central and its peripherals, connected, in a separate world.
private final class Star {
  private let engine: WorldEngine
  private let hosts: [StarHost]
  private let radios: [RadioID]

  init(count: Int, interval: UInt16) throws {
    let engine = WorldEngine(seed: 1)
    self.engine = engine
    hosts = (0...count).map { number in
      var configuration = ControllerConfiguration(address: Self.address(number), name: "device \(number)")
      configuration.aclBufferCount = 2 * count
      return StarHost(
        Controller(
          configuration: configuration, random: engine.generator.split(configuration.name), pool: engine.pool),
        pool: engine.pool)
    }
    radios = hosts.enumerated().map { number, host in
      engine.requestQueue.addDevice(
        radio: RadioProperties(position: GridPosition(metresX: number == 0 ? 0 : 2, y: 0, z: 0))
      ) { _, _ in host }
    }
    engine.settle()
    for number in 1...count {
      with(number) { $0.advertise() }
      with(0) { $0.connect(to: Self.address(number), interval: interval) }
      let end = engine.now + .seconds(20)
      while hosts[0].count < number || hosts[number].count < 1 {
        guard engine.step(until: end) else { throw DidNotHappen() }
      }
    }
    for number in hosts.indices { with(number) { $0.isStreaming = true } }
  }

  private static func address(_ number: Int) -> DeviceAddress { DeviceAddress(0xC0FF_EE00 + UInt64(number), .public) }

  private func with(_ number: Int, _ body: (StarHost) -> Void) {
    engine.with(radios[number]) { _ in body(hosts[number]) }
  }

  /// The packets that have arrived at all hosts.
  var received: Int { hosts.reduce(0) { $0 + $1.received } }

  func run(for span: TimeSpan) {
    let end = engine.now + span
    while engine.step(until: end) {}
    engine.passTime(to: end)
  }
}

/// A host that keeps two packets of 27 octets in flight on each of its connections. Confined to its world.
private final class StarHost: SimulatedDevice, @unchecked Sendable {
  private var controller: Controller
  private let pool: PacketPool
  private let payload = ByteSlice(Array(repeating: 0x5A, count: 27))
  private var handles: [HCI.ConnectionHandle] = []
  private var now = Instant.zero
  private(set) var received = 0
  var isStreaming = false {
    didSet {
      for handle in handles {
        send(on: handle)
        send(on: handle)
      }
      exchange()
    }
  }

  init(_ controller: consuming Controller, pool: PacketPool) {
    self.controller = controller
    self.pool = pool
    send(.setEventMask(HCI.EventMask(rawValue: .max)))
    send(.leSetEventMask(HCI.LEEventMask(rawValue: .max)))
  }

  /// The number of connections.
  var count: Int { handles.count }

  private func send(_ command: HCI.Command) {
    controller.receive(command.packet(in: pool), at: now)
    exchange()
  }

  private func send(on handle: HCI.ConnectionHandle) {
    controller.receive(.acl(HCI.ACLData(handle: handle, boundary: .firstNonFlushable, payload: payload)), at: now)
  }

  func advertise() {
    send(
      .leSetAdvertisingParameters(
        HCI.AdvertisingParameters(
          minimumInterval: 160, maximumInterval: 160, type: .connectableScannableUndirected, ownAddressType: .public)))
    send(.leSetAdvertisingEnable(true))
  }

  func connect(to peer: DeviceAddress, interval: UInt16) {
    send(
      .leCreateConnection(
        HCI.CreateConnection(
          scanInterval: 48, scanWindow: 48, usesAcceptList: false, peer: HCI.PeerAddress(peer), ownAddressType: .public,
          parameters: LinkParameters(
            minimumInterval: interval, maximumInterval: interval, latency: 0, supervisionTimeout: 400))))
  }

  // MARK: SimulatedDevice

  var deadline: Instant? { controller.deadline }

  func timeReached(_ now: Instant) {
    self.now = now
    controller.timeReached(now)
    exchange()
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    self.now = now
    controller.radio(event, at: now)
    exchange()
  }

  func takeRadioCommand() -> RadioCommand? { controller.takeRadioCommand() }
  func processRequests(at now: Instant) { self.now = now }
  var hasDelivery: Bool { false }
  func deliverNext() {}

  private func exchange() {
    while let packet = controller.takePacket() {
      switch packet {
      case .acl: received += 1
      case .event(let code, let parameters):
        guard let event = try? HCI.Event(code: code, parameters: parameters) else { continue }
        take(event)
      case .command: break
      }
    }
  }

  private func take(_ event: HCI.Event) {
    switch event {
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      if complete.status == .success { handles.append(complete.handle) }
    case .numberOfCompletedPackets(let packets):
      guard isStreaming else { return }
      for packet in packets { for _ in 0..<packet.count { send(on: packet.handle) } }
    default: break
    }
  }
}
