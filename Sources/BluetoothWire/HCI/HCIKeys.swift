// Keys in HCI packets: their position, and descriptions of packets that do not show them.

extension HCI.Packet {
  /// The position of the keys in the parameters of a command or an event; nil if they hold none. This includes values
  /// from which LE keys may be derived: long term keys and identity resolving keys, DHKey, the input and output of LE
  /// Encrypt, and random numbers.
  ///
  /// The range may begin or end beyond parameters that are too short. Keys in ACL data are not located here, because
  /// only reassembled frames reveal them.
  package var keys: Range<Int>? {
    switch self {
    case .command(let opcode, _): opcode.definition?.keys
    case .event(HCI.EventCode.commandComplete, let parameters): Self.keysOfCommandComplete(parameters)
    case .event(let code, let parameters): HCI.EventKind(code: code, parameters: parameters).definition?.keys
    case .acl: nil
    }
  }

  /// The number of commands and the opcode precede the return parameters · 7.7.14.
  private static func keysOfCommandComplete(_ parameters: ByteSlice) -> Range<Int>? {
    guard parameters.count >= 3 else { return nil }
    let opcode = HCI.Opcode(rawValue: UInt16(parameters[1]) | UInt16(parameters[2]) << 8)
    return opcode.definition?.returnedKeys.map { $0.lowerBound + 3..<$0.upperBound + 3 }
  }
}

extension HCI.Packet {
  /// The parameters of a command or an event, or the payload of ACL data.
  package var payload: ByteSlice {
    switch self {
    case .command(_, let parameters), .event(_, let parameters): parameters
    case .acl(let data): data.payload
    }
  }
}

// MARK: Descriptions

extension HCI.Packet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text in which zeros replace the keys.
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
  /// A text without the payload, because a single fragment does not reveal whether it holds a part of a key.
  package var description: String { "ACL data \(boundary) on \(handle), \(payload.count) octets" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: Keys as integers

extension HCI.Command {
  /// Returns an LE Encrypt command · 7.8.22
  package static func leEncrypt(key: UInt128, plaintext: UInt128) -> HCI.Command {
    .leEncrypt(key: Secret(key), plaintext: Secret(plaintext))
  }

  /// Returns an LE Enable Encryption command · 7.8.24
  package static func leEnableEncryption(
    _ handle: HCI.ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16, longTermKey: UInt128
  ) -> HCI.Command {
    .leEnableEncryption(
      handle, random: random, encryptedDiversifier: encryptedDiversifier, longTermKey: Secret(longTermKey))
  }

  /// Returns an LE Long Term Key Request Reply command · 7.8.25
  package static func leLongTermKeyRequestReply(
    _ handle: HCI.ConnectionHandle, longTermKey: UInt128
  ) -> HCI.Command {
    .leLongTermKeyRequestReply(handle, longTermKey: Secret(longTermKey))
  }

  /// Returns an LE Add Device To Resolving List command · 7.8.38
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
  /// Returns an LE Generate DHKey Complete event · 7.7.65.9; `key` has 32 octets.
  package static func leGenerateDHKeyComplete(_ status: HCI.ErrorCode, _ key: ByteSlice) -> HCI.Event {
    .leGenerateDHKeyComplete(status, Secret(key))
  }
}
