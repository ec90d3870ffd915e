import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Four hosts that send random commands, most of them permitted and some not.
private final class RandomWalk {
  let air: PerfectAir
  let hosts: [WalkHost]
  private var generator: RandomStream

  init(seed: UInt64) {
    generator = RandomStream(seed: seed)
    let air = PerfectAir()
    self.air = air
    hosts = (0..<4).map { WalkHost($0, on: air, isExtended: seed % 2 == 1) }
  }

  private func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

  private func peer(of host: WalkHost) -> WalkHost {
    hosts[(host.device.number + number(1...3)) % hosts.count]
  }

  func step() {
    let host = hosts[number(0...3)]
    switch number(0...19) {
    case 0...4: advertise(host)
    case 5...8: connect(host)
    case 9: scan(host)
    case 10: host.send(.leCreateConnectionCancel)
    case 11: stumble(host)
    case 12: if number(0...9) == 0 { host.restart() }
    default: useLink(of: host)
    }
    air.run(for: .milliseconds(Int64(number(0...120))))
    for host in hosts { host.device.clear() }
  }

  private func advertise(_ host: WalkHost) {
    let isOn = UInt8(number(0...3) == 0 ? 0 : 1)
    if host.isExtended {
      let set = UInt8(number(0...1))
      var parameters = CommandTable.advertisingSet
      parameters[0] = set
      let properties: [UInt8] = [1, 0x13, 0, 2]
      parameters[1] = properties[number(0...3)]
      host.send(.leSetExtendedAdvertisingParameters, parameters)
      host.send(.leSetExtendedAdvertisingEnable, [isOn, 1, set, 0, 0, 0])
    } else {
      host.send(.leSetAdvertisingParameters, [32, 0, 64, 0, 0, 0] + CommandTable.peer + [7, 0])
      host.send(.leSetAdvertisingEnable, [isOn])
    }
  }

  private func scan(_ host: WalkHost) {
    let isOn = UInt8(number(0...1))
    if host.isExtended {
      host.send(.leSetExtendedScanParameters, [0, 0, 1, 1, 16, 0, 16, 0])
      host.send(.leSetExtendedScanEnable, [isOn, 0, 0, 0, 0, 0])
    } else {
      host.send(.leSetScanParameters, [1, 16, 0, 16, 0, 0, 0])
      host.send(.leSetScanEnable, [isOn, 0])
    }
  }

  private func connect(_ host: WalkHost) {
    let peer = peer(of: host).device
    host.send(
      host.isExtended ? .leExtendedCreateConnection(.extended(to: peer)) : .leCreateConnection(.to(peer)))
  }

  private func useLink(of host: WalkHost) {
    guard let handle = host.handles.randomElement(using: &generator) else { return }
    let interval = UInt16(number(6...40))
    let commands: [HCI.Command] = [
      .disconnect(handle, reason: .remoteUserTerminatedConnection), .readRemoteVersionInformation(handle),
      .leReadRemoteFeatures(handle), .leSetPHY(handle, HCI.PHYPreference(transmit: .le2M, receive: nil), options: 0),
      .leConnectionUpdate(
        handle,
        LinkParameters(
          minimumInterval: interval, maximumInterval: interval, latency: UInt16(number(0...2)),
          supervisionTimeout: 200), HCI.ConnectionEventLength()),
      .leEnableEncryption(
        handle, random: testRandom, encryptedDiversifier: testDiversifier, longTermKey: testKey),
      .leSetDataLength(handle, HCI.DataLength(octets: UInt16(number(27...251)), time: 2_120)),
      .leRequestPeerSCA(handle), .readRSSI(handle), .leReadChannelMap(handle),
    ]
    host.sendData(number(0...6), on: handle)
    if let command = commands.randomElement(using: &generator) { host.send(command) }
  }

  /// Sends a command of the table with a random octet, for a connection that may not exist.
  private func stumble(_ host: WalkHost) {
    guard let row = CommandTable.rows.randomElement(using: &generator), !Self.left.contains(row.opcode) else { return }
    let handle = host.handles.randomElement(using: &generator) ?? HCI.ConnectionHandle(rawValue: 0x0123)
    var octets = row.octets(handle)
    if !octets.isEmpty { octets[number(0...octets.count - 1)] = UInt8(number(0...255)) }
    host.send(row.opcode, octets)
  }

  /// Commands that would disable the host's events or data, or that have no answer.
  private static let left: Set<HCI.Opcode> = [
    .reset, .setEventMask, .setEventMaskPage2, .leSetEventMask, .setControllerToHostFlowControl, .hostBufferSize,
    .hostNumberOfCompletedPackets,
  ]

  /// Returns the connections as pairs of addresses, as seen by the hosts in one role.
  func links(_ role: ConnectionRole) -> [[UInt64]] {
    hosts.flatMap { host in
      host.links.values.filter { $0.role == role.rawValue }.map {
        role == .central ? [host.device.address.value, $0.peer] : [$0.peer, host.device.address.value]
      }
    }.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

@Suite("HCI conformance: a random walk of four hosts")
struct RandomWalkTests {
  @Test("Every command is answered once and every event fits; both ends agree; a reset restores all", arguments: 1...8)
  func walk(_ seed: Int) throws {
    let walk = RandomWalk(seed: UInt64(seed))
    for _ in 0..<400 { walk.step() }
    // Longer than any supervision timeout, while nothing starts a connection.
    for host in walk.hosts {
      host.send(.leCreateConnectionCancel)
      let command: HCI.Command =
        host.isExtended
        ? .leSetExtendedAdvertisingEnable(false, HCI.AdvertisingSetEnables([], in: host.device.pool))
        : .leSetAdvertisingEnable(false)
      host.send(command)
    }
    walk.air.run(for: .seconds(40))
    #expect(walk.links(.central) == walk.links(.peripheral))
    try expectStartState(walk)
  }

  /// Checks that a reset restores the status that each command has after power on, and that new connections work.
  private func expectStartState(_ walk: RandomWalk) throws {
    for host in walk.hosts { host.restart() }
    for host in walk.hosts {
      #expect(host.device.controller.deadline == nil)
      host.device.onEvent = nil
      for row in CommandTable.rows where row.answer != .none {
        host.device.controller.reset()
        let octets = row.octets(HCI.ConnectionHandle(rawValue: 0x0123))
        #expect(host.device.status(of: row.opcode, octets) == row.idle, "\(row.testDescription)")
      }
      host.device.start()
    }
    let (central, peripheral) = (walk.hosts[0].device, walk.hosts[1].device)
    peripheral.advertise()
    central.connect(to: peripheral)
    let isConnected = walk.air.run(until: {
      !central.connectionCompletes.isEmpty && !peripheral.connectionCompletes.isEmpty
    })
    #expect(isConnected)
    central.send([1, 2, 3], on: try #require(central.connectionCompletes.first).handle)
    walk.air.run(for: .milliseconds(200))
    #expect(peripheral.data.map(\.payload) == [[1, 2, 3]])
  }
}
