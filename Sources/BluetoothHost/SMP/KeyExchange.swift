import BluetoothCrypto
import BluetoothWire

/// Transport specific key distribution on the encrypted link: first the peripheral's keys, then the central's, each
/// in a fixed order · Vol 3, Part H, 3.6.1.
struct KeyExchange {
  private let agreement: PairingAgreement
  /// The address that the peer used for pairing.
  private let peer: DeviceAddress
  /// The codes of the PDUs that the peer must still send, in their order.
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

  /// Processes a PDU of the peer. Throws the reason to end the pairing.
  ///
  /// - Parameter known: The identity of the bond that the link already has.
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

  /// Checks and stores the peer's identity: a public or static address that belongs neither to another bond nor to
  /// this device · Vol 3, Part C, 10.7.
  private mutating func take(
    _ address: DeviceAddress, known: DeviceAddress?, _ context: SecurityContext
  ) throws(SMP.FailureReason) {
    // A device without a permanent address has no identity.
    if address.value == 0 { return }
    guard address.isIdentity, address.hasValidRandomPart else { throw .invalidParameters }
    guard address != context.identity else { throw .keyRejected }
    guard address == known || !context.bondedIdentities.contains(address) else { throw .keyRejected }
    // A peer that pairs with a permanent address keeps it as its identity: nothing proves that another address
    // belongs to the same device. Some devices send a wrong address by mistake, so the pairing continues and their
    // identity information is ignored.
    if peer.isIdentity, address != peer { return }
    identity = address
  }

  private mutating func sendKeys(_ context: inout SecurityContext, _ output: inout SecurityOutput) {
    hasSent = true
    let keys = agreement.ownKeys
    if keys.contains(.encryptionKey) {
      let value = Block(using: &context.generator).shortened(to: agreement.keySize)
      let diversifier = UInt16(truncatingIfNeeded: context.generator.next())
      // Never 0, which would mean the Short Term Key.
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

  /// Returns the bond to store. A key of zeros counts as no key. A peer that has sent no identity keeps its previous
  /// one.
  func bond(_ key: LongTermKey, known: HostBond?) -> HostBond {
    var bond = HostBond(identity: identity ?? known?.identity ?? peer)
    if key.isSecureConnections { bond.key = key }
    bond.ownKey = ownKey
    bond.peerKey = peerKey
    if identity != nil, let identityKey {
      bond.peerIdentityKey = identityKey == .zero ? nil : identityKey
    } else if identity == nil {
      bond.peerIdentityKey = known?.peerIdentityKey
    }
    if let peerSigningKey, peerSigningKey != .zero { bond.signatureVerifier = SignatureVerifier(key: peerSigningKey) }
    if let ownSigningKey { bond.signatureMaker = Signer(key: ownSigningKey) }
    return bond
  }
}
