import BluetoothCrypto
import BluetoothWire
import Testing

@testable import BluetoothHost

/// The parts of a bond that outlive a link.
struct BondKeepingTests {
  /// Returns two hosts with a bond and a link, where the peripheral has a value that accepts signed writes and
  /// notifies.
  private func bonded(encrypts: Bool = true) throws -> (pair: SecuredHosts, value: AttributeHandle) {
    var pair = SecuredHosts(encryptsBondedLinks: encrypts)
    let definition = GATTServiceDefinition(
      uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(
          uuid: 0x2A39, properties: [.authenticatedSignedWrites, .notify], permissions: .writeable, value: nil)
      ])
    let placement = try pair.peripheral.bench.host.addService(definition, at: .zero).get()
    pair.link()
    pair.secure(.encrypted, by: \.central)
    #expect(pair.central.security.isBonded && pair.peripheral.security.isBonded)
    return (pair, placement.values[0])
  }

  @Test("The end of its link restores nothing of a device that was forgotten while connected")
  func forgotten() throws {
    var (pair, value) = try bonded()
    #expect(pair.request(.write(value + 1, [1, 0])) == .success(.done))
    pair.peripheral.bench.perform { host, now in host.removeBond(SecuredHosts.centralAddress, at: now) }
    #expect(pair.peripheral.security == .none || !pair.peripheral.security.hasKey)
    pair.unlink()
    #expect(pair.peripheral.bench.host.clientRecords.isEmpty)
    #expect(pair.peripheral.bench.host.serverCache(of: SecuredHosts.centralAddress) == nil)
  }

  @Test("The configuration of a device that is not forgotten is stored in the bond")
  func remembered() throws {
    var (pair, value) = try bonded()
    #expect(pair.request(.write(value + 1, [1, 0])) == .success(.done))
    pair.unlink()
    let record = pair.peripheral.bench.host.clientRecords[SecuredHosts.centralAddress]
    #expect(record?.subscriptions.map(\.handle) == [value])
  }

  @Test("P14 A counter is stored even if power goes off and the peer does not confirm the end of the link")
  func powerOff() throws {
    var (pair, value) = try bonded(encrypts: false)
    pair.unlink()
    pair.link()
    #expect(pair.request(.signedWriteWithoutResponse(value, [1])) == .success(.done))
    pair.peripheral.bench.perform { host, now in host.setPower(false, at: now) }
    pair.peripheral.bench.passToDeadline()
    #expect(pair.peripheral.bench.host.bonds.first?.signatureVerifier?.nextCounter == 1)
    let isReported = pair.peripheral.bench.events.contains { if case .bondChanged = $0 { true } else { false } }
    #expect(isReported)
  }

  @Test("P14 Of two links with one bond the higher counter is stored, whichever link ends last")
  func twoLinks() throws {
    var (pair, value) = try bonded(encrypts: false)
    pair.unlink()
    // An impostor has the central's address, and its link lasts longer.
    let other = pair.peripheral.bench.link(.peripheral, handle: 0x70, to: SecuredHosts.centralAddress)
    pair.link()
    #expect(pair.request(.signedWriteWithoutResponse(value, [1])) == .success(.done))
    pair.unlink()
    pair.peripheral.bench.receive(.disconnectionComplete(.success, other, reason: .connectionTimeout))
    #expect(pair.peripheral.bench.host.bonds.first?.signatureVerifier?.nextCounter == 1)
  }

  @Test("P13 A flood of refused PDUs from a peer that receives nothing does not use growing memory")
  func flood() {
    var bench = HostHarness()
    bench.powerOn()
    let handle = bench.link(.peripheral)
    for _ in 0..<1_000 { bench.receive(.securityManager, [0x01, 3], on: handle) }
    #expect(bench.host.metrics.droppedAnswers > 900)
    bench.completeAll()
    bench.receive(.attribute, [0x0A, 0x03, 0x00], on: handle)
    #expect(bench.data.isEmpty == false)
  }

  @Test("P10 A Security Request without an answer for 30 s ends, and the bond's key stays valid")
  func lateCentral() throws {
    var (pair, _) = try bonded(encrypts: false)
    pair.unlink()
    let handle = pair.peripheral.handle
    pair.peripheral.bench.link(.peripheral, handle: handle.rawValue, to: SecuredHosts.centralAddress)
    pair.peripheral.bench.perform { host, now in host.secure(handle, .encrypted, at: now) }
    pair.forget()
    pair.peripheral.bench.now = pair.peripheral.bench.now + SecurityManager.timeout
    let now = pair.peripheral.bench.now
    pair.peripheral.bench.perform { host, _ in host.timeReached(now) }
    #expect(pair.peripheral.failures == [.timeout])
    pair.peripheral.bench.commands.removeAll()
    pair.peripheral.bench.receive(.leLongTermKeyRequest(handle, random: 0, encryptedDiversifier: 0))
    let isGiven = pair.peripheral.bench.commands.contains {
      if case .leLongTermKeyRequestReply = $0 { true } else { false }
    }
    #expect(isGiven)
  }

  @Test("A missing key at the peer is reported after the link, even if it is the first sign of the peer")
  func firstSign() throws {
    var (pair, _) = try bonded()
    pair.unlink()
    pair.forget()
    let handle = pair.central.handle
    pair.central.bench.perform { host, now in host.connect(to: SecuredHosts.peripheralAddress, at: now) }
    pair.central.bench.receive(
      .leConnectionComplete(HostHarness.connection(.central, handle, SecuredHosts.peripheralAddress)))
    #expect(pair.central.bench.links.isEmpty)
    pair.central.bench.receive(.encryptionChange(.pinOrKeyMissing, handle, enabled: 0))
    let connected = pair.central.bench.events.firstIndex { if case .connected = $0 { true } else { false } }
    let failed = pair.central.bench.events.firstIndex { event in
      if case .security(_, .failed(.keyMissing)) = event { true } else { false }
    }
    #expect(try #require(connected) < (try #require(failed)))
  }
}
