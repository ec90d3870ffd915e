import BluetoothCrypto
import BluetoothWire
import Testing

@testable import BluetoothHost

/// Controllers that claim a resolving list, while nobody scans · Vol 6, Part B, 6.1; Vol 3, Part C, 10.8.2.3.
@Suite("Connecting by a list that may be claimed only")
struct ListDoubtTests {
  private static let identity = DeviceAddress(0xC0DE_0000_0007, .random)
  private static let key = Block(high: 0xEC02_34A3_57C8_AD05, low: 0x3410_10A6_0A39_7D9B)

  /// One of the peer's private addresses.
  private static func address(_ number: UInt32) -> DeviceAddress {
    let prand = 0x40_0000 | number
    return DeviceAddress(UInt64(prand) << 24 | UInt64(Toolbox.ah(irk: key, prand: prand)), .random)
  }

  /// A host that is told to connect to its bonded peer, with a controller that has taken that one on its list.
  private static func bench() -> Bench {
    var bench = Bench.extended()
    var bond = Bond(identity: identity)
    bond.peerIdentityKey = key
    bench.perform { host, now in host.setBonds([bond], at: now) }
    bench.forget()
    bench.connect(identity)
    return bench
  }

  /// The addresses that the controller was told to connect to.
  private static func attempts(_ bench: Bench) -> [DeviceAddress?] {
    bench.commands.compactMap { command -> DeviceAddress?? in
      guard case .leExtendedCreateConnection(let create) = command else { return nil }
      return .some(create.peer.deviceAddress)
    }
  }

  private static func scans(_ bench: Bench) -> Bool { bench.host.scanner.isEnabled }

  /// Passes to the next deadline, and ends the attempt that is given up then.
  private static func passAndCancel(_ bench: inout Bench) {
    bench.forget()
    bench.passToDeadline()
    #expect(bench.commands == [.leCreateConnectionCancel])
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
  }

  /// The controller reports the peer as one whose address it has resolved.
  private static func hearResolved(_ bench: inout Bench) {
    let peer = HCI.PeerAddress(type: 3, value: identity.value)
    bench.hearPart([2, 1, 6], [.legacy, .connectable, .scannable], from: peer)
  }

  @Test("An attempt without a result has the host listen; whom the controller does not know is connected to by ear")
  func claimed() {
    var bench = Self.bench()
    #expect(Self.attempts(bench) == [Self.identity] && !Self.scans(bench))
    Self.passAndCancel(&bench)
    #expect(bench.now == .zero + ListDoubt.patience && Self.scans(bench))
    bench.hear([2, 1, 6], from: Self.address(1))
    #expect(Self.attempts(bench) == [Self.address(1)] && bench.reports.isEmpty)
    // The controller is not relied upon from then on, however long it takes.
    for number in 2...4 {
      Self.passAndCancel(&bench)
      #expect(Self.scans(bench))
      bench.hear([2, 1, 6], from: Self.address(UInt32(number)))
      #expect(Self.attempts(bench) == [Self.address(UInt32(number))])
    }
    let handle = HCI.ConnectionHandle(rawValue: 1)
    bench.receive(.leConnectionComplete(Bench.connection(.central, handle, Self.address(4))))
    bench.receive(Bench.signOfLife(handle))
    #expect(bench.links.map(\.peer) == [Self.identity] && bench.host.initiator.deadline == nil)
  }

  @Test("If nobody is heard the controller goes on, and is doubted again after a pause")
  func absent() {
    var bench = Self.bench()
    for _ in 0..<3 {
      let start = bench.now
      Self.passAndCancel(&bench)
      #expect(Self.scans(bench))
      bench.forget()
      bench.passToDeadline()
      #expect(!Self.scans(bench) && Self.attempts(bench) == [Self.identity])
      #expect(bench.now <= start + ListDoubt.pause + ListDoubt.listeningTime)
    }
    #expect(bench.failures.isEmpty)
  }

  @Test("A controller that reports the identity while the host listens is told to connect to it, and believed")
  func honest() {
    var bench = Self.bench()
    Self.passAndCancel(&bench)
    bench.forget()
    Self.hearResolved(&bench)
    #expect(Self.attempts(bench) == [Self.identity] && !Self.scans(bench))
    #expect(bench.host.initiator.deadline == nil)
  }

  @Test("A controller that has resolved an address before is not doubted")
  func proven() {
    var bench = Self.bench()
    bench.perform { host, now in host.cancelConnecting(to: Self.identity, at: now) }
    bench.scan()
    Self.hearResolved(&bench)
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
    bench.connect(Self.identity)
    #expect(Self.attempts(bench) == [Self.identity, Self.identity] && bench.host.initiator.deadline == nil)
    // A reset makes it another one.
    bench.perform { host, now in host.setPower(false, at: now) }
    bench.powerOn()
    bench.connect(Self.identity)
    #expect(bench.host.initiator.deadline == bench.now + ListDoubt.patience)
  }

  @Test("Nobody doubts where nothing depends on the list, or nobody is waited for any more")
  func independent() {
    var bench = Self.bench()
    bench.perform { host, now in host.cancelConnecting(to: Self.identity, at: now) }
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
    #expect(bench.host.initiator.deadline == nil)
    bench.connect(Bench.peer)
    #expect(bench.host.initiator.deadline == nil)
  }
}
