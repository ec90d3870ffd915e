import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// A perfect air: every packet arrives at its end at everybody who listened for it at its beginning, unless a test says
/// otherwise.
final class TestAir {
  /// A packet as it was sent.
  struct Transmission {
    let start: Instant
    let end: Instant
    let device: Int
    let channel: RadioChannel
    let modulation: Modulation
    var packet: AirPacket

    var isAdvertising: Bool { packet.accessAddress == LL.advertisingAccessAddress }
    var advertisingPDU: LL.AdvertisingPDU? {
      isAdvertising ? try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload) : nil
    }
    /// nil on the advertising channels.
    var dataHeader: LL.DataHeader? { isAdvertising ? nil : LL.DataHeader(rawValue: packet.header) }
    var controlPDU: LL.ControlPDU? {
      dataHeader?.llid == .control ? try? LL.ControlPDU(payload: packet.plainPayload ?? packet.payload) : nil
    }
  }

  enum Fate { case arrives, corrupt, lost }

  private enum RadioState {
    case idle
    case transmitting(Transmission)
    case listening(
      channel: RadioChannel, phy: PHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?, lock: Instant?)
  }

  /// `device` of what no controller sends.
  static let nobody = -1

  private(set) var now = Instant.zero
  private(set) var log: [Transmission] = []
  var devices: [TestDevice] = []
  private var radios: [RadioState] = []
  /// When each device has something to do, and of what kind: nobody is asked before.
  private var wakeUps: [(time: Instant, rank: Int)] = []
  /// What no controller sends, in order, of which `played` have begun; and what of it is on the air.
  private var script: [Transmission] = []
  private var played = 0
  private var strange: [Transmission] = []
  /// What becomes of a packet; it may be changed on its way.
  var fate: (inout Transmission) -> Fate = { _ in .arrives }

  func add(_ device: TestDevice) {
    device.air = self
    device.number = devices.count
    devices.append(device)
    radios.append(.idle)
    wakeUps.append((.distantFuture, 2))
  }

  func clearLog() { log.removeAll() }

  /// Has a packet on the air that none of the controllers sends, from `start` on.
  func play(_ packet: AirPacket, at start: Instant, on channel: ChannelIndex, _ modulation: Modulation = .le1M) {
    let transmission = Transmission(
      start: start, end: start + packet.airTime(modulation), device: Self.nobody, channel: channel.radioChannel,
      modulation: modulation, packet: packet)
    let index = script.lastIndex { $0.start <= start }.map { $0 + 1 } ?? 0
    script.insert(transmission, at: max(played, index))
  }

  func run(for span: TimeSpan) {
    let end = now + span
    refreshAll()
    while step(until: end) {}
    now = end
  }

  /// Runs until `condition` holds, at most for `limit`; says whether it came to hold.
  @discardableResult
  func run(until condition: () -> Bool, limit: TimeSpan = .seconds(10)) -> Bool {
    let end = now + limit
    refreshAll()
    while !condition() { if !step(until: end) { return false } }
    return true
  }

  private func step(until end: Instant) -> Bool {
    guard let index = wakeUps.indices.min(by: { wakeUps[$0] < wakeUps[$1] }) else { return false }
    let (time, rank) = wakeUps[index]
    if playNext(before: (time, rank), until: end) { return true }
    guard time <= end, time != .distantFuture else { return false }
    #expect(time >= now, "time runs backwards")
    now = max(now, time)
    switch (rank, radios[index]) {
    case (0, .transmitting(let transmission)):
      radios[index] = .idle
      refresh(index)
      ends(transmission)
      tell(index, .transmitted)
    case (1, .listening):
      radios[index] = .idle
      tell(index, .nothingReceived)
    default:
      devices[index].controller.timeReached(now)
      attend(to: index)
    }
    return true
  }

  /// Begins or ends a packet of the script, if that is what comes next.
  private func playNext(before next: (Instant, Int), until end: Instant) -> Bool {
    if let index = strange.indices.min(by: { strange[$0].end < strange[$1].end }), strange[index].end <= end,
      (strange[index].end, 0) < next, strange[index].end <= nextInScript?.start ?? .distantFuture
    {
      now = strange[index].end
      ends(strange.remove(at: index))
      return true
    }
    guard let first = nextInScript, first.start <= end, (first.start, 3) < next else { return false }
    now = first.start
    played += 1
    strange.append(first)
    begins(first)
    return true
  }

  private var nextInScript: Transmission? { played < script.count ? script[played] : nil }

  private func refresh(_ index: Int) {
    var next = (time: devices[index].controller.deadline ?? .distantFuture, rank: 2)
    switch radios[index] {
    case .transmitting(let transmission): if (transmission.end, 0) < next { next = (transmission.end, 0) }
    case .listening(_, _, _, _, let until?, nil): if (until, 1) < next { next = (until, 1) }
    case .listening, .idle: break
    }
    wakeUps[index] = next
  }

  /// Tests may have changed the devices behind the air's back.
  private func refreshAll() {
    for index in devices.indices { refresh(index) }
  }

  private func ends(_ sent: Transmission) {
    var transmission = sent
    log.append(sent)
    let fate = fate(&transmission)
    for index in radios.indices {
      guard case .listening(_, _, _, let crcInit, _, let lock) = radios[index], lock == sent.start,
        case .listening(sent.channel, sent.modulation.phy, sent.packet.accessAddress, _, _, _) = radios[index]
      else { continue }
      radios[index] = .idle
      if case .lost = fate {
        tell(index, .nothingReceived)
      } else {
        let isIntact = fate == .arrives && crcInit == sent.packet.crcInit
        tell(
          index,
          .received(
            transmission.packet, modulation: sent.modulation, start: sent.start, level: Decibel(-50), isIntact: isIntact
          ))
      }
    }
  }

  /// Whoever listens for it hears it from now on.
  private func begins(_ transmission: Transmission) {
    let (phy, accessAddress) = (transmission.modulation.phy, transmission.packet.accessAddress)
    for other in radios.indices where other != transmission.device {
      if case .listening(transmission.channel, phy, accessAddress, let crcInit, let until, nil) = radios[other] {
        radios[other] = .listening(
          channel: transmission.channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: until,
          lock: now)
        refresh(other)
      }
    }
  }

  private func tell(_ index: Int, _ event: RadioEvent) {
    devices[index].controller.radio(event, at: now)
    attend(to: index)
  }

  /// Does what the device wants of its radio, and lets its host see its packets.
  func attend(to index: Int) {
    while let command = devices[index].controller.takeRadioCommand() { obey(command, index) }
    devices[index].takePackets(at: now)
    while let command = devices[index].controller.takeRadioCommand() { obey(command, index) }
    refresh(index)
  }

  private func obey(_ command: RadioCommand, _ index: Int) {
    switch command {
    case .stop: radios[index] = .idle
    case .receive(let channel, let phy, let accessAddress, let crcInit, let until):
      if let until { #expect(until >= now, "listening would have ended before it begins") }
      // What begins now is heard whole.
      func isHeardWhole(_ other: Transmission) -> Bool {
        other.start == now && other.channel == channel && other.modulation.phy == phy
          && other.packet.accessAddress == accessAddress
      }
      let isBeginning =
        strange.contains(where: isHeardWhole)
        || radios.contains { if case .transmitting(let other) = $0 { isHeardWhole(other) } else { false } }
      radios[index] = .listening(
        channel: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: until,
        lock: isBeginning ? now : nil)
    case .transmit(let packet, let channel, let modulation, _):
      if case .transmitting = radios[index] { Issue.record("a packet was broken off") }
      let transmission = Transmission(
        start: now, end: now + packet.airTime(modulation), device: index, channel: channel,
        modulation: modulation, packet: packet)
      radios[index] = .transmitting(transmission)
      begins(transmission)
    }
  }
}

