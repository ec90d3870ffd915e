import Crypto
import CryptoExtras

/// The block cipher and the message authentication code that everything else is made of. Both are swift-crypto's.
package enum AES128 {
  /// The security function e · Vol 3, Part H, 2.2.1.
  package static func encrypt(_ plaintext: Block, key: Block) -> Block {
    var bytes = plaintext.bytes
    // It throws for other lengths of key or payload only.
    guard (try? AES.permute(&bytes, key: SymmetricKey(data: key.bytes))) != nil, let block = Block(bytes) else {
      preconditionFailure("AES refused a key and a block of 128 bits")
    }
    return block
  }

  /// The same for a block as a number whose lowest octet is the first, and for a key that is used often: nothing is allocated.
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

  /// AES-CMAC · Vol 3, Part H, 2.2.5.
  package static func cmac(_ message: [UInt8], key: Block) -> Block {
    guard var code = try? AES.CMAC(key: SymmetricKey(data: key.bytes)) else {
      preconditionFailure("AES-CMAC refused a key of 128 bits")
    }
    code.update(data: message)
    guard let block = code.finalize().withUnsafeBytes({ Block($0) }) else {
      preconditionFailure("AES-CMAC gave another length than 128 bits")
    }
    return block
  }
}
