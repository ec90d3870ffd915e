import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothHost

/// Two hosts with links between them, controllers that encrypt, and two users.
struct SecuredHosts {
  /// One side: the host with its controller, the prompts on its user's screen, and the user's answers.
  struct Side {
    var bench: HostHarness
    let handle: HCI.ConnectionHandle
    var prompts: [PairingPrompt] = []
    var says: (PairingPrompt, _ shown: UInt32?) -> PairingAnswer? = Self.agree

    /// Allows everything, confirms that the numbers match, and types the passkey that the other side shows.
    static func agree(_ prompt: PairingPrompt, _ shown: UInt32?) -> PairingAnswer? {
      switch prompt {
      case .allow, .compare: .yes
      case .show: nil
      case .enterPasskey: shown.map(PairingAnswer.passkey)
      }
    }

    var security: HostLinkSecurity { bench.host.security(of: handle) }
    var securityEvents: [SecurityEvent] {
      bench.events.compactMap { if case .security(_, let event) = $0 { event } else { nil } }
    }
    var failures: [SecurityFailure] {
      securityEvents.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }
    var outcomes: [PairingOutcome] {
      securityEvents.compactMap { if case .paired(let outcome) = $0 { outcome } else { nil } }
    }
    /// Checks the general oracle: the device advertises, accepts a connection and answers a read.
    mutating func expectUnharmed() throws {
      bench.events.removeAll()
      bench.perform { host, now in host.startAdvertising(data: [], scanResponse: [], at: now) }
      #expect(bench.advertisingAnswers == [nil])
      let newcomer = bench.link(.peripheral, handle: 0x60, to: DeviceAddress(0xC000_0000_0D00, .random))
      bench.data.removeAll()
      bench.receive(.attribute, [0x0A, 0x03, 0x00], on: newcomer)
      #expect(try bench.payloads(on: newcomer, .attribute) == [[0x0B] + [UInt8]("Pair".utf8)])
    }

    /// The commands that gave a key to the controller or refused one.
    var keyCommands: [HCI.Command] {
      bench.commands.filter {
        switch $0 {
        case .leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply: true
        default: false
        }
      }
    }
  }

  static let centralAddress = DeviceAddress(0xC000_0000_0BBB, .random)
  static let peripheralAddress = DeviceAddress(0xC000_0000_0AAA, .random)

  var central: Side
  var peripheral: Side
  /// The number that either user saw last.
  private var shown: UInt32?
  /// The numbers of commands that have been executed.
  private var executed = (central: 0, peripheral: 0)
  /// The key of the central's controller, which the peripheral's controller must get too.
  private var offered: UInt128?
  private var isEncrypted = false
  /// All payloads of the security channel, in order.
  private(set) var heard: [[UInt8]] = []

  init(
    _ central: PairingPolicy = PairingPolicy(), _ peripheral: PairingPolicy = PairingPolicy(),
    encryptsBondedLinks: Bool = true, arePrivate: Bool = false
  ) {
    self.central = Side(
      bench: Self.bench(central, Self.centralAddress, encryptsBondedLinks, arePrivate),
      handle: HCI.ConnectionHandle(rawValue: 1))
    self.peripheral = Side(
      bench: Self.bench(peripheral, Self.peripheralAddress, encryptsBondedLinks, arePrivate),
      handle: HCI.ConnectionHandle(rawValue: 2))
  }

  private static func bench(
    _ policy: PairingPolicy, _ address: DeviceAddress, _ encryptsBondedLinks: Bool, _ isPrivate: Bool
  ) -> HostHarness {
    var configuration = HostConfiguration(deviceName: "Pair", address: address)
    configuration.pairing = policy
    configuration.encryptsBondedLinks = encryptsBondedLinks
    configuration.usesPrivateAddresses = isPrivate
    var bench = HostHarness(configuration: configuration, seed: address.value)
    bench.facts.supportedCommands = HCI.SupportedCommands(
      HostHarness.servedCommands + [
        .leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply,
      ])
    bench.answers[.leEnableEncryption] = .status(.success)
    bench.powerOn()
    return bench
  }

  /// Creates an unencrypted link.
  ///
  /// - Parameter private: The peripheral's resolvable private address, if the central sees that address instead of the
  ///   static one.
  mutating func link(private address: DeviceAddress? = nil) {
    executed = (central.bench.commands.count, peripheral.bench.commands.count)
    offered = nil
    isEncrypted = false
    let seen = address ?? Self.peripheralAddress
    central.bench.link(.central, handle: central.handle.rawValue, to: seen)
    var complete = HostHarness.connection(.peripheral, peripheral.handle, Self.centralAddress)
    complete.localResolvablePrivateAddress = address?.value ?? 0
    peripheral.bench.receive(.leEnhancedConnectionComplete(complete))
    run()
  }

  /// Creates a link between the addresses that the two hosts have given their controllers.
  ///
  /// - Parameter identity: The identity that the central connects to when it hears the peripheral; nil: the central has
  ///   the peripheral's address.
  mutating func linkOnAir(to identity: DeviceAddress? = nil) {
    executed = (central.bench.commands.count, peripheral.bench.commands.count)
    offered = nil
    isEncrypted = false
    let (one, other) = (central.bench.host.ownAddressOnAir, peripheral.bench.host.ownAddressOnAir)
    central.bench.perform { host, now in host.connect(to: identity ?? other, at: now) }
    if identity != nil { central.bench.hear([2, 1, 6], from: other) }
    central.bench.receive(.leConnectionComplete(HostHarness.connection(.central, central.handle, other)))
    central.bench.receive(HostHarness.signOfLife(central.handle))
    peripheral.bench.receive(.leConnectionComplete(HostHarness.connection(.peripheral, peripheral.handle, one)))
    run()
  }

