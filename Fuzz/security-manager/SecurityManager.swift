import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// Fuzzes the Security Managers of two devices: the input controls an attacker in the middle, who changes their PDUs,
/// and the answers of their users.
///
/// The first four octets are the policies, two for each side. Each step that follows is an octet whose low four bits
/// select the action and whose fifth bit selects the side; some actions have a length and octets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSecurityManager(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count >= 4 else { return 0 }
  var input = UnsafeBufferPointer(start: start, count: count)[...]
  func nextPolicy() -> PairingPolicy { policy(input.popFirst() ?? 0, input.popFirst() ?? 0) }
  let central = nextPolicy()
  var link = FuzzLink(central, nextPolicy())
  // A pairing takes milliseconds, so their number is limited.
  var steps = 0
  while let kind = input.popFirst(), steps < 400 {
    steps += 1
    var octets: [UInt8] = []
    if kind & 0x0F >= 8 {
      let length = Int(input.popFirst() ?? 0)
      octets = Array(input.prefix(length))
      input = input.dropFirst(length)
    }
    link.step(kind, octets)
    link.check()
  }
  link.finish()
  return 0
}

private func policy(_ one: UInt8, _ other: UInt8) -> PairingPolicy {
  var policy = PairingPolicy()
  policy.ioCapability = SMP.IOCapability(rawValue: (one & 7) % 5) ?? .noInputNoOutput
  policy.asksForAuthentication = one & 0x08 != 0
  policy.secureConnections = PairingPolicy.SecureConnections(rawValue: (one >> 4 & 3) % 3) ?? .preferred
  policy.isBonding = one & 0x40 == 0
  policy.sendsKeypresses = one & 0x80 != 0
  policy.keySizes = other & 0x08 == 0 ? 16...16 : 7...(7 + (other >> 4) % 10)
  policy.isPairable = other & 7 != 7
  policy.acceptsDebugKeys = other & 1 != 0
  if other & 2 != 0 { policy.distributedKeys = .identityKey }
  if other & 4 != 0 { policy.acceptedKeys = .encryptionKey }
  return policy
}

private struct FuzzSide {
  var manager: SecurityManager
  var context: SecurityContext
  /// The PDUs in transit to the peer.
  var sent: [ByteSlice] = []
  var bond: HostBond?
  /// True if the user, or out of band data, can have authenticated the peer.
  var wasSure = false

  init(_ role: Link.Role, _ policy: PairingPolicy) {
    let addresses = Self.addresses(role)
    manager = SecurityManager(role: role, own: addresses.own, peer: addresses.peer)
    context = SecurityContext(
      policy: policy, identity: addresses.own, identityKey: Block(high: 1, low: UInt64(role.rawValue)),
      generator: KeyGenerator(RandomStream(seed: UInt64(role.rawValue))))
    context.bondedIdentities = [DeviceAddress(0xDDDD_DDDD_DDDD, .random)]
    if policy.sendsKeypresses { context.outOfBand.temporaryKeys[addresses.peer] = Block(high: 0, low: 9) }
  }

  static func addresses(_ role: Link.Role) -> (own: DeviceAddress, peer: DeviceAddress) {
    let central = DeviceAddress(0xC0C0_C0C0_C0C0, .random)
    let peripheral = DeviceAddress(0x1111_1111_1111, .public)
    return role == .central ? (central, peripheral) : (peripheral, central)
  }

  mutating func tell(_ body: (inout SecurityManager, inout SecurityContext) -> Void) {
    body(&manager, &context)
    var count = 0
    while let event = manager.takeEvent() {
      count += 1
      switch event {
      case .prompt(let prompt): wasSure = wasSure || prompt != .allow || !context.outOfBand.temporaryKeys.isEmpty
      case .paired(let outcome):
        precondition(7...16 ~= outcome.keySize && context.policy.keySizes.upperBound >= outcome.keySize)
        if let bond = outcome.bond { self.bond = bond }
        precondition(bond?.identity != DeviceAddress(0xDDDD_DDDD_DDDD, .random), "another one's identity")
      default: break
      }
    }
    precondition(count < 12, "\(count) events of one thing")
  }

