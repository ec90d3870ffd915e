import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// The data rate of links that a configuration sets.
@Suite("Data rate of links")
struct LinkPaceTests {
  /// A host with a rate of 1,000 octets in a second, and a link with an interval of 30 ms whose MTU exchange is complete.
  private static func bench(rate: Int? = 1_000) -> (HostHarness, HCI.ConnectionHandle) {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.linkDataRate = rate
    var bench = HostHarness(configuration: configuration)
    bench.facts.aclLength = 251
    bench.facts.aclCount = 200
    bench.powerOn()
    let handle = bench.link(.central)
    bench.receive(.attribute, [0x03, 0x05, 0x02], on: handle)
    bench.completeAll()
    bench.now += .seconds(1)
    bench.host.timeReached(bench.now)
    bench.run()
    bench.forget()
    return (bench, handle)
  }

  private static func value(_ number: Int, _ count: Int = 20) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
  }

  @Test("Values to send wait in their order once they are an interval ahead of the rate, and none is lost")
  func sending() throws {
    var (bench, handle) = Self.bench()
    let start = bench.now
    var times: [TimeSpan] = []
    for number in 0..<10 {
      bench.perform { host, now in
        host.request(
          .writeWithoutResponse(3, ByteSlice(Self.value(number))), token: UInt64(number), on: handle, at: now)
      }
    }
    times += bench.data.map { _ in bench.now - start }
    while times.count < 10 {
      bench.passToDeadline()
      times += Array(repeating: bench.now - start, count: bench.data.count - times.count)
    }
    // Each value takes 20 ms. The first two end 40 ms after the start, 10 ms more than the interval.
    #expect(times == [0, 0, 10, 30, 50, 70, 90, 110, 130, 150].map { .milliseconds($0) })
    #expect(try bench.payloads(on: handle, .attribute) == (0..<10).map { [0x52, 3, 0] + Self.value($0) })
    // The writes complete as they are sent, so that the app gets its credits back at the rate.
    let completed = bench.events.compactMap { event -> GATTToken? in
      if case .gatt(_, .completed(let token, .success)) = event { token } else { nil }
    }
    #expect(completed == (0..<10).map { GATTToken($0) })
    #expect(bench.host.deadline.map { $0 - bench.now > .seconds(1) } ?? true, "nothing waits any more")
  }

  @Test("A link that is idle saves no more than the data of one interval")
  func idle() {
    var (bench, handle) = Self.bench()
    bench.now += .seconds(60)
    for number in 0..<5 {
      bench.perform { host, now in
        host.request(
          .writeWithoutResponse(3, ByteSlice(Self.value(number))), token: UInt64(number), on: handle, at: now)
      }
    }
    #expect(bench.data.count == 2)
  }

  @Test("A long value delays the next one by its own time, and signals go on meanwhile")
  func others() throws {
    var (bench, handle) = Self.bench()
    let start = bench.now
    bench.perform { host, now in
      host.request(.writeWithoutResponse(3, ByteSlice(Self.value(1, 200))), token: 1, on: handle, at: now)
      host.request(.writeWithoutResponse(3, ByteSlice(Self.value(2))), token: 2, on: handle, at: now)
    }
    #expect(try bench.payloads(on: handle, .attribute).map(\.count) == [203])
    // Command Reject answers a signal of an unknown code.
    bench.receive(.signalling, [0x3F, 1, 0, 0], on: handle)
    #expect(try bench.payloads(on: handle, .signalling).count == 1)
    bench.passToDeadline()
    #expect(bench.now - start == .milliseconds(170))
    #expect(try bench.payloads(on: handle, .attribute).map(\.count) == [203, 23])
  }

  @Test("A peer that sends more than the rate is held until its data are no more than an interval ahead")
  func receiving() {
    var (bench, handle) = Self.bench()
    #expect(!bench.host.pacedLinksChanged)
    bench.receive(.attribute, [0x1B, 3, 0] + Self.value(1), on: handle)
    #expect(!bench.host.pacedLinksChanged)
    bench.receive(.attribute, [0x1B, 3, 0] + Self.value(2), on: handle)
    #expect(bench.host.pacedLinksChanged)
    #expect(bench.host.takePacedLinks() == [handle] && !bench.host.pacedLinksChanged)
    // What has been on its way is taken.
    let start = bench.now
    bench.receive(.attribute, [0x1B, 3, 0] + Self.value(3), on: handle)
    let values = bench.events.compactMap { event -> UInt8? in
      if case .gatt(_, .valueReceived(3, let value)) = event { value[0] } else { nil }
    }
    #expect(values == [1, 2, 3])
    bench.passToDeadline()
    #expect(bench.now - start == .milliseconds(30))
    #expect(bench.host.pacedLinksChanged && bench.host.takePacedLinks() == [])
  }

  @Test("The end of a held link releases its handle")
  func end() {
    var (bench, handle) = Self.bench()
    for number in 0..<3 { bench.receive(.attribute, [0x1B, 3, 0] + Self.value(number), on: handle) }
    #expect(bench.host.takePacedLinks() == [handle])
    bench.receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
    #expect(bench.host.pacedLinksChanged && bench.host.takePacedLinks() == [])
  }

  @Test("Without a rate, all values are sent at once and no link is held")
  func unlimited() {
    var (bench, handle) = Self.bench(rate: nil)
    for number in 0..<50 {
      bench.receive(.attribute, [0x1B, 3, 0] + Self.value(number), on: handle)
      bench.perform { host, now in
        host.request(
          .writeWithoutResponse(3, ByteSlice(Self.value(number))), token: UInt64(number), on: handle, at: now)
      }
    }
    #expect(bench.data.count == 50 && !bench.host.pacedLinksChanged)
  }
}
