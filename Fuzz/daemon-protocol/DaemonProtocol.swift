import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// Fuzzes the messages of a client against the daemon of a device, beside which another device publishes a service.
///
/// The input is a list of messages: 2 octets for the type, 1 for the length of the payload, and the payload. Type 0xFFFF
/// lets time pass, 10 ms for each unit of the length octet; type 0xFFFE has octets of a stream of frames.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDaemonProtocol(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = UnsafeBufferPointer(start: start, count: count)[...]
  let server = Server()
  while let low = input.popFirst(), let high = input.popFirst(), let length = input.popFirst() {
    let type = UInt16(low) | UInt16(high) << 8
    if type == 0xFFFF {
      server.pass(.milliseconds(10 * Int64(length)))
      continue
    }
    let payload = Array(input.prefix(Int(length)))
    input = input.dropFirst(Int(length))
    if type == 0xFFFE { server.receiveStream(payload) } else { server.receive(type, payload) }
  }
  server.finish()
  return 0
}

/// Encodes each event of its session, as a server does, and decodes it, as a client does.
private final class Client: CentralClient, PeripheralClient, @unchecked Sendable {
  // Unchecked: everything runs on one thread.
  let number: SessionNumber
  let numbering: PeerNumbering
  var central: CentralSession?
  var peripheral: PeripheralSession?
  var states: UInt32 = 0
  var barriers: [UInt32] = []

  init(_ number: SessionNumber, _ numbering: PeerNumbering) {
    self.number = number
    self.numbering = numbering
  }

  var queuesEvents: Bool { false }

  func receive(_ event: CentralEvent) {
    if case .stateChanged = event { states &+= 1 }
    if case .barrierReached(let number) = event { barriers.append(number) }
    // The channel closes with the result.
    if case .channelOpened(_, .success(let channel)) = event { _ = central?.takeChannel(channel) }
    checkCoding(.central(number, event))
  }

  func receive(_ event: PeripheralEvent) {
    if case .stateChanged = event { states &+= 1 }
    if case .barrierReached(let number) = event { barriers.append(number) }
    if case .channelOpened(_, let channel) = event { _ = peripheral?.takeChannel(channel) }
    checkCoding(.peripheral(number, event))
  }

  private func checkCoding(_ message: ServerMessage) {
    guard let octets = message.encode(numbering).frame() else { preconditionFailure("an event is too long") }
    var parser = FrameParser(maximumLength: DaemonProtocol.maximumFrameLength)
    parser.append(octets)
    guard let frame = try? parser.next(), let decoded = try? ServerMessage(frame, numbering) else {
      preconditionFailure("an event can't be read")
    }
    precondition(decoded.encode(numbering).frame() == octets, "an event changes")
  }

  func close() {
    central?.close()
    peripheral?.close()
    (central, peripheral) = (nil, nil)
  }
}

/// Reads the packets of the adapter, as a server does for a client that monitors it.
private final class PacketCount: HCIObserver, @unchecked Sendable {
  // Unchecked: everything runs on one thread.
  private var octets = 0

  func packet(_ packet: HCI.Packet, isFromHost: Bool) { octets += packet.payload.bytes.count }
}

/// A server's side of one connection, without the socket.
private final class Server {
  private static let service = BluetoothUUID(0xFF10)
  private static let app = "app"

  private let engine = WorldEngine(seed: 1)
  private let adapter: VirtualAdapter
  private let other: VirtualAdapter
  private let publisher: Client
  private let numbering: PeerNumbering
  private var centrals: [SessionNumber: Client] = [:]
  private var peripherals: [SessionNumber: Client] = [:]
  private var restoreIdentifiers: [SessionNumber: String] = [:]
  private var parser = FrameParser(maximumLength: DaemonProtocol.maximumFrameLength)
  private var isStreamBroken = false

