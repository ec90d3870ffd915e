import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// The PDUs of complete pairings, compared with the functions of the specification, which have their own vectors.
@Suite("Pairing: transcripts") struct PairingTranscriptTests {
  private func values(_ side: SecurityPair.Side, _ code: SMP.Code) -> [Block] {
    side.sent.filter { $0.code == code }.compactMap { pdu in
      switch pdu {
      case .pairingConfirm(let value), .pairingRandom(let value), .pairingDHKeyCheck(let value):
        return Block(value.bytes.reversed())
      default: return nil
      }
    }
  }

  private func number(_ pair: SecurityPair, _ side: SecurityPair.Side, _ code: SMP.Code) -> UInt64 {
    let octets = side.sent.first { $0.code == code }.map { pair.encoded($0).bytes } ?? []
    return octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private let initiator = Toolbox.Address(isRandom: true, value: SecurityPair.addresses.central.value)
  private let responder = Toolbox.Address(isRandom: true, value: SecurityPair.addresses.peripheral.value)

  @Test("LE legacy pairing: confirm values by c1 and the link's key by s1, for Just Works and for a passkey")
  func legacy() throws {
    for isPasskey in [false, true] {
      let policy = PairingPolicy(
        isPasskey ? .keyboardOnly : .noInputNoOutput, authenticated: true, secureConnections: .never)
      var pair = SecurityPair(central: policy, peripheral: policy)
      pair.secure(.central)
      let key = isPasskey ? Block(high: 0, low: 123_456) : .zero
      let (central, peripheral) = (values(pair.central, .pairingRandom), values(pair.peripheral, .pairingRandom))
      try #require(central.count == 1 && peripheral.count == 1)
      func confirm(_ random: Block) -> Block {
        Toolbox.c1(
          temporaryKey: key, random: random, request: number(pair, pair.central, .pairingRequest),
          response: number(pair, pair.peripheral, .pairingResponse), initiator: initiator, responder: responder)
      }
      #expect(values(pair.central, .pairingConfirm) == [confirm(central[0])])
      #expect(values(pair.peripheral, .pairingConfirm) == [confirm(peripheral[0])])
      #expect(pair.keys == [Toolbox.s1(temporaryKey: key, responder: peripheral[0], initiator: central[0])])
      #expect(
        pair.central.codes.prefix(4) == [.pairingRequest, .pairingConfirm, .pairingRandom, .encryptionInformation])
    }
  }