/// A controller and what its host has seen.
final class TestDevice {
  var controller: Controller
  let address: DeviceAddress
  let pool = PacketPool()
  private(set) var events: [HCI.Event] = []
  private(set) var data: [HCI.ACLData] = []
  /// What the host does at once when data comes.
  var onData: ((TestDevice, HCI.ACLData) -> Void)?
  /// What the host does at once when an event comes.
  var onEvent: ((TestDevice, HCI.Event) -> Void)?
  weak var air: TestAir?
  var number = 0

  init(_ name: String, address: UInt64, seed: UInt64 = 1, _ change: (inout ControllerConfiguration) -> Void = { _ in })
  {
    self.address = DeviceAddress(address, .public)
    var configuration = ControllerConfiguration(address: self.address, name: name)
    change(&configuration)
    controller = Controller(
      configuration: configuration, random: SplitGenerator(seed: seed).split(name), pool: pool)
  }

  var now: Instant { air?.now ?? .zero }

  /// Gives the controller a command; returns what the Command Complete or Command Status of it says.
  @discardableResult
  func send(_ command: HCI.Command) -> HCI.ErrorCode? { complete(command)?.status }

  /// Gives the controller a command; returns what its Command Complete, or its Command Status, returns.
  @discardableResult
  func complete(_ command: HCI.Command) -> HCI.ReturnParameters? {
    send(raw: command.packet(in: pool), opcode: command.opcode)
  }

