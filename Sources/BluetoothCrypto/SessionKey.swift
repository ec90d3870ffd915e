import CBluetoothCrypto

/// The key of an encrypted session, expanded once for all its packets. It is overwritten when the last cipher with it
/// is gone. Its functions allocate no memory.
final class SessionKey: @unchecked Sendable {
  // Sendable: the C functions lock the state.
  private let state: OpaquePointer

  init(_ key: Block) { state = key.withOctets { bluetooth_aes_key_create($0) } }

  deinit { bluetooth_aes_key_free(state) }

  /// Encrypts each of `count` blocks of 16 octets for itself, in place.
  func encrypt(_ blocks: UnsafeMutableRawPointer, count: Int) { bluetooth_aes_key_encrypt(state, blocks, count) }

  /// Replaces `count` blocks of 16 octets by their encryption with cipher block chaining, whose last block is the
  /// CBC-MAC.
  func chain(_ blocks: UnsafeMutableRawPointer, count: Int) { bluetooth_aes_key_chain(state, blocks, count) }
}
