import BluetoothHost
import BluetoothWire

/// Two connected hosts in memory, without controllers: each ACL packet of one host is passed to the other at once.
struct HostsInMemory {
  /// The repeated operation, from the client's first call to its last event.
  enum Operation: String, CaseIterable {
    /// Read Request and Response, with 20 octets from the server's upper layer.
    case read
    /// Write Request and Response, with 20 octets for the server's upper layer.
    case write
    /// Write Command with 244 octets for the server's upper layer.
    case writeCommand
    /// Handle Value Notification, 244 octets.
    case notification
    /// An SDU of 2,048 octets on an LE credit based channel, frames of 247 octets.
    case sdu
  }

  /// The maximum number of commands or notifications that are queued and not completed.
  static let mostOnTheirWay = 8

  let pool = PacketPool()
  private var client: HostInMemory
  private var server: HostInMemory
  private let value: AttributeHandle
  private let short = ByteSlice([UInt8](repeating: 0x5A, count: 20))
  private let long = ByteSlice([UInt8](repeating: 0xA5, count: 244))
  private let sdu = ByteSlice([UInt8](repeating: 0x3C, count: 2_048))
  private var channel = L2CAP.ChannelID.none

  private var operation = Operation.read
  /// The number of operations that have not begun.
  private var toBegin = 0
  /// The number of operations that have begun and are not complete at the side that began them.
  private var onTheirWay = 0
  /// The number of operations that are complete at the client or, for commands and SDUs, at the server.
  private(set) var completed = 0
  /// The octets of values that have reached the other side.
  private(set) var octets = 0

  init() throws {
    client = HostInMemory(pool, 0xC000_0000_0001)
    server = HostInMemory(pool, 0xC000_0000_0002)
    let definition = GATTServiceDefinition(
      uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(
          uuid: 0x2A37, properties: [.read, .write, .writeWithoutResponse, .notify],
          permissions: [.readable, .writeable], value: nil)
      ])
    value = try server.host.addService(definition, at: .zero).get().values[0]
    client.powerOn()
    server.powerOn()
    client.host.connect(to: server.address, at: client.now)
    client.connected(.central, to: server.address)
    server.connected(.peripheral, to: client.address)
    settle()
    try subscribe()
    try openChannel()
  }

  private mutating func settle() {
    repeat {
      clientsTurn()
      client.serve(&server.incoming)
      serversTurn()
      server.serve(&client.incoming)
    } while !client.incoming.isEmpty || !server.incoming.isEmpty
  }

  private mutating func subscribe() throws {
    client.host.request(.write(value + 1, [1, 0]), token: 0, on: client.handle, at: client.now)
    settle()
  }

  private mutating func openChannel() throws {
    let settings = ChannelSettings(mtu: 2_048, mps: 247, credits: 36)
    guard let spsm = server.host.publishChannel(settings) else { throw DidNotHappen() }
    client.host.openChannels(
      spsm: spsm, settings, token: ChannelToken(rawValue: 1), on: client.handle, at: client.now)
    settle()
    guard channel != .none else { throw DidNotHappen() }
  }

  // MARK: Running

  /// Performs `operation` `count` times at the maximum rate.
  mutating func run(_ operation: Operation, _ count: Int) throws {
    self.operation = operation
    (toBegin, onTheirWay, completed) = (count, 0, 0)
    var turnsWithoutProgress = 0
    while completed < count {
      let before = completed
      clientsTurn()
      client.serve(&server.incoming)
      serversTurn()
      server.serve(&client.incoming)
      turnsWithoutProgress = completed > before ? 0 : turnsWithoutProgress + 1
      guard turnsWithoutProgress < 100 else { throw DidNotHappen() }
    }
  }

  /// Runs one turn of the client's host. It is a separate function so that its instructions can be counted by name.
  @inline(never)
  mutating func clientsTurn() {
    if operation != .notification { begin() }
    client.run()
    while let event = client.host.takeEvent() {
      switch event {
      case .gatt(_, .completed(_, .success)):
        onTheirWay -= 1
        if operation != .writeCommand { completed += 1 }
      case .gatt(_, .valueReceived(_, let bytes)):
        completed += 1
        octets += bytes.count
      case .channel(_, .opened(let opened, _)): channel = opened.id
      default: break
      }
    }
    client.takePackets()
  }

  /// Runs one turn of the server's host; see `clientsTurn`.
  @inline(never)
  mutating func serversTurn() {
    if operation == .notification { begin() }
    server.run()
    while let event = server.host.takeEvent() {
      switch event {
      case .gatt(let handle, .readRequested(let request, _, _)):
        server.host.respond(to: request, on: handle, with: .success(short), at: server.now)
      case .gatt(let handle, .writeRequested(let request?, _)):
        server.host.respond(to: request, on: handle, with: .success([]), at: server.now)
      case .gatt(_, .writeRequested(nil, let parts)):
        completed += 1
        octets += parts[0].value.count
      case .gatt(_, .updateSent): onTheirWay -= 1
      case .channel(let handle, .received(let id, let sdu)):
        completed += 1
        octets += sdu.count
        server.host.acknowledge(id, on: handle, at: server.now)
      default: break
      }
    }
    server.takePackets()
  }

  private mutating func begin() {
    let (handle, now) = (client.handle, client.now)
    switch operation {
    case .read:
      while mayBegin(atOnce: 1) { client.host.request(.read(value), token: 1, on: handle, at: now) }
    case .write:
      while mayBegin(atOnce: 1) { client.host.request(.write(value, short), token: 1, on: handle, at: now) }
    case .writeCommand:
      while mayBegin(atOnce: Self.mostOnTheirWay) {
        client.host.request(.writeWithoutResponse(value, long), token: 1, on: handle, at: now)
      }
    case .notification:
      while mayBegin(atOnce: Self.mostOnTheirWay) { server.host.update(value, with: long, on: handle, at: now) }
    case .sdu:
      while toBegin > 0, client.host.sendOnChannel(sdu, channel, on: handle, at: now) { toBegin -= 1 }
    }
  }

  private mutating func mayBegin(atOnce most: Int) -> Bool {
    guard toBegin > 0, onTheirWay < most else { return false }
    toBegin -= 1
    onTheirWay += 1
    return true
  }
}

