import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// Links whose LE Connection Complete or Disconnection Complete does not arrive.
@Suite("Links that the controller did not report") struct UnknownLinkTests {
  private static let unknown = HCI.ConnectionHandle(rawValue: 0x77)

  private func advertising() -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.forget()
    return bench
  }

  /// Returns the handles in the Disconnect commands.
  private func ended(_ bench: HostHarness) -> [HCI.ConnectionHandle] {
    bench.commands.compactMap { if case .disconnect(let handle, _) = $0 { handle } else { nil } }
  }

  private func enables(_ bench: HostHarness) -> [Bool] {
    bench.commands.compactMap { if case .leSetAdvertisingEnable(let isOn) = $0 { isOn } else { nil } }
  }

  @Test("A link that is still unknown 1 s after its first data is disconnected, and advertising resumes")
  func ended() {
    var bench = advertising()
    bench.receive(.attribute, [0x02, 0x17, 0x00], on: Self.unknown)
    #expect(bench.commands.isEmpty && bench.data.isEmpty)
    bench.pass(.milliseconds(999))
    #expect(bench.commands.isEmpty)
    bench.pass(.milliseconds(1))
    #expect(ended(bench) == [Self.unknown])
    #expect(enables(bench) == [false, true])
    #expect(bench.troubles == [.unknownLink(Self.unknown)])
    bench.receive(.disconnectionComplete(.success, Self.unknown, reason: .connectionTerminatedByLocalHost))
    #expect(bench.links.isEmpty && bench.disconnections.isEmpty)
  }

  private func probes(_ bench: HostHarness) -> Int { bench.commands.count { $0.opcode == .readRSSI } }

  @Test("After a minute without data the host queries a link, and ends it if the controller does not know it")
  func lostEnd() {
    var bench = advertising()
    let handle = bench.link(.peripheral)
    bench.forget()
    bench.answers[.readRSSI] = .complete(.status(.unknownConnectionIdentifier))
    // The link was created in the first minute.
    bench.pass(LinkCheckTimes.period)
    #expect(probes(bench) == 0)
    bench.pass(LinkCheckTimes.period - .milliseconds(1))
    #expect(probes(bench) == 0 && bench.host.links.count == 1)
    bench.pass(.milliseconds(1))
    #expect(probes(bench) == 1)
    #expect(bench.host.links.isEmpty)
    #expect(bench.troubles == [.lostLink(handle)])
    #expect(bench.disconnections == [.connectionTimeout])
    bench.pass(.seconds(300))
    #expect(probes(bench) == 1)
  }

  @Test("The host does not query a link with traffic, and keeps a queried link that the controller confirms")
  func livingLink() {
    var bench = advertising()
    let handle = bench.link(.peripheral)
    bench.forget()
    for _ in 0..<6 {
      bench.pass(.seconds(50))
      bench.receive(.attribute, [0x02, 0x17, 0x00], on: handle)
    }
    #expect(probes(bench) == 0)
    bench.answers[.readRSSI] = .noAnswer
    for _ in 0..<13 { bench.pass(.seconds(10)) }
    bench.answers[.readRSSI] = nil
    for _ in 0..<30 { bench.pass(.seconds(10)) }
    #expect(probes(bench) == 6)
    #expect(bench.host.links.count == 1 && bench.disconnections.isEmpty)
  }

  private enum LinkCheckTimes { static let period = TimeSpan.seconds(60) }

  @Test("Data that overtakes LE Connection Complete disconnects no link")
  func overtaken() {
    var bench = advertising()
    bench.receive(.attribute, [0x02, 0x17, 0x00], on: Self.unknown)
    bench.link(.peripheral, handle: Self.unknown.rawValue)
    bench.pass(.seconds(2))
    #expect(ended(bench).isEmpty && bench.host.links.count == 1)
  }

  @Test("The end of an unknown link makes the host restart advertising and connecting")
  func unknownEnd() {
    var bench = advertising()
    bench.perform { host, now in host.connect(to: HostHarness.peer, at: now) }
    bench.forget()
    bench.answers[.leCreateConnectionCancel] = .complete(.status(.commandDisallowed))
    bench.receive(.disconnectionComplete(.success, Self.unknown, reason: .connectionTimeout))
    #expect(enables(bench) == [false, true])
    #expect(bench.commands.map(\.opcode).contains(.leCreateConnectionCancel))
    #expect(bench.commands.last?.opcode == .leCreateConnection)
    #expect(bench.failures.isEmpty)
  }

  @Test("A handle that is reported with another link belongs to that link: the previous link has ended")
  func reusedHandle() {
    var bench = advertising()
    let handle = bench.link(.peripheral)
    bench.pass(.seconds(3))
    bench.forget()
    let other = DeviceAddress(0xC0_00_00_00_00_07, .random)
    bench.receive(.leConnectionComplete(HostHarness.connection(.peripheral, handle, other)))
    #expect(bench.disconnections == [.connectionTimeout])
    #expect(bench.links.map(\.peer) == [other] && bench.host.links.map(\.peer) == [other])
  }

  @Test("A repeated LE Connection Complete gives one link")
  func duplicate() {
    var bench = advertising()
    let handle = bench.link(.peripheral)
    bench.receive(.leConnectionComplete(HostHarness.connection(.peripheral, handle, HostHarness.peer)))
    #expect(bench.disconnections.isEmpty && bench.links.count == 1)
  }

  @Test("The host retries after 30 s when the controller refuses to advertise beside a link")
  func refusedBesideLink() {
    var bench = advertising()
    bench.answers[.leSetAdvertisingEnable] = .complete(.status(.commandDisallowed))
    bench.link(.peripheral)
    #expect(enables(bench) == [true])
    bench.answers[.leSetAdvertisingEnable] = nil
    bench.pass(.milliseconds(29_999))
    #expect(enables(bench) == [true])
    bench.pass(.milliseconds(1))
    #expect(enables(bench) == [true, true])
  }

  @Test("A flood of unknown handles causes few disconnections at a time")
  func flood() {
    var bench = advertising()
    for number: UInt16 in 0...0x0EFF {
      bench.receive(.attribute, [0x02, 0x17, 0x00], on: HCI.ConnectionHandle(rawValue: number))
    }
    bench.pass(.seconds(1))
    #expect(ended(bench).count == 8)
  }
}
