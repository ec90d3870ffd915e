import BluetoothWire

/// The security that a link needs before a peer may open a channel · Vol 3, Part C, 10.3.1.
package struct ChannelSecurity: Hashable, Sendable {
  /// No security requirements.
  package static let none = ChannelSecurity()

  package var level: HostLinkSecurity.Level
  /// The minimum length of the encryption key in octets; 0: any.
  package var keySize: UInt8
  /// True if the peer must have been authorized.
  package var needsAuthorization: Bool

  package init(level: HostLinkSecurity.Level = .none, keySize: UInt8 = 0, needsAuthorization: Bool = false) {
    self.level = level
    self.keySize = keySize
    self.needsAuthorization = needsAuthorization
  }

  /// Returns the reason why a link's security is insufficient; nil: it is sufficient.
  func refusal(for security: HostLinkSecurity) -> L2CAP.ConnectionResult? {
    if level > .none || keySize > 0 {
      guard security.level > .none else {
        return security.hasKey ? .insufficientEncryption : .insufficientAuthentication
      }
      guard security.level >= level else { return .insufficientAuthentication }
      guard security.keySize >= keySize else { return .encryptionKeySizeTooShort }
    }
    return needsAuthorization && !security.isAuthorized ? .insufficientAuthorization : nil
  }
}
