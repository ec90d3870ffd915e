import BluetoothCrypto
import BluetoothWire
import Requirements
import TestSupport
import Testing

@testable import BluetoothHost

/// The addresses that a device uses on the air · Vol 3, Part C, 10.7.
@Suite("Own addresses")
struct OwnAddressTests {
  private static let key = Block(high: 0xEC02_34A3_57C8_AD05, low: 0x3410_10A6_0A39_7D9B)
  private static let phone = HostIdentity(address: HostHarness.peer, peerKey: 1, localKey: 2)

  /// Returns a device that uses private addresses and whose controller has no resolving list.
  private static func bench(isExtended: Bool = false, _ change: (inout HostHarness) -> Void = { _ in }) -> HostHarness {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.usesPrivateAddresses = true
    configuration.identityKey = key
    if isExtended {
      return .extended { bench, host in
        host = configuration
        change(&bench)
      }
    }
    var bench = HostHarness(configuration: configuration)
    change(&bench)
    bench.powerOn()
    return bench
  }

  /// Returns the addresses that the controller got for the device and for its set.
  private static func addresses(_ bench: HostHarness) -> (device: [UInt64], set: [UInt64]) {
    let device = bench.commands.compactMap { if case .leSetRandomAddress(let value) = $0 { value } else { nil } }
    let set = bench.commands.compactMap {
      if case .leSetAdvertisingSetRandomAddress(_, let value) = $0 { value } else { nil }
    }
    return (device, set)
  }

  private static func isOwn(_ address: UInt64) -> Bool { Toolbox.resolves(address, irk: key) }

  @Test("A private device uses a new address after each power-on, which its key resolves")
  func powerOn() {
    var bench = Self.bench()
    var all: Set<UInt64> = [bench.host.ownAddressOnAir.value]
    for _ in 0..<3 {
      bench.perform { host, now in
        host.setPower(false, at: now)
        host.setPower(true, at: now)
      }
    }
    let addresses = Self.addresses(bench).device
    all.formUnion(addresses)
    #expect(addresses.count == 3 && all.count == 4 && all.allSatisfy(Self.isOwn))
    #expect(bench.host.ownAddressOnAir.value == addresses.last)
    bench.expectToServe()
  }

  @Test("A device without privacy keeps its static address and needs no timer")
  func staticAddress() {
    var bench = HostHarness()
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(Self.addresses(bench).device == [HostHarness.address.value])
    let deadline = bench.host.deadline
    #expect(deadline == nil)
  }

