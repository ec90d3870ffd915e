import BluetoothCrypto
import BluetoothWire

/// The keys of both sides after the exchange of public keys.
struct SharedKeys {
  let own: P256KeyPair.PublicKey
  let peer: P256KeyPair.PublicKey
  /// The DHKey.
  let secret: [UInt8]
}

/// The results of authentication stage 1 for stage 2.
struct ExchangedNonces {
  let own: Block
  let peer: Block
  /// The secrets for the check of stage 2: this side's, which the peer also has, and the peer's. Each is the passkey
  /// or an out-of-band random value; 0 with other methods.
  var ownSecret = Block.zero
  var peerSecret = Block.zero
}

/// Phase 2 of LE Secure Connections: the exchange of public keys, authentication, and the check that both sides have
/// generated the same Long Term Key · Vol 3, Part H, 2.3.5.6.
struct SecureConnectionsPairing {
  /// The out-of-band data, as far as the pairing features of the devices announce their use.
  struct OutOfBandData {
    var own: OutOfBand.Own?
    var peer: OutOfBand.Peer?
  }

  private enum Stage {
    case comparison(NumericComparison)
    case passkey(PasskeyEntry)
    /// Both sides send a nonce, the initiator first · 2.3.5.6.4.
    case outOfBand(nonce: Block)
  }

  private enum State {
    case awaitsKey
    /// Stage 1. A responder whose user is comparing may already have the initiator's check value.
    case authenticating(SharedKeys, Stage, check: Block?)
    /// Stage 2. A responder answers with its own check value.
    case awaitsCheck(expected: Block, answer: Block?, longTermKey: Block)
    case done
  }

  private let agreement: PairingAgreement
  private let data: OutOfBandData
  private let acceptsDebugKeys: Bool
  private let keyPair: P256KeyPair
  private var state = State.awaitsKey

  /// Starts with a new key pair, except for a peer that has this device's out-of-band data, which belong to a fixed
  /// key pair. Throws the reason if data are missing.
  init(
    _ agreement: PairingAgreement, outOfBand data: OutOfBandData, acceptsDebugKeys: Bool,
    _ generator: inout KeyGenerator
  ) throws(SMP.FailureReason) {
    if agreement.ownFeatures.hasOOBData, data.peer == nil { throw .oobNotAvailable }
    if agreement.peerFeatures.hasOOBData, data.own == nil { throw .oobNotAvailable }
    self.agreement = agreement
    self.data = OutOfBandData(
      own: agreement.peerFeatures.hasOOBData ? data.own : nil,
      peer: agreement.ownFeatures.hasOOBData ? data.peer : nil)
    self.acceptsDebugKeys = acceptsDebugKeys
    keyPair = self.data.own?.keyPair ?? P256KeyPair(using: &generator)
  }

  private var isInitiator: Bool { agreement.role == .central }

  mutating func begin(_ output: inout SecurityOutput) {
    if isInitiator { sendKey(&output) }
  }

  private func sendKey(_ output: inout SecurityOutput) {
    let key = keyPair.publicKey
    output.send(.pairingPublicKey(x: ByteSlice(key.x.reversed()), y: ByteSlice(key.y.reversed())))
  }

  /// Processes a PDU of the peer. Returns the Long Term Key when both sides have proved that they have it; nil: the
  /// phase continues. Throws the reason to end the pairing.
  mutating func receive(
    _ pdu: SMP.PDU, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) -> Block? {
    switch (state, pdu) {
    case (.awaitsKey, .pairingPublicKey(let x, let y)):
      let keys = try share(P256KeyPair.PublicKey(x: x.bytes.reversed(), y: y.bytes.reversed()))
      if !isInitiator { sendKey(&output) }
      try authenticate(keys, &generator, &output)
      return nil
    case (.authenticating(let keys, .comparison(let comparison), nil), .pairingDHKeyCheck(let value))
    where !isInitiator && comparison.isComparing:
      state = .authenticating(keys, .comparison(comparison), check: try Block(onAir: value))
      return nil
    case (.authenticating(let keys, let stage, nil), _):
      try receive(pdu, in: stage, keys, &generator, &output)
      return nil
    case (.awaitsCheck, .pairingDHKeyCheck(let value)):
      return try receiveCheck(try Block(onAir: value), &output)
    default: throw .unspecifiedReason
    }
  }

  /// Returns the shared keys after the public key exchange · 2.3.5.6.1. Throws the reason to reject the peer's key.
  private func share(_ peer: P256KeyPair.PublicKey) throws(SMP.FailureReason) -> SharedKeys {
    let own = keyPair.publicKey
    if peer.x == own.x { throw .unspecifiedReason }
    if peer.x == P256KeyPair.debug.publicKey.x, !acceptsDebugKeys { throw .authenticationRequirements }
    // The key is not a point on the curve.
    guard let secret = keyPair.sharedSecret(with: peer) else { throw .dhKeyCheckFailed }
    return SharedKeys(own: own, peer: peer, secret: secret)
  }

