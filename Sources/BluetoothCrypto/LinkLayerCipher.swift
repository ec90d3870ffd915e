// Design: the two implementations of AES-CCM
//
// AES-CCM consists of CBC-MAC and counter mode. Up to 48 octets go through `AES.permute`, in place and without
// allocations; it expands the key for each block. Longer payloads go through swift-crypto's own modes: counter mode
// (`_CTR`), and AES-CMAC for the MIC. AES-CMAC is CBC-MAC with a mask on the last block; applying the mask twice
// cancels it. A copy of a CMAC that has expanded the key already costs less than swift-crypto's `_CBC`, which expands
// the key again and returns all blocks (Documentation/Performance.md).

import Crypto
import CryptoExtras

/// AES-CCM with the parameters of the link layer: one octet of additional data, a MIC of 4 octets, a nonce of 13
/// octets · Vol 6, Part E.
///
/// There are two implementations. Short payloads use swift-crypto's operation on single blocks, which allocates
/// nothing. Long payloads use swift-crypto's counter mode and AES-CMAC, which allocate memory on the heap but take less
/// than half of the time (see `modesLength`).
package struct LinkLayerCipher: Sendable {
  /// The length of the MIC that follows the encrypted payload, in octets · Part B, 2.4.
  package static let codeLength = 4
  /// The length of the longest payload of a data PDU in octets, without the MIC.
  package static let maximumLength = 251
  /// The bits of the header's first octet that are authenticated. NESN, SN and MD are excluded because a
  /// retransmission may change them · Part E, 2.2.
  private static let authenticatedHeaderBits: UInt8 = 0xE3

  /// The sender of a packet. Each direction of a connection has its own packet counter.
  package enum Sender: Sendable {
    case central, peripheral
  }

  let key: SymmetricKey
  /// IVm and IVs in the order of transmission: the first octet on the air is the least significant one.
  private let initializationVector: UInt64
  /// The AES-CMAC state before the first octet. `codeByModes` copies it for each packet.
  let messageCode: AES.CMAC
  /// The mask that AES-CMAC combines with the last block (see `lastBlockMask(_:)`).
  let lastBlockMask: UInt128

  /// Creates a cipher with a session key.
  ///
  /// - Parameters:
  ///   - initializationVector: IVm in the low 32 bits, IVs in the high ones.
  package init(sessionKey: Block, initializationVector: UInt64) {
    key = SymmetricKey(data: sessionKey.bytes)
    self.initializationVector = initializationVector
    messageCode = Self.makeMessageCode(key)
    lastBlockMask = Self.lastBlockMask(key)
  }

  /// Creates the cipher of a session. The session key is the session key diversifier encrypted with the long term
  /// key · Part B, 5.1.3.1.
  ///
  /// - Parameters:
  ///   - diversifier: SKDs in the high 64 bits, SKDm in the low ones.
  package init(longTermKey: Block, diversifier: Block, initializationVector: UInt64) {
    self.init(
      sessionKey: AES128.encrypt(diversifier, key: longTermKey), initializationVector: initializationVector)
  }

  /// Encrypts a payload and appends its MIC.
  ///
  /// - Parameters:
  ///   - plaintext: at most `maximumLength` octets.
  ///   - header: the first octet of the PDU.
  ///   - counter: packetCounter, of which 39 bits are used.
  ///   - output: a buffer `codeLength` octets longer than the plaintext.
  package func seal(
    _ plaintext: UnsafeRawBufferPointer, header: UInt8, counter: UInt64, sender: Sender,
    into output: UnsafeMutableRawBufferPointer
  ) {
    precondition(plaintext.count <= Self.maximumLength && output.count == plaintext.count + Self.codeLength)
    let nonce = nonce(counter: counter, sender: sender)
    if plaintext.count < Self.modesLength {
      sealByBlocks(plaintext, header: header, nonce: nonce, into: output)
    } else {
      sealByModes(plaintext, header: header, nonce: nonce, into: output)
    }
  }

  /// Decrypts a payload and checks its MIC. Returns false if the MIC is wrong; the output must not be used then.
  ///
  /// - Parameters:
  ///   - sealed: the encrypted payload followed by the MIC.
  ///   - output: a buffer `codeLength` octets shorter than `sealed`.
  package func open(
    _ sealed: UnsafeRawBufferPointer, header: UInt8, counter: UInt64, sender: Sender,
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let length = sealed.count - Self.codeLength
    guard 0...Self.maximumLength ~= length, output.count == length else { return false }
    let nonce = nonce(counter: counter, sender: sender)
    return length < Self.modesLength
      ? openByBlocks(sealed, header: header, nonce: nonce, into: output)
      : openByModes(sealed, header: header, nonce: nonce, into: output)
  }

  // MARK: Block operation (a block is an integer whose lowest octet comes first)

  func sealByBlocks(
    _ plaintext: UnsafeRawBufferPointer, header: UInt8, nonce: UInt128, into output: UnsafeMutableRawBufferPointer
  ) {
    let code = code(of: plaintext, header: header, nonce: nonce)
    crypt(plaintext, nonce: nonce, into: UnsafeMutableRawBufferPointer(rebasing: output[..<plaintext.count]))
    output.storeBytes(of: code.littleEndian, toByteOffset: plaintext.count, as: UInt32.self)
  }

  func openByBlocks(
    _ sealed: UnsafeRawBufferPointer, header: UInt8, nonce: UInt128, into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    crypt(UnsafeRawBufferPointer(rebasing: sealed[..<output.count]), nonce: nonce, into: output)
    let code = code(of: UnsafeRawBufferPointer(output), header: header, nonce: nonce)
    return code == UInt32(littleEndian: sealed.loadUnaligned(fromByteOffset: output.count, as: UInt32.self))
  }

  /// Returns the 13 octets of the nonce at their position within a block · Part E, 2.1.
  func nonce(counter: UInt64, sender: Sender) -> UInt128 {
    let direction: UInt64 = sender == .central ? 1 << 39 : 0
    return UInt128(counter & (1 << 39 - 1) | direction) << 8 | UInt128(initializationVector) << 48
  }

  /// Returns the blocks B0 and B1, which are authenticated before the payload · Part E, 2.2.
  static func firstBlocks(count: Int, header: UInt8, nonce: UInt128) -> (UInt128, UInt128) {
    // B0: flags (with additional data, a MIC of 4 octets and a length field of 2), then nonce and length. B1: the
    // length of the additional data, then its one octet.
    (
      nonce | 0x49 | lastOctets(UInt16(count)), UInt128(header & authenticatedHeaderBits) << 16 | 1 << 8
    )
  }

  /// Returns the counter block that is encrypted to give block `index` of the key stream · Part E, 2.3.
  static func counterBlock(_ index: UInt16, nonce: UInt128) -> UInt128 { nonce | 0x01 | lastOctets(index) }

  /// Returns the encrypted MIC of `plaintext`: the CBC-MAC, combined with the first block of the key stream by
  /// exclusive or.
  private func code(of plaintext: UnsafeRawBufferPointer, header: UInt8, nonce: UInt128) -> UInt32 {
    let blocks = Self.firstBlocks(count: plaintext.count, header: header, nonce: nonce)
    var state = encrypted(blocks.0)
    state = encrypted(state ^ blocks.1)
    var offset = 0
    while offset < plaintext.count {
      state = encrypted(state ^ Self.block(of: plaintext, at: offset))
      offset += 16
    }
    return UInt32(truncatingIfNeeded: state ^ keyStream(0, nonce: nonce))
  }

  /// Encrypts or decrypts in counter mode · Part E, 2.3.
  private func crypt(
    _ input: UnsafeRawBufferPointer, nonce: UInt128, into output: UnsafeMutableRawBufferPointer
  ) {
    var offset = 0
    while offset < input.count {
      var block = (Self.block(of: input, at: offset) ^ keyStream(UInt16(offset / 16 + 1), nonce: nonce)).littleEndian
      withUnsafeBytes(of: &block) { block in
        let count = min(16, input.count - offset)
        UnsafeMutableRawBufferPointer(rebasing: output[offset...])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
      }
      offset += 16
    }
  }

  private func keyStream(_ index: UInt16, nonce: UInt128) -> UInt128 {
    encrypted(Self.counterBlock(index, nonce: nonce))
  }

  /// Returns a block whose last two octets hold `number`, most significant octet first.
  private static func lastOctets(_ number: UInt16) -> UInt128 { UInt128(number.byteSwapped) << 112 }

  /// Returns the 16 octets at `offset`, padded with zeros if there are fewer.
  private static func block(of bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt128 {
    var block = UInt128(0)
    withUnsafeMutableBytes(of: &block) {
      $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<min(offset + 16, bytes.count)]))
    }
    return UInt128(littleEndian: block)
  }

  private func encrypted(_ block: UInt128) -> UInt128 { AES128.encrypt(block, key: key) }
}

extension LinkLayerCipher: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text that does not contain the key.
  package var description: String { "a session of AES-CCM" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