  init() {
    let (environment, requests) = (DeviceEnvironment(in: engine.bound), engine.requestQueue)
    func device(_ name: String, _ x: Int) -> VirtualAdapter {
      var configuration = VirtualDeviceConfiguration(name: name, position: GridPosition(x: Int64(x)))
      configuration.policy = .open
      return VirtualAdapter(
        configuration, in: requests, deliversInPlace: true, epoch: 0, environment: environment)
    }
    adapter = device("server", 0)
    other = device("other", 1_000)
    numbering = .ofServer(adapter.directory)
    publisher = Client(SessionNumber(0), .ofServer(other.directory))
    let session = other.openPeripheralSession(for: publisher)
    publisher.peripheral = session
    pass(.milliseconds(50))
    let definition = GATTCharacteristicDefinition(
      uuid: BluetoothUUID(0xFF11), properties: [.read, .write, .writeWithoutResponse, .notify],
      permissions: [.readable, .writeable], value: nil)
    session.send(
      .addService(
        LocalServiceInfo(
          id: LocalAttributeID(number: 1), uuid: Self.service, isPrimary: true, includes: [],
          characteristics: [LocalCharacteristicInfo(id: LocalAttributeID(number: 2), definition: definition)])))
    session.send(.startAdvertising(localName: "other", services: [Self.service]))
    pass(.milliseconds(50))
    // A client that finds the other device, so that messages can name it.
    let finder = Client(SessionNumber(1), numbering)
    centrals[finder.number] = finder
    finder.central = adapter.openCentralSession(for: finder)
    pass(.milliseconds(10))
    finder.central?.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: true)))
    pass(.milliseconds(300))
    precondition(adapter.directory.peer(PeerHandle(index: 0)) != nil, "the other device is not found")
  }

  func pass(_ span: TimeSpan) {
    let end = engine.now + span
    engine.settle()
    while engine.step(until: end) { engine.settle() }
    engine.passTime(to: end)
    engine.settle()
  }

  func receiveStream(_ octets: [UInt8]) {
    guard !isStreamBroken else { return }
    parser.append(octets)
    do throws(FrameParser.InvalidLength) {
      while let frame = try parser.next() { receive(frame) }
    } catch {
      isStreamBroken = true
    }
  }

  func receive(_ type: UInt16, _ payload: [UInt8]) {
    var parser = FrameParser(maximumLength: DaemonProtocol.maximumFrameLength)
    let length = payload.count + 2
    parser.append((0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) })
    parser.append([UInt8(truncatingIfNeeded: type), UInt8(truncatingIfNeeded: type >> 8)] + payload)
    guard let frame = try? parser.next() else { preconditionFailure("a frame is not found") }
    receive(frame)
  }

  private func receive(_ frame: Frame) {
    // A client must be able to read the frame, too, without a trap.
    if let message = try? ServerMessage(frame, numbering) { _ = message.encode(numbering).frame() }
    guard let message = try? ClientMessage(frame, numbering) else { return }
    guard message.encode(numbering).frame() != nil else { preconditionFailure("a message can't be sent again") }
    perform(message)
    engine.settle()
  }

  private func perform(_ message: ClientMessage) {
    switch message {
    case .openCentral(let number):
      guard centrals[number] == nil, peripherals[number] == nil, centrals.count < 8 else { return }
      let client = Client(number, numbering)
      centrals[number] = client
      client.central = adapter.openCentralSession(for: client, owner: owner(of: number))
    case .openPeripheral(let number):
      guard centrals[number] == nil, peripherals[number] == nil, peripherals.count < 8 else { return }
      let client = Client(number, numbering)
      peripherals[number] = client
      client.peripheral = adapter.openPeripheralSession(for: client, owner: owner(of: number))
    case .closeCentral(let number): centrals.removeValue(forKey: number)?.close()
    case .closePeripheral(let number): peripherals.removeValue(forKey: number)?.close()
    case .central(let number, let command, let seenStates):
      guard let session = centrals[number]?.central else { return }
      switch command {
      case .writeWithoutResponse(let peer, _, _), .signedWriteWithoutResponse(let peer, _, _):
        guard session.writeCredits(for: peer).take() else { return }
      default: break
      }
      session.send(command, seenStates: seenStates)
    case .peripheral(let number, let command, let seenStates):
      guard let session = peripherals[number]?.peripheral else { return }
      if case .update = command, !session.updateCredits.take() { return }
      session.send(command, seenStates: seenStates)
    case .introduce(let address): centrals.first?.value.central?.introduce(address)
    case .app(let message): perform(message)
    case .hello, .listClients, .unknownMessage, .eventsHandled, .channelOctets, .channelRead, .closeChannel: break
    }
  }

  /// Handles a message about apps. All sessions belong to one app, which a policy preserves.
  private func perform(_ message: AppMessage) {
    switch message {
    case .restoreIdentifier(let number, let identifier): restoreIdentifiers[number] = identifier
    case .controlApp(_, .background): adapter.send(.becameFrontmost(false), ofApp: Self.app)
    case .controlApp(_, .foreground): adapter.send(.becameFrontmost(true), ofApp: Self.app)
    case .controlApp(_, .suspend): adapter.send(.suspended, ofApp: Self.app)
    case .controlApp(_, .quit): terminate(.user)
    // The process of the app has crashed.
    case .returned: terminate(.system)
    case .setPermission(_, let isAllowed): adapter.send(.permissionChanged(isAllowed), ofApp: Self.app)
    case .setPower(let isOn): adapter.send(.setPower(isOn))
    case .listAlerts(let follows): adapter.send(.launchable(follows), ofApp: Self.app)
    case .explain: adapter.send(.reportLinks(1))
    case .resetIdentifiers(let forgetsBonds): adapter.send(.resetIdentifiers(forgetsBonds: forgetsBonds))
    case .setSharing(_, let isAllowed):
      for peer in adapter.directory.bondedPeers {
        adapter.send(.setNotificationSharing(isAllowed, with: peer.address))
      }
    case .monitor: adapter.setHCIObserver(PacketCount())
    case .listApps, .wasInBackground: break
    }
  }

  /// Ends the app with all its sessions, as a server does when the connection is lost.
  private func terminate(_ cause: AppTermination) {
    adapter.send(.terminated(cause), ofApp: Self.app)
    for client in Array(centrals.values) + Array(peripherals.values) { client.close() }
    centrals.removeAll()
    peripherals.removeAll()
  }

  private func owner(of number: SessionNumber) -> SessionOwner {
    SessionOwner(app: Self.app, restoreIdentifier: restoreIdentifiers.removeValue(forKey: number))
  }

  /// Ends all sessions, and stops the program unless the daemon serves another app afterwards.
  func finish() {
    adapter.send(.setPower(true))
    pass(.milliseconds(100))
    for client in Array(centrals.values) + Array(peripherals.values) { client.close() }
    pass(.milliseconds(100))
    let last = Client(SessionNumber(.max), numbering)
    let session = adapter.openCentralSession(for: last)
    last.central = session
    session.send(.barrier(77))
    pass(.milliseconds(10))
    precondition(last.barriers == [77], "the daemon answers no more")
    precondition(last.states > 0, "the daemon tells no state")
    last.close()
    publisher.close()
    pass(.milliseconds(10))
  }
}
