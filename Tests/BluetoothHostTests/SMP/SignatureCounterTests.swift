import BluetoothWire
import Testing

@testable import BluetoothHost

/// The storage of signature counters, and the choice of the values that are signed, on links between two hosts · Vol 3,
/// Part H, 2.4.5.
@Suite("Signature counters")
struct SignatureCounterTests {
  /// Returns two hosts with a bond and without a link, where the peripheral has a value that accepts signed writes.
  private func bonded(encrypts: Bool = false) throws -> (pair: SecuredHosts, value: AttributeHandle) {
    var pair = SecuredHosts(encryptsBondedLinks: encrypts)
    let definition = GATTServiceDefinition(
      uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(
          uuid: 0x2A39, properties: .authenticatedSignedWrites, permissions: .writeable, value: nil)
      ])
    let placement = try pair.peripheral.bench.host.addService(definition, at: .zero).get()
    pair.link()
    pair.secure(.encrypted, by: \.central)
    #expect(pair.central.security.isBonded && pair.peripheral.security.isBonded)
    pair.unlink()
    pair.forget()
    return (pair, placement.values[0])
  }

  private func bonds(_ bench: HostHarness) -> [HostBond] {
    bench.events.compactMap { if case .bondChanged(let bond) = $0 { bond } else { nil } }
  }

  /// Returns the opcodes of the ATT PDUs that the central has sent.
  private func opcodes(_ pair: SecuredHosts) throws -> [UInt8?] {
    try pair.central.bench.payloads(on: pair.central.handle, .attribute).map(\.first)
  }

  @Test("P14 The counter of a delayed signed write is stored before the write is sent")
  func waited() throws {
    var (pair, value) = try bonded()
    let handle = pair.central.handle
    pair.central.bench.link(.central, handle: handle.rawValue, to: SecuredHosts.peripheralAddress)
    // The MTU exchange comes first.
    for number in 1...2 {
      pair.central.bench.perform { host, now in
        host.request(.signedWriteWithoutResponse(value, [UInt8(number)]), token: 7, on: handle, at: now)
      }
    }
    #expect(try opcodes(pair) == [0x02] && bonds(pair.central.bench).isEmpty)
    pair.central.bench.receive(.attribute, [0x03, 23, 0], on: handle)
    #expect(try opcodes(pair) == [0x02, 0xD2, 0xD2])
    #expect(bonds(pair.central.bench).map(\.signatureMaker?.nextCounter) == [1, 2])
    #expect(pair.central.bench.host.bonds.first?.signatureMaker?.nextCounter == 2)
  }

  @Test("P14 A request while a central encrypts the link is not signed and uses no counter")
  func whileEncrypting() throws {
    var (pair, value) = try bonded(encrypts: true)
    let handle = pair.central.handle
    pair.central.bench.link(.central, handle: handle.rawValue, to: SecuredHosts.peripheralAddress)
    pair.central.bench.perform { host, now in
      host.request(.signedWriteWithoutResponse(value, [1]), token: 7, on: handle, at: now)
    }
    pair.central.bench.receive(.attribute, [0x03, 23, 0], on: handle)
    #expect(try opcodes(pair) == [0x02])
    pair.central.bench.receive(.encryptionChange(.success, handle, enabled: 1))
    #expect(try opcodes(pair).contains(0x52) && !opcodes(pair).contains(0xD2))
    #expect(pair.central.bench.host.bonds.first?.signatureMaker?.nextCounter == 0)
  }

  @Test("P14 In a flood of signed writes every 32nd counter is stored, and the last one when the link ends")
  func flood() throws {
    var (pair, value) = try bonded()
    pair.link()
    for number in 1...100 {
      #expect(pair.request(.signedWriteWithoutResponse(value, [UInt8(number)])) == .success(.done))
    }
    let expected = (1...32).map { UInt32($0) } + [64, 96]
    #expect(bonds(pair.peripheral.bench).map(\.signatureVerifier?.nextCounter) == expected)
    pair.unlink()
    #expect(bonds(pair.peripheral.bench).last?.signatureVerifier?.nextCounter == 100)
  }
}
