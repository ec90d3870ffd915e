import BluetoothController
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

@testable import BluetoothLab

/// A device whose host uses HCI directly: a central that reads and writes on an encrypted link, with one key and then
/// another, or the peripheral that answers it. Confined to its world.
final class EncryptedLinkHost: WorldDevice {
  enum Role: Sendable {
    case central(peer: UInt64)
    case peripheral
  }

  private enum Step {
    case exchangeMTU, read, write, disconnect
    /// Encrypts with the key of this number.
    case encrypt(Int)
    /// Distributes keys in fragments on the Security Manager's channel, as after pairing.
    case distributeKeys
  }

  /// The long term keys, and the distributed keys: IRK and CSRK.
  static let keys: [UInt128] = [
    0xA1B2_C3D4_E5F6_0718_293A_4B5C_6D7E_8F90, 0xB1A2_93C4_D5E6_F708_192A_3B4C_5D6E_7F80,
  ]
  static let identityKey: UInt128 = 0xC1D2_E3F4_0516_2738_495A_6B7C_8D9E_AFB0
  static let signatureKey: UInt128 = 0xD1C2_B3A4_9586_7768_594A_3B2C_1D0E_FFE0
  /// The value that is read, written and notified; its fragments are in several packets.
  static let value = Array("what is read and written here is nobody else's business, is it? 0123456789ABCDEF".utf8)

  private static let attributeChannel: UInt16 = 0x0004
  private static let securityManagerChannel: UInt16 = 0x0006

  private let role: Role
  private let pool: PacketPool
  private var station: ControllerStation
  private var packets: [HCI.Packet] = []
  private var steps: [Step] = [
    .exchangeMTU, .encrypt(0), .read, .write, .encrypt(1), .read, .distributeKeys, .write, .disconnect,
  ]
  private var handle: HCI.ConnectionHandle?
  private var assembly: [UInt8] = []

  init(
    _ role: Role, _ configuration: VirtualDeviceConfiguration, radio: RadioID, environment: DeviceEnvironment,
    generator: RandomStream, pool: PacketPool
  ) {
    self.role = role
    self.pool = pool
    station = ControllerStation(
      Controller(
        configuration: configuration.controller(random: generator), random: generator.split("controller"), pool: pool),
      StationSettings(of: radio, in: environment, named: configuration.name))
    deadline = .zero
  }

  // MARK: SimulatedDevice

  private(set) var deadline: Instant?
  private var hasStarted = false

  func timeReached(_ now: Instant) {
    if !hasStarted { start() }
    station.timeReached(now) { receive($0) }
    exchange(at: now)
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    station.radio(event, at: now)
    exchange(at: now)
  }

  func takeRadioCommand() -> RadioCommand? { station.takeRadioCommand() }

  // MARK: WorldDevice

  func forgetBonds(at now: Instant) {}
  func setPower(_ on: Bool, at now: Instant) {}
  func setCapture(_ capture: DeviceCapture?) { station.setCapture(capture) }
  func uses(at now: Instant) -> RadioTimeAccount { station.uses(at: now) }
  var links: [LinkReport] { station.controller.links }
  var attempts: [AttemptReport] { station.controller.attempts }
  func hasAddress(_ address: DeviceAddress) -> Bool { station.controller.hasAddress(address) }
  func setClockDrift(partsPerBillion: Int64) {}
  func failController(at now: Instant) {}

  // MARK: Between host and controller

  private func exchange(at now: Instant) {
    repeat {
      while !packets.isEmpty { station.receive(packets.removeFirst(), at: now) }
    } while station.sendPacket(at: now, toHost: { receive($0) })
    deadline = station.deadline
  }

  private func send(_ command: HCI.Command) { packets.append(command.packet(in: pool)) }

  private func start() {
    hasStarted = true
    send(.reset)
    send(.setEventMask(HCI.EventMask(rawValue: .max)))
    send(.leSetEventMask(HCI.LEEventMask(rawValue: .max)))
    switch role {
    case .peripheral:
      send(
        .leSetAdvertisingParameters(
          HCI.AdvertisingParameters(
            minimumInterval: 160, maximumInterval: 160, type: .connectableScannableUndirected, ownAddressType: .public))
      )
      send(.leSetAdvertisingEnable(true))
    case .central(let peer):
      send(.leAddDeviceToResolvingList(HCI.PeerAddress(type: 1, value: 0xC1), peerIRK: Self.identityKey, localIRK: 1))
      send(
        .leCreateConnection(
          HCI.CreateConnection(
            scanInterval: 48, scanWindow: 48, usesAcceptList: false, peer: HCI.PeerAddress(type: 0, value: peer),
            ownAddressType: .public,
            parameters: LinkParameters(
              minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 400))))
    }
  }

