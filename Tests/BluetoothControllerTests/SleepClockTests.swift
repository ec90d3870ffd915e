import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Sleep clocks")
struct SleepClockTests {
  private func holds(_ link: TestLink, for span: TimeSpan = .seconds(120)) -> Bool {
    link.air.run(for: span)
    return link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty
  }

  @Test(
    "Clocks that are 500 ppm wrong in opposite directions, and say so, keep a connection at any latency",
    arguments: [
      (6, 499, 3_200), (24, 60, 3_200), (80, 100, 3_200), (800, 14, 3_200), (3_200, 2, 3_200), (3_200, 0, 3_200),
    ])
  func worstClocks(interval: Int, latency: Int, timeout: Int) throws {
    for sign in [Int64(1), -1] {
      let link = try TestLink(
        interval: UInt16(interval), latency: UInt16(latency), timeout: UInt16(timeout),
        central: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (500, sign * 500_000) },
        peripheral: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (500, -sign * 500_000) })
      #expect(holds(link))
      link.peripheral.send([7], on: link.peripheralHandle)
      link.air.run(for: .seconds(10))
      #expect(link.central.data.map(\.payload) == [[7]])
    }
  }

  @Test("A peripheral skips as many events as its latency allows, but not beyond what its window can make up for")
  func skips() throws {
    let link = try TestLink(
      interval: 6, latency: 499, timeout: 3_200, central: { $0.sleepClockAccuracy = 500 },
      peripheral: { $0.sleepClockAccuracy = 500 })
    link.air.run(for: .seconds(10))
    link.air.clearLog()
    link.air.run(for: .seconds(60))
    let answers = link.air.log.filter { $0.device == 1 }.map(\.start)
    let gaps = zip(answers, answers.dropFirst()).map { $0.1 - $0.0 }
    // 3.6 ms of window are 3.584 s at 1,000 ppm.
    #expect(!gaps.isEmpty && gaps.allSatisfy { $0 > .milliseconds(3_500) && $0 < .milliseconds(3_600) })
  }

  @Test("A clock that is more wrong than it says loses the connection", arguments: [true, false])
  func lie(isCentral: Bool) throws {
    let link = try TestLink(
      interval: 80, latency: 40, timeout: 3_200,
      central: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (20, isCentral ? 500_000 : 0) },
      peripheral: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (20, isCentral ? 0 : 500_000) })
    #expect(!holds(link))
    #expect(link.peripheral.disconnections == [.connectionTimeout])
  }

  @Test("Either host learns how accurate the peer's clock says it is", arguments: [true, false])
  func request(isCentral: Bool) throws {
    let link = try TestLink(
      central: { $0.sleepClockAccuracy = 75 }, peripheral: { $0.sleepClockAccuracy = 20 })
    let (device, handle) = link.side(isCentral)
    #expect(device.send(.leRequestPeerSCA(handle)) == .success)
    link.runEvents(4)
    #expect(device.events.last == .leRequestPeerSCAComplete(.success, handle, clockAccuracy: isCentral ? 7 : 4))
    #expect(device.send(.leRequestPeerSCA(HCI.ConnectionHandle(rawValue: 0x0E00))) == .unknownConnectionIdentifier)
  }

  @Test("A central that tells that its clock is worse than it said is believed", arguments: [true, false])
  func news(isTold: Bool) throws {
    let link = try TestLink(
      interval: 80, latency: 40, timeout: 3_200,
      central: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (20, 400_000) },
      peripheral: { $0.sleepClockAccuracy = 20 })
    // LL_CLOCK_ACCURACY_REQ: 251 to 500 ppm; its own is 0 to 20.
    if isTold { #expect(link.injectFromCentral([0x1D, 0], events: 10) == [[0x1E, 7]]) }
    #expect(holds(link) == isTold)
  }
}
