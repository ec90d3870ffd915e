import CBluetoothCrypto

/// The block cipher AES-128 and the message authentication code AES-CMAC, on which all other functions of this module
/// are built. They allocate no memory, and keep no copy of the key.
package enum AES128 {
  /// Returns the result of the security function e, one AES-128 block encryption · Vol 3, Part H, 2.2.1.
  package static func encrypt(_ plaintext: Block, key: Block) -> Block {
    key.withOctets { key in plaintext.changed { bluetooth_aes_encrypt(key, $0) } }
  }

  /// Returns the AES-CMAC of `message` · Vol 3, Part H, 2.2.5.
  package static func cmac(_ message: [UInt8], key: Block) -> Block {
    key.withOctets { key in Block.zero.changed { bluetooth_aes_cmac(key, message, message.count, $0) } }
  }
}
