import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Connection")
struct ConnectionTests {
  @Test(
    "Both hosts get an event for a new connection, and advertising and initiating end",
    .requirement("L026", "L078", "L098"))
  func established() throws {
    let (air, central, peripheral) = PerfectAir.pair("central", "peripheral")
    peripheral.advertise()
    central.connect(to: peripheral)
    air.run(for: .seconds(1))
    let (ofCentral, ofPeripheral) = try #require(
      zip(central.connectionCompletes, peripheral.connectionCompletes).first { _ in true })
    #expect(ofCentral.status == .success && ofPeripheral.status == .success)
    #expect(ofCentral.role == 0 && ofPeripheral.role == 1)
    #expect(ofCentral.peer == HCI.PeerAddress(peripheral.address))
    #expect(ofPeripheral.peer == HCI.PeerAddress(central.address))
    #expect(ofCentral.values == HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200))
    #expect(ofPeripheral.values == ofCentral.values)
    // 50 ppm.
    #expect(ofPeripheral.centralClockAccuracy == 5)
    #expect(central.connectionCompletes.count == 1 && peripheral.connectionCompletes.count == 1)
    #expect(central.send(.leCreateConnectionCancel) == .commandDisallowed)
    air.clearLog()
    air.run(for: .seconds(1))
    #expect(!air.log.contains { $0.isAdvertising })
    #expect(central.disconnections.isEmpty && peripheral.disconnections.isEmpty)
  }

  /// Returns a central, and `count` peripherals that advertise every 100 ms.
  private func crowd(_ count: Int) -> (air: PerfectAir, central: ControllerHarness, peripherals: [ControllerHarness]) {
    let air = PerfectAir()
    let central = ControllerHarness("central", address: 0x1111_1111_1111)
    let peripherals = (0..<count).map {
      ControllerHarness("peripheral \($0)", address: 0x2222_2222_0000 + UInt64($0), seed: UInt64($0))
    }
    for device in [central] + peripherals {
      air.start(device)
    }
    for peripheral in peripherals { peripheral.advertise() }
    return (air, central, peripherals)
  }

  @Test(
    "CONNECT_IND follows a packet of the peer's next advertising event after 150 µs, at any time of the command",
    .requirement("L026"),
    arguments: [0, 10, 20, 30, 40, 50, 60, 70, 80, 90])
  func nextPacket(milliseconds: Int64) throws {
    let (air, central, peripherals) = crowd(1)
    air.run(for: .milliseconds(1_000 + milliseconds))
    air.clearLog()
    let asked = air.now
    central.connect(to: peripherals[0])
    air.run(until: { !central.connectionCompletes.isEmpty })
    let place = try #require(air.log.firstIndex { if case .connectInd? = $0.advertisingPDU { true } else { false } })
    try #require(place > 0)
    #expect(air.log[place].start == air.log[place - 1].end + .microseconds(150))
    // The interval of 100 ms, up to 10 ms of advDelay, and less than 10 ms of an event that had already begun.
    #expect(air.log[place].start - asked < .milliseconds(120))
  }

  @Test("The first packet of a connection begins in the transmit window of CONNECT_IND", .requirement("L120"))
  func transmitWindow() throws {
    let (air, central, peripherals) = crowd(4)
    var offsets: Set<UInt16> = []
    for peripheral in peripherals {
      air.clearLog()
      central.connect(to: peripheral)
      air.run(until: { !peripheral.connectionCompletes.isEmpty })
      air.run(for: .milliseconds(100))
      let requests = air.log.compactMap { sent -> (end: Instant, data: LL.ConnectionData)? in
        if case .connectInd(_, _, let data, _)? = sent.advertisingPDU { (sent.end, data) } else { nil }
      }
      let (end, data) = try #require(requests.first)
      let first = try #require(air.log.first { $0.packet.accessAddress == data.accessAddress })
      // The window begins 1.25 ms after CONNECT_IND plus the offset, in units of 1.25 ms · Vol 6, Part B, 4.5.3.
      let start = end + .microseconds(1_250) * Int64(1 + data.windowOffset)
      #expect(first.start >= start && first.start <= start + .microseconds(1_250) * Int64(data.windowSize))
      offsets.insert(data.windowOffset)
    }
    // The anchor points of a central's connections are spread.
    #expect(offsets.count > 1)
  }

  @Test(
    "A packet without an answer is not repeated in its event, but in the next event on another channel",
    .requirement("L121"))
  func noAnswer() throws {
    let link = try LinkHarness()
    link.runEvents(2)
    link.central.send([7], on: link.centralHandle)
    link.air.outcome = { [accessAddress = link.accessAddress] in
      $0.packet.accessAddress == accessAddress ? .lost : .arrives
    }
    link.air.clearLog()
    link.runEvents(10)
    let sent = link.air.log
    #expect(sent.count == 10 && sent.allSatisfy { $0.device == 0 && $0.packet.payload == [7] })
    for (one, next) in zip(sent, sent.dropFirst()) {
      #expect(next.start - one.start == .milliseconds(30))
      #expect(next.channel != one.channel)
      #expect(next.dataHeader?.sequenceNumber == one.dataHeader?.sequenceNumber)
    }
    link.air.outcome = { _ in .arrives }
    link.runEvents(2)
    #expect(link.peripheral.data.map(\.payload) == [[7]])
  }

  @Test(
    "Connection events come every interval, each on the next channel, and the answer follows after 150 µs",
    .requirement("L126"))
  func events() throws {
    let link = try LinkHarness()
    link.air.clearLog()
    link.runEvents(20)
    let packets = link.air.log
    #expect(packets.count >= 38)
    let anchors = packets.filter { $0.device == 0 }
    for (one, next) in zip(anchors, anchors.dropFirst()) {
      #expect(next.start - one.start == .milliseconds(30))
    }
    for pair in zip(packets, packets.dropFirst()) where pair.0.device == 0 {
      #expect(pair.1.device == 1)
      #expect(pair.1.start - pair.0.end == .microseconds(150))
      #expect(pair.1.channel == pair.0.channel)
    }
    #expect(Set(anchors.map(\.channel)).count > 10)
  }

  @Test("Data pass both ways, complete and in order")
  func data() throws {
    let link = try LinkHarness()
    link.central.send([1, 2, 3], on: link.centralHandle)
    link.peripheral.send([4, 5], on: link.peripheralHandle)
    link.runEvents(3)
    #expect(link.peripheral.data.map(\.payload) == [[1, 2, 3]])
    #expect(link.peripheral.data.map(\.handle) == [link.peripheralHandle])
    #expect(link.peripheral.data.map(\.boundary) == [.firstFlushable])
    #expect(link.central.data.map(\.payload) == [[4, 5]])
    #expect(link.central.completedPackets == 1 && link.peripheral.completedPackets == 1)
  }

  @Test(
    "An ACL packet longer than a data PDU is fragmented, and only the first fragment is marked as first",
    .requirement("L130", "L205"))
  func fragmentation() throws {
    let link = try LinkHarness()
    let payload = (0..<100).map { UInt8($0) }
    link.central.send(payload, on: link.centralHandle)
    link.central.send([0xFF], on: link.centralHandle, boundary: .continuing)
    link.runEvents(3)
    #expect(link.peripheral.data.map(\.payload.count) == [27, 27, 27, 19, 1])
    #expect(
      link.peripheral.data.map(\.boundary) == [.firstFlushable, .continuing, .continuing, .continuing, .continuing])
    #expect(link.peripheral.data.flatMap(\.payload.bytes) == payload + [0xFF])
    #expect(link.central.completedPackets == 2)
  }

  @Test("Data that a host sends in reply at once travel in the same connection event")
  func immediateAnswer() throws {
    let link = try LinkHarness()
    link.peripheral.onData = { device, data in device.send([0xAA], on: data.handle) }
    link.central.send([1], on: link.centralHandle)
    link.air.clearLog()
    link.air.run(until: { !link.central.data.isEmpty })
    #expect(link.air.log.count == 2)
  }

  @Test("An event continues while there are more data, as the MD bit says", .requirement("L132"))
  func moreData() throws {
    let link = try LinkHarness()
    for number in 0..<10 { link.central.send([UInt8(number)], on: link.centralHandle) }
    for number in 0..<5 { link.peripheral.send([UInt8(number)], on: link.peripheralHandle) }
    link.air.clearLog()
    link.runEvents(1)
    #expect(link.peripheral.data.count == 10)
    #expect(link.central.data.count == 5)
    let first = try #require(link.air.log.first?.dataHeader)
    #expect(first.moreData)
    #expect(link.air.log.last?.dataHeader?.moreData == false)
  }

  @Test(
    "A lost PDU is retransmitted until it is acknowledged, and is delivered once", .requirement("L033", "L121"),
    arguments: 0..<2)
  func retransmission(lossy device: Int) throws {
    let link = try LinkHarness()
    var count = 0
    link.air.outcome = { transmission in
      guard !transmission.isAdvertising, transmission.device == device else { return .arrives }
      count += 1
      return count % 3 == 0 ? .arrives : count % 2 == 0 ? .corrupt : .lost
    }
    for number in 0..<20 {
      link.central.send([UInt8(number)], on: link.centralHandle)
      link.peripheral.send([UInt8(number)], on: link.peripheralHandle)
    }
    link.runEvents(120)
    let expected = (0..<20).map { ByteSlice([UInt8($0)]) }
    #expect(link.peripheral.data.map(\.payload) == expected)
    #expect(link.central.data.map(\.payload) == expected)
    #expect(link.central.completedPackets == 20 && link.peripheral.completedPackets == 20)
    #expect(link.central.disconnections.isEmpty)
  }

  @Test("Disconnect sends the reason to the peer, and both hosts get an event", .requirement("L173"))
  func disconnect() throws {
    let link = try LinkHarness()
    #expect(link.central.send(.disconnect(link.centralHandle, reason: .remoteUserTerminatedConnection)) == .success)
    link.runEvents(4)
    #expect(link.central.disconnections == [.connectionTerminatedByLocalHost])
    #expect(link.peripheral.disconnections == [.remoteUserTerminatedConnection])
    link.air.clearLog()
    link.runEvents(4)
    #expect(link.air.log.isEmpty)
  }

  @Test("Disconnect by the peripheral ends the connection too", .requirement("L173"))
  func disconnectByPeripheral() throws {
    let link = try LinkHarness()
    #expect(
      link.peripheral.send(.disconnect(link.peripheralHandle, reason: .remoteDeviceTerminatedPowerOff)) == .success)
    link.runEvents(4)
    #expect(link.peripheral.disconnections == [.connectionTerminatedByLocalHost])
    #expect(link.central.disconnections == [.remoteDeviceTerminatedPowerOff])
  }

  @Test("Both sides lose the connection after the supervision timeout without a packet", .requirement("L123"))
  func supervisionTimeout() throws {
    let link = try LinkHarness(timeout: 100)
    link.runEvents(2)
    link.air.outcome = { _ in .lost }
    link.air.run(for: .milliseconds(900))
    #expect(link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty)
    link.air.run(for: .milliseconds(200))
    #expect(link.central.disconnections == [.connectionTimeout])
    #expect(link.peripheral.disconnections == [.connectionTimeout])
  }

  @Test("S26: both sides give up a connection without any packet after six intervals", .requirement("L118"))
  func failedToBeEstablished() throws {
    let link = try LinkHarness(attacked: .peripheral)
    try link.connectAnew(timeout: 200)
    link.air.outcome = { [accessAddress = link.accessAddress] in
      $0.packet.accessAddress == accessAddress ? .lost : .arrives
    }
    link.air.run(for: .milliseconds(190))
    #expect(link.central.disconnections == [.connectionFailedToBeEstablished])
    #expect(link.peripheral.disconnections == [.connectionFailedToBeEstablished])
    link.air.outcome = { _ in .arrives }
    #expect(link.secondLinksWork())
    link.peripheral.advertise()
    link.central.connect(to: link.peripheral)
    link.air.run(for: .seconds(1))
    #expect(link.central.connectionCompletes.map(\.status) == [.success])
  }

  @Test("Two consecutive packets with a wrong CRC close the event, and the next event continues from there")
  func twoErrors() throws {
    let link = try LinkHarness()
    link.runEvents(3)
    for number in 0..<8 { link.central.send([UInt8(number)], on: link.centralHandle) }
    var packets = 0
    link.air.outcome = { transmission in
      guard transmission.device == 0 else { return .arrives }
      packets += 1
      return packets == 3 || packets == 4 ? .corrupt : .arrives
    }
    link.air.clearLog()
    link.air.run(until: { packets == 5 })
    let starts = link.air.log.filter { $0.device == 0 }.map(\.start)
    #expect(starts.count == 5 && starts[3] - starts[0] < .milliseconds(3))
    #expect(starts[4] - starts[0] == .milliseconds(30))
    link.runEvents(3)
    #expect(link.peripheral.data.count == 8)
  }

  @Test("A Disconnect that the peer never acknowledges completes after the supervision timeout, as locally terminated")
  func terminationTimeout() throws {
    let link = try LinkHarness(timeout: 100)
    link.runEvents(3)
    link.air.outcome = { $0.device == 0 ? .lost : .arrives }
    link.central.send(.disconnect(link.centralHandle, reason: .remoteUserTerminatedConnection))
    link.air.run(for: .milliseconds(900))
    #expect(link.central.disconnections.isEmpty)
    link.air.run(for: .milliseconds(150))
    #expect(link.central.disconnections == [.connectionTerminatedByLocalHost])
    #expect(link.peripheral.disconnections == [.connectionTimeout])
  }

  @Test("A reset ends all activity without a packet, and the peer notices by its supervision timeout")
  func reset() throws {
    let link = try LinkHarness(timeout: 50)
    link.runEvents(2)
    link.central.send(.reset)
    link.air.clearLog()
    link.air.run(for: .seconds(1))
    #expect(link.air.log.isEmpty)
    #expect(link.central.disconnections.isEmpty)
    #expect(link.peripheral.disconnections == [.connectionTimeout])
  }

  @Test(
    "A peripheral without data skips events up to its latency, and wakes up for its host's data", .requirement("L122"))
  func latency() throws {
    let link = try LinkHarness(latency: 4)
    link.runEvents(10)
    link.air.clearLog()
    link.runEvents(50)
    let answers = link.air.log.count { $0.device == 1 }
    #expect((9...11).contains(answers))
    link.air.run(until: { link.air.log.last?.device == 1 })
    link.peripheral.send([7], on: link.peripheralHandle)
    link.runEvents(2)
    #expect(link.central.data.map(\.payload) == [[7]])
    link.runEvents(100)
    #expect(link.central.disconnections.isEmpty)
  }

  @Test("Window widening keeps the connection if both clocks drift within their stated accuracy", .requirement("L127"))
  func clockDrift() throws {
    let link = try LinkHarness(
      interval: 80, latency: 20, timeout: 1000, central: { $0.sleepClockDrift = 50_000 },
      peripheral: { $0.sleepClockDrift = -50_000 })
    link.air.run(for: .seconds(60))
    #expect(link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty)
    link.peripheral.send([7], on: link.peripheralHandle)
    link.air.run(for: .seconds(3))
    #expect(link.central.data.count == 1)
  }

  @Test("The connection is lost if a clock drifts beyond its stated accuracy")
  func dishonestClock() throws {
    let link = try LinkHarness(
      interval: 800, latency: 2, timeout: 1000, peripheral: { $0.sleepClockDrift = 2_000_000 })
    link.air.run(for: .seconds(60))
    #expect(!link.peripheral.disconnections.isEmpty)
  }
}
