import BluetoothCrypto
import BluetoothWire

/// The exchange in which both sides prove that they have the same secret: each sends a confirm value, which commits to
/// its random number and to the secret, and then reveals the random number. LE legacy pairing has one exchange, Passkey
/// Entry one in each round · Vol 3, Part H, 2.3.5.5, 2.3.5.6.3.
struct CommitmentExchange<Secret> {
  /// The values of this side.
  struct Commitment {
    let secret: Secret
    let random: Block
    let confirm: Block
  }

  private enum State {
    /// The user is entering the passkey. A responder may already have the initiator's confirm value.
    case entering(confirm: Block?)
    /// The initiator has sent its confirm value, or the responder is waiting for it.
    case awaitsConfirm(Commitment)
    case awaitsRandom(Commitment, peerConfirm: Block)
    case done
  }

  let isInitiator: Bool
  private var state = State.entering(confirm: nil)

  init(isInitiator: Bool) { self.isInitiator = isInitiator }

  /// True while the exchange waits for the user's passkey.
  var isEntering: Bool {
    if case .entering = state { true } else { false }
  }

  /// Starts the exchange, or the next one after its end. Throws the reason to end the pairing.
  mutating func commit(_ own: Commitment, _ output: inout SecurityOutput) throws(SMP.FailureReason) {
    let held: Block? = if case .entering(let confirm) = state { confirm } else { nil }
    state = .awaitsConfirm(own)
    if isInitiator { output.send(.pairingConfirm(own.confirm.onAir)) }
    if let held { try receiveConfirm(held, own, &output) }
  }

  /// Processes a PDU of the peer. Returns this side's values and the peer's random number at the end of the exchange;
  /// nil: the exchange continues. Throws the reason to end the pairing.
  ///
  /// - Parameter peerConfirm: Calculates the confirm value of a peer that has the same secret, from the peer's random
  ///   number.
  mutating func receive(
    _ pdu: SMP.PDU, _ output: inout SecurityOutput, peerConfirm: (Secret, Block) -> Block
  ) throws(SMP.FailureReason) -> (own: Commitment, peerRandom: Block)? {
    switch (state, pdu) {
    case (.entering(nil), .pairingConfirm(let value)) where !isInitiator:
      state = .entering(confirm: try Block(onAir: value))
    case (.awaitsConfirm(let own), .pairingConfirm(let value)):
      try receiveConfirm(try Block(onAir: value), own, &output)
    case (.awaitsRandom(let own, let confirm), .pairingRandom(let value)):
      let random = try Block(onAir: value)
      guard random != own.random, peerConfirm(own.secret, random) == confirm else { throw .confirmValueFailed }
      if !isInitiator { output.send(.pairingRandom(own.random.onAir)) }
      state = .done
      return (own, random)
    default: throw .unspecifiedReason
    }
    return nil
  }

  private mutating func receiveConfirm(
    _ value: Block, _ own: Commitment, _ output: inout SecurityOutput
  ) throws(SMP.FailureReason) {
    // Without this check, a peer could reflect this side's own value without knowing the secret.
    guard value != own.confirm else { throw .confirmValueFailed }
    state = .awaitsRandom(own, peerConfirm: value)
    output.send(isInitiator ? .pairingRandom(own.random.onAir) : .pairingConfirm(own.confirm.onAir))
  }
}
