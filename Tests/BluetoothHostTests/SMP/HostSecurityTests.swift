import BluetoothCrypto
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// The security of two hosts: access to protected values pairs them, bonds encrypt later links, and refused requests
/// are repeated.
struct HostSecurityTests {
  private static let secret: ByteSlice = [0x2A]

  /// Returns two hosts, each with a value that needs an encrypted link.
  private func pair(
    _ central: PairingPolicy = PairingPolicy(), _ peripheral: PairingPolicy = PairingPolicy(),
    _ permissions: AttributePermissions = [.readable, .readEncryptionRequired]
  ) throws -> (SecuredHosts, AttributeHandle) {
    var pair = SecuredHosts(central, peripheral)
    let definition = GATTServiceDefinition(
      uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(
          uuid: 0x2A38, properties: .read, permissions: permissions, value: Self.secret)
      ])
    let placement = try pair.peripheral.bench.host.addService(definition, at: .zero).get()
    _ = try pair.central.bench.host.addService(definition, at: .zero).get()
    pair.link()
    return (pair, placement.values[0])
  }

  private static var yesNo: PairingPolicy {
    var policy = PairingPolicy()
    policy.ioCapability = .displayYesNo
    policy.asksForAuthentication = true
    return policy
  }

  @Test("The first access to a protected value pairs the devices, and the value is read", .requirement("G042"))
  func firstAccess() throws {
    var (pair, value) = try pair()
    #expect(pair.request(.read(value)) == .success(.value(Self.secret)))
    #expect(pair.central.prompts == [.allow])
    #expect(pair.peripheral.prompts == [.allow])
    for side in [pair.central, pair.peripheral] {
      #expect(side.security == HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true, isBonded: true))
      #expect(side.outcomes.map(\.method) == [.justWorks])
      #expect(side.outcomes.map(\.isSecureConnections) == [true])
    }
    let (central, peripheral) = (pair.central.bench.host.bonds, pair.peripheral.bench.host.bonds)
    #expect(central.map(\.identity) == [SecuredHosts.peripheralAddress])
    #expect(peripheral.map(\.identity) == [SecuredHosts.centralAddress])
    #expect(central[0].key != nil)
    #expect(central[0].key == peripheral[0].key)
  }

  @Test("The link is reported before any event of a pairing", .requirement("G022"))
  func order() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    for side in [pair.central, pair.peripheral] {
      let connected = side.bench.events.firstIndex { if case .connected = $0 { true } else { false } }
      let security = side.bench.events.firstIndex { if case .security = $0 { true } else { false } }
      #expect(try #require(connected) < (try #require(security)))
    }
  }

  @Test("A value that needs an authenticated key makes the users compare numbers")
  func authenticated() throws {
    var (pair, value) = try pair(Self.yesNo, Self.yesNo, [.readable, .readAuthenticationRequired])
    #expect(pair.request(.read(value)) == .success(.value(Self.secret)))
    guard case .compare(let number)? = pair.central.prompts.first else {
      Issue.record("the users compared nothing")
      return
    }
    #expect(pair.central.prompts == [.compare(number)])
    #expect(pair.peripheral.prompts == [.compare(number)])
    #expect(pair.central.security.level == .authenticated)
  }

  @Test("The next link is encrypted with the bond's key at once, without prompts")
  func nextLink() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    pair.unlink()
    pair.forget()
    pair.link()
    #expect(pair.central.security == HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true, isBonded: true))
    #expect(pair.request(.read(value)) == .success(.value(Self.secret)))
    #expect(pair.central.prompts + pair.peripheral.prompts == [])
    #expect(pair.heard == [])
    #expect(pair.central.security == HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true, isBonded: true))
    #expect(pair.peripheral.security == pair.central.security)
  }

  @Test("Restored bonds work like new ones")
  func restoredBonds() throws {
    var (first, value) = try pair()
    _ = first.request(.read(value))
    var (second, _) = try pair()
    second.unlink()
    let (central, peripheral) = (first.central.bench.host.bonds, first.peripheral.bench.host.bonds)
    second.central.bench.perform { host, now in host.setBonds(central, at: now) }
    second.peripheral.bench.perform { host, now in host.setBonds(peripheral, at: now) }
    second.link()
    #expect(second.request(.read(value)) == .success(.value(Self.secret)))
    #expect(second.central.prompts == [])
  }

  @Test("If the peer has lost the bond, the missing key is reported, and nothing is read")
  func keyMissing() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    pair.unlink()
    pair.peripheral.bench.perform { host, now in host.removeBond(SecuredHosts.centralAddress, at: now) }
    pair.forget()
    pair.link()
    #expect(pair.central.failures == [.keyMissing])
    #expect(pair.request(.read(value)) == .failure(.att(.insufficientEncryption)))
    #expect(pair.central.failures == [.keyMissing, .keyMissing])
    #expect(pair.central.bench.host.bonds.count == 1)
  }

  @Test("If a user refuses, the read fails with the server's error, and no bond is stored", arguments: [true, false])
  func refused(isCentral: Bool) throws {
    var (pair, value) = try pair()
    if isCentral { pair.central.says = { _, _ in .no } } else { pair.peripheral.says = { _, _ in .no } }
    #expect(pair.request(.read(value)) == .failure(.att(.insufficientAuthentication)))
    #expect(pair.central.failures.count == 1)
    #expect(pair.central.bench.host.bonds + pair.peripheral.bench.host.bonds == [])
    #expect(pair.central.security == .none)
    // A read without protection still succeeds.
    #expect(pair.request(.read(3)) == .success(.value(ByteSlice("Pair".utf8))))
  }

  @Test("A peripheral's client makes the central pair when the central's server refuses a read", .requirement("G043"))
  func serverOnCentral() throws {
    var (pair, value) = try pair()
    #expect(pair.request(.read(value), by: \.peripheral) == .success(.value(Self.secret)))
    #expect(pair.heard.first?.first == SMP.Code.securityRequest.rawValue)
    #expect(pair.central.outcomes.count == 1)
  }

  @Test("A peripheral's demand on a new link makes the central encrypt with the bond's key")
  func securityRequest() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    pair.unlink()
    pair.forget()
    pair.link()
    pair.secure(.encrypted, by: \.peripheral)
    // The central has already encrypted the link.
    #expect(pair.heard == [])
    #expect(pair.peripheral.security.isBonded)
    #expect(pair.central.security.isBonded)
  }

  @Test("A demand that is met succeeds at once; one on a link that does not exist fails")
  func demands() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    pair.forget()
    pair.secure(.encrypted, by: \.central)
    #expect(pair.central.securityEvents == [.changed(pair.central.security)])
    pair.unlink()
    pair.forget()
    pair.secure(.encrypted, by: \.central)
    #expect(pair.central.failures == [.disconnected])
  }

  @Test("Forgetting a device ends its link and removes its keys")
  func forgetting() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    pair.central.bench.commands.removeAll()
    pair.central.bench.perform { host, now in host.removeBond(SecuredHosts.peripheralAddress, at: now) }
    #expect(pair.central.bench.commands.contains { if case .disconnect = $0 { true } else { false } })
    #expect(pair.central.bench.host.bonds == [])
  }

  @Test("A bonded peer with a private address that only the host can resolve gets its keys and its configuration")
  func privateAddress() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    let bond = try #require(pair.central.bench.host.bonds.first)
    let key = try #require(bond.peerIdentityKey.flatMap(IdentityResolvingKey.init))
    pair.unlink()
    pair.forget()
    var generator = RandomStream(seed: 5)
    pair.link(private: DeviceAddress(key.newAddress(using: &generator), .random))
    #expect(pair.central.security.hasKey)
    #expect(pair.request(.read(value)) == .success(.value(Self.secret)))
    #expect(pair.central.prompts == [])
    #expect(pair.heard == [])
  }

  @Test("Pairing under private addresses uses these addresses and distributes the identities")
  func pairingInPrivate() throws {
    var (pair, value) = try pair()
    pair.unlink()
    pair.link(private: DeviceAddress(0x4F11_2233_4455, .random))
    #expect(pair.request(.read(value)) == .success(.value(Self.secret)))
    #expect(pair.central.bench.host.bonds.map(\.identity) == [SecuredHosts.peripheralAddress])
  }

  @Test("A link that ends during the prompts ends the pairing on both sides")
  func interrupted() throws {
    var (pair, value) = try pair()
    pair.central.says = { _, _ in nil }
    #expect(pair.request(.read(value)) == nil)
    pair.unlink()
    #expect(pair.central.failures == [.disconnected])
    #expect(pair.central.securityEvents.contains(.promptEnded))
    #expect(pair.peripheral.failures.count == 1)
    // Pairing works on the next link after the peripheral's backoff.
    pair.forget()
    pair.peripheral.bench.now = pair.peripheral.bench.now + .seconds(2)
    pair.central.says = SecuredHosts.Side.agree
    pair.link()
    #expect(pair.request(.read(value)) == .success(.value(Self.secret)))
  }

  @Test("A peer that is silent for 30 s ends the pairing and the requests that wait for it")
  func silence() throws {
    var (pair, value) = try pair()
    pair.peripheral.says = { _, _ in nil }
    #expect(pair.request(.read(value)) == nil)
    pair.central.bench.now = pair.central.bench.now + SecurityManager.timeout
    let now = pair.central.bench.now
    pair.central.bench.perform { host, _ in host.timeReached(now) }
    #expect(pair.central.failures == [.timeout])
    let isOver = pair.central.bench.events.contains {
      $0.isCompletion(of: 7, .failure(.att(.insufficientAuthentication)))
    }
    #expect(isOver)
  }

  @Test("A17 Data from an impostor with a bonded server's address but without its key is ignored")
  func impostor() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    pair.unlink()
    pair.forget()
    // This device has never paired.
    var other = SecuredHosts()
    other.central = pair.central
    other.link()
    let handle = other.central.handle
    #expect(other.central.failures == [.keyMissing])
    other.central.bench.events.removeAll()
    other.central.bench.receive(.attribute, [0x1B, UInt8(value), 0, 0x66], on: handle)
    other.central.bench.receive(.attribute, [0x1D, UInt8(value), 0, 0x66], on: handle)
    #expect(try other.central.bench.payloads(on: handle, .attribute) == [[0x1E]])
    #expect(other.central.bench.events.isEmpty)
    #expect(other.request(.read(value)) == .failure(.att(.insufficientEncryption)))
    #expect(other.central.security.level == .none)
    try other.central.expectUnharmed()
  }

  @Test("Requests on a bonded link wait until it is encrypted")
  func waiting() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    pair.unlink()
    pair.forget()
    let handle = pair.central.handle
    pair.central.bench.link(.central, handle: handle.rawValue, to: SecuredHosts.peripheralAddress)
    pair.central.bench.perform { host, now in host.request(.read(value), token: 7, on: handle, at: now) }
    // Only the MTU exchange.
    #expect(try pair.central.bench.payloads(on: handle, .attribute).map(\.first) == [0x02])
    pair.central.bench.receive(.encryptionChange(.success, handle, enabled: 1))
    pair.central.bench.receive(.attribute, [0x03, 23, 0], on: handle)
    #expect(try pair.central.bench.payloads(on: handle, .attribute).last == [0x0A, UInt8(value), 0])
  }

  @Test("P14 A signed write on an unencrypted bonded link is accepted once, and its counter is stored")
  func signedWrite() throws {
    var (pair, value) = try pair()
    _ = pair.request(.read(value))
    var first = try signed(pair.central.bench.host.bonds, pair.peripheral.bench.host.bonds)
    for count in 1...2 {
      #expect(first.pair.request(.signedWriteWithoutResponse(first.value, [UInt8(count)])) == .success(.done))
      #expect(first.pair.peripheral.bench.writes == (1...count).map { [UInt8($0)] })
      // The counter is stored before the link ends, so that a killed process loses no counter.
      #expect(first.pair.peripheral.bench.changedBonds.last?.signatureVerifier?.nextCounter == UInt32(count))
      #expect(first.pair.central.bench.changedBonds.last?.signatureMaker?.nextCounter == UInt32(count))
    }
    #expect(first.pair.central.security.level == .none)
    first.pair.unlink()
    let kept = try #require(first.pair.peripheral.bench.changedBonds.last)
    #expect(kept.signatureVerifier?.nextCounter == 2)
    #expect(first.pair.central.bench.changedBonds.last?.signatureMaker?.nextCounter == 2)
    // On a later link the replay of the first write is ignored, and the owner of the key is served.
    var second = try signed(first.pair.central.bench.host.bonds, [kept])
    #expect(second.pair.request(.signedWriteWithoutResponse(second.value, [3])) == .success(.done))
    #expect(second.pair.peripheral.bench.writes == [[3]])
    var third = try signed(pair.central.bench.host.bonds, [kept])
    #expect(third.pair.request(.signedWriteWithoutResponse(third.value, [1])) == .success(.done))
    #expect(third.pair.peripheral.bench.writes == [])
    try third.pair.peripheral.expectUnharmed()
  }

  /// Returns two hosts with these bonds and a link, whose central does not encrypt by itself.
  private func signed(_ central: [HostBond], _ peripheral: [HostBond]) throws -> (
    pair: SecuredHosts, value: AttributeHandle
  ) {
    var pair = SecuredHosts(encryptsBondedLinks: false)
    let definition = GATTServiceDefinition(
      uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(
          uuid: 0x2A39, properties: .authenticatedSignedWrites, permissions: .writeable, value: nil)
      ])
    let placement = try pair.peripheral.bench.host.addService(definition, at: .zero).get()
    pair.central.bench.perform { host, now in host.setBonds(central, at: now) }
    pair.peripheral.bench.perform { host, now in host.setBonds(peripheral, at: now) }
    pair.link()
    return (pair, placement.values[0])
  }
}

extension HostEvent {
  fileprivate func isCompletion(of token: GATTToken, _ result: Result<GATTResponse, GATTError>) -> Bool {
    if case .gatt(_, .completed(token, result)) = self { true } else { false }
  }
}

extension HostHarness {
  fileprivate var writes: [[UInt8]] {
    events.compactMap { if case .gatt(_, .writeRequested(_, let parts)) = $0 { parts.first?.value.bytes } else { nil } }
  }
  fileprivate var changedBonds: [HostBond] {
    events.compactMap { if case .bondChanged(let bond) = $0 { bond } else { nil } }
  }
}
