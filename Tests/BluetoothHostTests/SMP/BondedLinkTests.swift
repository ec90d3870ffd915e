import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Requirements
import TestSupport
import Testing

@Suite("Links of bonded devices") struct BondedLinkTests {
  private func bonded(
    _ mode: PairingPolicy.SecureConnections = .preferred, central: SMP.IOCapability = .noInputNoOutput,
    peripheral: SMP.IOCapability = .noInputNoOutput, authenticated: Bool = false
  ) -> SecurityPair {
    var pair = SecurityPair(
      central: PairingPolicy(central, authenticated: authenticated, secureConnections: mode),
      peripheral: PairingPolicy(peripheral))
    pair.secure(.central)
    pair.reconnect()
    return pair
  }

  @Test(
    "Either role's demand encrypts the link with the bond's key, without prompts",
    arguments: [PairingPolicy.SecureConnections.never, .preferred], [Link.Role.central, .peripheral])
  func reconnect(mode: PairingPolicy.SecureConnections, starter: Link.Role) throws {
    var pair = bonded(mode)
    let expected = pair.central.manager.bond?.key(in: .central)?.value
    pair.secure(starter)
    #expect(pair.keys == [try #require(expected)])
    for side in [pair.central, pair.peripheral] {
      #expect(side.prompts.isEmpty && side.outcomes.isEmpty && side.failures.isEmpty)
      #expect(side.changes == [HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true, isBonded: true)])
    }
    #expect(pair.peripheral.codes == (starter == .central ? [] : [.securityRequest]))
    #expect(pair.central.codes.isEmpty)
  }

  @Test("A demand that is already met succeeds at once")
  func met() {
    var pair = bonded()
    pair.secure(.central)
    pair.central.events = []
    pair.secure(.central)
    #expect(pair.central.events == [.changed(pair.central.manager.security)])
    #expect(pair.keys.count == 1)
  }

  @Test("A central whose bond key is insufficient pairs again, and the users are asked first")
  func insufficient() {
    var pair = bonded(central: .keyboardOnly, peripheral: .displayOnly)
    pair.secure(.central, .authenticated)
    #expect(pair.central.prompts.first == .allow && pair.peripheral.prompts.first == .allow)
    #expect(pair.central.outcomes.map(\.method) == [.passkeyEntry])
    #expect(pair.central.manager.security.level == .authenticated)
    #expect(pair.peripheral.outcomes.first?.bond?.level == .authenticated)
  }

  @Test("A peripheral's demand for authentication makes the central pair again", .requirement("G043"))
  func peripheralDemandsMore() {
    var pair = bonded(central: .displayYesNo, peripheral: .displayYesNo)
    pair.secure(.peripheral, .authenticated)
    #expect(pair.peripheral.sent.first == .securityRequest([.bonding, .manInTheMiddleProtection, .secureConnections]))
    #expect(pair.peripheral.manager.security.level == .authenticated)
    #expect(pair.peripheral.failures.isEmpty)
  }

  @Test("A central that only encrypts with the bond's key leaves a peripheral's higher demand unmet")
  func unmet() {
    var pair = bonded(central: .displayYesNo, peripheral: .displayYesNo)
    pair.peripheral.tell { $0.secure(.authenticated, at: .zero, &$1) }
    _ = pair.peripheral.manager.takePDU()
    pair.secure(.central)
    #expect(pair.peripheral.changes.map(\.level) == [.encrypted])
    #expect(pair.peripheral.failures == [.refused(.authenticationRequirements)])
  }

  @Test("A peripheral's demand while the central encrypts is sent afterwards")
  func demandWhileEncrypting() throws {
    var pair = bonded(central: .displayYesNo, peripheral: .displayYesNo)
    pair.central.tell { $0.secure(.encrypted, at: .zero, &$1) }
    guard case .encrypt(let key)? = pair.central.manager.takeCommand() else {
      Issue.record("the central does not encrypt")
      return
    }
    var given: Block?
    pair.peripheral.tell { given = $0.longTermKey(random: key.random, diversifier: key.diversifier, $1) }
    #expect(given == key.value)
    pair.peripheral.tell { $0.secure(.authenticated, at: .zero, &$1) }
    pair.changed(.peripheral)
    pair.changed(.central)
    pair.run()
    #expect(pair.peripheral.failures.isEmpty)
    #expect(pair.peripheral.manager.security.level == .authenticated)
  }

  @Test("The loss of the bond at the peer is reported as a missing key, and the bond stays")
  func keyMissing() {
    var pair = bonded()
    pair.peripheral.manager.setBond(nil)
    pair.secure(.central)
    #expect(pair.central.failures == [.keyMissing])
    #expect(pair.central.manager.security.hasKey && pair.central.outcomes.count == 0)
    #expect(pair.keys.isEmpty && pair.central.codes.isEmpty)
  }

