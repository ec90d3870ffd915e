import BluetoothWire

/// A prompt for the user during pairing · Vol 3, Part H, 2.3.5. It ends with its answer or with the pairing.
package enum PairingPrompt: Hashable, Sendable {
  /// Asks whether the peer may pair with this device when there is nothing to compare (Just Works or out-of-band
  /// data).
  case allow
  /// Shows these six digits, 0 to 999,999, which the user types on the peer. Needs no answer.
  case show(passkey: UInt32)
  /// Asks for the six digits that the peer shows.
  case enterPasskey
  /// Shows these six digits and asks whether the peer shows the same number: Numeric Comparison.
  case compare(UInt32)
}

/// The user's answer to a prompt.
package enum PairingAnswer: Hashable, Sendable {
  /// Accepts `allow` and `compare`; ignored after `show`.
  case yes
  /// Rejects any prompt: the pairing fails.
  case no
  /// Answers `enterPasskey`: 0 to 999,999.
  case passkey(UInt32)
  /// Reports that a digit of an incomplete passkey was typed or erased · 3.5.8.
  case keypress(SMP.KeypressNotification)
}

/// The association model that the devices have used · 2.3.5.1.
package enum PairingMethod: UInt8, Hashable, Sendable, CaseIterable {
  case justWorks, passkeyEntry, numericComparison, outOfBand

  /// True if the method protects against a man in the middle.
  package var isAuthenticated: Bool { self != .justWorks }
}

/// The result of a pairing.
package struct PairingOutcome: Hashable, Sendable {
  package var method: PairingMethod
  package var isSecureConnections: Bool
  /// The length of the encryption key in octets.
  package var keySize: UInt8
  /// The bond to store; nil: the devices have not bonded.
  package var bond: HostBond?
  /// True if `bond` replaces a bond whose key has not encrypted this link: the peer may be another device than the
  /// bonded one.
  package var replacesUnproven: Bool

  package init(
    method: PairingMethod, isSecureConnections: Bool, keySize: UInt8, bond: HostBond?, replacesUnproven: Bool = false
  ) {
    self.method = method
    self.isSecureConnections = isSecureConnections
    self.keySize = keySize
    self.bond = bond
    self.replacesUnproven = replacesUnproven
  }
}

/// The reason why the security of a link could not be raised.
package enum SecurityFailure: Error, Hashable, Sendable {
  /// This device has ended the pairing for this reason.
  case refused(SMP.FailureReason)
  /// The peer has ended the pairing for this reason.
  case refusedByPeer(SMP.FailureReason)
  /// The peer sent nothing for 30 s: pairing is no longer possible on this link · 3.4.
  case timeout
  /// The peer has lost the key of the bond.
  case keyMissing
  /// Encryption failed for another reason.
  case encryption(HCI.ErrorCode)
  /// The link ended before the security was raised.
  case disconnected
}

/// An event of a link's Security Manager.
package enum SecurityEvent: Hashable, Sendable {
  /// A new prompt for the user. A previous prompt has been answered or is void.
  case prompt(PairingPrompt)
  /// The current prompt has ended.
  case promptEnded
  /// The peer's user is typing the digits that this device shows.
  case keypress(SMP.KeypressNotification)
  /// The devices begin to pair although a bond with the peer exists, whose key has not encrypted the link. With a
  /// reason: this device refuses, because the peer's offer is weaker than the bond. Without: the user is asked.
  case replacementAttempted(SMP.FailureReason?)
  /// The pairing is complete and the keys have been exchanged; store the bond now.
  case paired(PairingOutcome)
  /// The security of the link has changed to this value.
  case changed(HostLinkSecurity)
  /// Pairing, or encryption with the key of a bond, has failed.
  case failed(SecurityFailure)
}
