import BluetoothHost
import BluetoothWire

/// A host with one link to a simulated peer, and the host's channel signals and events.
///
/// It stops the program if the host reuses a signalling identifier or a channel's CID that is still in use.
package struct FuzzChannelHost {
  package let pool = PacketPool()
  package let handle = HCI.ConnectionHandle(rawValue: 1)
  package private(set) var now = Instant.zero
  /// The packets in the host's controller.
  package private(set) var data: [HCI.ACLData] = []
  /// The SDUs that have arrived and are not acknowledged.
  package var sdus: [(channel: L2CAP.ChannelID, octets: ByteSlice)] = []
  /// The open channels, in the order in which they opened.
  package private(set) var open: [L2CAP.ChannelID] = []
  private var host: Host
  /// True if the peer has violated the rules of ATT, or has not answered.
  private var isDisconnecting = false
  /// The requests that the peer has not answered.
  private var requests: [UInt8: L2CAP.SignalContent] = [:]

  package init(_ role: Link.Role, _ number: UInt64) {
    host = Host(
      configuration: HostConfiguration(
        deviceName: "Fuzz", address: DeviceAddress(0xC0_00_00_00_00_00 + number, .random)),
      random: RandomStream(seed: number), pool: pool)
    perform { host, now in host.setPower(true, at: now) }
    let peer = DeviceAddress(0xC0_00_00_00_01_00 + number, .random)
    if role == .central { perform { host, now in host.connect(to: peer, at: now) } }
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    receive(
      .leConnectionComplete(
        HCI.ConnectionComplete(
          status: .success, handle: handle, role: role.rawValue, peer: HCI.PeerAddress(peer), values: values,
          centralClockAccuracy: 0)))
    let length = HCI.DataLength(octets: 251, time: 2120)
    receive(.leDataLengthChange(handle, transmit: length, receive: length))
    precondition(host.links.count == 1, "no link")
    // A central starts the MTU exchange as soon as there is a link.
    if role == .central { receive([0x03, 23, 0], on: .attribute) }
    completeAll()
  }

  package mutating func perform<R>(_ action: (inout Host, Instant) -> R) -> R {
    defer { run() }
    return action(&host, now)
  }

  package mutating func receive(_ event: HCI.Event) {
    perform { [pool] host, now in host.receive(event.packet(in: pool), at: now) }
  }

  /// Delivers a packet of the peer.
  package mutating func receive(_ octets: ByteSlice, _ boundary: HCI.ACLData.Boundary = .firstFlushable) {
    noteAnswer(octets)
    perform { [handle] host, now in
      host.receive(.acl(HCI.ACLData(handle: handle, boundary: boundary, payload: octets)), at: now)
    }
  }

  /// Delivers a whole frame of the peer.
  package mutating func receive(_ payload: ByteSlice, on channel: L2CAP.ChannelID) {
    var writer = ByteWriter(pool, capacity: payload.count)
    writer.append(payload)
    receive(writer.finishFrame(on: channel))
  }

  /// Completes the oldest packet and returns it; nil: there is none.
  package mutating func complete() -> HCI.ACLData? {
    guard !data.isEmpty else { return nil }
    let packet = data.removeFirst()
    receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 1, in: pool)))
    return packet
  }

  package mutating func completeAll() { while complete() != nil {} }

  /// Advances the time, so that timeouts expire.
  package mutating func pass(_ span: TimeSpan) {
    requests.removeAll()
    let end = now + span
    var steps = 0
    while let deadline = host.deadline, deadline <= end {
      now = max(now, deadline)
      perform { host, now in host.timeReached(now) }
      steps += 1
      precondition(steps < 1_000, "time stands still")
    }
    now = end
    requests.removeAll()
  }

  package mutating func acknowledgeAll() {
    while let sdu = sdus.popLast() {
      perform { [handle] host, now in host.acknowledge(sdu.channel, on: handle, at: now) }
    }
  }

  /// Stops the program unless the host answers a read and has released all memory that it does not need.
  package mutating func expectSound() {
    completeAll()
    guard !isDisconnecting else { return }
    receive([0x0A, 3, 0], on: .attribute)
    var isAnswered = false
    while let packet = complete() {
      isAnswered = isAnswered || packet.payload.bytes.dropFirst(2).starts(with: [4, 0, 0x0B])
    }
    precondition(isAnswered, "a read is not answered")
    precondition(pool.count < 1_500, "\(pool.count) packets are kept")
  }

  // MARK: Output

  private mutating func run() {
    while let packet = host.takePacket() {
      switch packet {
      case .command(let opcode, let parameters):
        guard let command = try? HCI.Command(opcode: opcode, parameters: parameters) else {
          preconditionFailure("\(opcode) can't be read")
        }
        if opcode == .disconnect { isDisconnecting = true }
        host.receive(answer(to: command).packet(in: pool), at: now)
      case .acl(let packet):
        data.append(packet)
        precondition(data.count <= 8, "more packets than the controller takes")
        if packet.boundary != .continuing { noteRequest(packet.payload) }
      case .event: preconditionFailure("a host sends no events")
      }
    }
    while let event = host.takeEvent() {
      guard case .channel(_, let event) = event else { continue }
      switch event {
      case .opened(let channel, _):
        precondition(!open.contains(channel.id), "\(channel.id) is open twice")
        open.append(channel.id)
        precondition(open.count <= 64, "more channels than there are")
      case .closed(let id, _):
        precondition(open.contains(id), "\(id) was not open")
        open.removeAll { $0 == id }
      case .received(let id, let sdu):
        precondition(open.contains(id), "an SDU without a channel")
        precondition(!sdu.isEmpty, "an SDU without octets")
        sdus.append((id, sdu))
      default: break
      }
    }
  }

  private func signal(_ octets: ByteSlice) -> L2CAP.Signal? {
    guard let frame = try? L2CAP.Frame(octets), frame.channel == .signalling else { return nil }
    return try? L2CAP.Signal(frame.payload)
  }

  private mutating func noteRequest(_ octets: ByteSlice) {
    guard let signal = signal(octets) else { return }
    switch signal.content {
    case .disconnectionResponse(let destination, let source):
      // The peer's request replaces the answer to this side's own request for the same channel.
      requests = requests.filter { $0.value != .disconnectionRequest(destination: source, source: destination) }
    case .leCreditBasedConnectionRequest, .creditBasedConnectionRequest, .creditBasedReconfigureRequest,
      .disconnectionRequest, .connectionParameterUpdateRequest:
      precondition(requests[signal.identifier] == nil, "identifier \(signal.identifier) is in use")
      requests[signal.identifier] = signal.content
    case .flowControlCreditIndication:
      precondition(requests[signal.identifier] == nil, "identifier \(signal.identifier) is in use")
    default: break
    }
  }

  private mutating func noteAnswer(_ octets: ByteSlice) {
    guard octets.count > 5 else { return }
    requests[octets[5]] = nil
  }

  private func answer(to command: HCI.Command) -> HCI.Event {
    let longest = HCI.DataLength(octets: 251, time: 2120)
    let result: HCI.ReturnParameters
    switch command {
    case .readLocalSupportedCommands: result = .localSupportedCommands(HCI.SupportedCommands(Self.served))
    case .readLocalSupportedFeatures: result = .localSupportedFeatures([.bredrNotSupported, .leSupported])
    case .leReadLocalSupportedFeatures: result = .leLocalSupportedFeatures([.dataPacketLengthExtension])
    case .leReadBufferSize: result = .leBufferSize(aclLength: 251, aclCount: 8)
    case .leReadFilterAcceptListSize: result = .leFilterAcceptListSize(4)
    case .leReadMaximumDataLength: result = .leMaximumDataLength(transmit: longest, receive: longest)
    case .leSetDataLength(let handle, _): result = .handle(.success, handle)
    case .leCreateConnection, .disconnect, .leConnectionUpdate:
      return .commandStatus(.success, credits: 1, command.opcode)
    default: result = .status(.success)
    }
    return .commandComplete(credits: 1, command.opcode, result)
  }

  private static let served: [HCI.Opcode] = [
    .disconnect, .setEventMask, .reset, .readLocalSupportedFeatures, .leSetEventMask, .leReadBufferSize,
    .leReadLocalSupportedFeatures, .leSetRandomAddress, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
    .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
    .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate, .leSetDataLength,
    .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength,
  ]
}
