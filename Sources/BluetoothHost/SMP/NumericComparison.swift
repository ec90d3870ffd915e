import BluetoothCrypto
import BluetoothWire

/// Authentication stage 1 for Numeric Comparison and Just Works · Vol 3, Part H, 2.3.5.6.2.
struct NumericComparison {
  private enum State {
    /// The initiator waits for the responder's confirm value.
    case awaitsConfirm(nonce: Block)
    /// Waits for the peer's random value, which an initiator checks against the confirm value.
    case awaitsRandom(nonce: Block, confirm: Block?)
    /// The user is comparing the numbers.
    case comparing(ExchangedNonces)
    case done
  }

  private let keys: SharedKeys
  private let agreement: PairingAgreement
  private var state = State.done

  init(_ agreement: PairingAgreement, _ keys: SharedKeys) {
    self.agreement = agreement
    self.keys = keys
  }

  private var isInitiator: Bool { agreement.role == .central }

  var isComparing: Bool {
    if case .comparing = state { return true }
    return false
  }

  mutating func begin(_ generator: inout KeyGenerator, _ output: inout SecurityOutput) {
    let nonce = Block(using: &generator)
    if isInitiator {
      state = .awaitsConfirm(nonce: nonce)
    } else {
      state = .awaitsRandom(nonce: nonce, confirm: nil)
      output.send(.pairingConfirm(Toolbox.f4(u: keys.own.x, v: keys.peer.x, x: nonce, z: 0).onAir))
    }
  }

  /// Processes a PDU of the peer. Returns the nonces at the end of the stage; nil: the stage continues, or the user
  /// must compare. Throws the reason to end the pairing.
  mutating func receive(_ pdu: SMP.PDU, _ output: inout SecurityOutput) throws(SMP.FailureReason) -> ExchangedNonces? {
    switch (state, pdu) {
    case (.awaitsConfirm(let nonce), .pairingConfirm(let value)):
      state = .awaitsRandom(nonce: nonce, confirm: try Block(onAir: value))
      output.send(.pairingRandom(nonce.onAir))
      return nil
    case (.awaitsRandom(let nonce, let confirm), .pairingRandom(let value)):
      let value = try Block(onAir: value)
      if let confirm, confirm != Toolbox.f4(u: keys.peer.x, v: keys.own.x, x: value, z: 0) {
        throw .confirmValueFailed
      }
      guard value != nonce else { throw .confirmValueFailed }
      if !isInitiator { output.send(.pairingRandom(nonce.onAir)) }
      return compare(ExchangedNonces(own: nonce, peer: value), &output)
    default: throw .unspecifiedReason
    }
  }

  private mutating func compare(_ nonces: ExchangedNonces, _ output: inout SecurityOutput) -> ExchangedNonces? {
    guard agreement.model == .numericComparison else {
      state = .done
      return nonces
    }
    let number =
      isInitiator
      ? Toolbox.g2(u: keys.own.x, v: keys.peer.x, x: nonces.own, y: nonces.peer)
      : Toolbox.g2(u: keys.peer.x, v: keys.own.x, x: nonces.peer, y: nonces.own)
    state = .comparing(nonces)
    output.ask(.compare(number % 1_000_000))
    return nil
  }

  /// Handles the user's confirmation that the numbers are equal. Returns the nonces.
  mutating func accept() -> ExchangedNonces? {
    guard case .comparing(let nonces) = state else { return nil }
    state = .done
    return nonces
  }
}