  mutating func reconnect(keeping: Bool, at now: Instant) {
    tell { $0.linkEnded(at: now, &$1) }
    sent = []
    let addresses = Self.addresses(manager.role)
    manager = SecurityManager(role: manager.role, own: addresses.own, peer: addresses.peer)
    if !keeping { bond = nil }
    manager.setBond(bond)
  }
}

private struct FuzzLink {
  private let pool = PacketPool()
  private var central: FuzzSide
  private var peripheral: FuzzSide
  private var now = Instant.zero
  private var last: [ByteSlice] = []
  /// True if a controller has reported a false encryption state on this link, so that the two sides may disagree about
  /// it.
  private var hasLied = false

  init(_ central: PairingPolicy, _ peripheral: PairingPolicy) {
    self.central = FuzzSide(.central, central)
    self.peripheral = FuzzSide(.peripheral, peripheral)
  }

  private subscript(isCentral: Bool) -> FuzzSide {
    get { isCentral ? central : peripheral }
    _modify { if isCentral { yield &central } else { yield &peripheral } }
  }

  mutating func step(_ kind: UInt8, _ octets: [UInt8]) {
    let isCentral = kind & 0x10 == 0
    let more = kind >> 5
    let now = now
    switch kind & 0x0F {
    case 0: run()
    case 1: deliver(from: isCentral)
    case 2: if !self[isCentral].sent.isEmpty { self[isCentral].sent.removeFirst() }
    case 3: answer(isCentral, more)
    case 4:
      let level = HostLinkSecurity.Level(rawValue: more & 3) ?? .encrypted
      self[isCentral].tell { $0.secure(SecurityDemand(level: level, keySize: more & 4 == 0 ? 0 : 16), at: now, &$1) }
    case 5: if let pdu = last.dropLast(Int(more)).last { receive(pdu, isCentral) }
    case 6: encrypt()
    case 7: reconnect(more)
    case 8...11: receive(ByteSlice(octets), isCentral)
    case 12: corrupt(isCentral, octets)
    case 13: encryptionChanged(isCentral, octets)
    case 14: askForKey(octets)
    default: pass(.milliseconds(Int64(more) * 7_001 + Int64(octets.first ?? 0)))
    }
    collect(true)
    collect(false)
  }

  private mutating func receive(_ octets: ByteSlice, _ isCentral: Bool) {
    collect(isCentral)
    let count = self[isCentral].sent.count
    let now = now
    self[isCentral].tell { $0.receive(octets, at: now, &$1) }
    collect(isCentral)
    let isSilent = octets.isEmpty || octets[0] == 0x05 || SMP.Code(rawValue: octets[0]) == nil
    precondition(!isSilent || self[isCentral].sent.count == count, "\(octets) is answered")
  }

  private mutating func collect(_ isCentral: Bool) {
    while let pdu = self[isCentral].manager.takePDU() {
      var writer = ByteWriter(pool)
      pdu.encode(into: &writer)
      let octets = writer.finish()
      precondition(octets.count <= SMP.maximumLength && (try? SMP.PDU.decode(octets)) == pdu, "\(octets)")
      self[isCentral].sent.append(octets)
    }
    precondition(self[isCentral].sent.count < 10_000)
  }

  private mutating func deliver(from isCentral: Bool) {
    collect(isCentral)
    guard !self[isCentral].sent.isEmpty else { return }
    let octets = self[isCentral].sent.removeFirst()
    last = last.suffix(20) + [octets]
    receive(octets, !isCentral)
  }

  private mutating func corrupt(_ isCentral: Bool, _ changes: [UInt8]) {
    guard changes.count >= 2, !self[isCentral].sent.isEmpty else { return }
    var octets = self[isCentral].sent[0].bytes
    octets[Int(changes[0]) % octets.count] ^= changes[1]
    self[isCentral].sent[0] = ByteSlice(octets)
    deliver(from: isCentral)
  }

  /// Runs until nothing happens by itself, users included.
  private mutating func run() {
    var steps = 0
    repeat {
      steps += 1
      precondition(steps < 1_000, "it does not end")
      while !central.sent.isEmpty || !peripheral.sent.isEmpty {
        deliver(from: true)
        deliver(from: false)
      }
      encrypt()
      for isCentral in [true, false] {
        answer(isCentral, 0)
        collect(isCentral)
      }
    } while !central.sent.isEmpty || !peripheral.sent.isEmpty
  }

