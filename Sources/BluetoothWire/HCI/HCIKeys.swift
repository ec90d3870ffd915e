// Keys in HCI packets: where they are, and how packets are described without them.

extension HCI.Packet {
  /// Where a command's or an event's parameters hold keys, or what Low Energy's keys may be made of: long term keys and
  /// identity resolving keys, DHKey, what a host has its controller encrypt, and random numbers. nil: they hold none.
  ///
  /// The range may end, or begin, behind parameters that are too short. Keys in ACL data are not found here: only its frames tell.
  package var keys: Range<Int>? {
    switch self {
    case .command(let opcode, _): opcode.keys
    case .event(HCI.EventCode.commandComplete, let parameters): Self.keysOfCommandComplete(parameters)
    case .event(HCI.EventCode.leMeta, let parameters):
      // Subevent, status, then DHKey · 7.7.65.9.
      !parameters.isEmpty && parameters[0] == HCI.SubeventCode.generateDHKeyComplete ? 2..<34 : nil
    case .event, .acl: nil
    }
  }

  /// Number of commands, opcode and status stand before what is returned · 7.7.14.
  private static func keysOfCommandComplete(_ parameters: ByteSlice) -> Range<Int>? {
    guard parameters.count >= 3 else { return nil }
    switch HCI.Opcode(rawValue: UInt16(parameters[1]) | UInt16(parameters[2]) << 8) {
    case .leEncrypt: return 4..<20
    case .leRand: return 4..<12
    default: return nil
    }
  }
}

extension HCI.Opcode {
  /// Where the command's parameters hold keys; nil: nowhere.
  fileprivate var keys: Range<Int>? {
    switch self {
    // Key and plaintext, which is as good as a key where a host computes keys so · 7.8.22.
    case .leEncrypt: 0..<32
    // After handle, Rand and EDIV · 7.8.24.
    case .leEnableEncryption: 12..<28
    // After the handle · 7.8.25.
    case .leLongTermKeyRequestReply: 2..<18
    // Both, after the peer's address · 7.8.38.
    case .leAddDeviceToResolvingList: 7..<39
    default: nil
    }
  }
}

extension HCI.Packet {
  /// The parameters, or the data.
  package var payload: ByteSlice {
    switch self {
    case .command(_, let parameters), .event(_, let parameters): parameters
    case .acl(let data): data.payload
    }
  }
}

// MARK: Descriptions

extension HCI.Packet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without keys: they are zeros.
  package var description: String {
    switch self {
    case .command(let opcode, let parameters): "command \(opcode) [\(covered(parameters))]"
    case .event(let code, let parameters): "event 0x\(code.hexadecimal) [\(covered(parameters))]"
    case .acl(let data): data.description
    }
  }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }

  private func covered(_ parameters: ByteSlice) -> ByteSlice {
    guard let keys else { return parameters }
    return ByteSlice(parameters.bytes.enumerated().map { keys.contains($0.offset) ? 0 : $0.element })
  }
}

extension HCI.ACLData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without its octets: whether a fragment holds a part of a key can't be seen by itself.
  package var description: String { "ACL data \(boundary) on \(handle), \(payload.count) octets" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: Keys as numbers

extension HCI.Command {
  /// LE Encrypt · 7.8.22
  package static func leEncrypt(key: UInt128, plaintext: UInt128) -> HCI.Command {
    .leEncrypt(key: Secret(key), plaintext: Secret(plaintext))
  }

  /// LE Enable Encryption · 7.8.24
  package static func leEnableEncryption(
    _ handle: HCI.ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16, longTermKey: UInt128
  ) -> HCI.Command {
    .leEnableEncryption(
      handle, random: random, encryptedDiversifier: encryptedDiversifier, longTermKey: Secret(longTermKey))
  }

  /// LE Long Term Key Request Reply · 7.8.25
  package static func leLongTermKeyRequestReply(
    _ handle: HCI.ConnectionHandle, longTermKey: UInt128
  ) -> HCI.Command {
    .leLongTermKeyRequestReply(handle, longTermKey: Secret(longTermKey))
  }

  /// LE Add Device To Resolving List · 7.8.38
  package static func leAddDeviceToResolvingList(
    _ peer: HCI.PeerAddress, peerIRK: UInt128, localIRK: UInt128
  ) -> HCI.Command {
    .leAddDeviceToResolvingList(peer, peerIRK: Secret(peerIRK), localIRK: Secret(localIRK))
  }
}

extension HCI.ReturnParameters {
  package static func leEncrypt(_ encrypted: UInt128) -> HCI.ReturnParameters { .leEncrypt(Secret(encrypted)) }
  package static func leRand(_ number: UInt64) -> HCI.ReturnParameters { .leRand(Secret(number)) }
}

extension HCI.Event {
  /// LE Generate DHKey Complete · 7.7.65.9; 32 octets.
  package static func leGenerateDHKeyComplete(_ status: HCI.ErrorCode, _ key: ByteSlice) -> HCI.Event {
    .leGenerateDHKeyComplete(status, Secret(key))
  }
}