  private func receive(_ packet: HCI.Packet) {
    switch packet {
    case .command: break
    case .acl(let data):
      if data.boundary == .firstFlushable { assembly.removeAll() }
      assembly += data.payload.bytes
      guard assembly.count >= 5, assembly.count == 4 + Int(assembly[0]) | Int(assembly[1]) << 8 else { return }
      if assembly[2] == UInt8(Self.attributeChannel) { receive(attribute: Array(assembly[4...])) }
    case .event(let code, let parameters):
      if let event = try? HCI.Event(code: code, parameters: parameters) { receive(event) }
    }
  }

  private func receive(_ event: HCI.Event) {
    switch event {
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      handle = complete.handle
      next()
    case .encryptionChange(.success, _, _), .encryptionKeyRefreshComplete(.success, _): next()
    case .leLongTermKeyRequest(let handle, _, let number):
      send(.leLongTermKeyRequestReply(handle, longTermKey: Self.keys[Int(number)]))
    default: break
    }
  }

  // MARK: Attributes

  private func receive(attribute pdu: [UInt8]) {
    switch pdu[0] {
    case 0x02: send([0x03, 100, 0])
    case 0x0A: send([0x0B] + Self.value)
    case 0x12:
      send([0x13])
      send([0x1B, 3, 0] + Self.value)
    case 0x03, 0x0B, 0x13: next()
    default: break
    }
  }

  private func send(_ octets: [UInt8], on channel: UInt16 = attributeChannel, fragment: Int = 251) {
    guard let handle else { return }
    let frame = [UInt8(octets.count), 0, UInt8(channel), 0] + octets
    for start in stride(from: 0, to: frame.count, by: fragment) {
      packets.append(
        .acl(
          HCI.ACLData(
            handle: handle, boundary: start == 0 ? .firstNonFlushable : .continuing,
            payload: ByteSlice(frame.dropFirst(start).prefix(fragment)))))
    }
  }

  private func send(_ pdu: SMP.PDU) {
    var writer = ByteWriter(pool)
    pdu.encode(into: &writer)
    send(writer.finish().bytes, on: Self.securityManagerChannel, fragment: 9)
  }

  /// Starts the central's next action when the previous one has ended.
  private func next() {
    guard case .central = role, let handle, !steps.isEmpty else { return }
    switch steps.removeFirst() {
    case .exchangeMTU: send([0x02, 100, 0])
    case .encrypt(let number):
      send(
        .leEnableEncryption(
          handle, random: 0, encryptedDiversifier: UInt16(number), longTermKey: Self.keys[number]))
    case .read: send([0x0A, 3, 0])
    case .write: send([0x12, 3, 0] + Self.value)
    case .distributeKeys:
      send(.encryptionInformation(longTermKey: Secret(ByteSlice(Self.octets(Self.keys[1])))))
      send(.identityInformation(identityResolvingKey: Secret(ByteSlice(Self.octets(Self.identityKey)))))
      send(.signingInformation(signatureKey: Secret(ByteSlice(Self.octets(Self.signatureKey)))))
      next()
    case .disconnect: send(.disconnect(handle, reason: .remoteUserTerminatedConnection))
    }
  }

  /// Returns the octets of a key in the order on the air.
  static func octets(_ key: UInt128) -> [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: key >> (8 * $0)) } }
}

extension World {
  /// Runs a world in which two such devices meet, with a capture of it.
  static func afterEncryptedLink(seed: UInt64 = 1, faults: FaultPlan = [], capture: Capture) async throws {
    let world = World(seed: seed, capture: capture)
    let address: UInt64 = 0xC0FF_EE00_0001
    world.add(faults)
    world.addEncryptedLinkHost(named: "sensor", .peripheral, address: address)
    world.addEncryptedLinkHost(named: "phone", .central(peer: address), address: 0xC0FF_EE00_0002)
    await world.run(for: .seconds(10))
    try world.finishCapture()
  }

  private func addEncryptedLinkHost(named name: String, _ role: EncryptedLinkHost.Role, address: UInt64) {
    let environment = environment
    var options = DeviceOptions()
    options.address = DeviceAddress(address, .public)
    let configuration = options.configuration(named: name)
    _ = register(name, options) {
      let radio = requestQueue.addDevice(radio: configuration.radio) { engine, radio in
        EncryptedLinkHost(
          role, configuration, radio: radio, environment: environment,
          generator: engine.generator.split("device " + name), pool: engine.pool)
      }
      return RadioDevice(name: name, radio: radio, world: self)
    }
  }
}
