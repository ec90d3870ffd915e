import BluetoothCrypto
import BluetoothWire

extension Block {
  /// Six digits as a value of 128 bits.
  init(passkey: UInt32) { self.init(high: 0, low: UInt64(passkey)) }
}

/// Authentication stage 1 by passkey: twenty rounds, in each of which both sides commit themselves to one bit of it and
/// then show it · Vol 3, Part H, 2.3.5.6.3.
struct PasskeyEntry {
  private enum State {
    /// The user types the passkey. A responder may have got the initiator's first confirm value already.
    case entering(confirm: Block?)
    /// The initiator has sent its confirm value for this nonce; the responder waits for that.
    case awaitsConfirm(Round)
    case awaitsRandom(Round, peerConfirm: Block)
    case done
  }

  private struct Round {
    let passkey: UInt32
    var number = 0
    /// This side's; another one in each round.
    let nonce: Block

    var bit: UInt8 { 0x80 | UInt8(passkey >> number & 1) }
  }

  /// A passkey has 20 bits.
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

  /// The nonces of the last round, when all have passed.
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
    // This side's own value, thrown back, would tell nothing of the passkey.
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