  /// The order of keys on the encrypted link · 3.6.1.
  @Test("Keys are sent in the order of the specification, the peripheral's first")
  func keyOrder() {
    var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: .never))
    var order: [Link.Role] = []
    let all: [SMP.Code] = [
      .encryptionInformation, .centralIdentification, .identityInformation, .identityAddressInformation,
      .signingInformation,
    ]
    pair.change = { role, pdu in
      if all.contains(pdu.code) { order.append(role) }
      return pdu
    }
    pair.secure(.central)
    #expect(pair.central.codes.suffix(5) == all && pair.peripheral.codes.suffix(5) == all)
    #expect(order == [Link.Role](repeating: .peripheral, count: 5) + [Link.Role](repeating: .central, count: 5))
  }

  @Test("LE Secure Connections: confirm value by f4, numbers by g2, keys by f5, check values by f6")
  func numericComparison() throws {
    let policy = PairingPolicy(.displayYesNo, authenticated: true)
    var pair = SecurityPair(central: policy, peripheral: policy)
    // The engine generates its key pair first.
    var (one, other) = (pair.central.context.generator, pair.peripheral.context.generator)
    let (central, peripheral) = (P256KeyPair(using: &one), P256KeyPair(using: &other))
    pair.secure(.central)
    let (a, b) = (central.publicKey, peripheral.publicKey)
    #expect(pair.central.sent.contains(.pairingPublicKey(x: ByteSlice(a.x.reversed()), y: ByteSlice(a.y.reversed()))))
    #expect(
      pair.peripheral.sent.contains(.pairingPublicKey(x: ByteSlice(b.x.reversed()), y: ByteSlice(b.y.reversed()))))
    let (na, nb) = (values(pair.central, .pairingRandom), values(pair.peripheral, .pairingRandom))
    try #require(na.count == 1 && nb.count == 1)
    #expect(values(pair.peripheral, .pairingConfirm) == [Toolbox.f4(u: b.x, v: a.x, x: nb[0], z: 0)])
    #expect(values(pair.central, .pairingConfirm).isEmpty)
    let shown = Toolbox.g2(u: a.x, v: b.x, x: na[0], y: nb[0]) % 1_000_000
    #expect(pair.central.prompts == [.compare(shown)] && pair.peripheral.prompts == [.compare(shown)])
    try checkStage2(pair, secret: #require(central.sharedSecret(with: b)), na[0], nb[0], r: .zero)
  }

  @Test("LE Secure Connections: each passkey round commits to one bit of it, the lowest first")
  func passkey() throws {
    let policy = PairingPolicy(.keyboardOnly, authenticated: true)
    var pair = SecurityPair(central: policy, peripheral: policy)
    var (one, other) = (pair.central.context.generator, pair.peripheral.context.generator)
    let (central, peripheral) = (P256KeyPair(using: &one), P256KeyPair(using: &other))
    pair.secure(.central)
    let (a, b) = (central.publicKey, peripheral.publicKey)
    let (na, nb) = (values(pair.central, .pairingRandom), values(pair.peripheral, .pairingRandom))
    try #require(na.count == 20 && nb.count == 20)
    for round in 0..<20 {
      let z = 0x80 | UInt8(123_456 >> round & 1)
      #expect(values(pair.central, .pairingConfirm)[round] == Toolbox.f4(u: a.x, v: b.x, x: na[round], z: z))
      #expect(values(pair.peripheral, .pairingConfirm)[round] == Toolbox.f4(u: b.x, v: a.x, x: nb[round], z: z))
    }
    try checkStage2(
      pair, secret: #require(central.sharedSecret(with: b)), na[19], nb[19], r: Block(high: 0, low: 123_456))
  }

  private func checkStage2(_ pair: SecurityPair, secret: [UInt8], _ na: Block, _ nb: Block, r: Block) throws {
    let made = Toolbox.f5(w: secret, n1: na, n2: nb, a1: initiator, a2: responder)
    #expect(pair.keys == [made.longTermKey])
    // AuthReq, OOB data flag and IO Capability, as sent.
    func capabilities(_ side: SecurityPair.Side, _ code: SMP.Code) -> [UInt8] {
      let octets = side.sent.first { $0.code == code }.map { pair.encoded($0).bytes } ?? []
      return [octets[3], octets[2], octets[1]]
    }
    let ea = Toolbox.f6(
      w: made.macKey, n1: na, n2: nb, r: r, ioCapabilities: capabilities(pair.central, .pairingRequest), a1: initiator,
      a2: responder)
    let eb = Toolbox.f6(
      w: made.macKey, n1: nb, n2: na, r: r, ioCapabilities: capabilities(pair.peripheral, .pairingResponse),
      a1: responder, a2: initiator)
    #expect(values(pair.central, .pairingDHKeyCheck) == [ea])
    #expect(values(pair.peripheral, .pairingDHKeyCheck) == [eb])
  }

  @Test("Descriptions and dumps of a Security Manager contain no key")
  func descriptions() throws {
    var pair = SecurityPair()
    pair.secure(.central)
    let key = try #require(pair.keys.first)
    var text = "\(pair.central.manager) \(String(reflecting: pair.central.manager)) \(pair.central.outcomes)"
    dump(pair.central.manager, to: &text)
    dump(pair.central.outcomes, to: &text)
    dump(SecurityCommand.encrypt(try #require(pair.central.outcomes.first?.bond?.key)), to: &text)
    #expect(!text.contains("\(key.high)") && !text.contains("\(key.low)"))
  }
}
