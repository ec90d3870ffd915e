import Crypto
import CryptoExtras

/// The block cipher AES-128 and the message authentication code AES-CMAC, on which all other functions of this module
/// are built. swift-crypto provides both.
package enum AES128 {
  /// Returns the result of the security function e, one AES-128 block encryption · Vol 3, Part H, 2.2.1.
  package static func encrypt(_ plaintext: Block, key: Block) -> Block {
    var bytes = plaintext.bytes
    // `permute` throws only if the key or the block does not have 128 bits.
    guard (try? AES.permute(&bytes, key: SymmetricKey(data: key.bytes))) != nil, let block = Block(bytes) else {
      preconditionFailure("AES refused a key and a block of 128 bits")
    }
    return block
  }

  /// Returns the encrypted block. Both blocks are integers whose least significant octet is the first octet. This
  /// function allocates no memory, so it suits a key that is used often.
  static func encrypt(_ block: UInt128, key: SymmetricKey) -> UInt128 {
    var block = block.littleEndian
    withUnsafeMutableBytes(of: &block) { bytes in
      var bytes = bytes
      guard (try? AES.permute(&bytes, key: key)) != nil else {
        preconditionFailure("AES refused a key and a block of 128 bits")
      }
    }
    return UInt128(littleEndian: block)
  }

  /// Returns the AES-CMAC of `message` · Vol 3, Part H, 2.2.5.
  package static func cmac(_ message: [UInt8], key: Block) -> Block {
    guard var code = try? AES.CMAC(key: SymmetricKey(data: key.bytes)) else {
      preconditionFailure("AES-CMAC refused a key of 128 bits")
    }
    code.update(data: message)
    guard let block = code.finalize().withUnsafeBytes({ Block($0) }) else {
      preconditionFailure("the result of AES-CMAC does not have 128 bits")
    }
    return block
  }
}