  mutating func unlink() {
    for side in [\SecuredHosts.central, \SecuredHosts.peripheral] {
      let handle = self[keyPath: side].handle
      self[keyPath: side].bench.receive(
        .disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
      self[keyPath: side].bench.data.removeAll()
    }
  }

  mutating func forget() {
    for side in [\SecuredHosts.central, \SecuredHosts.peripheral] {
      self[keyPath: side].bench.events.removeAll()
      self[keyPath: side].prompts.removeAll()
    }
    heard.removeAll()
  }

  /// Relays packets until neither side has any.
  mutating func run() {
    var isGoingOn = true
    while isGoingOn {
      isGoingOn = pass(\.central, to: \.peripheral)
      isGoingOn = pass(\.peripheral, to: \.central) || isGoingOn
      isGoingOn = execute() || isGoingOn
      isGoingOn = ask(\.central) || isGoingOn
      isGoingOn = ask(\.peripheral) || isGoingOn
    }
  }

  private mutating func pass(
    _ sender: WritableKeyPath<SecuredHosts, Side>, to receiver: WritableKeyPath<SecuredHosts, Side>
  ) -> Bool {
    let packets = self[keyPath: sender].bench.data
    self[keyPath: sender].bench.data.removeAll()
    for packet in packets {
      if let frame = try? L2CAP.Frame(packet.payload), frame.channel == .securityManager {
        heard.append(frame.payload.bytes)
      }
      let handle = self[keyPath: receiver].handle
      self[keyPath: receiver].bench.receive(
        packet.payload.bytes, on: handle, packet.boundary == .continuing ? .continuing : .firstFlushable)
      let pool = self[keyPath: sender].bench.pool
      self[keyPath: sender].bench.receive(
        .numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: pool)))
    }
    return !packets.isEmpty
  }

  /// Executes the link layer's encryption procedure as the two controllers · Vol 6, Part B, 5.1.3.
  private mutating func execute() -> Bool {
    var hasExecuted = false
    while executed.central < central.bench.commands.count {
      let command = central.bench.commands[executed.central]
      executed.central += 1
      guard case .leEnableEncryption(_, let random, let diversifier, let key) = command else { continue }
      hasExecuted = true
      offered = key.value
      peripheral.bench.receive(
        .leLongTermKeyRequest(peripheral.handle, random: random, encryptedDiversifier: diversifier))
    }
    while executed.peripheral < peripheral.bench.commands.count {
      let command = peripheral.bench.commands[executed.peripheral]
      executed.peripheral += 1
      switch command {
      case .leLongTermKeyRequestReply(_, let key):
        hasExecuted = true
        encrypt(key.value)
      case .leLongTermKeyRequestNegativeReply:
        hasExecuted = true
        central.bench.receive(.encryptionChange(.pinOrKeyMissing, central.handle, enabled: 0))
      default: break
      }
    }
    return hasExecuted
  }

  private mutating func encrypt(_ key: UInt128) {
    guard key == offered else {
      Issue.record("the two sides have different keys")
      return
    }
    let wasEncrypted = isEncrypted
    isEncrypted = true
    for side in [\SecuredHosts.peripheral, \SecuredHosts.central] {
      let handle = self[keyPath: side].handle
      self[keyPath: side].bench.receive(
        wasEncrypted
          ? .encryptionKeyRefreshComplete(.success, handle) : .encryptionChange(.success, handle, enabled: 1))
    }
  }

  /// Shows a pending prompt to the user of one side, who answers it.
  private mutating func ask(_ side: WritableKeyPath<SecuredHosts, Side>) -> Bool {
    let handle = self[keyPath: side].handle
    let all = self[keyPath: side].securityEvents.compactMap {
      if case .prompt(let prompt) = $0 { prompt } else { nil }
    }
    let count = self[keyPath: side].prompts.count
    guard all.count > count else { return false }
    let prompt = all[count]
    if case .show(let passkey) = prompt { shown = passkey }
    if case .enterPasskey = prompt, shown == nil { return false }
    self[keyPath: side].prompts.append(prompt)
    guard let answer = self[keyPath: side].says(prompt, shown) else { return true }
    self[keyPath: side].bench.perform { host, now in host.answer(answer, on: handle, at: now) }
    return true
  }

  /// Sends a request from one side's client to the other side's server.
  mutating func request(
    _ request: GATTRequest, by side: WritableKeyPath<SecuredHosts, Side> = \.central
  ) -> Result<GATTResponse, GATTError>? {
    let handle = self[keyPath: side].handle
    let count = self[keyPath: side].bench.events.count
    self[keyPath: side].bench.perform { host, now in host.request(request, token: 7, on: handle, at: now) }
    run()
    for case .gatt(_, .completed(7, let result)) in self[keyPath: side].bench.events.dropFirst(count) { return result }
    return nil
  }

  mutating func secure(_ demand: SecurityDemand, by side: WritableKeyPath<SecuredHosts, Side>) {
    let handle = self[keyPath: side].handle
    self[keyPath: side].bench.perform { host, now in host.secure(handle, demand, at: now) }
    run()
  }
}