  @discardableResult
  func send(raw packet: HCI.Packet, opcode: HCI.Opcode) -> HCI.ReturnParameters? {
    let before = events.count
    controller.receive(packet, at: now)
    air?.attend(to: number)
    for event in events[before...] {
      switch event {
      case .commandComplete(_, opcode, let result): return result
      case .commandStatus(let status, _, opcode): return .status(status)
      default: continue
      }
    }
    return nil
  }

  func send(_ payload: [UInt8], on handle: HCI.ConnectionHandle, boundary: HCI.ACLData.Boundary = .firstNonFlushable) {
    controller.receive(.acl(HCI.ACLData(handle: handle, boundary: boundary, payload: ByteSlice(payload))), at: now)
    air?.attend(to: number)
  }

  func takePackets(at now: Instant) {
    while let packet = controller.takePacket() {
      switch packet {
      case .event(let code, let parameters):
        do {
          let event = try HCI.Event(code: code, parameters: parameters)
          events.append(event)
          onEvent?(self, event)
        } catch {
          Issue.record("event \(code): \(error)")
        }
      case .acl(let acl):
        data.append(acl)
        onData?(self, acl)
      case .command: Issue.record("a command from a controller")
      }
    }
  }

  func clear() {
    events.removeAll()
    data.removeAll()
  }

  /// What a host sends before anything else.
  func start() {
    send(.reset)
    send(.setEventMask(HCI.EventMask(rawValue: .max)))
    send(.setEventMaskPage2(.authenticatedPayloadTimeoutExpired))
    send(.leSetEventMask(HCI.LEEventMask(rawValue: .max)))
    clear()
  }

  func advertise(_ type: HCI.AdvertisingType = .connectableScannableUndirected, data: [UInt8] = [2, 1, 6]) {
    #expect(
      send(
        .leSetAdvertisingParameters(
          HCI.AdvertisingParameters(
            minimumInterval: 160, maximumInterval: 160, type: type, ownAddressType: .public))) == .success)
    #expect(send(.leSetAdvertisingData(ByteSlice(data))) == .success)
    #expect(send(.leSetAdvertisingEnable(true)) == .success)
  }

  func scan(isActive: Bool = false, filterDuplicates: Bool = false) {
    #expect(
      send(
        .leSetScanParameters(
          HCI.ScanParameters(isActive: isActive, interval: 48, window: 48, ownAddressType: .public))) == .success)
    #expect(send(.leSetScanEnable(true, filterDuplicates: filterDuplicates)) == .success)
  }

  func connect(to peer: TestDevice, interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 200) {
    #expect(send(.leCreateConnection(.to(peer, interval: interval, latency: latency, timeout: timeout))) == .success)
  }

  var reports: [HCI.AdvertisingReport] {
    events.flatMap { event -> [HCI.AdvertisingReport] in
      if case .leAdvertisingReport(let reports) = event { Array(reports) } else { [] }
    }
  }

  var connectionCompletes: [HCI.ConnectionComplete] {
    events.compactMap { event in
      switch event {
      case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete): complete
      default: nil
      }
    }
  }

  var disconnections: [HCI.ErrorCode] {
    events.compactMap { if case .disconnectionComplete(_, _, let reason) = $0 { reason } else { nil } }
  }

  var completedPackets: Int {
    events.reduce(0) { sum, event in
      if case .numberOfCompletedPackets(let packets) = event {
        packets.reduce(sum) { $0 + Int($1.count) }
      } else {
        sum
      }
    }
  }
}

