// Overview
//
// The link layer and the Security Manager need a few functions of cryptography. BluetoothCrypto composes them of AES-128
// and P-256, in the form in which the specification writes them, so that no other module knows a cryptographic library.
// The library is OpenSSL's libcrypto: the C target CBluetoothCrypto loads it at run time, and is the only one that
// knows its functions. Every system with Swift has libcrypto, and it costs no time of a build.
//
// The idea: functions of values. A caller passes keys and data, and gets data. The module keeps no key after
// its last use, and creates no random numbers by itself: the caller brings the generator.
//
// Callers: the controller encrypts packets (`LinkLayerCipher`), resolves addresses (`IdentityResolvingKey`) and
// computes P-256 for HCI; the host pairs, signs values and hashes its database; the daemon derives the identifiers of
// peers, and `ble` decrypts captures.
//
// Invariants:
// - Integers are `Block`s, most significant octet first, as the specification prints them. Least significant first is
//   the form of PDUs, and BluetoothWire converts.
// - A key of zeros resolves no address.
// - A packet is encrypted without allocating memory.
// - A key leaves no copy behind: it is overwritten after its use, or with the object that owns it. `Block`s are values,
//   which their owners keep.
// - libcrypto checks that a peer's public key is a point of the curve.
// - The sample data of the specification are tests (`Tests/BluetoothCryptoTests`).
//
// Where to begin: this file has the functions of pairing (c1, s1, f4, f5, f6, g2), ah, and the signatures of values;
// `AES128.swift` has the block cipher and AES-CMAC; `LinkLayerCipher.swift` has AES-CCM; `SHA256.swift` has the digest
// of files.
//
// Specification: Vol 3, Part H, 2.2 (the toolbox); Vol 6, Part E (AES-CCM); Vol 6, Part B, 1.3.2 (private addresses).

/// The cryptographic functions of the Security Manager · Vol 3, Part H, 2.2. Integers are most significant octet
/// first, as the specification writes them.
package enum Toolbox {
  /// An address in the format of f5 and f6: type, then the 48 bits.
  package struct Address: Hashable, Sendable {
    package var isRandom: Bool
    /// The 48 bits of the address.
    package var value: UInt64

    package init(isRandom: Bool, value: UInt64) {
      self.isRandom = isRandom
      self.value = value & 0xFFFF_FFFF_FFFF
    }

    var bytes: [UInt8] { [isRandom ? 1 : 0] + value.bigEndianBytes.dropFirst(2) }
  }

  // MARK: Addresses

  /// Returns the hash of a random address with function ah · 2.2.2. `prand` and the result have 24 bits.
  package static func ah(irk: Block, prand: UInt32) -> UInt32 {
    UInt32(truncatingIfNeeded: AES128.encrypt(Block(high: 0, low: UInt64(prand & 0xFF_FFFF)), key: irk).low & 0xFF_FFFF)
  }

  /// Returns true if a resolvable private address was generated with `irk` · Vol 6, Part B, 1.3.2.3. A key of zeros
  /// resolves no address.
  package static func resolves(_ address: UInt64, irk: Block) -> Bool {
    guard irk != .zero, address >> 46 & 0b11 == 0b01 else { return false }
    return ah(irk: irk, prand: UInt32(truncatingIfNeeded: address >> 24)) == UInt32(address & 0xFF_FFFF)
  }

  // MARK: LE legacy pairing

  /// Returns the confirm value of LE legacy pairing with function c1 · 2.2.3. `request` and `response` are the Pairing
  /// Request and the Pairing Response, 56 bits each, as integers with the code in the lowest octet.
  package static func c1(
    temporaryKey: Block, random: Block, request: UInt64, response: UInt64, initiator: Address, responder: Address
  ) -> Block {
    let types = UInt64(responder.isRandom ? 1 : 0) << 8 | UInt64(initiator.isRandom ? 1 : 0)
    // p1 = pres ‖ preq ‖ rat' ‖ iat'; p2 = padding ‖ ia ‖ ra.
    let p1 = Block(high: response << 8 | request >> 48, low: request << 16 | types)
    let p2 = Block(high: initiator.value >> 16, low: initiator.value << 48 | responder.value)
    return AES128.encrypt(AES128.encrypt(random ^ p1, key: temporaryKey) ^ p2, key: temporaryKey)
  }

  /// Returns the Short Term Key with function s1 · 2.2.4. `responder` and `initiator` are their random values.
  package static func s1(temporaryKey: Block, responder: Block, initiator: Block) -> Block {
    AES128.encrypt(Block(high: responder.low, low: initiator.low), key: temporaryKey)
  }

  // MARK: LE Secure Connections

  /// Returns a confirm value of LE Secure Connections with function f4 · 2.2.6. `u` and `v` are X coordinates of 32
  /// octets.
  package static func f4(u: [UInt8], v: [UInt8], x: Block, z: UInt8) -> Block {
    AES128.cmac(u + v + [z], key: x)
  }

  /// Returns the MacKey and the Long Term Key with function f5 · 2.2.7. `w` is the DHKey of 32 octets.
  package static func f5(
    w: [UInt8], n1: Block, n2: Block, a1: Address, a2: Address
  ) -> (macKey: Block, longTermKey: Block) {
    let salt = Block(high: 0x6C88_8391_AAF5_A538, low: 0x6037_0BDB_5A60_83BE)
    let key = AES128.cmac(w, key: salt)
    let keyID: [UInt8] = [0x62, 0x74, 0x6C, 0x65]  // "btle"
    func part(_ counter: UInt8) -> Block {
      AES128.cmac([counter] + keyID + n1.bytes + n2.bytes + a1.bytes + a2.bytes + [0x01, 0x00], key: key)
    }
    return (part(0), part(1))
  }

  /// Returns a DHKey check value with function f6 · 2.2.8. `ioCapabilities` has three octets: AuthReq, OOB data flag,
  /// IO capability.
  package static func f6(
    w: Block, n1: Block, n2: Block, r: Block, ioCapabilities: [UInt8], a1: Address, a2: Address
  ) -> Block {
    AES128.cmac(n1.bytes + n2.bytes + r.bytes + ioCapabilities + a1.bytes + a2.bytes, key: w)
  }

  /// Returns the numeric comparison value with function g2 · 2.2.9: all 32 bits, of which the last six decimal digits
  /// are displayed.
  package static func g2(u: [UInt8], v: [UInt8], x: Block, y: Block) -> UInt32 {
    UInt32(truncatingIfNeeded: AES128.cmac(u + v + y.bytes, key: x).low)
  }

  /// Returns the result of the link key conversion function h6 · 2.2.10. `keyID` has four octets.
  package static func h6(w: Block, keyID: [UInt8]) -> Block { AES128.cmac(keyID, key: w) }

  /// Returns the result of the link key conversion function h7 · 2.2.11.
  package static func h7(salt: Block, w: Block) -> Block { AES128.cmac(w.bytes, key: salt) }

  // MARK: Signing

  /// Returns the signature of a message · Vol 3, Part H, 2.4.5: the sign counter and 64 bits of MAC, least
  /// significant octet first, in the format in which they follow the message (opcode first) in the PDU.
  package static func signature(of message: [UInt8], csrk: Block, counter: UInt32) -> [UInt8] {
    let signCounter = Array(counter.bigEndianBytes.reversed())
    let code = AES128.cmac((message + signCounter).reversed(), key: csrk)
    return signCounter + code.high.bigEndianBytes.reversed()
  }
}
