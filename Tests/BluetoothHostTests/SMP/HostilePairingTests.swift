import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@Suite("Hostile peers: pairing") struct HostilePairingTests {
  private static let zero16 = ByteSlice([UInt8](repeating: 0, count: 16))
  private static let junk16 = ByteSlice((1...16).map { UInt8($0) })

  private func expectFailed(
    _ pair: SecurityPair, _ reason: SMP.FailureReason, by role: Link.Role,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(pair[role].refusals == [reason], sourceLocation: sourceLocation)
    #expect(pair.keys.isEmpty && pair[role].outcomes.isEmpty, sourceLocation: sourceLocation)
    #expect(pair[role].manager.security.level == .none, sourceLocation: sourceLocation)
    #expect(pair.stillPairs(), sourceLocation: sourceLocation)
  }

  private func passkeyPair(_ mode: PairingPolicy.SecureConnections = .preferred) -> SecurityPair {
    SecurityPair(
      central: PairingPolicy(.keyboardOnly, authenticated: true, secureConnections: mode),
      peripheral: PairingPolicy(.displayOnly))
  }

  // MARK: Public keys

  @Test("P1 A public key in LE legacy pairing, or before any pairing, is answered with Unspecified Reason")
  func unexpectedPublicKey() {
    let key = P256KeyPair.debug.publicKey
    let pdu = SMP.PDU.pairingPublicKey(x: ByteSlice(key.x.reversed()), y: ByteSlice(key.y.reversed()))
    for role in [Link.Role.central, .peripheral] {
      var idle = SecurityPair()
      idle.deliver(pdu, to: role)
      idle.run()
      expectFailed(idle, .unspecifiedReason, by: role)
      #expect(idle[role].events.isEmpty)

      var legacy = passkeyPair(.never)
      legacy.central.user.types = false
      legacy.secure(.central)
      legacy.deliver(pdu, to: role)
      legacy.run()
      expectFailed(legacy, .unspecifiedReason, by: role)
      #expect(legacy[role].failures == [.refused(.unspecifiedReason)])
    }
  }

  @Test("P2 A public key that is not on the curve ends in DHKey Check Failed, and no key is derived from it")
  func invalidCurve() {
    let key = P256KeyPair.debug.publicKey
    let points: [([UInt8], [UInt8])] = [
      ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32)),
      (Array(key.x.dropLast()) + [1], key.y),
      ([UInt8](repeating: 0xFF, count: 32), [UInt8](repeating: 0xFF, count: 32)),
    ]
    for role in [Link.Role.central, .peripheral] {
      for point in points { expectRefused(role) { _, _ in (point.0, point.1) } }
      // The X of the peer's own key with another Y: CVE-2018-5383.
      expectRefused(role) { x, _ in (x, [UInt8](repeating: 0, count: 32)) }
      expectRefused(role) { x, y in (x, Array(y.dropLast()) + [y[31] ^ 1]) }
    }
  }

  private func expectRefused(_ role: Link.Role, _ point: @escaping ([UInt8], [UInt8]) -> ([UInt8], [UInt8])) {
    var pair = SecurityPair()
    pair.change = { sender, pdu in
      guard sender != role, case .pairingPublicKey(let x, let y) = pdu else { return pdu }
      let new = point(x.bytes.reversed(), y.bytes.reversed())
      return .pairingPublicKey(x: ByteSlice(new.0.reversed()), y: ByteSlice(new.1.reversed()))
    }
    pair.secure(.central)
    expectFailed(pair, .dhKeyCheckFailed, by: role)
    // A responder has not sent its own key by then.
    #expect(role == .central || !pair.peripheral.codes.contains(.pairingPublicKey))
  }

  @Test("P3 This device's own public key, reflected, ends the pairing, whatever its Y", arguments: [true, false])
  func reflectedKey(withY isSame: Bool) {
    var pair = SecurityPair()
    var own: SMP.PDU?
    pair.change = { sender, pdu in
      guard case .pairingPublicKey(let x, let y) = pdu else { return pdu }
      if sender == .central {
        own = pdu
        return pdu
      }
      guard case .pairingPublicKey(let ownX, let ownY)? = own else { return nil }
      _ = (x, y)
      return .pairingPublicKey(x: ownX, y: isSame ? ownY : Self.minus(ownY))
    }
    pair.secure(.central)
    expectFailed(pair, .unspecifiedReason, by: .central)
  }

  /// Returns the Y of the other point with the same X.
  private static func minus(_ y: ByteSlice) -> ByteSlice {
    let prime: [UInt8] =
      [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12) + [UInt8](repeating: 0xFF, count: 12)
    var borrow = 0
    var result = [UInt8](repeating: 0, count: 32)
    for index in 0..<32 {
      let difference = Int(prime[31 - index]) - Int(y[index]) - borrow
      borrow = difference < 0 ? 1 : 0
      result[index] = UInt8(truncatingIfNeeded: difference)
    }
    return ByteSlice(result)
  }

  @Test("P3 Reflected confirm and random values are refused, in LE legacy pairing and in a passkey round")
  func reflectedValues() {
    expectNotReflected(.never, .central)
    expectNotReflected(.preferred, .central)
    expectNotReflected(.preferred, .peripheral)
  }

  private func expectNotReflected(_ mode: PairingPolicy.SecureConnections, _ victim: Link.Role) {
    var pair = passkeyPair(mode)
    var last: [SMP.Code: SMP.PDU] = [:]
    pair.change = { sender, pdu in
      guard [.pairingConfirm, .pairingRandom].contains(pdu.code) else { return pdu }
      if sender == victim { last[pdu.code] = pdu }
      return sender == victim ? pdu : last[pdu.code] ?? pdu
    }
    pair.secure(.central)
    expectFailed(pair, .confirmValueFailed, by: victim)
  }

  @Test("P3 The debug key is refused unless the policy accepts it")
  func debugKey() {
    for isTaken in [false, true] {
      var pair = SecurityPair()
      pair.peripheral.context.policy.acceptsDebugKeys = isTaken
      pair.peripheral.user.allows = nil
      pair.secure(.central)
      let key = P256KeyPair.debug.publicKey
      var other = pair
      other.change = { sender, pdu in
        guard sender == .central, case .pairingPublicKey = pdu else { return pdu }
        return .pairingPublicKey(x: ByteSlice(key.x.reversed()), y: ByteSlice(key.y.reversed()))
      }
      other.reconnect(keeping: false)
      other.pass(.seconds(10))
      other.peripheral.user.allows = true
      other.secure(.central)
      if isTaken {
        #expect(other.peripheral.codes.contains(.pairingPublicKey))
      } else {
        expectFailed(other, .authenticationRequirements, by: .peripheral)
      }
    }
  }

  // MARK: Key sizes

  @Test("P4 Either role refuses keys that are shorter than the policy requires", arguments: [UInt8](7...15))
  func shortKeys(size: UInt8) {
    for role in [Link.Role.central, .peripheral] {
      var pair = SecurityPair()
      pair[role].context.policy.keySizes = 7...size
      pair.secure(.central)
      let other: Link.Role = role == .central ? .peripheral : .central
      expectFailed(pair, .encryptionKeySize, by: other)

      var lenient = SecurityPair()
      lenient[role].context.policy.keySizes = 7...size
      lenient[other].context.policy.keySizes = 7...16
      lenient.secure(.central)
      #expect(lenient.central.manager.security.keySize == size)
      #expect(lenient.keys.allSatisfy { $0.bytes.prefix(16 - Int(size)).allSatisfy { $0 == 0 } })
    }
  }

  @Test(
    "S12 Invalid key sizes are refused in requests and responses, and no key is given afterwards",
    arguments: [UInt8(0), 1, 6, 17, 253, 255])
  func impossibleKeySizes(size: UInt8) {
    let expected: SMP.FailureReason = size < 7 ? .encryptionKeySize : .invalidParameters
    for code in [SMP.Code.pairingRequest, .pairingResponse] {
      var pair = SecurityPair()
      pair.change = { _, pdu in
        switch pdu {
        case .pairingRequest(var features) where code == .pairingRequest:
          features.maximumEncryptionKeySize = size
          return .pairingRequest(features)
        case .pairingResponse(var features) where code == .pairingResponse:
          features.maximumEncryptionKeySize = size
          return .pairingResponse(features)
        default: return pdu
        }
      }
      pair.secure(.central)
      expectFailed(pair, expected, by: code == .pairingRequest ? .peripheral : .central)
      #expect(pair.peripheral.manager.longTermKey(random: 0, diversifier: 0, pair.peripheral.context) == nil)
    }
  }

  // MARK: Values

  @Test(
    "P5 A random value that does not match the confirm value ends the pairing; the round is not repeated",
    arguments: [PairingPolicy.SecureConnections.never, .preferred], [Link.Role.central, .peripheral])
  func wrongRandom(mode: PairingPolicy.SecureConnections, victim: Link.Role) {
    for isPasskey in [true, false] {
      var pair =
        isPasskey ? passkeyPair(mode) : SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: mode))
      pair.change = { sender, pdu in
        sender != victim && pdu.code == .pairingRandom ? .pairingRandom(Self.junk16) : pdu
      }
      pair.secure(.central)
      // Just Works of LE Secure Connections: the responder has no commitment to check, and detects the change by the
      // check value.
      let isLate = mode == .preferred && !isPasskey && victim == .peripheral
      #expect(pair.keys.isEmpty && pair[victim].outcomes.isEmpty && pair.stillPairs())
      if isLate {
        #expect(pair.central.refusals + pair.peripheral.refusals == [.dhKeyCheckFailed])
      } else {
        #expect(pair[victim].refusals == [.confirmValueFailed])
      }
    }
  }

  @Test(
    "P5 A random value before the confirm value is answered with Unspecified Reason",
    arguments: [PairingPolicy.SecureConnections.never, .preferred])
  func randomFirst(mode: PairingPolicy.SecureConnections) {
    var pair = passkeyPair(mode)
    pair.change = { sender, pdu in
      sender == .central && pdu.code == .pairingConfirm ? .pairingRandom(Self.junk16) : pdu
    }
    pair.secure(.central)
    expectFailed(pair, .unspecifiedReason, by: .peripheral)
  }

  /// A central that uses the same random value in all passkey rounds, and knows the passkey.
  private final class Repeater {
    var keys: [Link.Role: [UInt8]] = [:]
    var round = 0
    let passkey: UInt32 = 0b1010_0110_0110_0101_1001
    let nonce = Block(high: 1, low: 2)

    func change(_ role: Link.Role, _ pdu: SMP.PDU) -> SMP.PDU? {
      switch pdu {
      case .pairingPublicKey(let x, _): keys[role] = x.bytes.reversed()
      case .pairingConfirm where role == .central:
        let bit = UInt8(passkey >> round & 1)
        round += 1
        guard let own = keys[.central], let peer = keys[.peripheral] else { return pdu }
        return .pairingConfirm(ByteSlice(Toolbox.f4(u: own, v: peer, x: nonce, z: 0x80 | bit).bytes.reversed()))
      case .pairingRandom where role == .central: return .pairingRandom(ByteSlice(nonce.bytes.reversed()))
      default: break
      }
      return pdu
    }
  }

  @Test("P16 Each passkey round has a new nonce, however often the peer repeats its nonce")
  func freshNonces() {
    var pair = SecurityPair(
      central: PairingPolicy(.keyboardOnly, authenticated: true), peripheral: PairingPolicy(.keyboardOnly))
    let repeater = Repeater()
    pair.change = repeater.change
    for role in [Link.Role.central, .peripheral] { pair[role].user.passkey = repeater.passkey }
    pair.secure(.central)
    let sent = pair.peripheral.sent
    let nonces = sent.compactMap { if case .pairingRandom(let value) = $0 { value } else { nil } }
    #expect(nonces.count == 20 && Set(nonces).count == 20)
    let confirms = sent.compactMap { if case .pairingConfirm(let value) = $0 { value } else { nil } }
    #expect(confirms.count == 20 && Set(confirms).count == 20)
    // The central has checked a different value from the one that it sent.
    #expect(pair.keys.isEmpty && pair.stillPairs())
  }

  @Test("P16 Two pairings have different key pairs and nonces")
  func freshKeys() {
    var pair = SecurityPair()
    pair.secure(.central)
    let first = pair.central.sent + pair.peripheral.sent
    pair.reconnect(keeping: false)
    pair.secure(.central)
    let second = pair.central.sent + pair.peripheral.sent
    for code in [SMP.Code.pairingPublicKey, .pairingRandom, .pairingConfirm, .pairingDHKeyCheck, .signingInformation] {
      #expect(Set((first + second).filter { $0.code == code }).count == 2 * first.count { $0.code == code })
    }
  }

  @Test("P6 Values of another method than the agreed one end the pairing")
  func methodConfusion() {
    var pair = SecurityPair(
      central: PairingPolicy(.displayYesNo, authenticated: true), peripheral: PairingPolicy(.keyboardDisplay))
    pair.change = { sender, pdu in
      sender == .central && pdu.code == .pairingRandom ? .pairingConfirm(Self.junk16) : pdu
    }
    pair.secure(.central)
    expectFailed(pair, .unspecifiedReason, by: .peripheral)
    #expect(pair.peripheral.prompts.isEmpty)
  }

  @Test("P6 Capabilities changed in transit make the check values fail")
  func changedCapabilities() {
    var pair = SecurityPair(
      central: PairingPolicy(.displayYesNo, authenticated: true), peripheral: PairingPolicy(.displayYesNo))
    pair.change = { _, pdu in
      switch pdu {
      case .pairingRequest(var features):
        features.ioCapability = .noInputNoOutput
        return .pairingRequest(features)
      case .pairingResponse(var features):
        features.ioCapability = .noInputNoOutput
        return .pairingResponse(features)
      default: return pdu
      }
    }
    pair.secure(.central)
    #expect(pair.keys.isEmpty && pair.central.outcomes.isEmpty && pair.peripheral.outcomes.isEmpty)
    #expect((pair.central.refusals + pair.peripheral.refusals) == [.dhKeyCheckFailed])
  }

  // MARK: Keys out of order

  @Test(
    "S13 S14 A key is given only in the state that waits for it",
    arguments: [PairingPolicy.SecureConnections.never, .preferred])
  func keysOutOfOrder(mode: PairingPolicy.SecureConnections) {
    for isPasskey in [false, true] {
      var pair =
        isPasskey ? passkeyPair(mode) : SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: mode))
      pair.central.tell { $0.secure(.encrypted, at: .zero, &$1) }
      var given = 0
      var isGoingOn = true
      while isGoingOn, pair.keys.isEmpty {
        var side = pair.peripheral
        for (random, diversifier) in [(0, 0), (1, 0), (0, 1)] as [(UInt64, UInt16)] {
          guard let key = side.manager.longTermKey(random: random, diversifier: diversifier, side.context) else {
            continue
          }
          given += 1
          #expect(random == 0 && diversifier == 0 && key != .zero)
          // The initiator's last PDU precedes it: its random value, or its check value.
          #expect(pair.central.codes.last == (mode == .never ? .pairingRandom : .pairingDHKeyCheck))
        }
        isGoingOn = pair.step()
      }
      #expect(given > 0)
      pair.run()
      #expect(pair.keys.count == 1 && pair.peripheral.outcomes.count == 1)
    }
  }

  @Test("S13 After a pairing without a bond no key is given for another encryption")
  func staleKeys() {
    for mode in [PairingPolicy.SecureConnections.never, .preferred] {
      var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: mode, bonding: false))
      pair.secure(.central)
      #expect(pair.peripheral.manager.longTermKey(random: 0, diversifier: 0, pair.peripheral.context) == nil)
      pair.reconnect()
      #expect(pair.peripheral.manager.longTermKey(random: 0, diversifier: 0, pair.peripheral.context) == nil)
    }
  }

  @Test(
    "S14 A wrong check value ends in DHKey Check Failed, and no key is given",
    arguments: [Link.Role.central, .peripheral])
  func wrongCheck(victim: Link.Role) {
    var pair = SecurityPair()
    pair.change = { sender, pdu in
      sender != victim && pdu.code == .pairingDHKeyCheck ? .pairingDHKeyCheck(Self.zero16) : pdu
    }
    pair.secure(.central)
    expectFailed(pair, .dhKeyCheckFailed, by: victim)
    #expect(pair.peripheral.manager.longTermKey(random: 0, diversifier: 0, pair.peripheral.context) == nil)
  }
}
