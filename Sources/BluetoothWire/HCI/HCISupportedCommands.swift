extension HCI {
  /// The commands that a controller supports: a bitmap of 64 octets · Vol 4, Part E, 6.27.
  package struct SupportedCommands: Hashable, Sendable {
    /// The bitmap, eight octets per word, the first octet in the lowest bits.
    private var words = [UInt64](repeating: 0, count: 8)

    /// Creates an empty set.
    package init() {}

    package init(_ opcodes: [Opcode]) {
      for opcode in opcodes { insert(opcode) }
    }

    package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    /// Returns true if the controller supports the command; false for commands without a bit.
    package func contains(_ opcode: Opcode) -> Bool {
      guard let (octet, bit) = opcode.supportedCommandsPosition else { return false }
      return words[octet / 8] >> (octet % 8 * 8 + bit) & 1 != 0
    }

    /// Adds a command. Does nothing for a command without a bit.
    package mutating func insert(_ opcode: Opcode) {
      guard let (octet, bit) = opcode.supportedCommandsPosition else { return }
      words[octet / 8] |= 1 << (octet % 8 * 8 + bit)
    }

    package init(from reader: inout ByteReader) throws(DecodingError) {
      for index in words.indices { words[index] = try reader.uint64() }
    }

    package func encode(into writer: inout ByteWriter) {
      for word in words { writer.append(word) }
    }
  }
}
