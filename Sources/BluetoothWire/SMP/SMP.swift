/// The Security Manager Protocol · Vol 3, Part H, 3.
package enum SMP {
  /// The length of the longest PDU, Pairing Public Key, in octets · 3.2.
  package static let maximumLength = 65
  /// The length of keys, confirm values, random values and check values in octets.
  package static let valueLength = 16
  /// The length of one coordinate of a public key in octets.
  package static let coordinateLength = 32

  /// The IO Capability · 3.5.1.
  package typealias IOCapability = BluetoothTypes.IOCapability

  /// The AuthReq field · 3.5.1.
  package struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Bonding_Flags 0b01; 0b10 and 0b11 are reserved.
    package static let bonding = AuthenticationRequirements(rawValue: 0x01)
    package static let manInTheMiddleProtection = AuthenticationRequirements(rawValue: 0x04)
    package static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
    package static let keypress = AuthenticationRequirements(rawValue: 0x10)
    /// Support of the h7 function.
    package static let ct2 = AuthenticationRequirements(rawValue: 0x20)
  }

  /// The Initiator or Responder Key Distribution · 3.6.1.
  package struct KeyDistribution: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let encryptionKey = KeyDistribution(rawValue: 0x01)
    package static let identityKey = KeyDistribution(rawValue: 0x02)
    package static let signingKey = KeyDistribution(rawValue: 0x04)
    package static let linkKey = KeyDistribution(rawValue: 0x08)
  }

  /// The Reason of a Pairing Failed PDU · 3.5.5. Any octet can arrive.
  package struct FailureReason: RawRepresentable, Hashable, Sendable, Error {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let passkeyEntryFailed = FailureReason(rawValue: 0x01)
    package static let oobNotAvailable = FailureReason(rawValue: 0x02)
    package static let authenticationRequirements = FailureReason(rawValue: 0x03)
    package static let confirmValueFailed = FailureReason(rawValue: 0x04)
    package static let pairingNotSupported = FailureReason(rawValue: 0x05)
    package static let encryptionKeySize = FailureReason(rawValue: 0x06)
    package static let commandNotSupported = FailureReason(rawValue: 0x07)
    package static let unspecifiedReason = FailureReason(rawValue: 0x08)
    package static let repeatedAttempts = FailureReason(rawValue: 0x09)
    package static let invalidParameters = FailureReason(rawValue: 0x0A)
    package static let dhKeyCheckFailed = FailureReason(rawValue: 0x0B)
    package static let numericComparisonFailed = FailureReason(rawValue: 0x0C)
    package static let brEDRPairingInProgress = FailureReason(rawValue: 0x0D)
    package static let crossTransportKeyDerivationNotAllowed = FailureReason(rawValue: 0x0E)
    package static let keyRejected = FailureReason(rawValue: 0x0F)
    package static let busy = FailureReason(rawValue: 0x10)
  }

  /// The Notification Type of a Pairing Keypress Notification · 3.5.8.
  package typealias KeypressNotification = BluetoothTypes.KeypressNotification

  /// The fields of a Pairing Request and of a Pairing Response · 3.5.1, 3.5.2.
  package struct PairingFeatures: Hashable, Sendable {
    package var ioCapability: IOCapability
    package var hasOOBData: Bool
    package var authenticationRequirements: AuthenticationRequirements
    /// The Maximum Encryption Key Size in octets as received; `refusal` checks it.
    package var maximumEncryptionKeySize: UInt8
    package var initiatorKeyDistribution: KeyDistribution
    package var responderKeyDistribution: KeyDistribution

    package init(
      ioCapability: IOCapability, hasOOBData: Bool, authenticationRequirements: AuthenticationRequirements,
      maximumEncryptionKeySize: UInt8, initiatorKeyDistribution: KeyDistribution,
      responderKeyDistribution: KeyDistribution
    ) {
      self.ioCapability = ioCapability
      self.hasOOBData = hasOOBData
      self.authenticationRequirements = authenticationRequirements
      self.maximumEncryptionKeySize = maximumEncryptionKeySize
      self.initiatorKeyDistribution = initiatorKeyDistribution
      self.responderKeyDistribution = responderKeyDistribution
    }

    /// The reason to reject a key size outside 7 to 16 octets; nil if the size is valid · 2.3.4, 3.5.1.
    package var refusal: FailureReason? {
      if maximumEncryptionKeySize < 7 { return .encryptionKeySize }
      return maximumEncryptionKeySize > 16 ? .invalidParameters : nil
    }
  }
}
