import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@Suite("Pairing: every state, every opcode") struct PairingStateTests {
  /// A path through the states of a pairing.
  struct Course: CustomTestStringConvertible {
    var testDescription: String
    var capabilities: (SMP.IOCapability, SMP.IOCapability)
    var isSecureConnections = true
    var hasData = false
    var starter = Link.Role.central
    var isBonded = false
    /// True if the central has lost the bond.
    var isForgotten = false
  }

  static let courses = [false, true].flatMap { isSecureConnections -> [Course] in
    let name = isSecureConnections ? "Secure Connections" : "legacy"
    return [
      Course(
        testDescription: "\(name), Just Works", capabilities: (.noInputNoOutput, .noInputNoOutput),
        isSecureConnections: isSecureConnections, starter: .peripheral),
      Course(
        testDescription: "\(name), central types", capabilities: (.keyboardOnly, .displayOnly),
        isSecureConnections: isSecureConnections),
      Course(
        testDescription: "\(name), peripheral types", capabilities: (.displayOnly, .keyboardOnly),
        isSecureConnections: isSecureConnections),
      Course(
        testDescription: "\(name), two displays", capabilities: (.displayYesNo, .displayYesNo),
        isSecureConnections: isSecureConnections),
      Course(
        testDescription: "\(name), out of band", capabilities: (.noInputNoOutput, .noInputNoOutput),
        isSecureConnections: isSecureConnections, hasData: true),
      Course(
        testDescription: "\(name), with a bond", capabilities: (.displayYesNo, .displayYesNo),
        isSecureConnections: isSecureConnections, starter: .peripheral, isBonded: true),
      Course(
        testDescription: "\(name), with a bond that the central has lost",
        capabilities: (.displayYesNo, .keyboardDisplay),
        isSecureConnections: isSecureConnections, isBonded: true, isForgotten: true),
    ]
  }

  private static let zero16 = ByteSlice([UInt8](repeating: 0, count: 16))
  private static let features = SMP.PairingFeatures(
    ioCapability: .keyboardDisplay, hasOOBData: false, authenticationRequirements: .bonding,
    maximumEncryptionKeySize: 16, initiatorKeyDistribution: .identityKey, responderKeyDistribution: .identityKey)
  /// One PDU of each opcode; the values match no pairing.
  private static let pdus: [SMP.PDU] = [
    .pairingRequest(features), .pairingResponse(features), .pairingConfirm(zero16), .pairingRandom(zero16),
    .pairingFailed(.busy), .encryptionInformation(longTermKey: zero16), .centralIdentification(ediv: 1, rand: 2),
    .identityInformation(identityResolvingKey: zero16),
    .identityAddressInformation(DeviceAddress(0xC100_0000_0001, .random)),
    .signingInformation(signatureKey: zero16), .securityRequest([.bonding, .manInTheMiddleProtection]),
    .pairingPublicKey(
      x: ByteSlice([UInt8](repeating: 1, count: 32)), y: ByteSlice([UInt8](repeating: 2, count: 32))),
    .pairingDHKeyCheck(zero16), .pairingKeypressNotification(.passkeyDigitEntered),
  ]

  private func start(_ course: Course) -> SecurityPair {
    let mode: PairingPolicy.SecureConnections = course.isSecureConnections ? .preferred : .never
    var pair = SecurityPair(
      central: PairingPolicy(course.capabilities.0, authenticated: true, secureConnections: mode),
      peripheral: PairingPolicy(course.capabilities.1))
    if course.hasData { giveData(to: &pair) }
    if course.isBonded {
      pair.secure(.central)
      pair.reconnect()
      if course.isForgotten { pair.central.manager.setBond(nil) }
    }
    pair[course.starter].tell { $0.secure(.encrypted, at: .zero, &$1) }
    return pair
  }

  private func giveData(to pair: inout SecurityPair) {
    let own = OutOfBand.Own(using: &pair.central.context.generator)
    pair.central.context.outOfBand.own = own
    pair.peripheral.context.outOfBand.peers[SecurityPair.addresses.central] = OutOfBand.Peer(
      random: own.random, confirm: own.confirm)
    let key = Block(high: 7, low: 8)
    pair.central.context.outOfBand.temporaryKeys[SecurityPair.addresses.peripheral] = key
    pair.peripheral.context.outOfBand.temporaryKeys[SecurityPair.addresses.central] = key
  }

  @Test("P10 In every state each PDU gets the right answer and does no harm", arguments: courses)
  func sweep(_ course: Course) {
    var pair = start(course)
    var whole = pair
    whole.run()
    #expect(whole.keys.count == 1)
    var states = 0
    repeat {
      states += 1
      // The rounds of a passkey are alike: of the twenty rounds only the first ones and the last one are tested.
      if (16..<70).contains(states), whole.central.codes.count > 30 { continue }
      for role in [Link.Role.central, .peripheral] { attack(pair, role, whole) }
    } while pair.step()
    for role in [Link.Role.central, .peripheral] { attack(pair, role, whole) }
    #expect(states > 2)
  }

  @Test("P13 Unknown opcodes of any length are ignored, and known ones with a wrong length get Invalid Parameters")
  func opcodes() {
    let lengths = Dictionary(uniqueKeysWithValues: Self.pdus.map { ($0.code, SecurityPair().encoded($0).count) })
    let pair = SecurityPair()
    for opcode in UInt8.min...UInt8.max {
      let code = SMP.Code(rawValue: opcode)
      for count in 1...66 where code == nil || lengths[code ?? .pairingFailed] != count {
        var copy = pair
        for role in [Link.Role.central, .peripheral] {
          copy.deliver(ByteSlice([opcode] + [UInt8](repeating: 0xFF, count: count - 1)), to: role)
          let isSilent = code == nil || code == .pairingFailed
          #expect(answer(copy, role) == (isSilent ? [] : [.pairingFailed(.invalidParameters)]))
          #expect(copy[role].events.isEmpty)
        }
      }
    }
    #expect(pair.stillPairs())
  }

  /// Sends every PDU to `role` in this state, each to a separate copy.
  private func attack(_ pair: SecurityPair, _ role: Link.Role, _ whole: SecurityPair) {
    let other: Link.Role = role == .central ? .peripheral : .central
    let sent = whole[other].sent
    let next = pair[other].sent.count < sent.count ? sent[pair[other].sent.count].code : nil
    for pdu in Self.pdus {
      let octets = pair.encoded(pdu)
      check(pair, role, pdu, isNext: pdu.code == next)
      checkMalformed(pair, role, pdu.code, octets.prefix(octets.count - 1))
      checkMalformed(pair, role, pdu.code, ByteSlice(octets.bytes + [0]))
    }
    for opcode in [0x00, 0x0F, 0x10, 0x7F, 0xFF] as [UInt8] {
      for count in [1, 2, 7, 17, 65] {
        var copy = pair
        let before = (copy[role].manager.prompt, copy[role].manager.deadline, copy[role].manager.isPairing)
        copy.deliver(ByteSlice([opcode] + [UInt8](repeating: 0, count: count - 1)), to: role)
        let after = (copy[role].manager.prompt, copy[role].manager.deadline, copy[role].manager.isPairing)
        #expect(before == after && answer(copy, role) == answer(pair, role))
      }
    }
    var copy = pair
    copy.deliver(ByteSlice(), to: role)
    copy.deliver([0x03, 0x01], to: role)
    copy.run()
    #expect(copy.stillPairs())
  }

  /// Returns the PDUs that a side has sent, and those that it sends without further input.
  private func answer(_ pair: SecurityPair, _ role: Link.Role) -> [SMP.PDU] {
    var pair = pair
    while let pdu = pair[role].manager.takePDU() { pair[role].sent.append(pdu) }
    return pair[role].sent
  }

  private func reasons(_ pair: SecurityPair, _ role: Link.Role) -> [SMP.FailureReason] {
    answer(pair, role).compactMap { if case .pairingFailed(let reason) = $0 { reason } else { nil } }
  }

  private func check(_ pair: SecurityPair, _ role: Link.Role, _ pdu: SMP.PDU, isNext: Bool) {
    var copy = pair
    copy.deliver(pdu, to: role)
    let new = answer(copy, role).dropFirst(answer(pair, role).count)
    let isPairing = pair[role].manager.isPairing
    let comment = Comment(rawValue: "\(pdu.code) to the \(role), which answers \(new)")
    switch pdu.code {
    case .pairingFailed, .pairingKeypressNotification:
      #expect(new.isEmpty, comment)
      #expect(!copy[role].manager.isPairing || pdu.code != .pairingFailed, comment)
    case .pairingRequest where role == .central, .securityRequest where role == .peripheral:
      #expect(new == [.pairingFailed(.commandNotSupported)], comment)
    case .securityRequest where isPairing: #expect(new.isEmpty, comment)
    case .securityRequest: #expect(new.isEmpty || new.map(\.code) == [.pairingRequest], comment)
    case .pairingRequest where !isPairing:
      #expect(
        new.map(\.code) == [.pairingResponse] || new == [.pairingFailed(.authenticationRequirements)]
          || new == [.pairingFailed(.unspecifiedReason)], comment)
    case _ where isNext: break
    case .pairingConfirm where !isPairing, .pairingRandom where !isPairing, .pairingDHKeyCheck where !isPairing:
      #expect(new.isEmpty || new == [.pairingFailed(.unspecifiedReason)], comment)
    default: #expect(new == [.pairingFailed(.unspecifiedReason)], comment)
    }
    #expect(copy[role].outcomes == pair[role].outcomes || isNext, comment)
    let hasFailed = new.contains { $0.code == .pairingFailed }
    #expect(!hasFailed || !copy[role].manager.isPairing, comment)
    #expect(!hasFailed || copy[role].manager.prompt == nil, comment)
  }

  private func checkMalformed(_ pair: SecurityPair, _ role: Link.Role, _ code: SMP.Code, _ octets: ByteSlice) {
    var copy = pair
    copy.deliver(octets, to: role)
    let new = answer(copy, role).dropFirst(answer(pair, role).count)
    #expect(new == (code == .pairingFailed ? [] : [.pairingFailed(.invalidParameters)]))
    #expect(!copy[role].manager.isPairing)
    #expect(copy[role].manager.security == pair[role].manager.security)
  }
}
