import BluetoothCrypto
import BluetoothWire

extension Block {
  /// Creates the 128-bit value of a six-digit passkey.
  init(passkey: UInt32) { self.init(high: 0, low: UInt64(passkey)) }
}

/// Authentication stage 1 for Passkey Entry: in each of twenty rounds, both sides commit to one bit of the passkey
/// and then reveal it · Vol 3, Part H, 2.3.5.6.3.
struct PasskeyEntry {
  private enum State {
    /// The user is entering the passkey. A responder may already have the initiator's first confirm value.
    case entering(confirm: Block?)
    /// The initiator has sent its confirm value for this nonce, or the responder is waiting for it.
    case awaitsConfirm(Round)
    case awaitsRandom(Round, peerConfirm: Block)
    case done
  }

  private struct Round {
    let passkey: UInt32
    var number = 0
    /// This side's nonce, a new one in each round.
    let nonce: Block

    var bit: UInt8 { 0x80 | UInt8(passkey >> number & 1) }
  }

  /// The number of rounds, one for each of the 20 bits of a passkey.
  static let rounds = 20
  static let largestPasskey: UInt32 = 999_999

  private let keys: SharedKeys
  private let agreement: PairingAgreement
  private var state = State.entering(confirm: nil)

  init(_ agreement: PairingAgreement, _ keys: SharedKeys) {
    self.agreement = agreement
    self.keys = keys
  }

  private var isInitiator: Bool { agreement.role == .central }

  static func newPasskey(_ generator: inout KeyGenerator) -> UInt32 {
    UInt32.random(in: 0...largestPasskey, using: &generator)
  }

  static func askForPasskey(_ agreement: PairingAgreement, _ output: inout SecurityOutput) {
    output.ask(.enterPasskey)
    if agreement.hasKeypresses { output.send(.pairingKeypressNotification(.passkeyEntryStarted)) }
  }

  mutating func begin(_ generator: inout KeyGenerator, _ output: inout SecurityOutput) {
    guard agreement.model.isShown(by: agreement.role) else {
      Self.askForPasskey(agreement, &output)
      return
    }
    let passkey = Self.newPasskey(&generator)
    output.ask(.show(passkey: passkey))
    start(Round(passkey: passkey, nonce: Block(using: &generator)), &output)
  }

  mutating func enter(
    _ passkey: UInt32, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    guard case .entering(let held) = state else { return }
    start(Round(passkey: passkey, nonce: Block(using: &generator)), &output)
    if let held { try receiveConfirm(held, &output) }
  }

  private mutating func start(_ round: Round, _ output: inout SecurityOutput) {
    state = .awaitsConfirm(round)
    if isInitiator { output.send(.pairingConfirm(ownConfirm(round).onAir)) }
  }

  private func ownConfirm(_ round: Round) -> Block {
    Toolbox.f4(u: keys.own.x, v: keys.peer.x, x: round.nonce, z: round.bit)
  }

  /// Processes a PDU of the peer. Returns the nonces of the last round at the end of the stage; nil: the stage
  /// continues. Throws the reason to end the pairing.
  mutating func receive(
    _ pdu: SMP.PDU, _ generator: inout KeyGenerator, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) -> ExchangedNonces? {
    switch (state, pdu) {
    case (.entering(nil), .pairingConfirm(let value)) where !isInitiator:
      state = .entering(confirm: try Block(onAir: value))
      return nil
    case (.awaitsConfirm, .pairingConfirm(let value)):
      try receiveConfirm(try Block(onAir: value), &output)
      return nil
    case (.awaitsRandom(let round, let peerConfirm), .pairingRandom(let value)):
      return try receiveRandom(try Block(onAir: value), round, peerConfirm, &generator, &output)
    default: throw .unspecifiedReason
    }
  }

  private mutating func receiveConfirm(_ value: Block, _ output: inout SecurityOutput) throws(SMP.FailureReason) {
    guard case .awaitsConfirm(let round) = state else { throw .unspecifiedReason }
    let own = ownConfirm(round)
    // Without this check, a peer could reflect this side's own value without knowing the passkey.
    guard value != own else { throw .confirmValueFailed }
    state = .awaitsRandom(round, peerConfirm: value)
    output.send(isInitiator ? .pairingRandom(round.nonce.onAir) : .pairingConfirm(own.onAir))
  }

  private mutating func receiveRandom(
    _ value: Block, _ round: Round, _ peerConfirm: Block, _ generator: inout KeyGenerator,
    _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) -> ExchangedNonces? {
    let expected = Toolbox.f4(u: keys.peer.x, v: keys.own.x, x: value, z: round.bit)
    guard value != round.nonce, expected == peerConfirm else { throw .confirmValueFailed }
    if !isInitiator { output.send(.pairingRandom(round.nonce.onAir)) }
    if round.number + 1 < Self.rounds {
      start(Round(passkey: round.passkey, number: round.number + 1, nonce: Block(using: &generator)), &output)
      return nil
    }
    state = .done
    output.endPrompt()
    let passkey = Block(passkey: round.passkey)
    return ExchangedNonces(own: round.nonce, peer: value, ownSecret: passkey, peerSecret: passkey)
  }
}
