import BluetoothController
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

@testable import BluetoothHost

/// A device with a user who pairs it: a controller, and a host that serves a protected value and may read the other
/// device's value. Confined to its world, and to the test while the world is not running.
final class PairingDevice: SimulatedDevice, @unchecked Sendable {
  /// The information that the two users share.
  final class Table {
    /// The passkey to type: a device shows it, or the users have agreed on it.
    var passkey: UInt32?
    init(agreed passkey: UInt32? = nil) { self.passkey = passkey }
  }

  static let addresses = (
    central: DeviceAddress(0xC0FF_EE00_0002, .random), peripheral: DeviceAddress(0xC0FF_EE00_0001, .random)
  )

  let name: String
  let role: Link.Role
  /// True if the device's app reads as soon as there is a link.
  private let reads: Bool
  private let table: Table
  private let pool: PacketPool
  private var station: ControllerStation
  private var host: Host
  private(set) var valueHandle: AttributeHandle?
  private(set) var link: HCI.ConnectionHandle?
  /// The key, without a bond, with which the controller starts encryption while its user still compares numbers.
  var earlyKey: UInt128?
  /// The time at which the user has compared the numbers.
  private var comparison: Instant?
  /// The time at which the user looks at the other device again.
  private var glance: Instant?
  private var hasStarted = false

  private(set) var prompts: [PairingPrompt] = []
  private(set) var outcomes: [PairingOutcome] = []
  private(set) var failures: [SecurityFailure] = []
  /// The result of the read.
  private(set) var answer: Result<GATTResponse, GATTError>?

  /// - Parameters:
  ///   - value: The value that the device serves on encrypted links only.
  ///   - radio: The number that the device will have in `engine`.
  init(
    _ role: Link.Role, policy: PairingPolicy, outOfBand: OutOfBand = OutOfBand(), value: [UInt8], reads: Bool,
    at table: Table, radio: Int, environment: DeviceEnvironment, in engine: WorldEngine
  ) {
    name = role == .central ? "phone" : "sensor"
    self.role = role
    self.reads = reads
    self.table = table
    pool = engine.pool
    let generator = engine.generator.split(name)
    station = ControllerStation(
      Controller(
        configuration: ControllerConfiguration(
          address: DeviceAddress(0x02_0000_0000 + UInt64(radio), .public), name: name),
        random: generator.split("controller"), pool: engine.pool),
      StationSettings(of: RadioID(index: radio), in: environment, named: name))
    let addresses = Self.addresses
    var configuration = HostConfiguration(
      deviceName: name, address: role == .central ? addresses.central : addresses.peripheral)
    // The fastest possible link, so that little has to be simulated.
    configuration.connection = LinkParameters(
      minimumInterval: 6, maximumInterval: 6, latency: 0, supervisionTimeout: 200)
    configuration.advertisingInterval = 32
    configuration.preferredPHYs = nil
    configuration.pairing = policy
    var host = Host(configuration: configuration, random: generator.split("host"), pool: engine.pool)
    host.context.security.context.outOfBand = outOfBand
    let placement = host.addService(
      GATTServiceDefinition(
        uuid: 0x180D, isPrimary: true, includes: [],
        characteristics: [
          GATTCharacteristicDefinition(
            uuid: 0x2A38, properties: .read, permissions: [.readable, .readEncryptionRequired],
            value: ByteSlice(value))
        ]), at: .zero)
    valueHandle = (try? placement.get())?.values.first
    self.host = host
    deadline = .zero
  }

  var security: HostLinkSecurity { link.map { host.security(of: $0) } ?? .none }

  /// Disconnects the link.
  func disconnect(at now: Instant) {
    if let link { host.disconnect(link, at: now) }
    exchange(at: now)
  }

  // MARK: SimulatedDevice

  private(set) var deadline: Instant?

  func timeReached(_ now: Instant) {
    if !hasStarted {
      hasStarted = true
      host.setPower(true, at: now)
    }
    station.timeReached(now) { host.receive($0, at: now) }
    if let deadline = host.deadline, deadline <= now { host.timeReached(now) }
    if let glance, glance <= now {
      self.glance = nil
      type(at: now)
    }
    if let comparison, comparison <= now {
      self.comparison = nil
      if let link { host.answer(.yes, on: link, at: now) }
    }
    exchange(at: now)
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    station.radio(event, at: now)
    exchange(at: now)
  }

  func takeRadioCommand() -> RadioCommand? { station.takeRadioCommand() }

  // MARK: The host

  private func exchange(at now: Instant) {
    takeEvents(at: now)
    while true {
      while let packet = host.takePacket() { station.receive(packet, at: now) }
      guard station.sendPacket(at: now, toHost: { host.receive($0, at: now) }) else { break }
      takeEvents(at: now)
    }
    deadline = earliest(earliest(comparison, glance), earliest(station.deadline, host.deadline))
  }

  private func takeEvents(at now: Instant) {
    while let event = host.takeEvent() { take(event, at: now) }
  }

  private func take(_ event: HostEvent, at now: Instant) {
    switch event {
    case .powerChanged(.on): meet(at: now)
    case .connected(let new):
      link = new.handle
      if reads, let valueHandle { host.request(.read(valueHandle), token: 1, on: new.handle, at: now) }
    case .disconnected:
      link = nil
      answer = nil
      meet(at: now)
    case .gatt(_, .completed(1, let result)): answer = result
    case .security(_, .prompt(let prompt)): ask(prompt, at: now)
    case .security(_, .paired(let outcome)): outcomes.append(outcome)
    case .security(_, .failed(let failure)): failures.append(failure)
    default: break
    }
  }

  private func meet(at now: Instant) {
    switch role {
    case .central: host.connect(to: Self.addresses.peripheral, at: now)
    case .peripheral: host.startAdvertising(data: [], scanResponse: [], at: now)
    }
  }

  // MARK: The user

  private func ask(_ prompt: PairingPrompt, at now: Instant) {
    prompts.append(prompt)
    switch prompt {
    case .compare where earlyKey != nil:
      guard let link, let earlyKey else { return }
      let command = HCI.Command.leEnableEncryption(link, random: 0, encryptedDiversifier: 0, longTermKey: earlyKey)
      station.controller.receive(command.packet(in: pool), at: now)
      comparison = now + .milliseconds(500)
    case .allow, .compare: if let link { host.answer(.yes, on: link, at: now) }
    case .show(let passkey): table.passkey = passkey
    case .enterPasskey: type(at: now)
    }
  }

  private func type(at now: Instant) {
    guard let link else { return }
    if let passkey = table.passkey {
      host.answer(.passkey(passkey), on: link, at: now)
    } else {
      glance = now + .milliseconds(5)
    }
  }
}
