import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@Suite("Pairing: properties") struct PairingPropertyTests {
  private static let capabilities: [SMP.IOCapability] = [
    .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
  ]

  /// The random loss, repetition, reordering and change of PDUs in transit.
  final class Adversary {
    var generator: RandomStream
    var seen: [SMP.PDU] = []
    var held: [Link.Role: [SMP.PDU]] = [:]

    init(_ generator: RandomStream) { self.generator = generator }

    func change(_ pdu: SMP.PDU) -> SMP.PDU? {
      seen.append(pdu)
      switch UInt8.random(in: 0..<40, using: &generator) {
      case 0: return nil
      case 1: return seen[Int.random(in: 0..<seen.count, using: &generator)]
      case 2: return seen.count > 1 ? seen[seen.count - 2] : pdu
      case 3: return corrupted(pdu)
      default: return pdu
      }
    }

    private func corrupted(_ pdu: SMP.PDU) -> SMP.PDU {
      var writer = ByteWriter(PacketPool())
      pdu.encode(into: &writer)
      var octets = writer.finish().bytes
      let index = Int.random(in: 1..<octets.count, using: &generator)
      octets[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      return (try? SMP.PDU.decode(ByteSlice(octets))) ?? pdu
    }
  }

  @Test(
    "Lost, repeated, reordered and changed PDUs never give two keys on one link, nor more security than the method",
    arguments: 0..<8)
  func adversary(part: Int) {
    for number in 0..<60 {
      var generator = RandomStream(seed: UInt64(part * 1_000 + number))
      var pair = SecurityPair(
        seed: generator.next(), central: policy(&generator), peripheral: policy(&generator))
      let adversary = Adversary(generator.split("adversary"))
      pair.change = { _, pdu in adversary.change(pdu) }
      for _ in 0..<3 {
        let role: Link.Role = Bool.random(using: &generator) ? .central : .peripheral
        pair.secure(role, Bool.random(using: &generator) ? .encrypted : .authenticated)
        if Bool.random(using: &generator), let pdu = adversary.seen.randomElement(using: &generator) {
          pair.deliver(pdu, to: role)
          pair.run()
        }
        check(pair)
        pair.pass(.seconds(31))
        for role in [Link.Role.central, .peripheral] {
          #expect(!pair[role].manager.isPairing && pair[role].manager.prompt == nil)
        }
        if Bool.random(using: &generator) { pair.reconnect(keeping: Bool.random(using: &generator)) }
      }
      #expect(pair.stillPairs())
    }
  }

  private func policy(_ generator: inout RandomStream) -> PairingPolicy {
    var policy = PairingPolicy(
      Self.capabilities.randomElement(using: &generator) ?? .displayOnly,
      authenticated: Bool.random(using: &generator),
      secureConnections: Bool.random(using: &generator) ? .preferred : .never,
      bonding: Bool.random(using: &generator))
    if Bool.random(using: &generator) { policy.keySizes = 7...16 }
    policy.sendsKeypresses = Bool.random(using: &generator)
    return policy
  }

  private func check(_ pair: SecurityPair) {
    #expect(pair.mismatches == 0 && !pair.keys.contains(.zero))
    for role in [Link.Role.central, .peripheral] {
      let side = pair[role]
      let isAuthenticated = side.manager.security.level == .authenticated
      #expect(!isAuthenticated || side.prompts.contains { $0 != .allow } || side.manager.security.isBonded)
      for outcome in side.outcomes {
        #expect(outcome.bond?.keys(authenticated: true).isEmpty != false || outcome.method.isAuthenticated)
        #expect(outcome.method != .numericComparison || side.prompts.contains(where: \.isComparison))
        #expect(outcome.method != .outOfBand)
      }
      // Each prompt ends eventually, and each failure is reported once for the demand that it ends.
      let ends = side.events.count { $0 == .promptEnded }
      #expect(ends == side.prompts.count - (side.manager.prompt == nil ? 0 : 1))
    }
  }
}

extension HostBond {
  func keys(authenticated: Bool) -> [LongTermKey] {
    [key, ownKey, peerKey].compactMap { $0 }.filter { $0.isAuthenticated == authenticated }
  }
}
