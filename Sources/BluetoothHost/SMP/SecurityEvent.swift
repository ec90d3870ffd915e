import BluetoothWire

/// What the user is asked while two devices pair · Vol 3, Part H, 2.3.5. Each of them ends with its answer, or when the
/// pairing does.
package enum PairingPrompt: Hashable, Sendable {
  /// May the peer pair with this device, without anything to compare (Just Works, or with data from out of band)?
  case allow
  /// Show these six digits, 0 to 999,999; the user types them on the peer. No answer is waited for.
  case show(passkey: UInt32)
  /// Ask for the six digits that the peer shows.
  case enterPasskey
  /// Show these six digits, and ask whether the peer shows the same: numeric comparison.
  case compare(UInt32)
}

/// What the user says.
package enum PairingAnswer: Hashable, Sendable {
  /// To `allow` and `compare`; after `show` nothing comes of it.
  case yes
  /// To all of them: the pairing fails.
  case no
  /// To `enterPasskey`: 0 to 999,999.
  case passkey(UInt32)
  /// A digit was typed, or taken back, and the passkey is not complete · 3.5.8.
  case keypress(SMP.KeypressNotification)
}

/// How the two devices made sure of each other · 2.3.5.1.
package enum PairingMethod: UInt8, Hashable, Sendable, CaseIterable {
  case justWorks, passkeyEntry, numericComparison, outOfBand

  /// Whether nobody can be in the middle.
  package var isAuthenticated: Bool { self != .justWorks }
}

/// What has come of a pairing.
package struct PairingOutcome: Hashable, Sendable {
  package var method: PairingMethod
  package var isSecureConnections: Bool
  /// Octets of the encryption key.
  package var keySize: UInt8
  /// What is to be kept; nil: they have not bonded.
  package var bond: Bond?
  /// True if `bond` replaces one whose key has not encrypted this link: the peer need not be the device that had bonded.
  package var replacesUnproven: Bool

  package init(
    method: PairingMethod, isSecureConnections: Bool, keySize: UInt8, bond: Bond?, replacesUnproven: Bool = false
  ) {
    self.method = method
    self.isSecureConnections = isSecureConnections
    self.keySize = keySize
    self.bond = bond
    self.replacesUnproven = replacesUnproven
  }
}

/// Why a link did not become as secure as was wanted.
package enum SecurityFailure: Error, Hashable, Sendable {
  /// This device has ended the pairing for this reason.
  case refused(SMP.FailureReason)
  /// The peer has ended it.
  case refusedByPeer(SMP.FailureReason)
  /// The peer said nothing for 30 s: no more pairing on this link · 3.4.
  case timeout
  /// The peer has lost the key of the bond.
  case keyMissing
  /// Encrypting failed for another reason.
  case encryption(HCI.ErrorCode)
  /// The link ended before.
  case disconnected
}

/// What the Security Manager of a link tells.
package enum SecurityEvent: Hashable, Sendable {
  /// The user is asked. The one before, if any, is answered or void.
  case prompt(PairingPrompt)
  /// Nothing is asked any more.
  case promptEnded
  /// The peer's user types the digits that this device shows.
  case keypress(SMP.KeypressNotification)
  /// A bond with the peer exists, its key has not encrypted the link, and the two begin to pair. With a reason: this device
  /// refuses, because what the peer offers is weaker than the bond. Without: the user is asked.
  case replacementAttempted(SMP.FailureReason?)
  /// Pairing is over, and the keys are here; what is to be kept is to be kept now.
  case paired(PairingOutcome)
  /// The link is protected so, from now on.
  case changed(LinkSecurity)
  /// Pairing, or encrypting with the key of a bond, has failed.
  case failed(SecurityFailure)
}