  private mutating func answer(_ isCentral: Bool, _ more: UInt8) {
    let now = now
    let answer: PairingAnswer
    switch (more, self[isCentral].manager.prompt) {
    case (0, .enterPasskey?): answer = .passkey(shown(!isCentral) ?? 123_456)
    case (0, .show?): return
    case (0, _): answer = .yes
    case (1, _): answer = .no
    case (2, _): answer = .passkey(123_456)
    case (3, _): answer = .passkey(.max)
    case (4, _): answer = .keypress(.passkeyDigitEntered)
    default: answer = .yes
    }
    self[isCentral].tell { $0.answer(answer, at: now, &$1) }
  }

  private func shown(_ isCentral: Bool) -> UInt32? {
    if case .show(let passkey) = self[isCentral].manager.prompt { return passkey }
    return nil
  }

  private mutating func encrypt() {
    guard case .encrypt(let key)? = central.manager.takeCommand() else { return }
    precondition(key.value != .zero)
    var given: Block?
    peripheral.tell { given = $0.longTermKey(random: key.random, diversifier: key.diversifier, $1) }
    let now = now
    switch given {
    case nil: central.tell { $0.encryptionChanged(status: .pinOrKeyMissing, isEncrypted: false, at: now, &$1) }
    case key.value:
      peripheral.tell { $0.encryptionChanged(status: .success, isEncrypted: true, at: now, &$1) }
      central.tell { $0.encryptionChanged(status: .success, isEncrypted: true, at: now, &$1) }
      // A central whose pairing has failed since it asked for the encryption ignores the result.
      let centralSize = central.manager.security.keySize
      precondition(hasLied || centralSize == 0 || centralSize == peripheral.manager.security.keySize)
    default: reconnect(1)
    }
  }

  /// Delivers an encryption event that a controller has no reason to send.
  private mutating func encryptionChanged(_ isCentral: Bool, _ octets: [UInt8]) {
    hasLied = true
    let status = HCI.ErrorCode(rawValue: octets.first ?? 0)
    let now = now
    self[isCentral].tell { $0.encryptionChanged(status: status, isEncrypted: octets.count != 2, at: now, &$1) }
  }

  private mutating func askForKey(_ octets: [UInt8]) {
    let random = octets.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    var given: Block?
    let diversifier = octets.count > 8 ? UInt16(octets[8]) : 0
    peripheral.tell { given = $0.longTermKey(random: random, diversifier: diversifier, $1) }
    precondition(given != .zero)
    given = nil
    central.tell { given = $0.longTermKey(random: random, diversifier: 0, $1) }
    precondition(given == nil, "a central gives a key")
  }

  private mutating func pass(_ span: TimeSpan) {
    now += span
    let now = now
    for isCentral in [true, false] {
      self[isCentral].tell { $0.timeReached(now, &$1) }
      precondition(self[isCentral].manager.deadline.map { $0 > now } ?? true)
    }
  }

  private mutating func reconnect(_ more: UInt8) {
    central.reconnect(keeping: more & 1 != 0, at: now)
    peripheral.reconnect(keeping: more & 2 != 0, at: now)
    hasLied = false
    central.wasSure = central.wasSure && more & 1 != 0
    peripheral.wasSure = peripheral.wasSure && more & 2 != 0
  }

  func check() {
    for side in [central, peripheral] {
      let security = side.manager.security
      precondition(security.level < .authenticated || side.wasSure, "nobody was asked")
      precondition((security.level == .none) == (security.keySize == 0))
      precondition(side.manager.prompt == nil || side.manager.isPairing)
    }
  }

  /// Checks that the two still pair on a new link.
  mutating func finish() {
    reconnect(0)
    now = .distantFuture
    for isCentral in [true, false] {
      self[isCentral].context.policy = PairingPolicy()
      self[isCentral].context.outOfBand = OutOfBand()
      self[isCentral].context.attempts = RepeatedAttempts()
    }
    central.tell { $0.secure(.encrypted, at: .zero, &$1) }
    collect(true)
    run()
    precondition(central.manager.security.isBonded && peripheral.manager.security.isBonded, "they don't pair any more")
  }
}