extension HCI.CreateConnection {
  static func to(_ peer: TestDevice, interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 200) -> Self {
    HCI.CreateConnection(
      scanInterval: 48, scanWindow: 48, usesAcceptList: false, peer: HCI.PeerAddress(peer.address),
      ownAddressType: .public,
      parameters: ConnectionParameters(
        minimumInterval: interval, maximumInterval: interval, latency: latency, supervisionTimeout: timeout))
  }
}

extension HCI.ReturnParameters {
  var isSuccess: Bool { status == .success }
}

/// A central and a peripheral, connected.
final class TestLink {
  let air = TestAir()
  let central: TestDevice
  let peripheral: TestDevice
  private(set) var centralHandle = HCI.ConnectionHandle(rawValue: 0)
  private(set) var peripheralHandle = HCI.ConnectionHandle(rawValue: 0)

  /// `isExtended`: made by the commands of extended advertising, so that both may go on using them.
  init(
    interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 200, isExtended: Bool = false,
    central changeCentral: (inout ControllerConfiguration) -> Void = { _ in },
    peripheral changePeripheral: (inout ControllerConfiguration) -> Void = { _ in },
    prepare: (TestDevice, TestDevice) -> Void = { _, _ in }
  ) throws {
    central = TestDevice("central", address: 0x1111_1111_1111, changeCentral)
    peripheral = TestDevice("peripheral", address: 0x2222_2222_2222, changePeripheral)
    air.add(central)
    air.add(peripheral)
    central.start()
    peripheral.start()
    prepare(central, peripheral)
    if isExtended {
      peripheral.send(.leSetExtendedAdvertisingParameters(.every100ms(0, .connectable)))
      peripheral.enable(0)
      central.connectExtended(to: peripheral, interval: interval, timeout: timeout)
    } else {
      peripheral.advertise()
      central.connect(to: peripheral, interval: interval, latency: latency, timeout: timeout)
    }
    air.run(until: { [central, peripheral] in
      !central.connectionCompletes.isEmpty && !peripheral.connectionCompletes.isEmpty
    })
    centralHandle = try #require(central.connectionCompletes.first).handle
    peripheralHandle = try #require(peripheral.connectionCompletes.first).handle
    central.clear()
    peripheral.clear()
  }

  /// Lets `count` connection events pass.
  func runEvents(_ count: Int64, interval: TimeSpan = .milliseconds(30)) { air.run(for: interval * count) }
}

extension TestLink {
  /// Has the central send `payload` as an LL Control PDU that its link layer knows nothing of, and returns what the
  /// peripheral's link layer says in the next events.
  func injectFromCentral(_ payload: [UInt8], events: Int64 = 3) -> [ByteSlice] {
    inject(payload, from: central, centralHandle, events: events)
  }

  func injectFromPeripheral(_ payload: [UInt8], events: Int64 = 3) -> [ByteSlice] {
    inject(payload, from: peripheral, peripheralHandle, events: events)
  }

  private func inject(
    _ payload: [UInt8], from device: TestDevice, _ handle: HCI.ConnectionHandle, events: Int64
  ) -> [ByteSlice] {
    let octets = ByteSlice(payload)
    air.fate = { transmission in
      if transmission.device == device.number, transmission.dataHeader?.llid == .start,
        transmission.packet.payload == octets
      {
        transmission.packet.header |= 0b11
      }
      return .arrives
    }
    air.clearLog()
    device.send(payload, on: handle)
    runEvents(events)
    air.fate = { _ in .arrives }
    var answers: [ByteSlice] = []
    var last: Bool?
    for sent in air.log where sent.device != device.number && sent.dataHeader?.llid == .control {
      // The same sequence number again is a retransmission.
      if sent.dataHeader?.sequenceNumber != last { answers.append(sent.packet.payload) }
      last = sent.dataHeader?.sequenceNumber
    }
    return answers
  }

  /// Whether data still goes both ways.
  func isAlive() -> Bool {
    central.clear()
    peripheral.clear()
    central.send([0xA1], on: centralHandle)
    peripheral.send([0xA2], on: peripheralHandle)
    air.run(for: .milliseconds(500))
    return central.data.map(\.payload) == [[0xA2]] && peripheral.data.map(\.payload) == [[0xA1]]
  }
}

/// Tests look at connections in copies; the controller never does.
extension ConnectionTable: RandomAccessCollection {
  public var startIndex: Int { indices.lowerBound }
  public var endIndex: Int { indices.upperBound }
}
