import BluetoothCrypto
import BluetoothWire

/// Phase 2 of LE legacy pairing: both sides prove that they have the same Temporary Key, and generate the Short Term
/// Key · Vol 3, Part H, 2.3.5.2 to 2.3.5.5.
struct LegacyPairing {
  private let agreement: PairingAgreement
  /// The exchange that proves the Temporary Key.
  private var exchange: CommitmentExchange<Block>

  init(_ agreement: PairingAgreement) {
    self.agreement = agreement
    exchange = CommitmentExchange(isInitiator: agreement.role == .central)
  }

  /// Starts the pairing. Throws the reason if it cannot start.
  ///
  /// - Parameter temporaryKey: The out-of-band Temporary Key, for the out-of-band method.
  mutating func begin(
    temporaryKey: Block?, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    switch agreement.model {
    case .justWorks: try commit(to: .zero, &generator, &output)
    case .outOfBand:
      guard let temporaryKey else { throw .oobNotAvailable }
      try commit(to: temporaryKey, &generator, &output)
    case .passkeyEntry where agreement.model.isShown(by: agreement.role):
      let passkey = PasskeyEntry.newPasskey(&generator)
      output.ask(.show(passkey: passkey))
      try commit(to: Block(passkey: passkey), &generator, &output)
    case .passkeyEntry: PasskeyEntry.askForPasskey(agreement, &output)
    case .numericComparison: throw .unspecifiedReason
    }
  }

  private mutating func commit(
    to temporaryKey: Block, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    let random = Block(using: &generator)
    try exchange.commit(.init(secret: temporaryKey, random: random, confirm: confirm(temporaryKey, random)), &output)
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
    if exchange.isEntering { try commit(to: Block(passkey: passkey), &generator, &output) }
  }

  /// Processes a PDU of the peer. Returns the Short Term Key at the end of the phase; nil: the phase continues.
  /// Throws the reason to end the pairing.
  mutating func receive(_ pdu: SMP.PDU, _ output: inout SecurityOutput) throws(SMP.FailureReason) -> Block? {
    guard let (own, peerRandom) = try exchange.receive(pdu, &output, peerConfirm: confirm) else { return nil }
    return Toolbox.s1(
      temporaryKey: own.secret, responder: exchange.isInitiator ? peerRandom : own.random,
      initiator: exchange.isInitiator ? own.random : peerRandom)
  }
}
