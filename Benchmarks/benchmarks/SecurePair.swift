import BluetoothController
import BluetoothHost
import BluetoothRadio
import BluetoothWire

/// Two complete devices in a separate world: each is a host on its controller, which connects whenever it has no link.
final class SecurePair {
  let engine = WorldEngine(seed: 1)
  let central: SecureHost
  let peripheral: SecureHost
  private let radios: [RadioID]

  init() throws {
    let engine = engine
    central = try SecureHost(.central, in: engine)
    peripheral = try SecureHost(.peripheral, in: engine)
    radios = [central, peripheral].enumerated().map { index, host in
      engine.requestQueue.addDevice(
        radio: RadioProperties(position: GridPosition(metresX: 2 * Double(index), y: 0, z: 0))
      ) { _, _ in host }
    }
    engine.settle()
    try run { central.isConnected && peripheral.isConnected }
    // The hosts finish their own requests on the new link.
    pass(.seconds(2))
  }

  func with(_ host: SecureHost, _ body: (SecureHost) -> Void) {
    engine.with(radios[host === central ? 0 : 1]) { _ in body(host) }
  }

  func run(limit: TimeSpan = .seconds(1_000), until condition: () -> Bool) throws {
    let end = engine.now + limit
    while !condition() { guard engine.step(until: end) else { throw DidNotHappen() } }
  }

  func pass(_ span: TimeSpan) {
    let end = engine.now + span
    while engine.step(until: end) {}
    engine.passTime(to: end)
  }

  /// Pairs the two devices: from the central's request until both have stored the bond.
  func pair() throws {
    let before = (central.pairings, peripheral.pairings)
    with(central) { $0.secure() }
    try run { central.pairings > before.0 && peripheral.pairings > before.1 }
  }

  /// Deletes the bonds of both devices, which ends the link, and waits until the devices are connected again.
  func forget() throws {
    let links = central.links
    with(central) { $0.forget() }
    with(peripheral) { $0.forget() }
    try meet(after: links)
  }

  /// Disconnects the link.
  func part() throws {
    with(central) { $0.disconnect() }
    try run { !central.isConnected }
  }

  /// Waits for a new link and for the end of the hosts' own requests on it.
  func meet(after links: Int) throws {
    try run { central.links > links && peripheral.isConnected }
    pass(.seconds(2))
  }

  func subscribe() throws {
    with(central) { $0.subscribe() }
    try run { peripheral.isSubscribed }
  }
}

/// A host that reads or notifies at the maximum rate. Confined to its world.
final class SecureHost: SimulatedDevice, @unchecked Sendable {
  private static let addresses = [
    DeviceAddress(0xC0FF_EE00_0001, .random), DeviceAddress(0xC0FF_EE00_0002, .random),
  ]

  private let role: Link.Role
  private var controller: Controller
  private var host: Host
  private let value: AttributeHandle
  /// The handle of the value that needs an encrypted link.
  private let secret: AttributeHandle
  private let notification = ByteSlice(Array(repeating: 0x5A, count: 244))
  private var handle: HCI.ConnectionHandle?
  private var hasStarted = false
  private var now = Instant.zero

  /// The number of links so far.
  private(set) var links = 0
  private(set) var pairings = 0
  private(set) var reads = 0
  private(set) var values = 0
  private(set) var isSubscribed = false
  /// True if the host reads the protected value as soon as there is a link.
  var readsAtOnce = false
  var isStreaming = false {
    didSet { if isStreaming { for _ in 0..<8 { notify() } } }
  }

  init(_ role: Link.Role, in engine: WorldEngine) throws {
    self.role = role
    let name = role == .central ? "central" : "peripheral"
    let generator = engine.generator.split(name)
    controller = Controller(
      configuration: ControllerConfiguration(
        address: DeviceAddress(0x02_0000_0000 + UInt64(role.rawValue), .public), name: name),
      random: generator.split("controller"), pool: engine.pool)
    var host = Host(
      configuration: HostConfiguration(deviceName: name, address: Self.addresses[Int(role.rawValue)]),
      random: generator.split("host"), pool: engine.pool)
    let placement = try host.addService(
      GATTServiceDefinition(
        uuid: 0x180D, isPrimary: true, includes: [],
        characteristics: [
          GATTCharacteristicDefinition(uuid: 0x2A37, properties: .notify, permissions: [], value: nil),
          GATTCharacteristicDefinition(
            uuid: 0x2A38, properties: .read, permissions: [.readable, .readEncryptionRequired],
            value: ByteSlice(Array(repeating: 0xA5, count: 20))),
        ]), at: .zero
    ).get()
    value = placement.values[0]
    secret = placement.values[1]
    self.host = host
    deadline = .zero
  }

  var isConnected: Bool { handle != nil }
  var isEncrypted: Bool { handle.map { host.security(of: $0).level > .none } ?? false }

  func secure() {
    if let handle { host.secure(handle, .encrypted, at: now) }
    exchange()
  }

  func forget() {
    for bond in host.bonds { host.removeBond(bond.identity, at: now) }
    exchange()
  }

  func disconnect() {
    if let handle { host.disconnect(handle, at: now) }
    exchange()
  }

  func subscribe() {
    if let handle { host.request(.write(value + 1, [1, 0]), token: 0, on: handle, at: now) }
    exchange()
  }

  private func notify() {
    if let handle { host.update(value, with: notification, on: handle, at: now) }
    exchange()
  }

  // MARK: SimulatedDevice

  private(set) var deadline: Instant?

  func timeReached(_ now: Instant) {
    self.now = now
    if !hasStarted {
      hasStarted = true
      host.setPower(true, at: now)
    }
    if let deadline = controller.deadline, deadline <= now { controller.timeReached(now) }
    if let deadline = host.deadline, deadline <= now { host.timeReached(now) }
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

  // MARK: Host and controller

  private func exchange() {
    takeEvents()
    while true {
      if let packet = host.takePacket() {
        controller.receive(packet, at: now)
      } else if let packet = controller.takePacket() {
        host.receive(packet, at: now)
        takeEvents()
      } else {
        break
      }
    }
    deadline = earliest(controller.deadline, host.deadline)
  }

  private func takeEvents() {
    while let event = host.takeEvent() { take(event) }
  }

  private func take(_ event: HostEvent) {
    switch event {
    case .gatt(_, .valueReceived): values += 1
    case .gatt(let handle, .updateSent):
      if isStreaming { host.update(value, with: notification, on: handle, at: now) }
    case .gatt(_, .completed(1, .success)): reads += 1
    case .gatt(_, .subscriptionChanged(_, let subscription)): isSubscribed = !subscription.isEmpty
    case .powerChanged(.on): meet()
    case .connected(let link):
      handle = link.handle
      links += 1
      if readsAtOnce { host.request(.read(secret), token: 1, on: link.handle, at: now) }
    case .disconnected:
      handle = nil
      meet()
    case .security(let handle, .prompt): host.answer(.yes, on: handle, at: now)
    case .security(_, .paired): pairings += 1
    default: break
    }
  }

  private func meet() {
    switch role {
    case .central: host.connect(to: Self.addresses[1], at: now)
    case .peripheral: host.startAdvertising(data: [], scanResponse: [], at: now)
    }
  }
}
