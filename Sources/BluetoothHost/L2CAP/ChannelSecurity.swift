import BluetoothWire

/// What a link must have before a peer may open a channel · Vol 3, Part C, 10.3.1.
package struct ChannelSecurity: Hashable, Sendable {
  /// Any link will do.
  package static let none = ChannelSecurity()

  package var level: LinkSecurity.Level
  /// The shortest key, octets; 0: no matter.
  package var keySize: UInt8
  /// Somebody is to have allowed it to this peer.
  package var needsAuthorization: Bool

  package init(level: LinkSecurity.Level = .none, keySize: UInt8 = 0, needsAuthorization: Bool = false) {
    self.level = level
    self.keySize = keySize
    self.needsAuthorization = needsAuthorization
  }

  /// Why a link is not good enough; nil: it is.
  func refusal(for security: LinkSecurity) -> L2CAP.ConnectionResult? {
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
