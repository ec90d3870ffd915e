import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@Suite("Hostile peers: keys, bonds and time") struct HostileKeyTests {
  private static let zero16 = ByteSlice([UInt8](repeating: 0, count: 16))

  private func changing(_ role: Link.Role, _ body: @escaping (SMP.PDU) -> SMP.PDU?) -> SecurityPair {
    var pair = SecurityPair()
    pair.change = { sender, pdu in sender == role ? body(pdu) : pdu }
    return pair
  }

  private func authenticatedBond() -> SecurityPair {
    var pair = SecurityPair(
      central: PairingPolicy(.displayYesNo, authenticated: true), peripheral: PairingPolicy(.displayYesNo))
    pair.secure(.central)
    pair.reconnect()
    return pair
  }

  // MARK: Bonds

  @Test(
    "P7 An unauthenticated key never replaces an authenticated one",
    arguments: [Link.Role.central, .peripheral])
  func noDowngrade(victim: Link.Role) {
    var pair = authenticatedBond()
    let other: Link.Role = victim == .central ? .peripheral : .central
    pair[other].manager.setBond(nil)
    pair[other].context.policy = PairingPolicy(.noInputNoOutput)
    let bond = pair[victim].manager.bond
    if victim == .central {
      pair.central.context.policy.secureConnections = .preferred
      pair.central.tell { manager, context in
        manager.setBond(bond)
        manager.secure(SecurityDemand(level: .authenticated, keySize: 16), at: .zero, &context)
      }
      // The peer has lost its key: the host reports the missing key and does nothing else.
      pair.run()
      #expect(pair.central.failures == [.keyMissing])
    } else {
      pair.secure(.central)
      #expect(pair.peripheral.refusals == [.authenticationRequirements])
      #expect(pair.peripheral.prompts.isEmpty)
    }
    #expect(pair[victim].manager.bond == bond && pair[victim].outcomes.isEmpty && pair.keys.isEmpty)
  }

  @Test("P7 A key from LE legacy pairing does not replace an authenticated key of LE Secure Connections")
  func noDowngradeToLegacy() {
    var pair = authenticatedBond()
    pair.central.manager.setBond(nil)
    pair.central.context.policy = PairingPolicy(.keyboardOnly, authenticated: true, secureConnections: .never)
    pair.secure(.central)
    #expect(pair.peripheral.refusals == [.authenticationRequirements] && pair.peripheral.outcomes.isEmpty)
  }

  @Test("P7 Keys for BR/EDR are neither offered nor requested in either role, whatever the peer offers")
  func noCrossTransport() {
    var pair = changing(.central) { pdu in
      guard case .pairingRequest(var features) = pdu else { return pdu }
      features.initiatorKeyDistribution.insert(.linkKey)
      features.responderKeyDistribution.insert(.linkKey)
      features.authenticationRequirements.insert(.ct2)
      return .pairingRequest(features)
    }
    pair.secure(.central)
    for pdu in pair.central.sent + pair.peripheral.sent {
      switch pdu {
      case .pairingRequest(let features), .pairingResponse(let features):
        #expect(!features.initiatorKeyDistribution.contains(.linkKey))
        #expect(!features.responderKeyDistribution.contains(.linkKey))
        #expect(!features.authenticationRequirements.contains(.ct2))
      default: break
      }
    }
    #expect(pair.peripheral.sent.first?.code == .pairingResponse)
  }

  @Test("P9 A bonded peer pairs again only if the user allows it, and the bond stays until then")
  func pairingAgain() {
    for allows in [false, true] {
      var pair = authenticatedBond()
      let bond = pair.peripheral.manager.bond
      pair.central.manager.setBond(nil)
      pair.peripheral.user.allows = nil
      pair.secure(.central)
      #expect(pair.peripheral.prompts == [.allow] && pair.peripheral.manager.bond == bond)
      pair.answer(.peripheral, allows ? .yes : .no)
      #expect((pair.peripheral.manager.bond == bond) == !allows)
      #expect(pair.peripheral.outcomes.count == (allows ? 1 : 0))
    }
  }

  @Test(
    "P9 The identity of another bond, or of this device, is refused",
    arguments: [Link.Role.central, .peripheral])
  func foreignIdentity(liar: Link.Role) {
    let victim: Link.Role = liar == .central ? .peripheral : .central
    let other = DeviceAddress(0xD00D_0000_0001, .random)
    let own = victim == .central ? SecurityPair.identities.central : SecurityPair.identities.peripheral
    for address in [other, own] {
      var pair = changing(liar) { $0.code == .identityAddressInformation ? .identityAddressInformation(address) : $0 }
      pair[victim].context.bondedIdentities = [other]
      pair.secure(.central)
      #expect(pair[victim].refusals == [.keyRejected])
      #expect(pair[victim].outcomes.isEmpty && pair[victim].manager.bond == nil)
      #expect(pair[victim].manager.security.isBonded == false && pair.stillPairs())
    }
  }

  @Test("P9 A bonded peer may distribute its own identity again")
  func sameIdentity() {
    var pair = SecurityPair()
    pair.secure(.central)
    pair.reconnect()
    pair.central.manager.setBond(nil)
    pair.peripheral.context.bondedIdentities = [SecurityPair.identities.central]
    pair.secure(.central)
    #expect(pair.peripheral.outcomes.first?.bond?.identity == SecurityPair.identities.central)
  }

  @Test("P9 A Security Request removes no bond, and starts no pairing that the bond's key makes unnecessary")
  func spoofedSecurityRequest() {
    var pair = SecurityPair()
    pair.secure(.central)
    pair.reconnect()
    let bond = pair.central.manager.bond
    pair.peripheral.manager.setBond(nil)
    for _ in 0..<3 {
      pair.deliver(.securityRequest(.bonding), to: .central)
      pair.run()
    }
    #expect(pair.central.failures == [.keyMissing, .keyMissing, .keyMissing])
    #expect(pair.central.codes.isEmpty && pair.central.manager.bond == bond)
    // A Security Request that demands more starts a pairing, which the user has to allow.
    pair.central.user.allows = nil
    pair.deliver(.securityRequest([.bonding, .manInTheMiddleProtection]), to: .central)
    pair.run()
    #expect(pair.central.prompts == [.allow] && pair.central.manager.bond == bond)
  }

  // MARK: Key distribution

  @Test("P11 A key before the link is encrypted ends the pairing", arguments: [Link.Role.central, .peripheral])
  func earlyKeys(victim: Link.Role) {
    let keys: [SMP.PDU] = [
      .encryptionInformation(longTermKey: Self.zero16), .centralIdentification(ediv: 0, rand: 0),
      .identityInformation(identityResolvingKey: Self.zero16),
      .identityAddressInformation(SecurityPair.identities.central), .signingInformation(signatureKey: Self.zero16),
    ]
    for key in keys {
      for allows in [nil, true] {
        var pair = SecurityPair(
          central: PairingPolicy(.keyboardOnly, authenticated: true), peripheral: PairingPolicy(.displayOnly))
        pair.central.user.types = allows == nil
        pair.central.tell { $0.secure(.encrypted, at: .zero, &$1) }
        for _ in 0..<(allows == nil ? 40 : 3) { _ = pair.step() }
        pair.deliver(key, to: victim)
        pair.run()
        #expect(pair[victim].refusals == [.unspecifiedReason] && pair.keys.isEmpty)
        #expect(pair[victim].manager.bond == nil)
      }
    }
  }

  @Test("P11 Unrequested, repeated or reordered keys end the pairing, and no key is stored")
  func unaskedKeys() {
    for code in [SMP.Code.identityInformation, .identityAddressInformation, .signingInformation] {
      var pair = changing(.central) {
        $0.code == code ? .encryptionInformation(longTermKey: Self.zero16) : $0
      }
      pair.secure(.central)
      #expect(pair.peripheral.refusals == [.unspecifiedReason])
      #expect(pair.peripheral.outcomes.isEmpty && pair.peripheral.manager.bond == nil)
    }
    var twice = changing(.peripheral) {
      $0.code == .identityAddressInformation ? .identityInformation(identityResolvingKey: Self.zero16) : $0
    }
    twice.secure(.central)
    #expect(twice.central.refusals == [.unspecifiedReason] && twice.central.manager.bond == nil)

    var late = SecurityPair()
    late.secure(.central)
    let bond = late.central.manager.bond
    late.deliver(.identityInformation(identityResolvingKey: Self.zero16), to: .central)
    late.run()
    #expect(late.central.refusals == [.unspecifiedReason] && late.central.manager.bond == bond)
    #expect(late.central.failures.isEmpty && late.central.manager.security.isBonded)
  }

  @Test("P11 A response with keys that were not offered is refused with Invalid Parameters")
  func notASubset() {
    for isInitiators in [true, false] {
      var pair = changing(.peripheral) { pdu in
        guard case .pairingResponse(var features) = pdu else { return pdu }
        if isInitiators { features.initiatorKeyDistribution.insert(.linkKey) }
        if !isInitiators { features.responderKeyDistribution.insert(.linkKey) }
        return .pairingResponse(features)
      }
      pair.secure(.central)
      #expect(pair.central.refusals == [.invalidParameters] && pair.central.prompts.isEmpty && pair.stillPairs())
    }
  }

  @Test("P11 Keys of zeros count as no key: they resolve no address and verify no signature")
  func zeroKeys() throws {
    var pair = changing(.central) { pdu in
      switch pdu {
      case .identityInformation: .identityInformation(identityResolvingKey: Self.zero16)
      case .signingInformation: .signingInformation(signatureKey: Self.zero16)
      default: pdu
      }
    }
    pair.secure(.central)
    let bond = try #require(pair.peripheral.outcomes.first?.bond)
    #expect(bond.peerIdentityKey == nil && bond.signatureVerifier == nil)
    #expect(bond.identity == SecurityPair.identities.central)
  }

  @Test("P12 A legacy key of zeros is refused, and so is an identity that is not a static or public address")
  func nullKey() {
    var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: .never))
    pair.change = { sender, pdu in
      sender == .peripheral && pdu.code == .encryptionInformation
        ? .encryptionInformation(longTermKey: Self.zero16) : pdu
    }
    pair.secure(.central)
    #expect(pair.central.refusals == [.keyRejected] && pair.central.manager.bond == nil && pair.stillPairs())

    for value in [0x4000_0000_0001, 0x0000_0000_0001, 0x8000_0000_0001, 0xC000_0000_0000] as [UInt64] {
      var other = changing(.central) {
        $0.code == .identityAddressInformation ? .identityAddressInformation(DeviceAddress(value, .random)) : $0
      }
      other.secure(.central)
      #expect(other.peripheral.refusals == [.invalidParameters] && other.peripheral.manager.bond == nil)
    }
  }

  @Test("A peer without an identity address is stored under its current address, without its identity key")
  func noIdentity() throws {
    var pair = changing(.central) {
      $0.code == .identityAddressInformation ? .identityAddressInformation(DeviceAddress(0, .public)) : $0
    }
    pair.secure(.central)
    let bond = try #require(pair.peripheral.outcomes.first?.bond)
    #expect(bond.identity == SecurityPair.addresses.central && bond.peerIdentityKey == nil)
  }

  @Test("P12 A peer with this device's own address does not pair")
  func ownAddress() {
    var pair = SecurityPair()
    let address = SecurityPair.addresses.peripheral
    pair.peripheral.manager = SecurityManager(role: .peripheral, own: address, peer: address)
    pair.secure(.central)
    #expect(pair.peripheral.refusals == [.unspecifiedReason] && pair.keys.isEmpty)
  }

  // MARK: Time and attempts

  @Test(
    "P10 After 30 s of silence no pairing is possible on the link, but on the next one",
    arguments: [Link.Role.central, .peripheral])
  func silence(victim: Link.Role) {
    var pair = SecurityPair()
    let other: Link.Role = victim == .central ? .peripheral : .central
    pair[other].user.allows = nil
    pair.change = { sender, pdu in
      sender == victim || [.pairingRequest, .pairingResponse].contains(pdu.code) ? pdu : nil
    }
    pair.secure(.central)
    pair.pass(.milliseconds(29_999))
    #expect(!pair[victim].manager.isClosed)
    pair.pass(.milliseconds(1))
    #expect(pair[victim].manager.isClosed && pair[victim].failures == [.timeout])
    #expect(pair[victim].refusals.isEmpty && pair[victim].manager.deadline == nil)

    let count = pair[victim].sent.count
    pair.change = nil
    for pdu in [SMP.PDU.pairingFailed(.busy), .securityRequest(.bonding), .pairingConfirm(Self.zero16)] {
      pair.deliver(pdu, to: victim)
      pair.run()
    }
    pair.secure(victim)
    #expect(pair[victim].sent.count == count && pair[victim].failures == [.timeout, .timeout])
    #expect(pair.stillPairs())
  }

  @Test("P10 The timer restarts with each PDU sent or received")
  func timer() {
    var pair = SecurityPair(
      central: PairingPolicy(.keyboardOnly, authenticated: true), peripheral: PairingPolicy(.displayOnly))
    pair.central.user.types = false
    pair.secure(.central)
    for _ in 0..<5 {
      pair.pass(.seconds(29))
      pair.deliver(.pairingKeypressNotification(.passkeyDigitEntered), to: .peripheral)
      pair.deliver(.pairingKeypressNotification(.passkeyDigitEntered), to: .central)
      pair.run()
    }
    #expect(pair.central.failures.isEmpty && pair.peripheral.failures.isEmpty)
    pair.pass(.seconds(30))
    #expect(pair.central.failures == [.timeout] && pair.peripheral.failures == [.timeout])
    #expect(pair.peripheral.events.suffix(2) == [.promptEnded, .failed(.timeout)])
  }

  @Test("P10 A peripheral's Security Request without an answer fails after 30 s")
  func unheeded() {
    var pair = SecurityPair()
    pair.change = { _, _ in nil }
    pair.secure(.peripheral)
    pair.pass(.seconds(30))
    #expect(pair.peripheral.failures == [.timeout])
  }

  @Test(
    "P10 Requests to the wrong role get Command Not Supported, a second request gets Unspecified Reason")
  func wrongRole() {
    let features = SMP.PairingFeatures(
      ioCapability: .noInputNoOutput, hasOOBData: false, authenticationRequirements: .bonding,
      maximumEncryptionKeySize: 16, initiatorKeyDistribution: [], responderKeyDistribution: [])
    var pair = SecurityPair()
    pair.deliver(.pairingRequest(features), to: .central)
    pair.deliver(.securityRequest(.bonding), to: .peripheral)
    pair.run()
    #expect(pair.central.refusals == [.commandNotSupported] && pair.peripheral.refusals == [.commandNotSupported])
    #expect(pair.central.events.isEmpty && pair.peripheral.events.isEmpty)

    var second = SecurityPair()
    second.peripheral.user.allows = nil
    second.secure(.central)
    second.deliver(.pairingRequest(features), to: .peripheral)
    second.run()
    #expect(second.peripheral.refusals == [.unspecifiedReason] && second.stillPairs())
  }

  @Test("P10 A peer that fails a thousand times is accepted with growing delays, and can pair after waiting")
  func repeatedAttempts() {
    var pair = SecurityPair()
    pair.change = { sender, pdu in
      sender == .central && pdu.code == .pairingDHKeyCheck ? .pairingDHKeyCheck(Self.zero16) : pdu
    }
    var tried = 0
    for _ in 0..<1_000 {
      pair.reconnect(keeping: false)
      pair.secure(.central)
      let refusals = pair.peripheral.refusals
      #expect(refusals == [.dhKeyCheckFailed] || refusals == [.repeatedAttempts])
      if refusals == [.dhKeyCheckFailed] { tried += 1 }
      pair.now += .seconds(1)
    }
    // The peer's attempts are accepted after 0, 1, 3, 7 … seconds.
    #expect(tried == 10)
    pair.now += .seconds(600)
    pair.reconnect(keeping: false)
    pair.change = nil
    pair.secure(.central)
    #expect(pair.peripheral.outcomes.count == 1)
    #expect(!pair.peripheral.context.attempts.holdsBack(SecurityPair.addresses.central, at: pair.now))
  }

  @Test("P10 A peer in backoff can't start a pairing with a Security Request, but this device's own user can")
  func heldBackRequests() {
    var pair = SecurityPair()
    pair.central.user.allows = false
    pair.secure(.peripheral)
    #expect(pair.central.prompts == [.allow])
    pair.secure(.peripheral)
    #expect(pair.central.prompts == [.allow] && pair.central.refusals.last == .repeatedAttempts)
    pair.central.user.allows = true
    pair.secure(.central)
    #expect(pair.peripheral.refusals == [.repeatedAttempts])
    pair.pass(.seconds(3))
    pair.secure(.central)
    #expect(pair.central.outcomes.count == 1)
  }
}