  @Test("Another encryption failure is reported with its reason")
  func otherReason() {
    var pair = bonded()
    pair.central.tell { $0.secure(.encrypted, at: .zero, &$1) }
    #expect(pair.central.manager.takeCommand() != nil)
    pair.changed(.central, .unsupportedRemoteFeature)
    #expect(pair.central.failures == [.encryption(.unsupportedRemoteFeature)])
    pair.secure(.central)
    #expect(pair.keys.count == 1)
  }

  @Test("Several demands are merged, and the highest one applies")
  func joined() {
    var pair = bonded(central: .displayYesNo, peripheral: .displayYesNo)
    pair.central.tell { $0.secure(.encrypted, at: .zero, &$1) }
    pair.central.tell { $0.secure(.authenticated, at: .zero, &$1) }
    pair.central.tell { $0.secure(.encrypted, at: .zero, &$1) }
    pair.run()
    #expect(pair.keys.count == 2)
    #expect(pair.central.manager.security.level == .authenticated)
    #expect(pair.central.outcomes.map(\.method) == [.numericComparison])
  }

  @Test("A Security Request on a sufficiently secure link changes nothing, and one during a pairing is ignored")
  func ignoredRequests() {
    var pair = bonded()
    pair.secure(.central)
    pair.deliver(.securityRequest(.bonding), to: .central)
    pair.run()
    #expect(pair.keys.count == 1 && pair.central.codes.isEmpty)

    var pairing = SecurityPair()
    pairing.central.user.allows = nil
    pairing.secure(.central)
    pairing.deliver(.securityRequest([.bonding, .manInTheMiddleProtection]), to: .central)
    pairing.answer(.central, .yes)
    #expect(pairing.central.outcomes.count == 1 && pairing.central.refusals.isEmpty)
  }

  @Test("A legacy key is given only for its own random number and diversifier")
  func identification() throws {
    var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: .never))
    pair.secure(.central)
    let key = try #require(pair.peripheral.outcomes.first?.bond?.ownKey)
    pair.reconnect()
    var side = pair.peripheral
    for (random, diversifier) in [
      (0, 0), (key.random, key.diversifier &+ 1), (key.random &+ 1, key.diversifier), (0, key.diversifier),
    ] as [(UInt64, UInt16)] {
      #expect(side.manager.longTermKey(random: random, diversifier: diversifier, side.context) == nil)
    }
    #expect(
      side.manager.longTermKey(random: key.random, diversifier: key.diversifier, side.context) == key.value)
  }

  @Test("P8 Neither role uses a bond's key that is shorter than the policy now requires")
  func keySizeAtReconnect() {
    var short = PairingPolicy(.noInputNoOutput)
    short.keySizes = 7...9
    var pair = SecurityPair(central: short, peripheral: short)
    pair.secure(.central)
    #expect(pair.central.outcomes.first?.keySize == 9)
    #expect(pair.keys.allSatisfy { $0.high <= 0xFF })
    pair.reconnect()
    pair.peripheral.context.policy = PairingPolicy(.noInputNoOutput)
    pair.secure(.central)
    #expect(pair.central.failures == [.keyMissing] && pair.keys.isEmpty)

    pair.reconnect(keeping: false)
    pair.central.context.policy = PairingPolicy(.noInputNoOutput)
    pair.secure(.central)
    #expect(pair.keys.count == 1 && pair.central.outcomes.last?.keySize == 16)
  }

  @Test("In secure connections only mode a key from LE legacy pairing is not accepted")
  func secureConnectionsOnly() {
    var pair = bonded(.never)
    pair.central.context.policy.secureConnections = .only
    pair.secure(.central)
    #expect(pair.central.outcomes.map(\.isSecureConnections) == [true])

    var other = bonded(.never)
    other.peripheral.context.policy.secureConnections = .only
    other.secure(.central)
    #expect(other.central.failures == [.keyMissing])
  }

  @Test("The end of the link ends all demands")
  func linkEnds() {
    var pair = SecurityPair()
    pair.central.user.allows = nil
    pair.secure(.central)
    pair.end()
    #expect(pair.central.failures == [.disconnected] && pair.peripheral.failures == [.disconnected])
    #expect(pair.central.events.suffix(2) == [.promptEnded, .failed(.disconnected)])
    #expect(pair.central.manager.deadline == nil)

    var idle = SecurityPair()
    idle.end()
    #expect(idle.central.events.isEmpty)
  }

  @Test("Devices that paired without bonding pair again on the next link")
  func withoutBond() {
    var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, bonding: false))
    pair.secure(.central)
    #expect(pair.central.manager.security.isBonded == false && pair.central.manager.security.level == .encrypted)
    #expect(pair.peripheral.codes.contains(.identityInformation) == false)
    pair.reconnect()
    pair.secure(.central)
    #expect(pair.central.outcomes.count == 1 && pair.central.outcomes.first?.bond == nil)
  }

  @Test("Encryption without a key from this device is not trusted")
  func unknownEncryption() {
    var pair = bonded()
    pair.changed(.peripheral)
    #expect(pair.peripheral.manager.security.level == .none && pair.peripheral.events.isEmpty)
  }
}
