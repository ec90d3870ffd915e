import BluetoothLab
import CoreBluetooth
import MetricsTestKit
import TestSupport
import Testing

@Suite("Statistics")
struct StatisticsTests {
  @Test("The statistics of a connection's two ends agree")
  func ends() async throws {
    let meeting = Encounter(HeartRateSensor())
    #expect(await meeting.prepare())
    meeting.app.subscribe("2A37")
    await meeting.world.run(for: .seconds(10))
    let statistics = meeting.world.statistics
    let sensor = try #require(statistics["accessory"]?.links.first)
    let phone = try #require(statistics["phone"]?.links.first)
    #expect(sensor.number == phone.number)
    #expect((sensor.peer, phone.peer) == ("phone", "accessory"))
    #expect((sensor.isCentral, phone.isCentral) == (false, true))
    #expect(sensor.isConnected && phone.isConnected)
    #expect(sensor.sent.octets == phone.received.octets)
    #expect(sensor.sent.packets == phone.received.packets)
    #expect(sensor.received.octets == phone.sent.octets)
    #expect(sensor.retransmissions == 0)
    #expect(sensor.crcErrors == 0)
    // 2 m at 0 dBm: 40 + 25 log₁₀ 2 = 47.5 dB.
    #expect(abs((sensor.rssi ?? 0) + 47.5) < 0.1)
    #expect(abs((phone.meanRSSI ?? 0) + 47.5) < 0.1)
    // 30 ms.
    #expect((325...345).contains(phone.attendedEvents))
    #expect(statistics.time == meeting.world.now)
  }

  @Test("Packets lost on the air are counted at the sender that retransmits and at the receiver that misses them")
  func losses() async throws {
    let meeting = Encounter(HeartRateSensor())
    #expect(await meeting.prepare())
    let before = meeting.world.statistics
    meeting.world.add([.air(.corrupt, .from("accessory"), .numbers(1...20))])
    await meeting.world.run(for: .seconds(5))
    let statistics = meeting.world.statistics.since(before)
    #expect(statistics["phone"]?.links.first?.crcErrors == 20)
    #expect(statistics["phone"]?.crcErrors == 20)
    #expect(statistics["accessory"]?.crcErrors == 0)
    #expect(statistics.time == .seconds(5))
  }

