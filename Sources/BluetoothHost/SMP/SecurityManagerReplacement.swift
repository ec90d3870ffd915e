import BluetoothWire

/// Pairing with a peer that a bond exists with.
extension SecurityManager {
  /// True if a bond exists and nothing shows that the peer is the device it was made with.
  var isAtStake: Bool { bond != nil && !isProven }

  /// The agreement on two exchanged features. What is weaker than the bond counts as a failed attempt, so that a peer that
  /// tries again and again is held back.
  mutating func agree(
    on request: SMP.PairingFeatures, _ response: SMP.PairingFeatures, at now: Instant,
    _ context: inout SecurityContext
  ) throws(SMP.FailureReason) -> PairingAgreement {
    do {
      return try PairingAgreement(
        role: role, own: own, peer: peer, request: request, response: response, needs: needs(context.policy))
    } catch {
      if isAtStake {
        context.attempts.failed(identity, at: now)
        output.tell(.replacementAttempted(error))
      }
      throw error
    }
  }
}
