import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@Suite("Pairing with data from out of band") struct OutOfBandPairingTests {
  /// Returns two devices that have both generated data; the devices in `roles` have the other's data.
  private func pair(has roles: [Link.Role], mode: PairingPolicy.SecureConnections = .preferred) -> SecurityPair {
    var pair = SecurityPair(
      central: PairingPolicy(.noInputNoOutput, secureConnections: mode), peripheral: PairingPolicy(.noInputNoOutput))
    let central = OutOfBand.Own(using: &pair.central.context.generator)
    let peripheral = OutOfBand.Own(using: &pair.peripheral.context.generator)
    pair.central.context.outOfBand.own = central
    pair.peripheral.context.outOfBand.own = peripheral
    if roles.contains(.central) {
      pair.central.context.outOfBand.peers[SecurityPair.addresses.peripheral] = OutOfBand.Peer(
        random: peripheral.random, confirm: peripheral.confirm)
    }
    if roles.contains(.peripheral) {
      pair.peripheral.context.outOfBand.peers[SecurityPair.addresses.central] = OutOfBand.Peer(
        random: central.random, confirm: central.confirm)
    }
    return pair
  }

  private func legacyPair(_ central: Block?, _ peripheral: Block?) -> SecurityPair {
    var pair = SecurityPair(
      central: PairingPolicy(.keyboardOnly, authenticated: true, secureConnections: .never),
      peripheral: PairingPolicy(.displayOnly))
    pair.central.context.outOfBand.temporaryKeys[SecurityPair.addresses.peripheral] = central
    pair.peripheral.context.outOfBand.temporaryKeys[SecurityPair.addresses.central] = peripheral
    return pair
  }

  @Test(
    "LE Secure Connections: one side's data suffice, and the users are only asked for permission",
    arguments: [[Link.Role.central], [.peripheral], [.central, .peripheral]], [Link.Role.central, .peripheral])
  func secureConnections(has roles: [Link.Role], starter: Link.Role) {
    var pair = pair(has: roles)
    pair.secure(starter, .authenticated)
    for side in [pair.central, pair.peripheral] {
      #expect(side.outcomes.map(\.method) == [.outOfBand])
      #expect(side.outcomes.first?.isSecureConnections == true)
      #expect(side.prompts == [.allow])
      #expect(side.manager.security.level == .authenticated && side.manager.security.isBonded)
    }
    #expect(pair.keys.count == 1)
  }

  @Test(
    "LE legacy pairing: both sides need the Temporary Key, and the link key is authenticated",
    arguments: [Link.Role.central, .peripheral])
  func legacy(starter: Link.Role) {
    let key = Block(high: 0xFEED, low: 0xBEEF)
    var pair = legacyPair(key, key)
    pair.secure(starter, .authenticated)
    for side in [pair.central, pair.peripheral] {
      #expect(side.outcomes.map(\.method) == [.outOfBand])
      #expect(side.outcomes.first?.isSecureConnections == false)
      #expect(side.manager.security.level == .authenticated)
    }
  }

  @Test("A central that has only a Temporary Key pairs without LE Secure Connections")
  func temporaryKeyAlone() {
    var pair = legacyPair(Block(high: 3, low: 4), Block(high: 3, low: 4))
    pair.central.context.policy.secureConnections = .preferred
    pair.secure(.central)
    #expect(pair.central.outcomes.map(\.method) == [.outOfBand])
    #expect(pair.central.outcomes.first?.isSecureConnections == false)
  }

  @Test("The IO capabilities decide about LE legacy pairing with the Temporary Key on one side only")
  func oneSidedLegacy() {
    for keys in [(Block(high: 1, low: 2), nil), (nil, Block(high: 1, low: 2))] as [(Block?, Block?)] {
      var pair = legacyPair(keys.0, keys.1)
      pair.secure(.central)
      #expect(pair.central.outcomes.map(\.method) == [.passkeyEntry])
    }
  }

  @Test("Different Temporary Keys end in Confirm Value Failed")
  func differentTemporaryKeys() {
    var pair = legacyPair(Block(high: 1, low: 2), Block(high: 1, low: 3))
    pair.secure(.central)
    #expect(pair.peripheral.refusals == [.confirmValueFailed])
    #expect(pair.central.failures == [.refusedByPeer(.confirmValueFailed)])
    #expect(pair.keys.isEmpty)
  }

  @Test(
    "Another device's data end in Confirm Value Failed before the link is encrypted",
    arguments: [Link.Role.central, .peripheral])
  func foreignData(role: Link.Role) {
    var pair = pair(has: [role])
    var generator = RandomStream(seed: 99)
    let other = OutOfBand.Own(using: &generator)
    let address = role == .central ? SecurityPair.addresses.peripheral : SecurityPair.addresses.central
    pair[role].context.outOfBand.peers[address] = OutOfBand.Peer(random: other.random, confirm: other.confirm)
    pair.secure(.central)
    #expect(pair[role].refusals == [.confirmValueFailed])
    #expect(pair.keys.isEmpty && pair.stillPairs())
  }

  @Test("A device that claims data of a peer without any is refused with OOB Not Available")
  func unknownData() {
    var pair = pair(has: [.central])
    pair.peripheral.context.outOfBand.own = nil
    pair.secure(.central)
    #expect(pair.peripheral.refusals == [.oobNotAvailable])
    #expect(pair.peripheral.prompts.isEmpty)

    var other = self.pair(has: [.peripheral])
    other.central.context.outOfBand.own = nil
    other.secure(.central)
    #expect(other.central.refusals == [.oobNotAvailable])
    #expect(other.central.prompts.isEmpty)
  }

  @Test("The key pair of the data is used only with peers that have the data")
  func keyPairs() {
    var bound = pair(has: [.peripheral])
    let own = bound.central.context.outOfBand.own
    bound.secure(.central)
    var free = pair(has: [.central])
    free.secure(.central)
    func x(_ side: SecurityPair.Side) -> ByteSlice? {
      side.sent.lazy.compactMap { if case .pairingPublicKey(let x, _) = $0 { x } else { nil } }.first
    }
    let confirm = x(bound.central).map { x in
      let x: [UInt8] = x.bytes.reversed()
      return Toolbox.f4(u: x, v: x, x: own?.random ?? .zero, z: 0)
    }
    #expect(confirm == own?.confirm)
    #expect(x(free.central) != x(bound.central))
  }

  @Test("Descriptions contain neither out of band data nor keys of the context")
  func descriptions() {
    var generator = RandomStream(seed: 1)
    var data = OutOfBand()
    data.own = OutOfBand.Own(using: &generator)
    data.temporaryKeys[SecurityPair.addresses.central] = Block(high: 0xABCD_EF01, low: 0xABCD_EF02)
    let context = SecurityContext(
      identity: SecurityPair.identities.central, identityKey: Block(high: 0xABCD_EF01, low: 0xABCD_EF02),
      generator: KeyGenerator(generator))
    var texts = ["\(data)", "\(context)", String(reflecting: data), String(reflecting: context)]
    for value in [data, context] as [Any] { dump(value, to: &texts[0]) }
    for text in texts {
      #expect(!text.contains("\(0xABCD_EF01)") && !text.contains("\(0xABCD_EF02)"), "\(text)")
    }
  }
}