/// A host, and a substitute for its controller that accepts each command and packet at once.
struct HostInMemory {
  var host: Host
  let address: DeviceAddress
  let handle = HCI.ConnectionHandle(rawValue: 0x40)
  var now = Instant.zero
  /// The packets from the controller to the host.
  var incoming: [HCI.Packet] = []
  /// The packets from the host to the controller.
  private var outgoing: [HCI.Packet] = []
  private var taken: [HCI.Packet] = []
  private let pool: PacketPool

  private static let commands: [HCI.Opcode] = [
    .disconnect, .setEventMask, .reset, .readLocalSupportedFeatures, .leSetEventMask, .leReadBufferSize,
    .leReadLocalSupportedFeatures, .leSetRandomAddress, .leCreateConnection, .leSetDataLength,
    .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength, .leSetScanParameters, .leSetScanEnable,
  ]
  private static let aclCount: UInt8 = 16

  init(_ pool: PacketPool, _ address: UInt64) {
    self.pool = pool
    self.address = DeviceAddress(address, .random)
    host = Host(
      configuration: HostConfiguration(deviceName: "memory", address: self.address),
      random: RandomStream(seed: address), pool: pool)
  }

  mutating func powerOn() {
    host.setPower(true, at: now)
    var nowhere: [HCI.Packet] = []
    repeat {
      run()
      while host.takeEvent() != nil {}
      takePackets()
      serve(&nowhere)
    } while !incoming.isEmpty
  }

  mutating func connected(_ role: Link.Role, to peer: DeviceAddress) {
    incoming.append(Self.connection(handle, role, to: peer).packet(in: pool))
  }

  static func connection(_ handle: HCI.ConnectionHandle, _ role: Link.Role, to peer: DeviceAddress) -> HCI.Event {
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    let complete = HCI.ConnectionComplete(
      status: .success, handle: handle, role: role.rawValue, peer: HCI.PeerAddress(peer), values: values,
      centralClockAccuracy: 0)
    return .leConnectionComplete(complete)
  }

  /// Passes the controller's packets to the host.
  mutating func run() {
    now = now + .microseconds(1)
    swap(&incoming, &taken)
    var index = 0
    while index < taken.count {
      host.receive(taken[index], at: now)
      index += 1
    }
  }

  mutating func takePackets() {
    while let packet = host.takePacket() { outgoing.append(packet) }
  }

  /// Executes the host's commands as the controller, and relays its data.
  mutating func serve(_ peer: inout [HCI.Packet]) {
    taken.removeAll(keepingCapacity: true)
    var sent: UInt16 = 0
    for packet in outgoing {
      switch packet {
      case .acl(let data):
        let boundary: HCI.ACLData.Boundary = data.boundary == .continuing ? .continuing : .firstFlushable
        peer.append(.acl(HCI.ACLData(handle: handle, boundary: boundary, payload: data.payload)))
        sent += 1
      case .command(let opcode, _): Self.answer(opcode, handle, pool, into: &incoming)
      case .event: break
      }
    }
    outgoing.removeAll(keepingCapacity: true)
    if sent > 0 {
      incoming.append(
        HCI.Event.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: sent, in: pool)).packet(in: pool))
    }
  }

  /// Returns the answer of a controller that accepts everything and has at most one link.
  static func answer(
    _ opcode: HCI.Opcode, _ handle: HCI.ConnectionHandle, _ pool: PacketPool, into packets: inout [HCI.Packet]
  ) {
    let length = HCI.DataLength(octets: 251, time: 2_120)
    let answer: HCI.ReturnParameters
    switch opcode {
    case .readLocalSupportedCommands: answer = .localSupportedCommands(HCI.SupportedCommands(commands))
    case .readLocalSupportedFeatures: answer = .localSupportedFeatures([.bredrNotSupported, .leSupported])
    case .leReadLocalSupportedFeatures: answer = .leLocalSupportedFeatures([.dataPacketLengthExtension])
    case .leReadBufferSize: answer = .leBufferSize(aclLength: 251, aclCount: aclCount)
    case .leReadMaximumDataLength: answer = .leMaximumDataLength(transmit: length, receive: length)
    case .leSetDataLength:
      answer = .handle(.success, handle)
      packets.append(HCI.Event.leDataLengthChange(handle, transmit: length, receive: length).packet(in: pool))
    case .leCreateConnection, .disconnect:
      packets.append(HCI.Event.commandStatus(.success, credits: 1, opcode).packet(in: pool))
      return
    default: answer = .status(.success)
    }
    packets.append(HCI.Event.commandComplete(credits: 1, opcode, answer).packet(in: pool))
  }
}
