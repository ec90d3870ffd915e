/// What a capture shows of what links keep secret. By itself it shows nothing.
package struct CaptureSecrets: Hashable, Sendable {
  /// Packets of encrypted links are written as they were before encryption: without MIC, with the CRC that they would have
  /// had, and the flags of a packet that was decrypted and whose MIC was right.
  package var decryptsAir: Bool
  /// The keys of encrypted sessions are written to a file beside the capture.
  package var writesKeys: Bool

  package init(decryptsAir: Bool = false, writesKeys: Bool = false) {
    self.decryptsAir = decryptsAir
    self.writesKeys = writesKeys
  }

  /// Whether the keys in packets between hosts and controllers stay: whoever sees one of the two sees keys anyway. Else
  /// there are zeros.
  package var showsKeys: Bool { decryptsAir || writesKeys }

  /// Shows nothing.
  package static let none = CaptureSecrets()
}
