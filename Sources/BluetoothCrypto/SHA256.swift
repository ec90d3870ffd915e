import CBluetoothCrypto

/// A SHA-256 digest of octets that come in pieces.
package final class SHA256 {
  private let state: OpaquePointer

  package init() { state = bluetooth_sha256_create() }

  deinit { bluetooth_sha256_free(state) }

  /// Adds octets to the digest.
  package func update(_ octets: some Collection<UInt8>) {
    let isContiguous: Void? = octets.withContiguousStorageIfAvailable {
      bluetooth_sha256_update(state, $0.baseAddress, $0.count)
    }
    if isContiguous == nil { update(Array(octets)) }
  }

  /// Returns the 32 octets of the digest. No octets may be added afterwards.
  package func finish() -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 32)
    bluetooth_sha256_finish(state, &result)
    return result
  }
}
