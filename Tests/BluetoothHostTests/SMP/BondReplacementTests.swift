import BluetoothCrypto
import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothHost

/// Pairing with a bonded peer on a link that the bond's key has not encrypted.
@Suite("Replacing a bond") struct BondReplacementTests {
  /// Returns two devices that have bonded with LE Secure Connections, one of which has lost the bond.
  private func forgotten(by role: Link.Role) -> SecurityPair {
    var pair = SecurityPair(central: PairingPolicy(.keyboardOnly), peripheral: PairingPolicy(.displayOnly))
    pair.secure(.central)
    #expect(pair.central.outcomes.map(\.method) == [.justWorks])
    pair.reconnect()
    pair[role].manager.setBond(nil)
    return pair
  }

  @Test(
    "LE legacy pairing does not replace a bond made with LE Secure Connections, in either role",
    arguments: [Link.Role.central, .peripheral])
  func downgrade(keeper: Link.Role) {
    let other: Link.Role = keeper == .central ? .peripheral : .central
    var pair = forgotten(by: other)
    pair[other].context.policy.secureConnections = .never
    // The central pairs only if it demands more security than the bond's key gives.
    pair.secure(.central, keeper == .central ? .authenticated : .encrypted)
    #expect(pair[keeper].refusals == [.authenticationRequirements])
    #expect(pair[keeper].prompts.isEmpty && pair[keeper].outcomes.isEmpty && pair[other].outcomes.isEmpty)
    #expect(pair.keys.isEmpty)
    #expect(pair[keeper].manager.bond?.key?.isSecureConnections == true)
    #expect(pair.stillPairs())
  }

  @Test("No pairing replaces an authenticated key by an unauthenticated one, with LE Secure Connections or without")
  func unauthenticated() {
    for mode in [PairingPolicy.SecureConnections.never, .preferred] {
      var pair = SecurityPair(
        central: PairingPolicy(.keyboardOnly, authenticated: true, secureConnections: mode),
        peripheral: PairingPolicy(.displayOnly))
      pair.secure(.central)
      #expect(pair.peripheral.outcomes.first?.bond?.level == .authenticated)
      pair.reconnect()
      pair.central.manager.setBond(nil)
      pair.central.context.policy = PairingPolicy(.noInputNoOutput, secureConnections: mode)
      pair.secure(.central)
      #expect(pair.peripheral.refusals == [.authenticationRequirements])
      #expect(pair.peripheral.outcomes.isEmpty && pair.keys.isEmpty)
    }
  }

  @Test("LE Secure Connections may replace a bond made with LE legacy pairing")
  func upgrade() {
    var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: .never))
    pair.secure(.central)
    pair.reconnect()
    pair.central.manager.setBond(nil)
    pair.central.context.policy.secureConnections = .preferred
    pair.secure(.central)
    #expect(pair.peripheral.outcomes.map(\.isSecureConnections) == [true])
  }

  // MARK: State stored with a bond

  /// Returns two hosts with a bond; the central has subscribed to the peripheral's value.
  private func subscribed(
    _ central: PairingPolicy = PairingPolicy(), _ peripheral: PairingPolicy = PairingPolicy()
  ) throws -> (pair: SecuredHosts, value: AttributeHandle) {
    var pair = SecuredHosts(central, peripheral)
    let definition = GATTServiceDefinition(
      uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(uuid: 0x2A37, properties: [.notify], permissions: [], value: nil),
        GATTCharacteristicDefinition(uuid: 0x2A38, properties: [.notify], permissions: [], value: nil),
      ])
    let placement = try pair.peripheral.bench.host.addService(definition, at: .zero).get()
    pair.link()
    pair.secure(.encrypted, by: \.central)
    let value = placement.values[0]
    #expect(pair.request(.write(value + 1, [1, 0])) == .success(.done))
    return (pair, value)
  }

  private func notifications(_ pair: inout SecuredHosts, of value: AttributeHandle) -> Int {
    let handle = pair.peripheral.handle
    let count = pair.central.bench.events.count
    pair.peripheral.bench.perform { host, now in host.update(value, with: [7], on: handle, at: now) }
    pair.run()
    return pair.central.bench.events.dropFirst(count).count {
      if case .gatt(_, .valueReceived) = $0 { true } else { false }
    }
  }

  @Test("A bond that replaces another without its key inherits neither its subscriptions nor its server cache")
  func replaced() throws {
    var (pair, value) = try subscribed()
    pair.unlink()
    #expect(pair.peripheral.bench.host.clientRecords[SecuredHosts.centralAddress] != nil)
    pair.central.bench.perform { host, now in host.removeBond(SecuredHosts.peripheralAddress, at: now) }
    pair.link()
    // The client's own configuration on the link applies.
    #expect(pair.request(.write(value + 4, [1, 0])) == .success(.done))
    pair.secure(.encrypted, by: \.central)
    #expect(pair.peripheral.security.isBonded && pair.peripheral.bench.host.bonds.count == 1)
    #expect(notifications(&pair, of: value) == 0)
    #expect(notifications(&pair, of: value + 3) == 1)
    pair.unlink()
    let record = pair.peripheral.bench.host.clientRecords[SecuredHosts.centralAddress]
    #expect(record?.subscriptions.map(\.handle) == [value + 3])
  }

  @Test("A bond renewed on a link encrypted with its key keeps the configuration of its client")
  func renewed() throws {
    var (pair, value) = try subscribed(PairingPolicy(.keyboardOnly), PairingPolicy(.displayOnly))
    let former = pair.peripheral.bench.host.bonds
    pair.unlink()
    pair.link()
    #expect(pair.peripheral.security.isBonded)
    pair.secure(.authenticated, by: \.central)
    #expect(pair.peripheral.bench.host.bonds.count == 1 && pair.peripheral.bench.host.bonds != former)
    #expect(notifications(&pair, of: value) == 1)
  }

  @Test("A link created before the bond with its peer makes no other bond for that identity")
  func siblings() throws {
    var stranger = PairingPolicy()
    stranger.distributedKeys = [.encryptionKey]
    var (pair, _) = try subscribed(stranger)
    let bond = try #require(pair.peripheral.bench.host.bonds.first)
    for side in [\SecuredHosts.central, \SecuredHosts.peripheral] {
      for bond in pair[keyPath: side].bench.host.bonds {
        pair[keyPath: side].bench.perform { host, now in host.removeBond(bond.identity, at: now) }
      }
    }
    pair.unlink()
    pair.forget()
    pair.link()
    // The bond is made on another link in the meantime.
    pair.peripheral.bench.perform { host, now in host.setBonds([bond], at: now) }
    pair.secure(.encrypted, by: \.central)
    #expect(pair.peripheral.bench.host.bonds == [bond])
    #expect(pair.peripheral.outcomes.isEmpty)
  }
}
