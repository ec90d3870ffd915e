import Crypto
import CryptoExtras

/// AES-CCM of long payloads with swift-crypto's modes · Vol 6, Part E, 2: counter mode, and AES-CMAC for the MIC. The
/// modes expand the key once for all blocks of a packet, but allocate memory on the heap. The operation on single
/// blocks expands the key for each block.
extension LinkLayerCipher {
  /// The minimum payload length in octets for which the modes are faster: more than three blocks.
  static let modesLength = 49

  /// The size of the scratch buffer: B0 and B1 (or the block that becomes the MIC's mask), then the payload, padded
  /// with zeros to a whole block.
  private static let scratchLength = 32 + 256
  private static let payloadStart = 32
  private static let maskStart = 16

  /// Returns an AES-CMAC state for `key` before the first octet, truncated to the length of the MIC.
  static func makeMessageCode(_ key: SymmetricKey) -> AES.CMAC {
    guard let code = try? AES.CMAC(key: key, outputSize: codeLength) else {
      preconditionFailure("AES-CMAC refused a key of 128 bits")
    }
    return code
  }

  /// Returns the mask that AES-CMAC combines with a complete last block, the only difference from CBC-MAC: a block of
  /// zeros, encrypted, then doubled in the field · RFC 4493, 2.3.
  static func lastBlockMask(_ key: SymmetricKey) -> UInt128 {
    let number = AES128.encrypt(UInt128(0), key: key).byteSwapped
    return (number << 1 ^ (number >> 127) * 0x87).byteSwapped
  }

  func sealByModes(
    _ plaintext: UnsafeRawBufferPointer, header: UInt8, nonce: UInt128, into output: UnsafeMutableRawBufferPointer
  ) {
    withUnsafeTemporaryAllocation(byteCount: Self.scratchLength, alignment: 16) { scratch in
      Self.put(plaintext, into: scratch)
      let mask = cryptByModes(scratch, count: plaintext.count, nonce: nonce, into: output)
      let code = codeByModes(scratch, count: plaintext.count, header: header, nonce: nonce)
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

  /// Returns the offset of the end of a payload's last block.
  private static func end(of count: Int) -> Int { payloadStart + (count + 15) / 16 * 16 }

  /// Returns the CBC-MAC before its encryption, computed with AES-CMAC. AES-CMAC differs only in the mask that it
  /// combines with the last block; combining the mask with the last block beforehand cancels it. Changes the payload in
  /// `scratch`.
  private func codeByModes(
    _ scratch: UnsafeMutableRawBufferPointer, count: Int, header: UInt8, nonce: UInt128
  ) -> UInt32 {
    let blocks = Self.firstBlocks(count: count, header: header, nonce: nonce)
    scratch.storeBytes(of: blocks.0.littleEndian, toByteOffset: 0, as: UInt128.self)
    scratch.storeBytes(of: blocks.1.littleEndian, toByteOffset: Self.maskStart, as: UInt128.self)
    let end = Self.end(of: count)
    let last = UInt128(littleEndian: scratch.load(fromByteOffset: end - 16, as: UInt128.self))
    scratch.storeBytes(of: (last ^ lastBlockMask).littleEndian, toByteOffset: end - 16, as: UInt128.self)
    var code = messageCode
    code.update(bufferPointer: UnsafeRawBufferPointer(rebasing: scratch[..<end]))
    return code.finalize().withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
  }

  /// Encrypts or decrypts in counter mode. Returns the mask of the MIC, which is the beginning of the key stream.
  private func cryptByModes(
    _ scratch: UnsafeMutableRawBufferPointer, count: Int, nonce: UInt128, into output: UnsafeMutableRawBufferPointer
  ) -> UInt32 {
    scratch.storeBytes(of: UInt128(0), toByteOffset: Self.maskStart, as: UInt128.self)
    let input = UnsafeRawBufferPointer(rebasing: scratch[Self.maskStart..<Self.payloadStart + count])
    let counter = Self.counterBlock(0, nonce: nonce).littleEndian
    guard let stream = try? AES._CTR.encrypt(input, using: key, nonce: Self.counterModeNonce(counter)) else {
      preconditionFailure("AES refused a key of 128 bits")
    }
    return Self.withOctets(of: stream) {
      UnsafeMutableRawBufferPointer(rebasing: output[..<count]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: $0[16...]))
      return UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))
    }
  }

  /// Returns the nonce for swift-crypto's counter mode. The initializer of a nonce takes as long as the encryption of
  /// seven blocks, because a generic function in it looks up types at run time. Overwriting the octets of a copy of
  /// `emptyNonce` avoids that cost.
  private static func counterModeNonce(_ block: UInt128) -> AES._CTR.Nonce {
    guard var nonce = emptyNonce else { return makeNonce(block) }
    withUnsafeMutableBytes(of: &nonce) { $0.storeBytes(of: block, as: UInt128.self) }
    return nonce
  }

  /// A nonce of zeros; nil if the memory layout of a nonce is not exactly its octets, so that they can't be
  /// overwritten.
  private static let emptyNonce: AES._CTR.Nonce? = {
    let pattern = UInt128(0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF)
    let octets = withUnsafeBytes(of: pattern) { Array($0) }
    let isItsOctets = withUnsafeBytes(of: makeNonce(pattern)) { $0.elementsEqual(octets) }
    return isItsOctets && _isPOD(AES._CTR.Nonce.self) ? makeNonce(0) : nil
  }()

  private static func makeNonce(_ block: UInt128) -> AES._CTR.Nonce {
    guard let nonce = withUnsafeBytes(of: block, { try? AES._CTR.Nonce(nonceBytes: $0) }) else {
      preconditionFailure("AES refused a counter of one block")
    }
    return nonce
  }

  /// Calls `body` with the octets of a mode's result in one buffer. Each separate access to a part of the result would
  /// take as long as the encryption of several blocks.
  @inline(__always)
  private static func withOctets(
    of result: some Sequence<UInt8>, _ body: (UnsafeRawBufferPointer) -> UInt32
  ) -> UInt32 {
    guard let value = result.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) else {
      preconditionFailure("the result of AES is not contiguous in memory")
    }
    return value
  }
}
