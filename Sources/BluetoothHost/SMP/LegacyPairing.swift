import BluetoothCrypto
import BluetoothWire

/// Phase 2 of LE legacy pairing: both sides prove that they have the same Temporary Key, and generate the Short Term
/// Key · Vol 3, Part H, 2.3.5.2 to 2.3.5.5.
struct LegacyPairing {
  private enum State {
    /// The user is entering the passkey. A responder may already have the initiator's confirm value.
    case entering(confirm: Block?)
    /// The initiator has sent its confirm value, or the responder is waiting for it.
    case awaitsConfirm(Secret)
    case awaitsRandom(Secret, peerConfirm: Block)
    case done
  }

  /// The values of this side.
  private struct Secret {
    let temporaryKey: Block
    let random: Block
    let confirm: Block
  }

  private let agreement: PairingAgreement
  private var state = State.entering(confirm: nil)

  init(_ agreement: PairingAgreement) { self.agreement = agreement }

  private var isInitiator: Bool { agreement.role == .central }

  /// Starts the pairing. Throws the reason if it cannot start.
  ///
  /// - Parameter temporaryKey: The out-of-band Temporary Key, for the out-of-band method.
  mutating func begin(
    temporaryKey: Block?, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    switch agreement.model {
    case .justWorks: setKey(.zero, &generator, &output)
    case .outOfBand:
      guard let temporaryKey else { throw .oobNotAvailable }
      setKey(temporaryKey, &generator, &output)
    case .passkeyEntry where agreement.model.isShown(by: agreement.role):
      let passkey = PasskeyEntry.newPasskey(&generator)
      output.ask(.show(passkey: passkey))
      setKey(Block(passkey: passkey), &generator, &output)
    case .passkeyEntry: PasskeyEntry.askForPasskey(agreement, &output)
    case .numericComparison: throw .unspecifiedReason
    }
  }

  private mutating func setKey(
    _ temporaryKey: Block, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) {
    let random = Block(using: &generator)
    let secret = Secret(temporaryKey: temporaryKey, random: random, confirm: confirm(temporaryKey, random))
    state = .awaitsConfirm(secret)
    if isInitiator { output.send(.pairingConfirm(secret.confirm.onAir)) }
  }

  private func confirm(_ temporaryKey: Block, _ random: Block) -> Block {
    Toolbox.c1(
      temporaryKey: temporaryKey, random: random, request: agreement.request.number(.pairingRequest),
      response: agreement.response.number(.pairingResponse), initiator: agreement.initiator,
      responder: agreement.responder)
  }

  mutating func enter(
    _ passkey: UInt32, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    guard case .entering(let held) = state else { return }
    setKey(Block(passkey: passkey), &generator, &output)
    if let held { try receiveConfirm(held, &output) }
  }

  /// Processes a PDU of the peer. Returns the Short Term Key at the end of the phase; nil: the phase continues.
  /// Throws the reason to end the pairing.
  mutating func receive(_ pdu: SMP.PDU, _ output: inout SecurityOutput) throws(SMP.FailureReason) -> Block? {
    switch (state, pdu) {
    case (.entering(nil), .pairingConfirm(let value)) where !isInitiator:
      state = .entering(confirm: try Block(onAir: value))
      return nil
    case (.awaitsConfirm, .pairingConfirm(let value)):
      try receiveConfirm(try Block(onAir: value), &output)
      return nil
    case (.awaitsRandom(let secret, let peerConfirm), .pairingRandom(let value)):
      return try receiveRandom(try Block(onAir: value), secret, peerConfirm, &output)
    default: throw .unspecifiedReason
    }
  }

  private mutating func receiveConfirm(_ value: Block, _ output: inout SecurityOutput) throws(SMP.FailureReason) {
    guard case .awaitsConfirm(let secret) = state else { throw .unspecifiedReason }
    // Without this check, a peer could reflect this side's own value without knowing the key.
    guard value != secret.confirm else { throw .confirmValueFailed }
    state = .awaitsRandom(secret, peerConfirm: value)
    output.send(isInitiator ? .pairingRandom(secret.random.onAir) : .pairingConfirm(secret.confirm.onAir))
  }

  private mutating func receiveRandom(
    _ value: Block, _ secret: Secret, _ peerConfirm: Block, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) -> Block {
    guard value != secret.random, confirm(secret.temporaryKey, value) == peerConfirm else {
      throw .confirmValueFailed
    }
    if !isInitiator { output.send(.pairingRandom(secret.random.onAir)) }
    state = .done
    return Toolbox.s1(
      temporaryKey: secret.temporaryKey, responder: isInitiator ? value : secret.random,
      initiator: isInitiator ? secret.random : value)
  }
}
