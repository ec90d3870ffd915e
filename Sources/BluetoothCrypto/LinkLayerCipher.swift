/// AES-CCM with the parameters of the link layer: one octet of additional data, a MIC of 4 octets, a nonce of 13
/// octets · Vol 6, Part E. AES-CCM consists of CBC-MAC and counter mode: a packet takes one call of the library for
/// each, and allocates no memory.
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

  private let key: SessionKey
  /// IVm and IVs in the order of transmission: the first octet on the air is the least significant one.
  private let initializationVector: UInt64

  /// Creates a cipher with a session key.
  ///
  /// - Parameters:
  ///   - initializationVector: IVm in the low 32 bits, IVs in the high ones.
  package init(sessionKey: Block, initializationVector: UInt64) {
    key = SessionKey(sessionKey)
    self.initializationVector = initializationVector
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
    withBlocks(of: plaintext, header: header, nonce: nonce(counter: counter, sender: sender)) { blocks in
      let mask = blocks.mask
      // The key stream becomes the encrypted payload; the plaintext stays for the MIC.
      Blocks.combine(blocks.keyStream, with: blocks.payload, count: blocks.count)
      output.copyMemory(from: UnsafeRawBufferPointer(start: blocks.keyStream, count: plaintext.count))
      output.storeBytes(of: code(of: blocks) ^ mask, toByteOffset: plaintext.count, as: UInt32.self)
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
    let payload = UnsafeRawBufferPointer(rebasing: sealed[..<length])
    return withBlocks(of: payload, header: header, nonce: nonce(counter: counter, sender: sender)) { blocks in
      Blocks.combine(blocks.payload, with: blocks.keyStream, count: blocks.count)
      blocks.pad(length)
      output.copyMemory(from: UnsafeRawBufferPointer(start: blocks.payload, count: length))
      return code(of: blocks) ^ blocks.mask == sealed.loadUnaligned(fromByteOffset: length, as: UInt32.self)
    }
  }

  // MARK: Blocks (a block is an integer whose lowest octet comes first)

  /// The memory for one packet, of blocks of 16 octets: B0 and B1, which are authenticated before the payload; the
  /// payload; the mask of the MIC and the key stream.
  private struct Blocks {
    static let maximumLength = 16 * (2 * ((LinkLayerCipher.maximumLength + 15) / 16) + 3)
    let start: UnsafeMutableRawPointer
    /// The number of blocks of the payload.
    let count: Int

    var payload: UnsafeMutableRawPointer { start + 32 }
    var counters: UnsafeMutableRawPointer { payload + 16 * count }
    var keyStream: UnsafeMutableRawPointer { counters + 16 }
    /// The first octets of the first encrypted counter block, in the order in which they stand.
    var mask: UInt32 { counters.load(as: UInt32.self) }

    /// Fills the last block of a payload with zeros.
    func pad(_ length: Int) {
      (payload + length).initializeMemory(as: UInt8.self, repeating: 0, count: 16 * count - length)
    }

    /// Combines blocks with others by exclusive or.
    static func combine(_ blocks: UnsafeMutableRawPointer, with others: UnsafeMutableRawPointer, count: Int) {
      for offset in stride(from: 0, to: 16 * count, by: 16) {
        let block = blocks.load(fromByteOffset: offset, as: UInt128.self)
        let other = others.load(fromByteOffset: offset, as: UInt128.self)
        blocks.storeBytes(of: block ^ other, toByteOffset: offset, as: UInt128.self)
      }
    }
  }

  /// Calls `body` with the blocks of a packet: the given payload, and the key stream · Part E, 2.2, 2.3.
  private func withBlocks<Result>(
    of payload: UnsafeRawBufferPointer, header: UInt8, nonce: UInt128, _ body: (Blocks) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(byteCount: Blocks.maximumLength, alignment: 16) { memory in
      guard let start = memory.baseAddress else { preconditionFailure("a temporary allocation has no address") }
      let blocks = Blocks(start: start, count: (payload.count + 15) / 16)
      // B0: flags (with additional data, a MIC of 4 octets and a length field of 2), then nonce and length. B1: the
      // length of the additional data, then its one octet.
      let first = nonce | 0x49 | Self.lastOctets(payload.count)
      let second = UInt128(header & Self.authenticatedHeaderBits) << 16 | 1 << 8
      start.storeBytes(of: first.littleEndian, as: UInt128.self)
      start.storeBytes(of: second.littleEndian, toByteOffset: 16, as: UInt128.self)
      UnsafeMutableRawBufferPointer(rebasing: memory[32...]).copyMemory(from: payload)
      blocks.pad(payload.count)
      for index in 0...blocks.count {
        let counter = nonce | 0x01 | Self.lastOctets(index)
        blocks.counters.storeBytes(of: counter.littleEndian, toByteOffset: 16 * index, as: UInt128.self)
      }
      key.encrypt(blocks.counters, count: 1 + blocks.count)
      return body(blocks)
    }
  }

  /// Returns the MIC before its encryption, in the order in which its octets stand. Overwrites what is authenticated.
  private func code(of blocks: Blocks) -> UInt32 {
    key.chain(blocks.start, count: 2 + blocks.count)
    return blocks.start.load(fromByteOffset: 16 * (1 + blocks.count), as: UInt32.self)
  }

  /// Returns the 13 octets of the nonce at their position within a block · Part E, 2.1.
  private func nonce(counter: UInt64, sender: Sender) -> UInt128 {
    let direction: UInt64 = sender == .central ? 1 << 39 : 0
    return UInt128(counter & (1 << 39 - 1) | direction) << 8 | UInt128(initializationVector) << 48
  }

  /// Returns a block whose last two octets hold `number`, most significant octet first.
  private static func lastOctets(_ number: Int) -> UInt128 {
    UInt128(UInt16(truncatingIfNeeded: number).byteSwapped) << 112
  }
}

extension LinkLayerCipher: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text that does not contain the key.
  package var description: String { "a session of AES-CCM" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
