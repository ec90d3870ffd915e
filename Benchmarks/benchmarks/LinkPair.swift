import BluetoothController
import BluetoothRadio
import BluetoothWire

/// Two connected controllers in a separate world.
final class LinkPair {
  let engine: WorldEngine
  let central: LinkHost
  let peripheral: LinkHost
  private let radios: [RadioID]

  init(interval: UInt16, distance: Double = 2, assessesChannels: Bool = true) throws {
    let engine = WorldEngine(seed: 1)
    self.engine = engine
    let hosts = ["central", "peripheral"].enumerated().map { index, name in
      var configuration = ControllerConfiguration(
        address: DeviceAddress(0xC0FF_EE00 + UInt64(index), .public), name: name)
      configuration.assessesChannels = assessesChannels
      return LinkHost(
        Controller(configuration: configuration, random: engine.generator.split(name), pool: engine.pool),
        pool: engine.pool)
    }
    (central, peripheral) = (hosts[0], hosts[1])
    radios = hosts.enumerated().map { index, host in
      engine.requestQueue.addDevice(
        radio: RadioProperties(position: GridPosition(metresX: distance * Double(index), y: 0, z: 0))
      ) { _, _ in host }
    }
    engine.settle()
    with(peripheral) { $0.advertise() }
    with(central) { $0.connect(to: DeviceAddress(0xC0FF_EE01, .public), interval: interval) }
    try run { central.handle != nil && peripheral.handle != nil }
    run(for: .seconds(1))
  }

  func with(_ host: LinkHost, _ body: (LinkHost) -> Void) {
    engine.with(radios[host === central ? 0 : 1]) { _ in body(host) }
  }

  func disturb(_ source: InterferenceSource) { engine.interference.append(source) }

  func change(to phy: RadioPHY) throws {
    guard phy != .le1M else { return }
    with(central) { $0.setPHY(phy) }
    try run { central.phy == phy && peripheral.phy == phy }
  }

  func encrypt() throws {
    with(central) { $0.encrypt() }
    try run { central.isEncrypted && peripheral.isEncrypted }
  }

  func run(for span: TimeSpan) {
    let end = engine.now + span
    while engine.step(until: end) {}
    engine.passTime(to: end)
  }

  private func run(until condition: () -> Bool) throws {
    let end = engine.now + .seconds(20)
    while !condition() { guard engine.step(until: end) else { throw DidNotHappen() } }
  }
}

/// A minimal host that connects and sends as many packets as its controller accepts. Confined to its world.
final class LinkHost: SimulatedDevice, @unchecked Sendable {
  private static let key = UInt128(0x1234_5678)
  private var controller: Controller
  private let pool: PacketPool
  /// An L2CAP PDU of 251 octets.
  private let payload = ByteSlice(Array(repeating: 0x5A, count: 251))
  private var credits = 8
  private(set) var handle: HCI.ConnectionHandle?
  private(set) var phy = RadioPHY.le1M
  private(set) var isEncrypted = false
  private(set) var now = Instant.zero
  /// The number of L2CAP PDUs that have arrived completely.
  private(set) var received = 0
  var isStreaming = false { didSet { exchange() } }

  init(_ controller: consuming Controller, pool: PacketPool) {
    self.controller = controller
    self.pool = pool
    send(.setEventMask(HCI.EventMask(rawValue: .max)))
    send(.leSetEventMask(HCI.LEEventMask(rawValue: .max)))
    send(.leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 251, time: 2_120)))
  }

  var statistics: ConnectionStatistics {
    handle.flatMap { controller.linkStatistics(of: $0) } ?? ConnectionStatistics()
  }
  private(set) var usedChannels = 37

  func readChannels() {
    if let handle { send(.leReadChannelMap(handle)) }
  }

  private func send(_ command: HCI.Command) {
    controller.receive(command.packet(in: pool), at: now)
    exchange()
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

  func setPHY(_ phy: RadioPHY) {
    guard let handle else { return }
    let phys = HCI.PHYs(phy)
    send(.leSetPHY(handle, HCI.PHYPreference(transmit: phys, receive: phys), options: 0))
  }

  func encrypt() {
    guard let handle else { return }
    send(.leEnableEncryption(handle, random: 1, encryptedDiversifier: 2, longTermKey: Self.key))
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
    while true {
      while let packet = controller.takePacket() { take(packet) }
      guard isStreaming, credits > 0, let handle else { return }
      credits -= 1
      controller.receive(
        .acl(HCI.ACLData(handle: handle, boundary: .firstNonFlushable, payload: payload)), at: now)
    }
  }

  private func take(_ packet: HCI.Packet) {
    switch packet {
    case .acl(let data): if data.boundary != .continuing { received += 1 }
    case .event(let code, let parameters):
      guard let event = try? HCI.Event(code: code, parameters: parameters) else { return }
      take(event)
    case .command: break
    }
  }

  private func take(_ event: HCI.Event) {
    switch event {
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      if complete.status == .success { handle = complete.handle }
    case .numberOfCompletedPackets(let packets): for packet in packets { credits += Int(packet.count) }
    case .lePHYUpdateComplete(.success, _, let transmit, _): phy = RadioPHY(rawValue: transmit) ?? phy
    case .commandComplete(_, _, .leChannelMap(_, let channels)): usedChannels = channels.nonzeroBitCount
    case .encryptionChange(.success, _, let enabled): isEncrypted = enabled != 0
    case .leLongTermKeyRequest(let handle, _, _): send(.leLongTermKeyRequestReply(handle, longTermKey: Self.key))
    default: break
    }
  }
}
