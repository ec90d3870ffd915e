import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@Suite("Pairing: key distribution and backoff") struct KeyDistributionTests {
  @Test("A key is sent only if one side offers it and the other requests it", arguments: 0..<8)
  func keys(bits: UInt8) throws {
    for other in UInt8(0)..<8 {
      var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: .never))
      pair.central.context.policy.distributedKeys = SMP.KeyDistribution(rawValue: bits | 0x08)
      pair.peripheral.context.policy.acceptedKeys = SMP.KeyDistribution(rawValue: other | 0xF8)
      pair.peripheral.context.policy.distributedKeys = [.encryptionKey]
      pair.secure(.central)
      let bond = try #require(pair.peripheral.outcomes.first?.bond)
      let sent = SMP.KeyDistribution(rawValue: bits & other)
      #expect((bond.peerKey != nil) == sent.contains(.encryptionKey))
      #expect((bond.peerIdentityKey != nil) == sent.contains(.identityKey))
      #expect((bond.signatureVerifier != nil) == sent.contains(.signingKey))
      #expect(bond.ownKey != nil && bond.signatureMaker == nil)
      let isKnown = sent.contains(.identityKey)
      #expect(bond.identity == (isKnown ? SecurityPair.identities.central : SecurityPair.addresses.central))
      #expect(pair.central.outcomes.count == 1)
    }
  }

  @Test("A device without an Identity Resolving Key sends no identity")
  func noIdentityKey() throws {
    var pair = SecurityPair()
    pair.central.context.identityKey = nil
    pair.secure(.central)
    let bond = try #require(pair.peripheral.outcomes.first?.bond)
    #expect(bond.identity == SecurityPair.addresses.central && bond.peerIdentityKey == nil)
    #expect(!pair.central.codes.contains(.identityInformation))
  }

  @Test("P9 A peer with a static or public address has that identity: a different one is ignored")
  func foreignIdentity() throws {
    var pair = SecurityPair()
    let foreign = DeviceAddress(0x0022_3344_5566, .public)
    pair.peripheral.context.identity = foreign
    pair.secure(.central)
    let bond = try #require(pair.central.outcomes.first?.bond)
    #expect(bond.identity == SecurityPair.addresses.peripheral && bond.peerIdentityKey == nil)
    #expect(bond.key != nil && pair.keys.count == 1)
    // A peer with a private address may have any identity that no bond has.
    pair = SecurityPair()
    pair.central.context.identity = foreign
    pair.secure(.central)
    #expect(pair.peripheral.outcomes.first?.bond?.identity == foreign)
    #expect(pair.peripheral.outcomes.first?.bond?.peerIdentityKey != nil)
  }

  @Test("A bonded peer that pairs again without its identity keeps its identity")
  func keptIdentity() throws {
    var pair = SecurityPair()
    pair.secure(.central)
    pair.reconnect()
    pair.central.manager.setBond(nil)
    pair.central.context.policy.distributedKeys = []
    pair.secure(.central)
    let bond = try #require(pair.peripheral.outcomes.first?.bond)
    #expect(bond.identity == SecurityPair.identities.central)
    #expect(bond.peerIdentityKey == pair.central.context.identityKey && bond.signatureVerifier == nil)
  }

  @Test("An encrypted link uses the new key of a second pairing")
  func refresh() {
    var pair = SecurityPair(central: PairingPolicy(.displayYesNo), peripheral: PairingPolicy(.displayYesNo))
    pair.secure(.central)
    #expect(pair.central.manager.security.level == .encrypted)
    pair.secure(.central, .authenticated)
    #expect(pair.keys.count == 2 && pair.keys[0] != pair.keys[1])
    #expect(pair.peripheral.changes.map(\.level) == [.encrypted, .encrypted, .authenticated, .authenticated])
    #expect(pair.central.outcomes.map(\.method) == [.justWorks, .numericComparison])
  }

  @Test("An encryption failure at the end of a pairing ends it, and no bond is stored")
  func encryptionFails() {
    var pair = SecurityPair()
    pair.central.tell { $0.secure(.encrypted, at: .zero, &$1) }
    while pair.central.codes.last != .pairingDHKeyCheck { _ = pair.step() }
    while let pdu = pair.peripheral.manager.takePDU() { pair.deliver(pdu, to: .central) }
    #expect(pair.central.manager.takeCommand() != nil)
    pair.changed(.central, .pinOrKeyMissing)
    pair.run()
    #expect(pair.central.failures == [.encryption(.pinOrKeyMissing)])
    #expect(pair.peripheral.failures == [.refusedByPeer(.unspecifiedReason)])
    #expect(pair.central.manager.bond == nil && pair.stillPairs())
  }

  @Test("P10 A flood of addresses does not grow the table, and does not displace those with the longest backoff")
  func boundedTable() {
    var attempts = RepeatedAttempts()
    let stubborn = DeviceAddress(0xC000_0000_0001, .random)
    for _ in 0..<8 { attempts.failed(stubborn, at: .zero) }
    for number in UInt64(0)..<10_000 { attempts.failed(DeviceAddress(number, .public), at: .zero) }
    #expect(attempts.holdsBack(stubborn, at: .zero))
    let held = (UInt64(0)..<10_000).count { attempts.holdsBack(DeviceAddress($0, .public), at: .zero) }
    #expect(held == RepeatedAttempts.maximumCount - 1)
    attempts.succeeded(stubborn)
    #expect(!attempts.holdsBack(stubborn, at: .zero))
  }
}
