import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// A host with a scripted controller, and a record of every packet that passed between them.
struct HostHarness {
  static let servedCommands =
    ScriptedController.commands + [.leSetDataLength, .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength]

  static let address = DeviceAddress(0xC0_00_00_00_00_01, .random)
  static let peer = DeviceAddress(0xC0_00_00_00_00_02, .random)
  static let publicAddress: UInt64 = 0x11_22_33_44_55_66

  let pool = PacketPool()
  var host: Host
  var now = Instant.zero
  /// The facts that the controller, a current one, reports during start-up.
  var facts = ScriptedController(
    supporting: [.leSetDataLength, .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength],
    publicAddress: HostHarness.publicAddress,
    leFeatures: [.encryption, .dataPacketLengthExtension, .connectionParametersRequestProcedure])
  /// The answers that replace the usual ones, by opcode.
  var answers: [HCI.Opcode: ScriptedController.Answer] = [:]
  /// The commands that the host has sent; `powerOn` removes those of the start-up.
  var commands: [HCI.Command] = []
  /// The ACL packets that the host has sent.
  var data: [HCI.ACLData] = []
  var events: [HostEvent] = []

  init(
    configuration: HostConfiguration = HostConfiguration(deviceName: "Bench", address: HostHarness.address),
    seed: UInt64 = 1
  ) {
    host = Host(configuration: configuration, random: RandomStream(seed: seed), pool: pool)
  }

  /// Takes the host's packets and answers its commands until the host has nothing more to send.
  mutating func run() {
    while let packet = host.takePacket() {
      switch packet {
      case .command(let opcode, let parameters):
        guard let command = try? HCI.Command(opcode: opcode, parameters: parameters) else {
          Issue.record("\(opcode) can't be read")
          continue
        }
        commands.append(command)
        let answer = answers[opcode] ?? facts.answer(command)
        if let event = ScriptedController.event(answer, to: opcode) { send(event) }
      case .acl(let packet): data.append(packet)
      case .event: Issue.record("a host sends no events")
      }
    }
    while let event = host.takeEvent() { events.append(event) }
  }

  /// Passes an event of the controller to the host.
  mutating func send(_ event: HCI.Event) {
    host.receive(event.packet(in: pool), at: now)
  }

  mutating func receive(_ event: HCI.Event) {
    send(event)
    run()
  }

  mutating func receive(
    _ octets: [UInt8], on handle: HCI.ConnectionHandle, _ boundary: HCI.ACLData.Boundary = .firstFlushable
  ) {
    host.receive(.acl(HCI.ACLData(handle: handle, boundary: boundary, payload: ByteSlice(octets))), at: now)
    run()
  }

  /// Passes a frame of the peer to the host, in one packet.
  mutating func receive(_ channel: L2CAP.ChannelID, _ payload: [UInt8], on handle: HCI.ConnectionHandle) {
    receive(HostHarness.frame(channel, payload), on: handle)
  }

  static func frame(_ channel: L2CAP.ChannelID, _ payload: [UInt8]) -> [UInt8] {
    let header = [UInt16(payload.count), channel.rawValue]
    return header.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] } + payload
  }

  mutating func perform(_ action: (inout Host, Instant) -> Void) {
    action(&host, now)
    run()
  }

  /// Advances the time to the host's next deadline.
  mutating func passToDeadline() {
    guard let deadline = host.deadline else {
      Issue.record("the host waits for nothing")
      return
    }
    now = deadline
    host.timeReached(now)
    run()
  }

  mutating func powerOn() {
    perform { host, now in host.setPower(true, at: now) }
    forget()
  }

  mutating func forget() {
    commands.removeAll()
    data.removeAll()
    events.removeAll()
  }

  /// Completes a link: one that the host requested as central, or one that a central created.
  @discardableResult
  mutating func link(_ role: Link.Role, handle number: UInt16 = 0x40, to peer: DeviceAddress = HostHarness.peer)
    -> HCI.ConnectionHandle
  {
    if role == .central { perform { host, now in host.connect(to: peer, at: now) } }
    let handle = HCI.ConnectionHandle(rawValue: number)
    receive(.leConnectionComplete(HostHarness.connection(role, handle, peer)))
    if role == .central { receive(HostHarness.signOfLife(handle)) }
    return handle
  }

  /// The event which shows that the peer has received the central's packets.
  static func signOfLife(_ handle: HCI.ConnectionHandle) -> HCI.Event {
    let length = HCI.DataLength(octets: 251, time: 2120)
    return .leDataLengthChange(handle, transmit: length, receive: length)
  }

  static func connection(_ role: Link.Role, _ handle: HCI.ConnectionHandle, _ peer: DeviceAddress)
    -> HCI.ConnectionComplete
  {
    HCI.ConnectionComplete(
      status: .success, handle: handle, role: role.rawValue, peer: HCI.PeerAddress(peer),
      values: HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200), centralClockAccuracy: 0)
  }

  /// Reports all packets in the controller as completed.
  mutating func completeAll() {
    while !data.isEmpty {
      let packets = data
      data.removeAll()
      for packet in packets {
        receive(.numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: pool)))
      }
    }
  }

  /// Returns the frames that the host's packets contain, reassembled.
  func frames(on handle: HCI.ConnectionHandle) throws -> [L2CAP.Frame] {
    var frames: [[UInt8]] = []
    for packet in data where packet.handle == handle {
      if packet.boundary == .continuing, !frames.isEmpty {
        frames[frames.count - 1] += packet.payload.bytes
      } else {
        frames.append(packet.payload.bytes)
      }
    }
    return try frames.map { try L2CAP.Frame(ByteSlice($0)) }
  }

  func payloads(on handle: HCI.ConnectionHandle, _ channel: L2CAP.ChannelID) throws -> [[UInt8]] {
    try frames(on: handle).filter { $0.channel == channel }.map(\.payload.bytes)
  }

  // MARK: Events

  var powerChanges: [PowerState] {
    events.compactMap { if case .powerChanged(let state) = $0 { state } else { nil } }
  }
  var advertisingAnswers: [HostError?] {
    events.compactMap { if case .advertisingStarted(let error) = $0 { error } else { nil } }
  }
  var links: [Link] {
    events.compactMap { if case .connected(let link) = $0 { link } else { nil } }
  }
  var disconnections: [HCI.ErrorCode] {
    events.compactMap { if case .disconnected(_, let reason) = $0 { reason } else { nil } }
  }
  var failures: [HCI.ErrorCode] {
    events.compactMap { if case .connectionFailed(_, let reason) = $0 { reason } else { nil } }
  }
  var levels: [Result<Int8, HostError>] {
    events.compactMap { if case .rssiRead(_, let level) = $0 { level } else { nil } }
  }
}