  @Test("The statistics include connections that have ended")
  func ended() async throws {
    let meeting = Encounter(BatteryPack())
    #expect(await meeting.prepare())
    meeting.app.manager.cancelPeripheralConnection(try #require(meeting.app.peripheral))
    await meeting.world.run(for: .seconds(1))
    let link = try #require(meeting.phone.statistics.links.first)
    #expect(!link.isConnected)
    #expect(link.sent.octets > 0)
    #expect(link.peer == "accessory")
  }

  @Test("Throughput is the received data divided by the time of its reception")
  func throughput() async throws {
    let meeting = Encounter(HeartRateSensor(interval: .milliseconds(100)))
    #expect(await meeting.prepare())
    meeting.app.subscribe("2A37")
    await meeting.world.run(for: .seconds(2))
    let before = try #require(meeting.phone.statistics.links.first)
    await meeting.world.run(for: .seconds(10))
    let link = try #require(meeting.phone.statistics.links.first).since(before)
    // Ten times a second 4 octets in an ATT PDU of 7 in an L2CAP frame of 11.
    #expect(abs(link.throughputReceived - 880) < 20)
    let device = meeting.phone.statistics
    let bits = Double(8 * device.links[0].received.octets)
    #expect(abs(device.throughputReceived * (device.time / .seconds(1)) - bits) < 0.001)
    #expect(device.retransmissions == device.links[0].retransmissions)
  }

  @Test("Every nanosecond of a radio counts for one purpose, and the sum is the radio's total")
  func purposes() async throws {
    let meeting = Encounter(BatteryPack())
    #expect(await meeting.prepare())
    await meeting.world.run(for: .seconds(5))
    for device in meeting.world.statistics.devices {
      #expect(device.transmitting == device.transmitted.airTime, "\(device.name)")
      #expect(device.time == meeting.world.now, "\(device.name)")
      #expect(device.sleeping > .zero)
    }
    let phone = meeting.phone.statistics
    // The phone scans from the start to the first packet, and then stops.
    #expect(phone.uses[.scanning].map { $0.receiving > .zero } == true)
    #expect(phone.uses[.advertising].map { $0.receiving } == .zero)
    #expect(meeting.accessory.statistics.uses[.scanning].map { $0.receiving } == .zero)
  }

  @Test("Statistics survive a round trip through JSON")
  func coding() async throws {
    let meeting = Encounter(BatteryPack())
    #expect(await meeting.prepare())
    let statistics = meeting.world.statistics
    let data = try JSONEncoder().encode(statistics)
    #expect(try JSONDecoder().decode(WorldStatistics.self, from: data) == statistics)
  }

  @Test("An attempt to connect whose request is lost counts as failed, and no link stands for it")
  func lostRequests() async throws {
    let meeting = Encounter(HeartRateSensor())
    meeting.world.add([.air(.lose, .connectIndications, .numbers(1...3))])
    #expect(await meeting.prepare())
    let statistics = meeting.world.statistics
    let phone = try #require(statistics["phone"])
    var expected = ConnectionAttempts(peer: "accessory")
    (expected.count, expected.lostRequests) = (4, 3)
    #expect(phone.attempts == [expected] && phone.failedAttempts == 3)
    #expect(phone.links.map(\.peer) == ["accessory"] && phone.retransmissions == 0)
    let accessory = try #require(statistics["accessory"])
    #expect(accessory.links.map(\.peer) == ["phone"] && accessory.attempts.isEmpty)
    await meeting.world.run(for: .seconds(1))
    #expect(meeting.world.statistics.since(statistics)["phone"]?.attempts == [ConnectionAttempts(peer: "accessory")])
    let metrics = TestMetrics()
    meeting.world.reportMetrics(to: metrics)
    let dimensions = [("device", "phone"), ("peer", "accessory")]
    #expect(try metrics.expectCounter("bluetooth_connection_attempts", dimensions).totalValue == 4)
    #expect(try metrics.expectCounter("bluetooth_connection_attempts_failed", dimensions).totalValue == 3)
  }

  @Test("An attempt fails without an answer if the central misses the peripheral's packets, and both have names")
  func unanswered() async throws {
    let meeting = Encounter(HeartRateSensor())
    meeting.world.add([.air(.lose, .control(from: "accessory"), .numbers(1...6))])
    #expect(await meeting.prepare())
    let statistics = meeting.world.statistics
    var expected = ConnectionAttempts(peer: "accessory")
    (expected.count, expected.unanswered) = (2, 1)
    #expect(statistics["phone"]?.attempts == [expected])
    #expect(statistics["phone"]?.links.map(\.peer) == ["accessory"])
    // The peripheral received the central's packets, so it had a link.
    #expect(statistics["accessory"]?.links.map(\.peer) == ["phone", "phone"])
    #expect(statistics["accessory"]?.links.map(\.isConnected) == [false, true])
  }

  @Test("Counters and gauges are exported for each device and peer, with the increments since the last report")
  func metrics() async throws {
    let metrics = TestMetrics()
    let meeting = Encounter(HeartRateSensor())
    #expect(await meeting.prepare())
    meeting.world.reportMetrics(to: metrics)
    let sent = try metrics.expectCounter("bluetooth_packets_sent", [("device", "phone")])
    let first = sent.totalValue
    #expect(first == Int64(meeting.phone.statistics.transmitted.packets))
    meeting.world.reportMetrics(to: metrics)
    #expect(sent.totalValue == first)
    let before = try #require(meeting.phone.statistics.links.first)
    await meeting.world.run(for: .seconds(3))
    meeting.world.reportMetrics(to: metrics)
    #expect(sent.totalValue == Int64(meeting.phone.statistics.transmitted.packets))
    let link = try metrics.expectCounter(
      "bluetooth_link_octets_received", [("device", "phone"), ("peer", "accessory")])
    let statistics = meeting.phone.statistics
    #expect(link.totalValue == Int64(statistics.links[0].received.octets))
    let dimensions = [("device", "phone"), ("peer", "accessory")]
    #expect(
      try metrics.expectCounter("bluetooth_link_packets_sent", dimensions).totalValue
        == Int64(statistics.links[0].sent.packets))
    let airTime = try metrics.expectCounter("bluetooth_air_time", [("device", "phone")]).totalValue
    #expect(Duration.microseconds(airTime) == statistics.transmitted.airTime)
    let recent = statistics.links[0].since(before)
    #expect(recent.received.octets > 0)
    #expect(
      try metrics.expectGauge("bluetooth_link_throughput_received", dimensions).lastValue == recent.throughputReceived)
  }

  @Test("Statistics are available in a callback")
  func inCallback() async {
    let meeting = Meeting()
    nonisolated(unsafe) var packets = 0
    meeting.central.onEvent = { [world = meeting.world] event in
      if event == .ready { packets = world.statistics["central"]?.transmitted.packets ?? 0 }
    }
    await meeting.world.run(until: { meeting.central.isReady })
    #expect(packets > 5)
  }
}