  // MARK: Authentication stage 1

  private mutating func authenticate(
    _ keys: SharedKeys, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    let stage: Stage
    switch agreement.model {
    case .justWorks, .numericComparison:
      var comparison = NumericComparison(agreement, keys)
      comparison.begin(&generator, &output)
      stage = .comparison(comparison)
    case .passkeyEntry:
      var entry = PasskeyEntry(agreement, keys)
      try entry.begin(&generator, &output)
      stage = .passkey(entry)
    case .outOfBand:
      if let peer = data.peer, peer.confirm != Toolbox.f4(u: keys.peer.x, v: keys.peer.x, x: peer.random, z: 0) {
        throw .confirmValueFailed
      }
      let nonce = Block(using: &generator)
      if isInitiator { output.send(.pairingRandom(nonce.onAir)) }
      stage = .outOfBand(nonce: nonce)
    }
    state = .authenticating(keys, stage, check: nil)
  }

  private mutating func receive(
    _ pdu: SMP.PDU, in stage: Stage, _ keys: SharedKeys, _ generator: inout KeyGenerator,
    _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    let nonces: ExchangedNonces?
    switch stage {
    case .comparison(var comparison):
      nonces = try comparison.receive(pdu, &output)
      state = .authenticating(keys, .comparison(comparison), check: nil)
    case .passkey(var entry):
      nonces = try entry.receive(pdu, &generator, &output)
      state = .authenticating(keys, .passkey(entry), check: nil)
    case .outOfBand(let nonce):
      guard case .pairingRandom(let value) = pdu else { throw .unspecifiedReason }
      let peerNonce = try Block(onAir: value)
      guard peerNonce != nonce else { throw .confirmValueFailed }
      if !isInitiator { output.send(.pairingRandom(nonce.onAir)) }
      nonces = ExchangedNonces(
        own: nonce, peer: peerNonce, ownSecret: data.own?.random ?? .zero, peerSecret: data.peer?.random ?? .zero)
    }
    if let nonces { check(nonces, keys, &output) }
  }

  mutating func enter(
    _ passkey: UInt32, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    guard case .authenticating(let keys, .passkey(var entry), let check) = state else { return }
    try entry.enter(passkey, &generator, &output)
    state = .authenticating(keys, .passkey(entry), check: check)
  }

  /// Handles the user's confirmation that the numbers are equal. Returns the Long Term Key if the initiator's check
  /// value has already arrived.
  mutating func accept(_ output: inout SecurityOutput) throws(SMP.FailureReason) -> Block? {
    guard case .authenticating(let keys, .comparison(var comparison), let held) = state,
      let nonces = comparison.accept()
    else { return nil }
    check(nonces, keys, &output)
    return if let held { try receiveCheck(held, &output) } else { nil }
  }

  // MARK: Authentication stage 2

  /// Generates the key and the check values that prove its possession · 2.3.5.6.5.
  private mutating func check(_ nonces: ExchangedNonces, _ keys: SharedKeys, _ output: inout SecurityOutput) {
    let (initiator, responder) = (agreement.initiator, agreement.responder)
    let made = Toolbox.f5(
      w: keys.secret, n1: isInitiator ? nonces.own : nonces.peer, n2: isInitiator ? nonces.peer : nonces.own,
      a1: initiator, a2: responder)
    let own = Toolbox.f6(
      w: made.macKey, n1: nonces.own, n2: nonces.peer, r: nonces.peerSecret,
      ioCapabilities: agreement.ownFeatures.ioCapabilities, a1: isInitiator ? initiator : responder,
      a2: isInitiator ? responder : initiator)
    let peer = Toolbox.f6(
      w: made.macKey, n1: nonces.peer, n2: nonces.own, r: nonces.ownSecret,
      ioCapabilities: agreement.peerFeatures.ioCapabilities, a1: isInitiator ? responder : initiator,
      a2: isInitiator ? initiator : responder)
    if isInitiator { output.send(.pairingDHKeyCheck(own.onAir)) }
    state = .awaitsCheck(expected: peer, answer: isInitiator ? nil : own, longTermKey: made.longTermKey)
  }

  private mutating func receiveCheck(_ value: Block, _ output: inout SecurityOutput) throws(SMP.FailureReason) -> Block
  {
    guard case .awaitsCheck(let expected, let answer, let longTermKey) = state else { throw .unspecifiedReason }
    guard value == expected else { throw .dhKeyCheckFailed }
    if let answer { output.send(.pairingDHKeyCheck(answer.onAir)) }
    state = .done
    return longTermKey
  }
}
