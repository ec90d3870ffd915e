/// The options that make a capture show the secrets of encrypted links. By default it shows none.
package struct CaptureSecrets: Hashable, Sendable {
  /// True to write packets of encrypted links as they were before encryption: without MIC, with the CRC that they would
  /// have had, and with the flags of a decrypted packet with a valid MIC.
  package var decryptsAir: Bool
  /// True to write the keys of encrypted sessions to a file beside the capture.
  package var writesKeys: Bool

  package init(decryptsAir: Bool = false, writesKeys: Bool = false) {
    self.decryptsAir = decryptsAir
    self.writesKeys = writesKeys
  }

  /// True if the keys in packets between hosts and controllers stay; otherwise they are replaced by zeros. They stay
  /// with either option, because both options reveal secrets anyway.
  package var showsKeys: Bool { decryptsAir || writesKeys }

  /// Shows no secrets.
  package static let none = CaptureSecrets()
}
