import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// The Security Managers of two devices with a link between them, in virtual time. Each PDU arrives at once, and the
/// link is encrypted if both controllers get the same key.
struct SecurityPair {
  /// A user's answers to prompts.
  struct User {
    /// The answer to `allow`; nil: no answer.
    var allows: Bool? = true
    /// The answer to `compare`; nil: no answer.
    var compares: Bool? = true
    /// The passkey to type if the other device shows none, or instead of the one that it shows.
    var passkey: UInt32?
    var types = true
    /// True if the user rejects `show` and `enterPasskey`.
    var givesUp = false
  }

  struct Side {
    var manager: SecurityManager
    var context: SecurityContext
    var user = User()
    var events: [SecurityEvent] = []
    var sent: [SMP.PDU] = []

    var outcomes: [PairingOutcome] {
      events.compactMap { if case .paired(let outcome) = $0 { outcome } else { nil } }
    }
    var failures: [SecurityFailure] {
      events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }
    var prompts: [PairingPrompt] {
      events.compactMap { if case .prompt(let prompt) = $0 { prompt } else { nil } }
    }
    var changes: [HostLinkSecurity] {
      events.compactMap { if case .changed(let security) = $0 { security } else { nil } }
    }
    var refusals: [SMP.FailureReason] {
      sent.compactMap { if case .pairingFailed(let reason) = $0 { reason } else { nil } }
    }
    var codes: [SMP.Code] { sent.map(\.code) }

    /// Calls `body` with the Security Manager and the context that it shares with others.
    mutating func tell(_ body: (inout SecurityManager, inout SecurityContext) -> Void) { body(&manager, &context) }
  }

  static let addresses = (
    central: DeviceAddress(0x5A11_2233_4455, .random), peripheral: DeviceAddress(0xC0DE_0000_0001, .random)
  )
  static let identities = (
    central: DeviceAddress(0x0011_2233_4455, .public), peripheral: DeviceAddress(0xC0DE_0000_0001, .random)
  )

  let pool = PacketPool()
  var central: Side
  var peripheral: Side
  var now = Instant.zero
  /// The keys with which the link was encrypted, in order; both controllers had each of them.
  var keys: [Block] = []
  /// The number of pairing keys that the peripheral's controller got for a link whose central has another key.
  var mismatches = 0
  /// Transforms each PDU in transit; nil loses the PDU.
  var change: ((Link.Role, SMP.PDU) -> SMP.PDU?)?
  private var shown: UInt32?

  init(seed: UInt64 = 5, central: PairingPolicy = PairingPolicy(), peripheral: PairingPolicy = PairingPolicy()) {
    let generator = RandomStream(seed: seed)
    func side(_ role: Link.Role, _ policy: PairingPolicy) -> Side {
      let isCentral = role == .central
      let (one, other) = (Self.addresses.central, Self.addresses.peripheral)
      return Side(
        manager: SecurityManager(role: role, own: isCentral ? one : other, peer: isCentral ? other : one),
        context: SecurityContext(
          policy: policy, identity: isCentral ? Self.identities.central : Self.identities.peripheral,
          identityKey: Block(high: 0x1234, low: UInt64(role.rawValue) + 1),
          generator: KeyGenerator(generator.split(isCentral ? "central" : "peripheral"))))
    }
    self.central = side(.central, central)
    self.peripheral = side(.peripheral, peripheral)
  }

  subscript(role: Link.Role) -> Side {
    get { role == .central ? central : peripheral }
    set { if role == .central { central = newValue } else { peripheral = newValue } }
    _modify { if role == .central { yield &central } else { yield &peripheral } }
  }

  // MARK: Events

  mutating func secure(_ role: Link.Role, _ demand: SecurityDemand = .encrypted) {
    let now = now
    self[role].tell { $0.secure(demand, at: now, &$1) }
    run()
  }

  mutating func deliver(_ pdu: SMP.PDU, to role: Link.Role) { deliver(encoded(pdu), to: role) }

  mutating func deliver(_ octets: ByteSlice, to role: Link.Role) {
    let now = now
    self[role].tell { $0.receive(octets, at: now, &$1) }
    collect(role)
  }

  mutating func answer(_ role: Link.Role, _ answer: PairingAnswer) {
    let now = now
    self[role].tell { $0.answer(answer, at: now, &$1) }
    run()
  }

