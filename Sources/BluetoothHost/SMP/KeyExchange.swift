import BluetoothCrypto
import BluetoothWire

/// Transport specific key distribution, on the encrypted link: the peripheral's keys first, then the central's, each in
/// one order · Vol 3, Part H, 3.6.1.
struct KeyExchange {
  private let agreement: PairingAgreement
  /// Under which address the peer has paired.
  private let peer: DeviceAddress
  /// What the peer still has to send, in its order.
  private var expected: [SMP.Code]
  private var hasSent = false

  private var ownKey: LongTermKey?
  private var peerValue = Block.zero
  private var peerKey: LongTermKey?
  private var identityKey: Block?
  private var identity: DeviceAddress?
  private var ownSigningKey: Block?
  private var peerSigningKey: Block?

  init(_ agreement: PairingAgreement, peer: DeviceAddress) {
    self.agreement = agreement
    self.peer = peer
    expected = Self.codes(agreement.peerKeys)
  }

  var isComplete: Bool { hasSent && expected.isEmpty }

  private static func codes(_ keys: SMP.KeyDistribution) -> [SMP.Code] {
    var codes: [SMP.Code] = []
    if keys.contains(.encryptionKey) { codes += [.encryptionInformation, .centralIdentification] }
    if keys.contains(.identityKey) { codes += [.identityInformation, .identityAddressInformation] }
    if keys.contains(.signingKey) { codes.append(.signingInformation) }
    return codes
  }

  mutating func begin(_ context: inout SecurityContext, _ output: inout SecurityOutput) {
    if agreement.role == .peripheral || expected.isEmpty { sendKeys(&context, &output) }
  }

  /// - Parameter known: the identity of the bond that the link has already.
  mutating func receive(
    _ pdu: SMP.PDU, known: DeviceAddress?, _ context: inout SecurityContext, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    guard expected.first == pdu.code else { throw .unspecifiedReason }
    expected.removeFirst()
    switch pdu {
    case .encryptionInformation(let key): peerValue = try Block(onAir: key.value)
    case .centralIdentification(let ediv, let rand):
      guard peerValue.shortened(to: agreement.keySize) != .zero else { throw .keyRejected }
      peerKey = agreement.longTermKey(peerValue, diversifier: ediv, random: rand)
    case .identityInformation(let key): identityKey = try Block(onAir: key.value)
    case .identityAddressInformation(let address): try take(address, known: known, context)
    case .signingInformation(let key): peerSigningKey = try Block(onAir: key.value)
    default: throw .unspecifiedReason
    }
    if expected.isEmpty, !hasSent { sendKeys(&context, &output) }
  }

  /// An identity is a public or a static address, nobody else's, and not this device's own · Vol 3, Part C, 10.7.
  private mutating func take(
    _ address: DeviceAddress, known: DeviceAddress?, _ context: SecurityContext
  ) throws(SMP.FailureReason) {
    // A device without an address that lasts has no identity.
    if address.value == 0 { return }
    guard address.isIdentity, address.hasValidRandomPart else { throw .invalidParameters }
    guard address != context.identity else { throw .keyRejected }
    guard address == known || !context.bondedIdentities.contains(address) else { throw .keyRejected }
    // Who goes by an address that lasts is called so: of another one nothing shows that it is the same device's. Some devices
    // give one away by mistake, so that pairing goes on; what they have said of their identity is of no use.
    if peer.isIdentity, address != peer { return }
    identity = address
  }

  private mutating func sendKeys(_ context: inout SecurityContext, _ output: inout SecurityOutput) {
    hasSent = true
    let keys = agreement.ownKeys
    if keys.contains(.encryptionKey) {
      let value = Block(using: &context.generator).shortened(to: agreement.keySize)
      let diversifier = UInt16(truncatingIfNeeded: context.generator.next())
      // Never 0, so that it can't be taken for the Short Term Key.
      let random = context.generator.next() | 1
      ownKey = agreement.longTermKey(value, diversifier: diversifier, random: random)
      output.send(.encryptionInformation(longTermKey: value.onAir))
      output.send(.centralIdentification(ediv: diversifier, rand: random))
    }
    if keys.contains(.identityKey) {
      output.send(.identityInformation(identityResolvingKey: (context.identityKey ?? .zero).onAir))
      output.send(.identityAddressInformation(context.identity))
    }
    if keys.contains(.signingKey) {
      let key = Block(using: &context.generator)
      ownSigningKey = key
      output.send(.signingInformation(signatureKey: key.onAir))
    }
  }

  /// What is to be kept. A key of zeros stands for none. Who has given no identity away is who it was.
  func bond(_ key: LongTermKey, known: Bond?) -> Bond {
    var bond = Bond(identity: identity ?? known?.identity ?? peer)
    if key.isSecureConnections { bond.key = key }
    bond.ownKey = ownKey
    bond.peerKey = peerKey
    if identity != nil, let identityKey {
      bond.peerIdentityKey = identityKey == .zero ? nil : identityKey
    } else if identity == nil {
      bond.peerIdentityKey = known?.peerIdentityKey
    }
    if let peerSigningKey, peerSigningKey != .zero { bond.signatureVerifier = SignatureVerifier(key: peerSigningKey) }
    if let ownSigningKey { bond.signatureMaker = SignatureMaker(key: ownSigningKey) }
    return bond
  }
}
