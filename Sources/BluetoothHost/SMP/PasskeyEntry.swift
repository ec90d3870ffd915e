import BluetoothCrypto
import BluetoothWire

extension Block {
  /// Creates the 128-bit value of a six-digit passkey.
  init(passkey: UInt32) { self.init(high: 0, low: UInt64(passkey)) }
}

/// Authentication stage 1 for Passkey Entry: in each of twenty rounds, both sides commit to one bit of the passkey
/// and then reveal it · Vol 3, Part H, 2.3.5.6.3.
struct PasskeyEntry {
  /// The secret of one round: a bit of the passkey.
  private struct Round {
    let passkey: UInt32
    var number = 0

    var bit: UInt8 { 0x80 | UInt8(passkey >> number & 1) }
  }

  /// The number of rounds, one for each of the 20 bits of a passkey.
  static let rounds = 20
  static let largestPasskey: UInt32 = 999_999

  private let keys: SharedKeys
  private let agreement: PairingAgreement
  /// The exchange of the current round.
  private var exchange: CommitmentExchange<Round>

  init(_ agreement: PairingAgreement, _ keys: SharedKeys) {
    self.agreement = agreement
    self.keys = keys
    exchange = CommitmentExchange(isInitiator: agreement.role == .central)
  }

  static func newPasskey(_ generator: inout KeyGenerator) -> UInt32 {
    UInt32.random(in: 0...largestPasskey, using: &generator)
  }

  static func askForPasskey(_ agreement: PairingAgreement, _ output: inout SecurityOutput) {
    output.ask(.enterPasskey)
    if agreement.hasKeypresses { output.send(.pairingKeypressNotification(.passkeyEntryStarted)) }
  }

  mutating func begin(
    _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    guard agreement.model.isShown(by: agreement.role) else {
      Self.askForPasskey(agreement, &output)
      return
    }
    let passkey = Self.newPasskey(&generator)
    output.ask(.show(passkey: passkey))
    try start(Round(passkey: passkey), &generator, &output)
  }

  mutating func enter(
    _ passkey: UInt32, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    if exchange.isEntering { try start(Round(passkey: passkey), &generator, &output) }
  }

  /// Starts a round with a new nonce.
  private mutating func start(
    _ round: Round, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    let nonce = Block(using: &generator)
    let confirm = Toolbox.f4(u: keys.own.x, v: keys.peer.x, x: nonce, z: round.bit)
    try exchange.commit(.init(secret: round, random: nonce, confirm: confirm), &output)
  }

  /// Processes a PDU of the peer. Returns the nonces of the last round at the end of the stage; nil: the stage
  /// continues. Throws the reason to end the pairing.
  mutating func receive(
    _ pdu: SMP.PDU, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) -> ExchangedNonces? {
    let keys = keys
    let result = try exchange.receive(pdu, &output) { round, nonce in
      Toolbox.f4(u: keys.peer.x, v: keys.own.x, x: nonce, z: round.bit)
    }
    guard let (own, peerNonce) = result else { return nil }
    var round = own.secret
    round.number += 1
    guard round.number == Self.rounds else {
      try start(round, &generator, &output)
      return nil
    }
    output.endPrompt()
    let passkey = Block(passkey: round.passkey)
    return ExchangedNonces(own: own.random, peer: peerNonce, ownSecret: passkey, peerSecret: passkey)
  }
}