  @Test(
    "After 15 min advertising, scanning and connecting pause, the address changes, and all resume", .requirement("L174")
  )
  func renewal() {
    var bench = Self.bench()
    let first = bench.host.ownAddressOnAir
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.scan()
    bench.connect()
    bench.forget()
    bench.passToDeadline()
    #expect(bench.now == .zero + .seconds(900))
    #expect(
      bench.commands.map(\.opcode) == [.leSetAdvertisingEnable, .leSetScanEnable, .leCreateConnectionCancel])
    #expect(bench.host.ownAddressOnAir == first)
    bench.forget()
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetRandomAddress, .leSetAdvertisingEnable, .leSetScanEnable, .leCreateConnection,
      ])
    let second = bench.host.ownAddressOnAir
    #expect(second != first && Self.isOwn(second.value))
    #expect(Self.addresses(bench).device == [second.value])
    #expect(bench.failures.isEmpty && bench.advertisingAnswers.isEmpty)
    bench.passToDeadline()
    #expect(bench.now == .zero + .seconds(1_800))
  }

  @Test("An idle device changes its address too, and at once")
  func idle() {
    var bench = Self.bench()
    bench.passToDeadline()
    #expect(bench.commands.map(\.opcode) == [.leSetRandomAddress])
    bench.expectToServe()
  }

  @Test("An advertising set gets the device's address; it is off while the address changes")
  func sets() {
    var bench = Self.bench(isExtended: true)
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    #expect(Self.addresses(bench).set == [bench.host.ownAddressOnAir.value])
    bench.forget()
    bench.passToDeadline()
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedAdvertisingEnable, .leSetRandomAddress, .leSetExtendedAdvertisingParameters,
        .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingEnable,
      ])
    #expect(Self.addresses(bench).set == Self.addresses(bench).device)
    #expect(Self.addresses(bench).set == [bench.host.ownAddressOnAir.value])
  }

  @Test("A controller with a resolving list gets the timeout, and a private address for peers that are not on the list")
  func resolvingList() {
    var bench = Self.bench(isExtended: true)
    bench.perform { host, now in
      host.setIdentities([Self.phone], usesPrivateAddresses: true, at: now)
      host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now)
    }
    bench.scan()
    #expect(bench.commands.contains(.leSetResolvablePrivateAddressTimeout(900)))
    let types = bench.commands.compactMap { command -> HCI.OwnAddressType? in
      switch command {
      case .leSetExtendedAdvertisingParameters(let parameters): parameters.ownAddressType
      case .leSetExtendedScanParameters(let parameters): parameters.ownAddressType
      default: nil
      }
    }
    #expect(Set(types) == [.resolvableOrRandom])
    #expect(Self.addresses(bench).set.allSatisfy(Self.isOwn) && !Self.addresses(bench).set.isEmpty)
    bench.forget()
    bench.passToDeadline()
    #expect(Self.addresses(bench).device.count == 1 && Self.addresses(bench).set.count == 1)
  }

  @Test(
    "A controller that only claims a resolving list uses the host's private addresses",
    arguments: [HCI.Opcode.leReadResolvingListSize, .leAddDeviceToResolvingList, .leSetAddressResolutionEnable])
  func claimedList(_ refused: HCI.Opcode) {
    var bench = Self.bench(isExtended: true) { $0.answers[refused] = .complete(.status(.unknownHCICommand)) }
    bench.perform { host, now in
      host.setIdentities([Self.phone], usesPrivateAddresses: true, at: now)
      host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now)
    }
    #expect(bench.advertisingAnswers == [nil])
    let types = bench.commands.compactMap {
      if case .leSetExtendedAdvertisingParameters(let parameters) = $0 { parameters.ownAddressType } else { nil }
    }
    #expect(types == [.random])
    #expect(Self.addresses(bench).set.allSatisfy(Self.isOwn) && !Self.addresses(bench).set.isEmpty)
    bench.passToDeadline()
    #expect(Self.addresses(bench).device.count == 1)
  }

  @Test("A controller that refuses a new address keeps the old one, and pairing uses it")
  func refused() {
    var bench = Self.bench()
    let first = bench.host.ownAddressOnAir
    bench.answers[.leSetRandomAddress] = .complete(.status(.commandDisallowed))
    bench.passToDeadline()
    #expect(bench.host.ownAddressOnAir == first)
    bench.link(.peripheral)
    #expect(bench.host.table.all.map(\.security.own) == [first])
    bench.answers[.leSetRandomAddress] = nil
    bench.now = .zero + .seconds(1_800)
    bench.perform { host, now in host.timeReached(now) }
    #expect(bench.host.ownAddressOnAir != first)
    // A link keeps the address that was in use when it was created.
    #expect(bench.host.table.all.map(\.security.own) == [first])
  }

  @Test("A controller that never answers gets no second address command, and all else goes on")
  func silent() {
    var bench = Self.bench()
    bench.answers[.leSetRandomAddress] = .noAnswer
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.passToDeadline()
    bench.passToDeadline()
    #expect(bench.commands.count { $0.opcode == .leSetRandomAddress } == 1)
    #expect(bench.commands.last == .leSetAdvertisingEnable(true))
    let deadline = bench.host.deadline
    #expect(deadline == nil)
    bench.expectToServe()
  }

  @Test("P12 A peer that uses this device's current private address is disconnected")
  func echo() {
    var bench = Self.bench()
    let handle = bench.link(.peripheral, to: bench.host.ownAddressOnAir)
    #expect(bench.links.isEmpty)
    #expect(bench.commands.last == .disconnect(handle, reason: .remoteUserTerminatedConnection))
  }

  @Test(
    "Two hosts that generate their private addresses pair and recognize each other under the next ones",
    .requirement("L111"))
  func pairing() throws {
    var pair = SecuredHosts(arePrivate: true)
    pair.linkOnAir()
    pair.secure(.encrypted, by: \.central)
    #expect(pair.central.bench.host.bonds.map(\.identity) == [SecuredHosts.peripheralAddress])
    #expect(pair.peripheral.bench.host.bonds.map(\.identity) == [SecuredHosts.centralAddress])
    let before = [pair.central, pair.peripheral].map(\.bench.host.ownAddressOnAir)
    pair.unlink()
    for side in [\SecuredHosts.central, \SecuredHosts.peripheral] {
      self.pass(&pair[keyPath: side].bench)
    }
    #expect([pair.central, pair.peripheral].map(\.bench.host.ownAddressOnAir) != before)
    pair.forget()
    pair.linkOnAir(to: SecuredHosts.peripheralAddress)
    #expect(pair.central.bench.links.map(\.peer) == [SecuredHosts.peripheralAddress])
    #expect(pair.peripheral.bench.links.map(\.peer) == [SecuredHosts.centralAddress])
    #expect(pair.central.security.isBonded && pair.peripheral.security.isBonded)
    #expect(pair.central.prompts + pair.peripheral.prompts == [])
    #expect(pair.heard == [])
  }

  private func pass(_ bench: inout HostHarness) {
    let former = bench.host.ownAddressOnAir
    bench.pass(.seconds(901))
    #expect(bench.host.ownAddressOnAir != former)
  }
}
