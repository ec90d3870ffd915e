import BluetoothCrypto
import BluetoothWire
import Testing

@testable import BluetoothHost

/// Controllers that claim a resolving list, while no scan is active · Vol 6, Part B, 6.1; Vol 3, Part C, 10.8.2.3.
@Suite("Connecting through a resolving list that the controller may only claim")
struct ResolvingListProbeTests {
  private static let identity = DeviceAddress(0xC0DE_0000_0007, .random)
  private static let key = Block(high: 0xEC02_34A3_57C8_AD05, low: 0x3410_10A6_0A39_7D9B)

  /// Returns one of the peer's private addresses.
  private static func address(_ number: UInt32) -> DeviceAddress {
    let prand = 0x40_0000 | number
    return DeviceAddress(UInt64(prand) << 24 | UInt64(Toolbox.ah(irk: key, prand: prand)), .random)
  }

  /// Returns a host with a connection attempt to its bonded peer, whose controller has accepted the peer on its list.
  private static func bench() -> HostHarness {
    var bench = HostHarness.extended()
    var bond = HostBond(identity: identity)
    bond.peerIdentityKey = key
    bench.perform { host, now in host.setBonds([bond], at: now) }
    bench.forget()
    bench.connect(identity)
    return bench
  }

  /// Returns the addresses that the controller was told to connect to.
  private static func attempts(_ bench: HostHarness) -> [DeviceAddress?] {
    bench.commands.compactMap { command -> DeviceAddress?? in
      guard case .leExtendedCreateConnection(let create) = command else { return nil }
      return .some(create.peer.deviceAddress)
    }
  }

  private static func scans(_ bench: HostHarness) -> Bool { bench.host.gap.scanner.isEnabled }

  /// Advances to the next deadline and completes the cancellation of the attempt.
  private static func passAndCancel(_ bench: inout HostHarness) {
    bench.forget()
    bench.passToDeadline()
    #expect(bench.commands == [.leCreateConnectionCancel])
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
  }

  /// Reports the peer with an address that the controller has resolved.
  private static func hearResolved(_ bench: inout HostHarness) {
    let peer = HCI.PeerAddress(type: 3, value: identity.value)
    bench.hearPart([2, 1, 6], [.legacy, .connectable, .scannable], from: peer)
  }

  @Test("After an attempt without a result the host scans, and connects to a peer that the controller did not resolve")
  func claimed() {
    var bench = Self.bench()
    #expect(Self.attempts(bench) == [Self.identity] && !Self.scans(bench))
    Self.passAndCancel(&bench)
    #expect(bench.now == .zero + ResolvingListProbe.probeDelay && Self.scans(bench))
    bench.hear([2, 1, 6], from: Self.address(1))
    #expect(Self.attempts(bench) == [Self.address(1)] && bench.reports.isEmpty)
    // From then on the host does not rely on the controller, however long connecting takes.
    for number in 2...4 {
      Self.passAndCancel(&bench)
      #expect(Self.scans(bench))
      bench.hear([2, 1, 6], from: Self.address(UInt32(number)))
      #expect(Self.attempts(bench) == [Self.address(UInt32(number))])
    }
    let handle = HCI.ConnectionHandle(rawValue: 1)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, Self.address(4))))
    bench.receive(HostHarness.signOfLife(handle))
    #expect(bench.links.map(\.peer) == [Self.identity] && bench.host.gap.initiator.deadline == nil)
  }

  @Test("If the scan hears no peer, the controller connects again, and the host scans again after a pause")
  func absent() {
    var bench = Self.bench()
    for _ in 0..<3 {
      let start = bench.now
      Self.passAndCancel(&bench)
      #expect(Self.scans(bench))
      bench.forget()
      bench.passToDeadline()
      #expect(!Self.scans(bench) && Self.attempts(bench) == [Self.identity])
      #expect(bench.now <= start + ResolvingListProbe.pause + ResolvingListProbe.listeningTime)
    }
    #expect(bench.failures.isEmpty)
  }

  @Test("A controller that reports the identity during the scan gets the connection and is trusted")
  func honest() {
    var bench = Self.bench()
    Self.passAndCancel(&bench)
    bench.forget()
    Self.hearResolved(&bench)
    #expect(Self.attempts(bench) == [Self.identity] && !Self.scans(bench))
    #expect(bench.host.gap.initiator.deadline == nil)
  }

  @Test("A controller that has resolved an address before is trusted without a scan")
  func proven() {
    var bench = Self.bench()
    bench.perform { host, now in host.cancelConnecting(to: Self.identity, at: now) }
    bench.scan()
    Self.hearResolved(&bench)
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
    bench.connect(Self.identity)
    #expect(Self.attempts(bench) == [Self.identity, Self.identity] && bench.host.gap.initiator.deadline == nil)
    // After a reset the controller has to prove itself again.
    bench.perform { host, now in host.setPower(false, at: now) }
    bench.powerOn()
    bench.connect(Self.identity)
    #expect(bench.host.gap.initiator.deadline == bench.now + ResolvingListProbe.probeDelay)
  }

  @Test("The host does not scan if no attempt depends on the list or all attempts are cancelled")
  func independent() {
    var bench = Self.bench()
    bench.perform { host, now in host.cancelConnecting(to: Self.identity, at: now) }
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
    #expect(bench.host.gap.initiator.deadline == nil)
    bench.connect(HostHarness.peer)
    #expect(bench.host.gap.initiator.deadline == nil)
  }
}