  func encoded(_ pdu: SMP.PDU) -> ByteSlice {
    var writer = ByteWriter(pool)
    pdu.encode(into: &writer)
    return writer.finish()
  }

  /// Collects the events of a side.
  mutating func collect(_ role: Link.Role) {
    while let event = self[role].manager.takeEvent() {
      if case .prompt(.show(let passkey)) = event { shown = passkey }
      self[role].events.append(event)
    }
  }

  /// Runs until neither side has anything to do.
  mutating func run() {
    while step() {}
  }

  /// Executes the next step; returns false if there is none.
  mutating func step() -> Bool {
    for role in [Link.Role.central, .peripheral] {
      collect(role)
      if let pdu = self[role].manager.takePDU() {
        self[role].sent.append(pdu)
        let other: Link.Role = role == .central ? .peripheral : .central
        if let pdu = change == nil ? pdu : change?(role, pdu) { deliver(pdu, to: other) }
        return true
      }
    }
    if let command = central.manager.takeCommand() {
      encrypt(command)
      return true
    }
    return answerPrompt(.central) || answerPrompt(.peripheral)
  }

  private mutating func encrypt(_ command: SecurityCommand) {
    guard case .encrypt(let key) = command else { return }
    var given: Block?
    peripheral.tell { given = $0.longTermKey(random: key.random, diversifier: key.diversifier, $1) }
    switch given {
    case nil: changed(.central, .pinOrKeyMissing)
    case key.value:
      keys.append(key.value)
      changed(.peripheral)
      changed(.central)
    default:
      // Two sides with the keys of different pairings meet: the link is lost with the first packet.
      if central.manager.isPairing, peripheral.manager.isPairing { mismatches += 1 }
      end()
    }
  }

  mutating func changed(_ role: Link.Role, _ status: HCI.ErrorCode = .success) {
    let now = now
    self[role].tell { $0.encryptionChanged(status: status, isEncrypted: status == .success, at: now, &$1) }
    collect(role)
  }

  private mutating func answerPrompt(_ role: Link.Role) -> Bool {
    guard let prompt = self[role].manager.prompt else { return false }
    let user = self[role].user
    let answer: PairingAnswer
    switch prompt {
    case .allow:
      guard let allows = user.allows else { return false }
      answer = allows ? .yes : .no
    case .compare:
      guard let compares = user.compares else { return false }
      answer = compares ? .yes : .no
    case .show:
      guard user.givesUp else { return false }
      answer = .no
    case .enterPasskey:
      guard user.types else { return false }
      answer = user.givesUp ? .no : .passkey(user.passkey ?? shown ?? 123_456)
    }
    let now = now
    self[role].tell { $0.answer(answer, at: now, &$1) }
    collect(role)
    return true
  }

  mutating func pass(_ span: TimeSpan) {
    let end = now + span
    while let next = earliest(central.manager.deadline, peripheral.manager.deadline), next <= end {
      now = next
      for role in [Link.Role.central, .peripheral] { self[role].tell { $0.timeReached(next, &$1) } }
      run()
    }
    now = end
  }

  mutating func end() {
    let now = now
    for role in [Link.Role.central, .peripheral] {
      self[role].tell { $0.linkEnded(at: now, &$1) }
      collect(role)
    }
  }

  /// Reconnects the same devices, with the bonds that each has stored.
  mutating func reconnect(keeping: Bool = true) {
    end()
    for role in [Link.Role.central, .peripheral] {
      let bond = keeping ? self[role].outcomes.last?.bond : nil
      let own = role == .central ? Self.addresses.central : Self.addresses.peripheral
      let peer = role == .central ? Self.addresses.peripheral : Self.addresses.central
      self[role].manager = SecurityManager(role: role, own: own, peer: peer)
      self[role].manager.setBond(bond)
      self[role].events = []
      self[role].sent = []
    }
    keys = []
    shown = nil
  }

  /// Checks the general oracle of hostile peers: the two still pair on a new link.
  func stillPairs() -> Bool {
    var pair = self
    pair.change = nil
    pair.now += .seconds(3_600)
    pair.reconnect(keeping: false)
    for role in [Link.Role.central, .peripheral] {
      pair[role].context.policy = PairingPolicy()
      pair[role].context.outOfBand = OutOfBand()
      pair[role].user = User()
    }
    pair.secure(.central)
    return pair.keys.count == 1 && pair.central.outcomes.count == 1 && pair.peripheral.outcomes.count == 1
  }
}
