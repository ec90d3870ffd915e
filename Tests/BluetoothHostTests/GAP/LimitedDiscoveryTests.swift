import BluetoothHost
import BluetoothWire
import Requirements
import TestSupport
import Testing

@Suite("Limited discoverable mode")
struct LimitedDiscoveryTests {
  private func bench(
    _ limit: HostAdvertising.LimitedDiscovery, data: ByteSlice = [2, 1, 6, 2, 0x0A, 4]
  ) -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    var advertising = HostAdvertising(data: data, scanResponse: [])
    advertising.limit = limit
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    return bench
  }

  private func hasEnded(_ bench: HostHarness) -> Bool {
    bench.events.contains { if case .advertisingEnded = $0 { true } else { false } }
  }

  @Test(
    "The Flags show limited discoverable mode for 180 s; then advertising ends, and the end is reported",
    .requirement("A012", "L112"))
  func ends() {
    var bench = bench(HostAdvertising.LimitedDiscovery())
    #expect(bench.commands.contains(.leSetAdvertisingData([2, 1, 5, 2, 0x0A, 4])))
    #expect(bench.advertisingAnswers == [nil])
    #expect(bench.host.deadline == .zero + .seconds(180))
    bench.forget()
    bench.pass(.seconds(179))
    #expect(bench.commands.isEmpty && bench.events.isEmpty)
    bench.passToDeadline()
    #expect(bench.commands == [.leSetAdvertisingEnable(false)])
    #expect(hasEnded(bench))
    #expect(bench.host.deadline == nil)
  }

  @Test("Limited discoverable mode lasts no longer than 180 s")
  func longest() {
    #expect(HostAdvertising.LimitedDiscovery(for: .seconds(181)).time == .seconds(180))
    let bench = bench(HostAdvertising.LimitedDiscovery(for: .seconds(30)))
    var copy = bench
    #expect(copy.host.deadline == .zero + .seconds(30))
  }

  @Test(
    "After the limit, advertising can continue as general discoverable, with changed Flags and without a pause",
    .requirement("L112"))
  func general() {
    var bench = bench(HostAdvertising.LimitedDiscovery(then: .becomesGeneral))
    bench.forget()
    bench.passToDeadline()
    #expect(bench.commands == [.leSetAdvertisingData([2, 1, 6, 2, 0x0A, 4])])
    #expect(bench.events.isEmpty)
    #expect(bench.host.deadline == nil)
  }

  @Test("Data without Flags get the Flags if they have room for them; data without room are refused")
  func withoutFlags() {
    let short = bench(HostAdvertising.LimitedDiscovery(), data: [2, 0x0A, 4])
    #expect(short.commands.contains(.leSetAdvertisingData([2, 1, 5, 2, 0x0A, 4])))
    let long = bench(
      HostAdvertising.LimitedDiscovery(), data: ByteSlice([28, 0xFF] + [UInt8](repeating: 1, count: 27)))
    #expect(long.commands.isEmpty)
    #expect(long.advertisingAnswers == [.outOfSpace])
  }

  @Test("The limit keeps running beside a link and prevents the advertising after it from resuming")
  func besideLink() {
    var bench = bench(HostAdvertising.LimitedDiscovery())
    bench.answers[.leSetAdvertisingEnable] = .complete(.status(.commandDisallowed))
    let handle = bench.link(.peripheral)
    // The host retries at the controller every 30 s.
    let end = bench.now + HostAdvertising.LimitedDiscovery.maximumTime
    while bench.now < end { bench.passToDeadline() }
    #expect(hasEnded(bench))
    bench.answers = [:]
    bench.forget()
    bench.receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
    #expect(bench.commands.isEmpty)
  }

  @Test("Another start, a stop or a power switch removes the limit")
  func forgotten() {
    for action: (inout Host, Instant) -> Void in [
      { $0.startAdvertising(data: [2, 1, 6], scanResponse: [], at: $1) }, { $0.stopAdvertising(at: $1) },
      { $0.setPower(false, at: $1) },
    ] {
      var bench = bench(HostAdvertising.LimitedDiscovery())
      bench.perform(action)
      bench.pass(.seconds(180))
      #expect(!hasEnded(bench))
    }
  }
}
