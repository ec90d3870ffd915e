import Crypto
import CryptoExtras

/// AES-CCM of long payloads by swift-crypto's modes · Vol 6, Part E, 2: they take the key in once for all blocks, the block
/// operation does it for each. For that they return new memory.
extension LinkLayerCipher {
  /// From so many octets on, more than five blocks, this is the faster way.
  static let modesLength = 81

  /// B0 and B1, or the block that becomes the MIC's mask; then the payload, and zeros up to the end of its last block.
  private static let scratchLength = 32 + 256
  private static let payloadStart = 32
  private static let maskStart = 16

  private static let zeros: AES._CBC.IV = {
    guard let vector = try? AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 16)) else {
      preconditionFailure("AES refused a vector of one block")
    }
    return vector
  }()

  func sealByModes(
    _ plaintext: UnsafeRawBufferPointer, header: UInt8, nonce: UInt128, into output: UnsafeMutableRawBufferPointer
  ) {
    withUnsafeTemporaryAllocation(byteCount: Self.scratchLength, alignment: 16) { scratch in
      Self.put(plaintext, into: scratch)
      let code = codeByModes(scratch, count: plaintext.count, header: header, nonce: nonce)
      let mask = cryptByModes(scratch, count: plaintext.count, nonce: nonce, into: output)
      output.storeBytes(of: (code ^ mask).littleEndian, toByteOffset: plaintext.count, as: UInt32.self)
    }
  }

  func openByModes(
    _ sealed: UnsafeRawBufferPointer, header: UInt8, nonce: UInt128, into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Self.scratchLength, alignment: 16) { scratch in
      Self.put(UnsafeRawBufferPointer(rebasing: sealed[..<output.count]), into: scratch)
      let mask = cryptByModes(scratch, count: output.count, nonce: nonce, into: output)
      Self.put(UnsafeRawBufferPointer(output), into: scratch)
      let code = codeByModes(scratch, count: output.count, header: header, nonce: nonce)
      return code ^ mask == UInt32(littleEndian: sealed.loadUnaligned(fromByteOffset: output.count, as: UInt32.self))
    }
  }

  private static func put(_ payload: UnsafeRawBufferPointer, into scratch: UnsafeMutableRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: scratch[payloadStart...]).copyMemory(from: payload)
    let end = payloadStart + payload.count
    UnsafeMutableRawBufferPointer(rebasing: scratch[end..<Self.end(of: payload.count)])
      .initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// Of the last block of a payload.
  private static func end(of count: Int) -> Int { payloadStart + (count + 15) / 16 * 16 }

  /// CBC-MAC, before its own encryption.
  private func codeByModes(
    _ scratch: UnsafeMutableRawBufferPointer, count: Int, header: UInt8, nonce: UInt128
  ) -> UInt32 {
    let blocks = Self.firstBlocks(count: count, header: header, nonce: nonce)
    scratch.storeBytes(of: blocks.0.littleEndian, toByteOffset: 0, as: UInt128.self)
    scratch.storeBytes(of: blocks.1.littleEndian, toByteOffset: Self.maskStart, as: UInt128.self)
    let input = UnsafeRawBufferPointer(rebasing: scratch[..<Self.end(of: count)])
    guard let chain = try? AES._CBC.encrypt(input, using: key, iv: Self.zeros, noPadding: true) else {
      preconditionFailure("AES refused whole blocks")
    }
    return Self.withOctets(of: chain) {
      UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: $0.count - 16, as: UInt32.self))
    }
  }

  /// Counter mode; the mask of the MIC is the beginning of the key stream.
  private func cryptByModes(
    _ scratch: UnsafeMutableRawBufferPointer, count: Int, nonce: UInt128, into output: UnsafeMutableRawBufferPointer
  ) -> UInt32 {
    scratch.storeBytes(of: UInt128(0), toByteOffset: Self.maskStart, as: UInt128.self)
    let input = UnsafeRawBufferPointer(rebasing: scratch[Self.maskStart..<Self.payloadStart + count])
    let counter = Self.counterBlock(0, nonce: nonce).littleEndian
    guard
      let stream = withUnsafeBytes(
        of: counter, { try? AES._CTR.encrypt(input, using: key, nonce: AES._CTR.Nonce(nonceBytes: $0)) })
    else { preconditionFailure("AES refused a counter of one block") }
    return Self.withOctets(of: stream) {
      UnsafeMutableRawBufferPointer(rebasing: output[..<count]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: $0[16...]))
      return UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))
    }
  }

  /// Hands over all that a mode has returned at once: each access to a part of it costs as much as some blocks do.
  @inline(__always)
  private static func withOctets(
    of result: some Sequence<UInt8>, _ body: (UnsafeRawBufferPointer) -> UInt32
  ) -> UInt32 {
    guard let value = result.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) else {
      preconditionFailure("what AES returns is not in one piece")
    }
    return value
  }
}
