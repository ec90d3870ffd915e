import BluetoothHost
import BluetoothWire

/// A host above a controller that answers each command correctly and also sends any given packets.
package struct FuzzHost {
  package let pool = PacketPool()
  package private(set) var host: Host
  package var now = Instant.zero
  /// The packets that the host has sent since the test last read them.
  package var data: [HCI.ACLData] = []
  /// The number of next commands that get no answer.
  package var unansweredCommands = 0

  package init() {
    let address = DeviceAddress(0xC0_00_00_00_00_01, .random)
    host = Host(
      configuration: HostConfiguration(deviceName: "Fuzz", address: address), random: RandomStream(seed: 1),
      pool: pool)
    perform { host, now in host.setPower(true, at: now) }
  }

  package mutating func perform(_ action: (inout Host, Instant) -> Void) {
    action(&host, now)
    run()
  }

  package mutating func receive(_ packet: HCI.Packet) {
    host.receive(packet, at: now)
    run()
  }

  package mutating func receive(_ event: HCI.Event) { receive(event.packet(in: pool)) }

  package mutating func receive(
    _ octets: ByteSlice, on handle: HCI.ConnectionHandle, _ boundary: HCI.ACLData.Boundary = .firstFlushable
  ) {
    receive(.acl(HCI.ACLData(handle: handle, boundary: boundary, payload: octets)))
  }

  /// Advances the time; each deadline of the host must be later than the previous one.
  package mutating func pass(_ span: TimeSpan) {
    let end = now + span
    var steps = 0
    while let deadline = host.deadline, deadline <= end {
      now = max(now, deadline)
      host.timeReached(now)
      run()
      steps += 1
      precondition(steps < 1_000, "time stands still")
    }
    now = end
  }

  package mutating func link(
    _ role: Link.Role, _ handle: HCI.ConnectionHandle, _ peer: DeviceAddress
  ) {
    receive(
      .leConnectionComplete(
        HCI.ConnectionComplete(
          status: .success, handle: handle, role: role.rawValue, peer: HCI.PeerAddress(peer),
          values: HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200), centralClockAccuracy: 0)))
  }

  /// Stops the program unless the host accepts a connection and answers a read after it is switched off and on.
  package mutating func expectSound() {
    unansweredCommands = 0
    perform { host, now in host.setPower(false, at: now) }
    pass(.seconds(60))
    perform { host, now in host.setPower(true, at: now) }
    pass(.seconds(60))
    let handle = HCI.ConnectionHandle(rawValue: 0x0E77)
    link(.peripheral, handle, DeviceAddress(0xC0_00_00_00_0E_1D, .random))
    precondition(host.links.map(\.handle) == [handle], "a link does not come about")
    data.removeAll()
    receive([3, 0, 4, 0, 0x0A, 0x03, 0x00], on: handle)
    precondition(data.map(\.payload) == [ByteSlice([5, 0, 4, 0, 0x0B] + Array("Fuzz".utf8))], "a read is not answered")
  }

  private mutating func run() {
    while let packet = host.takePacket() {
      switch packet {
      case .command(let opcode, let parameters):
        guard let command = try? HCI.Command(opcode: opcode, parameters: parameters) else {
          preconditionFailure("\(opcode) can't be read")
        }
        guard unansweredCommands == 0 else {
          unansweredCommands -= 1
          continue
        }
        host.receive(answer(to: command).packet(in: pool), at: now)
      case .acl(let packet): data.append(packet)
      case .event: preconditionFailure("a host sends no events")
      }
    }
    while host.takeEvent() != nil {}
  }

  private func answer(to command: HCI.Command) -> HCI.Event {
    let opcode = command.opcode
    let longest = HCI.DataLength(octets: 251, time: 2120)
    let result: HCI.ReturnParameters
    switch command {
    case .readLocalSupportedCommands: result = .localSupportedCommands(HCI.SupportedCommands(Self.served))
    case .readLocalSupportedFeatures: result = .localSupportedFeatures([.bredrNotSupported, .leSupported])
    case .readBDADDR: result = .bdADDR(0x1122_3344_5566)
    case .leReadLocalSupportedFeatures: result = .leLocalSupportedFeatures([.encryption, .dataPacketLengthExtension])
    case .leReadBufferSize: result = .leBufferSize(aclLength: 251, aclCount: 8)
    case .leReadFilterAcceptListSize: result = .leFilterAcceptListSize(4)
    case .leReadMaximumDataLength: result = .leMaximumDataLength(transmit: longest, receive: longest)
    case .readRSSI(let handle): result = .rssi(handle, -40)
    case .leSetDataLength(let handle, _), .leLongTermKeyRequestNegativeReply(let handle),
      .leRemoteConnectionParameterRequestReply(let handle, _, _),
      .leRemoteConnectionParameterRequestNegativeReply(let handle, _):
      result = .handle(.success, handle)
    case .leCreateConnection, .disconnect, .leConnectionUpdate, .leReadRemoteFeatures, .leSetPHY:
      return .commandStatus(.success, credits: 1, opcode)
    default: result = .status(.success)
    }
    return .commandComplete(credits: 1, opcode, result)
  }

  private static let served: [HCI.Opcode] = [
    .disconnect, .setEventMask, .reset, .readLocalSupportedFeatures, .readBDADDR, .readRSSI, .leSetEventMask,
    .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress, .leSetAdvertisingParameters,
    .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable,
    .leCreateConnection, .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
    .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate, .leSetDataLength,
    .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength,
  ]
}
