import BluetoothWire

/// Pairing with a peer with which a bond exists.
extension SecurityManager {
  /// True if a bond exists and the peer has not proved to be its device.
  var isAtStake: Bool { bond != nil && !isProven }

  /// Returns the agreement on the exchanged features; throws the reason if they are incompatible. An offer that is
  /// weaker than the bond counts as a failed attempt, so that repeated attempts are delayed.
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
