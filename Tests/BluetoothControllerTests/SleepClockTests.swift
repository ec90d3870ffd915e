import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Sleep clocks")
struct SleepClockTests {
  private func holds(_ link: LinkHarness, for span: TimeSpan = .seconds(120)) -> Bool {
    link.air.run(for: span)
    return link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty
  }

  @Test(
    "Clocks that are off by 500 ppm in opposite directions, as they state, keep a connection at any latency",
    arguments: [
      (6, 499, 3_200), (24, 60, 3_200), (80, 100, 3_200), (800, 14, 3_200), (3_200, 2, 3_200), (3_200, 0, 3_200),
    ])
  func worstClocks(interval: Int, latency: Int, timeout: Int) throws {
    for sign in [Int64(1), -1] {
      let link = try LinkHarness(
        interval: UInt16(interval), latency: UInt16(latency), timeout: UInt16(timeout),
        central: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (500, sign * 500_000) },
        peripheral: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (500, -sign * 500_000) })
      #expect(holds(link))
      link.peripheral.send([7], on: link.peripheralHandle)
      link.air.run(for: .seconds(10))
      #expect(link.central.data.map(\.payload) == [[7]])
    }
  }

  @Test("A peripheral skips as many events as its latency allows, but no more than its receive window can cover")
  func skips() throws {
    let link = try LinkHarness(
      interval: 6, latency: 499, timeout: 3_200, central: { $0.sleepClockAccuracy = 500 },
      peripheral: { $0.sleepClockAccuracy = 500 })
    link.air.run(for: .seconds(10))
    link.air.clearLog()
    link.air.run(for: .seconds(60))
    let answers = link.air.log.filter { $0.device == 1 }.map(\.start)
    let gaps = zip(answers, answers.dropFirst()).map { $0.1 - $0.0 }
    // A window of 3.6 ms covers 3.584 s at 1,000 ppm.
    #expect(!gaps.isEmpty && gaps.allSatisfy { $0 > .milliseconds(3_500) && $0 < .milliseconds(3_600) })
  }

  @Test("A clock that is off by more than it states loses the connection", arguments: [true, false])
  func lie(isCentral: Bool) throws {
    let link = try LinkHarness(
      interval: 80, latency: 40, timeout: 3_200,
      central: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (20, isCentral ? 500_000 : 0) },
      peripheral: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (20, isCentral ? 0 : 500_000) })
    #expect(!holds(link))
    #expect(link.peripheral.disconnections == [.connectionTimeout])
  }

  @Test("Either host gets the peer's stated clock accuracy", arguments: [true, false])
  func request(isCentral: Bool) throws {
    let link = try LinkHarness(
      central: { $0.sleepClockAccuracy = 75 }, peripheral: { $0.sleepClockAccuracy = 20 })
    let (device, handle) = link.side(isCentral)
    #expect(device.send(.leRequestPeerSCA(handle)) == .success)
    link.runEvents(4)
    #expect(device.events.last == .leRequestPeerSCAComplete(.success, handle, clockAccuracy: isCentral ? 7 : 4))
    #expect(device.send(.leRequestPeerSCA(HCI.ConnectionHandle(rawValue: 0x0E00))) == .unknownConnectionIdentifier)
  }

  @Test("A peripheral widens its window for a central that announces a less accurate clock", arguments: [true, false])
  func news(isRequested: Bool) throws {
    let link = try LinkHarness(
      interval: 80, latency: 40, timeout: 3_200,
      central: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (20, 400_000) },
      peripheral: { $0.sleepClockAccuracy = 20 })
    // LL_CLOCK_ACCURACY_REQ: 251 to 500 ppm; the central's initial value is 0 to 20 ppm.
    if isRequested { #expect(link.injectFromCentral([0x1D, 0], events: 10) == [[0x1E, 7]]) }
    #expect(holds(link) == isRequested)
  }

  /// Returns the time by which the peripheral starts to listen before the anchor point of the next event.
  private func widening(_ link: LinkHarness) throws -> TimeSpan {
    let schedule = try #require(link.peripheral.controller.connections.first).schedule
    return schedule.anchor(of: schedule.next) - schedule.start
  }

  @Test("A change to a less accurate clock is sent to the peer, and the windows follow", arguments: [true, false])
  func modify(isCentral: Bool) throws {
    let link = try LinkHarness(interval: 800, timeout: 1_000)
    let (device, handle) = link.side(isCentral)
    link.runEvents(4, interval: .seconds(1))
    let before = try widening(link)
    link.air.clearLog()
    #expect(device.send(.leModifySleepClockAccuracy(isLessAccurate: true)) == .success)
    link.runEvents(4, interval: .seconds(1))
    let sent = link.air.log.compactMap(\.controlPDU)
    #expect(sent.contains(.clockAccuracyReq(.upTo75)) && sent.contains(.clockAccuracyRsp(.upTo50)))
    // 25 ppm more, in an interval of 1 s.
    let more = try widening(link) - before
    #expect((TimeSpan.microseconds(24)...(.microseconds(26))).contains(more))
    // No host has requested the event.
    #expect(link.central.events.allSatisfy { if case .leRequestPeerSCAComplete = $0 { false } else { true } })
    #expect(link.peripheral.events.allSatisfy { if case .leRequestPeerSCAComplete = $0 { false } else { true } })
    let (other, otherHandle) = link.side(!isCentral)
    other.send(.leRequestPeerSCA(otherHandle))
    link.runEvents(4, interval: .seconds(1))
    #expect(other.events.last == .leRequestPeerSCAComplete(.success, otherHandle, clockAccuracy: 4))
    #expect(device.send(.leModifySleepClockAccuracy(isLessAccurate: false)) == .success)
    link.runEvents(4, interval: .seconds(1))
    #expect(try widening(link) == before)
    device.clear()
    device.send(.leRequestPeerSCA(handle))
    link.runEvents(4, interval: .seconds(1))
    #expect(device.events.last == .leRequestPeerSCAComplete(.success, handle, clockAccuracy: 5))
  }

  @Test("The clock accuracy can't exceed the hardware's or fall below 500 ppm, and a reset restores it")
  func limits() {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x1111_1111_1111) { $0.sleepClockAccuracy = 100 }
    air.add(device)
    func modify(isLessAccurate: Bool) -> HCI.ErrorCode? {
      device.send(.leModifySleepClockAccuracy(isLessAccurate: isLessAccurate))
    }
    #expect(modify(isLessAccurate: false) == .limitReached)
    for accuracy in [LL.SleepClockAccuracy.upTo150, .upTo250, .upTo500] {
      #expect(modify(isLessAccurate: true) == .success)
      #expect(device.controller.device.sleepClockAccuracy == accuracy)
    }
    #expect(modify(isLessAccurate: true) == .limitReached)
    #expect(modify(isLessAccurate: false) == .success && device.controller.device.clockAccuracy == 250)
    device.send(.reset)
    #expect(device.controller.device.sleepClockAccuracy == .upTo100 && device.controller.device.clockAccuracy == 100)
    let old = ControllerHarness("old", address: 0x2222_2222_2222) { $0.features.remove(.sleepClockAccuracyUpdates) }
    air.add(old)
    #expect(old.send(.leModifySleepClockAccuracy(isLessAccurate: true)) == .unknownHCICommand)
  }

  @Test("SyncInfo and AuxPtr have the clock accuracy that the host has chosen")
  func announcements() {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x1111_1111_1111)
    air.start(device)
    device.send(.leSetExtendedAdvertisingParameters(.every100ms()))
    device.send(
      .leSetPeriodicAdvertisingParameters(
        HCI.PeriodicAdvertisingParameters(handle: 1, minimumInterval: 40, maximumInterval: 40)))
    device.send(.leSetPeriodicAdvertisingEnable(.enabled, 1))
    device.enable(1)
    func sentAccuracies() -> (accuracies: Set<LL.SleepClockAccuracy>, isAccurate: Set<Bool>) {
      air.clearLog()
      air.run(for: .seconds(1))
      return (
        Set(air.log.compactMap { $0.extended?.syncInfo?.sleepClockAccuracy }),
        Set(air.log.compactMap { $0.extended?.auxiliary?.isClockAccurate })
      )
    }
    var (accuracies, isAccurate) = sentAccuracies()
    #expect(accuracies == [.upTo50] && isAccurate == [true])
    #expect(device.send(.leModifySleepClockAccuracy(isLessAccurate: true)) == .success)
    air.run(for: .milliseconds(200))
    (accuracies, isAccurate) = sentAccuracies()
    #expect(accuracies == [.upTo75] && isAccurate == [false])
  }
}
