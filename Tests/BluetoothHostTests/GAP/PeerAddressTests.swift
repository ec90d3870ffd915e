import BluetoothCrypto
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// Bonded peers whose private addresses the controller does not resolve · Vol 3, Part C, 10.8.2.3.
@Suite("Private addresses of peers")
struct PeerAddressTests {
  private static let identity = DeviceAddress(0xC0DE_0000_0007, .random)
  private static let key = Block(high: 0xEC02_34A3_57C8_AD05, low: 0x3410_10A6_0A39_7D9B)

  private static func bond(_ identity: DeviceAddress = identity, _ key: Block = key) -> HostBond {
    var bond = HostBond(identity: identity)
    bond.peerIdentityKey = key
    bond.key = LongTermKey(Block(high: 3, low: 4), isAuthenticated: false, isSecureConnections: true)
    return bond
  }

  /// Returns one of the peer's private addresses.
  private static func address(_ number: UInt32, _ key: Block = key) -> DeviceAddress {
    let prand = 0x40_0000 | number
    return DeviceAddress(UInt64(prand) << 24 | UInt64(Toolbox.ah(irk: key, prand: prand)), .random)
  }

  /// Returns a host with one bond, whose controller has no resolving list.
  private static func bench(_ bonds: [HostBond] = [bond()]) -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    bench.perform { host, now in host.setBonds(bonds, at: now) }
    return bench
  }

  /// Returns the addresses that the controller was told to connect to.
  private static func attempts(_ bench: HostHarness) -> [DeviceAddress?] {
    bench.commands.compactMap { command -> DeviceAddress?? in
      switch command {
      case .leCreateConnection(let create): .some(create.usesAcceptList ? nil : create.peer.deviceAddress)
      case .leExtendedCreateConnection(let create): .some(create.usesAcceptList ? nil : create.peer.deviceAddress)
      default: nil
      }
    }
  }

  private static func cancelled(_ bench: inout HostHarness) {
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
  }

  @Test(
    "Reports of a bonded peer's private address carry its identity; all other reports carry the address on the air",
    .requirement("L111"))
  func reports() {
    var bench = Self.bench()
    bench.scan()
    let stranger = Self.address(1, Block(high: 1, low: 2))
    let others = [stranger, DeviceAddress(Self.address(1).value, .public), DeviceAddress(0x0011_2233_4455, .random)]
    for address in [Self.address(1), Self.address(2), Self.identity] + others + [Self.address(1)] {
      bench.hear([2, 1, 6], from: address)
    }
    #expect(bench.reports.map(\.address) == [Self.identity, Self.identity, Self.identity] + others + [Self.identity])
    #expect(bench.reports.allSatisfy { $0.isConnectable && $0.data == [2, 1, 6] })
  }

  @Test("Fragmented advertising data are reassembled by the address on the air and reported with the identity")
  func parts() {
    var bench = HostHarness.extended()
    bench.perform { host, now in
      host.setBonds([Self.bond(), Self.bond(DeviceAddress(9, .public), Block(high: 5, low: 6))], at: now)
    }
    // The controller had no room for the second bond, for instance.
    let address = Self.address(1, Block(high: 5, low: 6))
    bench.scan()
    bench.hearPart([1], .moreToCome, from: HCI.PeerAddress(address))
    bench.hearPart([2], from: HCI.PeerAddress(address))
    #expect(bench.reports.map(\.address) == [DeviceAddress(9, .public)] && bench.reports.map(\.data) == [[1, 2]])
  }

  @Test("A bonded peer that connects with a private address is reported by its identity, with its keys")
  func peripheral() {
    var bench = Self.bench()
    let handle = bench.link(.peripheral, to: Self.address(3))
    #expect(bench.links.map(\.peer) == [Self.identity])
    #expect(bench.host.security(of: handle).hasKey && bench.host.isBonded(handle))
    #expect(bench.host.table.all.map(\.security.peer) == [Self.address(3)])
    bench.receive(.leLongTermKeyRequest(handle, random: 0, encryptedDiversifier: 0))
    #expect(bench.commands.contains(.leLongTermKeyRequestReply(handle, longTermKey: 3 << 64 | 4)))
  }

  @Test("A bonded peer is found by a passive scan and connected to at the private address that it uses")
  func byEar() {
    var bench = Self.bench()
    bench.connect(Self.identity)
    #expect(bench.commands.map(\.opcode) == [.leSetScanParameters, .leSetScanEnable])
    guard case .leSetScanParameters(let scan)? = bench.commands.first else {
      Issue.record("the first command is not LE Set Scan Parameters")
      return
    }
    #expect(!scan.isActive)
    bench.forget()
    bench.hear([2, 1, 6], from: DeviceAddress(0xC0DE_0000_0008, .random))
    bench.hear([2, 1, 6], from: Self.address(1, Block(high: 1, low: 2)))
    #expect(bench.commands.isEmpty)
    bench.hear([2, 1, 6], from: Self.address(1))
    #expect(bench.commands.first == .leSetScanEnable(false, filterDuplicates: false))
    #expect(Self.attempts(bench) == [Self.address(1)])
    #expect(bench.reports.isEmpty, "nobody above has asked for reports")
    let handle = HCI.ConnectionHandle(rawValue: 1)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, Self.address(1))))
    bench.receive(HostHarness.signOfLife(handle))
    #expect(bench.links.map(\.peer) == [Self.identity])
    #expect(!bench.host.gap.scanner.isEnabled && bench.host.gap.initiator.deadline == nil)
  }

  @Test("A bonded peer that advertises with its identity address is connected to as well")
  func identityOnAir() {
    var bench = Self.bench()
    bench.connect(Self.identity)
    bench.hear([2, 1, 6], from: Self.identity)
    #expect(Self.attempts(bench) == [Self.identity])
  }

  @Test("The host scans again for a peer that changes its address or disappears before the connection")
  func changes() {
    var bench = Self.bench()
    bench.connect(Self.identity)
    bench.hear([2, 1, 6], from: Self.address(1))
    bench.forget()
    bench.passToDeadline()
    #expect(bench.now == Instant.zero + HostInitiator.sightingTime)
    #expect(bench.commands == [.leCreateConnectionCancel])
    bench.forget()
    Self.cancelled(&bench)
    #expect(bench.commands == [.leSetScanEnable(true, filterDuplicates: false)])
    bench.hear([2, 1, 6], from: Self.address(2))
    #expect(Self.attempts(bench) == [Self.address(2)])
    #expect(bench.failures.isEmpty)
  }

  @Test("While the upper layer scans, the host follows each new address at once, and the upper layer gets every report")
  func scanningAbove() {
    var bench = Self.bench()
    bench.scan()
    bench.forget()
    bench.connect(Self.identity)
    #expect(bench.commands.isEmpty)
    bench.hear([2, 1, 6], from: Self.address(1))
    bench.hear([2, 1, 6], from: Self.address(1))
    #expect(Self.attempts(bench) == [Self.address(1)])
    bench.hear([2, 1, 6], from: Self.address(2))
    #expect(bench.commands.last == .leCreateConnectionCancel)
    Self.cancelled(&bench)
    #expect(Self.attempts(bench) == [Self.address(1), Self.address(2)])
    #expect(bench.reports.map(\.address) == [Self.identity, Self.identity, Self.identity])
    #expect(bench.host.gap.scanner.isEnabled)
  }

  @Test("Cancelling the last connection attempt ends the scan for its peer")
  func cancelledWait() {
    var bench = Self.bench()
    bench.connect(Self.identity)
    bench.perform { host, now in host.cancelConnecting(to: Self.identity, at: now) }
    #expect(bench.commands.last == .leSetScanEnable(false, filterDuplicates: false))
    bench.forget()
    bench.hear([2, 1, 6], from: Self.address(1))
    #expect(bench.commands.isEmpty)
    bench.expectToServe()
  }

  @Test("With a peer that needs scanning, all pending peers are connected to by scanning, one after the other")
  func several() {
    var bench = Self.bench()
    bench.connect(HostHarness.peer)
    #expect(Self.attempts(bench) == [HostHarness.peer])
    bench.forget()
    bench.connect(Self.identity)
    Self.cancelled(&bench)
    #expect(
      bench.commands.map(\.opcode) == [.leCreateConnectionCancel, .leSetScanParameters, .leSetScanEnable])
    bench.hear([2, 1, 6])
    #expect(Self.attempts(bench) == [HostHarness.peer])
    bench.receive(
      .leConnectionComplete(HostHarness.connection(.central, HCI.ConnectionHandle(rawValue: 1), HostHarness.peer)))
    bench.hear([2, 1, 6], from: Self.address(4))
    #expect(Self.attempts(bench) == [HostHarness.peer, Self.address(4)])
  }

  @Test("If the controller resolves a peer, the host connects to the identity without scanning")
  func withList() {
    var bench = HostHarness.extended()
    bench.perform { host, now in host.setBonds([Self.bond()], at: now) }
    bench.forget()
    bench.connect(Self.identity)
    #expect(Self.attempts(bench) == [Self.identity])
    #expect(!bench.commands.contains { $0.opcode == .leSetExtendedScanEnable })
  }

  @Test("A controller that fails to resolve a peer on its list is not relied upon any more")
  func claims() {
    var bench = HostHarness.extended()
    bench.perform { host, now in host.setBonds([Self.bond()], at: now) }
    bench.scan()
    for number in 1...3 { bench.hear([2, 1, 6], from: Self.address(UInt32(number))) }
    #expect(bench.reports.map(\.address) == [Self.identity, Self.identity, Self.identity])
    bench.forget()
    bench.connect(Self.identity)
    #expect(Self.attempts(bench) == [])
    bench.hear([2, 1, 6], from: Self.address(4))
    #expect(Self.attempts(bench) == [Self.address(4)])
  }

  @Test("P15 The cache of resolved addresses is bounded, and a forgotten address is resolved again")
  func bounded() {
    var resolver = AddressResolver()
    for address in 0..<UInt64(10_000) { resolver.remember(address, of: address == 9_999 ? Self.identity : nil) }
    #expect(resolver.count == AddressResolver.limit)
    #expect(resolver[9_999] == .some(Self.identity) && resolver[9_998] == .some(nil) && resolver[1] == nil)
    var bench = Self.bench()
    bench.scan()
    bench.hear([2, 1, 6], from: Self.address(1))
    for number in 0..<2_000 { bench.hear([2, 1, 6], from: Self.address(UInt32(number), Block(high: 1, low: 2))) }
    bench.hear([2, 1, 6], from: Self.address(1))
    #expect(bench.reports.count { $0.address == Self.identity } == 2)
  }

  @Test("A peer is reported by its identity while a bond exists, and by its address before and afterwards")
  func bondsChange() {
    var bench = Self.bench([])
    bench.scan()
    bench.hear([2, 1, 6], from: Self.address(1))
    bench.perform { host, now in host.setBonds([Self.bond()], at: now) }
    bench.hear([2, 1, 6], from: Self.address(1))
    bench.perform { host, now in host.removeBond(Self.identity, at: now) }
    bench.hear([2, 1, 6], from: Self.address(1))
    #expect(bench.reports.map(\.address) == [Self.address(1), Self.identity, Self.address(1)])
  }
}
