import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Hostile peers")
struct HostilePeerTests {
  // MARK: CONNECT_IND

  /// Sends a CONNECT_IND that is changed on the air, and returns true if the peripheral accepted it.
  private func accepts(_ change: @escaping (inout LL.ConnectionData) -> Void) throws -> Bool {
    let (air, central, peripheral) = PerfectAir.pair("central", "peripheral")
    let secondLink = try SecondLink(of: peripheral, on: air)
    peripheral.advertise()
    central.connect(to: peripheral)
    air.outcome = { transmission in
      if case .connectInd(let initiator, let advertiser, var data, let chSel)? = transmission.advertisingPDU {
        change(&data)
        transmission.packet = LL.AdvertisingPDU.connectInd(
          initiator: initiator, advertiser: advertiser, data: data, usesAlgorithm2: chSel
        ).packet(in: peripheral.pool)
      }
      return .arrives
    }
    air.run(until: { !central.connectionCompletes.isEmpty })
    let isTaken = !peripheral.connectionCompletes.isEmpty
    air.outcome = { _ in .arrives }
    air.run(for: .milliseconds(500))
    if !isTaken {
      // The peripheral continues to advertise, and the next central connects.
      #expect(central.disconnections == [.connectionFailedToBeEstablished])
      central.clear()
      central.connect(to: peripheral)
      air.run(for: .seconds(1))
      #expect(central.connectionCompletes.map(\.status) == [.success])
      #expect(peripheral.connectionCompletes.count == 1)
      #expect(central.disconnections.isEmpty)
    }
    #expect(secondLink.isUnharmed())
    return isTaken
  }

  @Test("S4: a CONNECT_IND with a value outside its range is ignored, and advertising continues")
  func invalidConnectInd() throws {
    #expect(try accepts { _ in })
    #expect(try !accepts { $0.interval = 5 })
    #expect(try !accepts { $0.interval = 3201 })
    #expect(try !accepts { $0.timeout = 9 })
    #expect(try !accepts { $0.timeout = 3201 })
    #expect(try !accepts { ($0.interval, $0.latency, $0.timeout) = (80, 9, 200) })
    #expect(try !accepts { $0.windowSize = 0 })
    #expect(try !accepts { $0.windowSize = 9 })
    #expect(try !accepts { ($0.interval, $0.windowSize) = (6, 6) })
    #expect(try accepts { ($0.interval, $0.windowSize) = (6, 5) })
    #expect(try !accepts { $0.windowOffset = 25 })
    #expect(try !accepts { ($0.latency, $0.timeout) = (500, 3200) })
    #expect(try !accepts { $0.hop = 4 })
    #expect(try !accepts { $0.hop = 17 })
  }

  @Test("S5: a CONNECT_IND with interval 0 is ignored")
  func zeroInterval() throws {
    #expect(try !accepts { $0.interval = 0 })
  }

  @Test("S26: a CONNECT_IND with supervision timeout 0 is ignored, and advertising continues")
  func zeroTimeout() throws {
    #expect(try !accepts { $0.timeout = 0 })
  }

  @Test("S6, S15: a CONNECT_IND with fewer than two channels is ignored")
  func fewChannels() throws {
    #expect(try !accepts { $0.channelMap = ChannelMap(bits: 0) })
    #expect(try !accepts { $0.channelMap = ChannelMap(bits: 1 << 20) })
    #expect(try accepts { $0.channelMap = ChannelMap(bits: .max) })
  }

  @Test("Requests to another advertiser, or of the wrong length, are not answered")
  func foreignRequests() {
    let (air, scanner, peripheral) = PerfectAir.pair("scanner", "peripheral")
    peripheral.advertise()
    scanner.scan(isActive: true)
    var isLonger = false
    air.outcome = { transmission in
      if case .scanReq(let from, let to)? = transmission.advertisingPDU {
        var packet = LL.AdvertisingPDU.scanReq(
          scanner: from, advertiser: DeviceAddress(to.value, isLonger ? .public : .random)
        ).packet(in: peripheral.pool)
        if isLonger { packet.payload = ByteSlice(packet.payload.bytes + [0]) }
        transmission.packet = packet
      }
      return .arrives
    }
    for length in [false, true] {
      isLonger = length
      air.run(for: .seconds(2))
    }
    #expect(air.log.contains { if case .scanReq? = $0.advertisingPDU { true } else { false } })
    #expect(!air.log.contains { if case .scanRsp? = $0.advertisingPDU { true } else { false } })
    #expect(!scanner.reports.contains { $0.type == .scanResponse })
  }

  // MARK: Data PDUs

  @Test(
    "S1: a data PDU above the agreed length is not acknowledged, and repeating it ends the link by supervision timeout",
    arguments: [(27, 28), (27, 251), (251, 252), (251, 253), (251, 254), (251, 255)])
  func lengthOverflow(agreed: UInt16, octets: Int) throws {
    let link = try LinkHarness(
      timeout: 100, attacked: .peripheral,
      prepare: { central, _ in
        guard agreed > 27 else { return }
        central.send(.leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: agreed, time: 2_120)))
      })
    link.runEvents(5)
    #expect(try #require(link.peripheral.controller.connections.first).lengths.receive.octets == agreed)
    link.peripheral.clear()
    link.air.outcome = { transmission in
      guard transmission.device == 0, transmission.dataHeader?.llid == .start else { return .arrives }
      transmission.packet.payload = ByteSlice(Array(repeating: 0xEE, count: octets))
      transmission.packet.header = transmission.packet.header & 0xFF | UInt16(octets) << 8
      return .arrives
    }
    link.central.send([1], on: link.centralHandle)
    link.air.run(for: .milliseconds(900))
    #expect(link.peripheral.data.isEmpty && link.central.completedPackets == 0)
    link.air.run(for: .milliseconds(300))
    #expect(link.peripheral.disconnections == [.connectionTimeout] && link.secondLinksWork())
  }

  @Test("S3: a length field that does not match the frame counts as a wrong CRC, and the retransmission arrives")
  func lengthMismatch() throws {
    let link = try LinkHarness(attacked: .peripheral)
    link.runEvents(2)
    var spoiled = 0
    link.air.outcome = { transmission in
      guard transmission.device == 0, transmission.dataHeader?.llid == .start, spoiled < 3 else { return .arrives }
      spoiled += 1
      transmission.packet.header = transmission.packet.header & 0xFF | 200 << 8
      return .arrives
    }
    link.central.send([1, 2], on: link.centralHandle)
    link.runEvents(6)
    #expect(spoiled == 3)
    #expect(link.peripheral.data.map(\.payload) == [[1, 2]])
    #expect(link.isAlive())
  }

  @Test("S2: a data PDU with LLID 0b00 is acknowledged and ignored")
  func reservedLLID() throws {
    let link = try LinkHarness(attacked: .peripheral)
    link.air.outcome = { transmission in
      if transmission.device == 0, transmission.dataHeader?.llid == .start { transmission.packet.header &= ~0b11 }
      return .arrives
    }
    link.central.send([1, 2], on: link.centralHandle)
    link.runEvents(3)
    #expect(link.peripheral.data.isEmpty)
    #expect(link.central.completedPackets == 1)
    link.air.outcome = { _ in .arrives }
    #expect(link.isAlive())
  }

  @Test("An empty data PDU is not delivered to the host")
  func emptyStart() throws {
    let link = try LinkHarness()
    link.air.outcome = { transmission in
      if transmission.device == 0, transmission.dataHeader?.length == 0 {
        transmission.packet.header = transmission.packet.header & ~0b11 | 0b10
      }
      return .arrives
    }
    link.runEvents(5)
    #expect(link.peripheral.data.isEmpty)
    #expect(link.isAlive())
  }

  // MARK: LL Control PDUs

  @Test(
    "S16: an unknown LL Control PDU is answered by LL_UNKNOWN_RSP with its opcode",
    arguments: [0x1A, 0x1F, 0x26, 0x2C, 0x3A, 0xFF])
  func unknownOpcode(opcode: Int) throws {
    let link = try LinkHarness(attacked: [.central, .peripheral])
    #expect(link.injectFromCentral([UInt8(opcode), 1, 2]) == [ByteSlice([0x07, UInt8(opcode)])])
    #expect(link.injectFromPeripheral([UInt8(opcode), 1, 2]) == [ByteSlice([0x07, UInt8(opcode)])])
    #expect(link.isAlive())
  }

  @Test("S16: unsolicited responses are ignored")
  func strayResponses() throws {
    let link = try LinkHarness(attacked: [.central, .peripheral])
    let stray: [[UInt8]] = [
      [0x09, 0xFF, 0, 0, 0, 0, 0, 0, 0], [0x07, 0x08], [0x0D, 0x1A], [0x11, 0x0F, 0x1A], [0x13],
      [0x15, 0xFB, 0, 0x48, 8, 0xFB, 0, 0x48, 8], [0x10] + Array(repeating: 0, count: 23),
    ]
    for payload in stray {
      #expect(link.injectFromCentral(payload).isEmpty)
      #expect(link.injectFromPeripheral(payload).isEmpty)
    }
    #expect(link.central.events.allSatisfy { if case .numberOfCompletedPackets = $0 { true } else { false } })
    #expect(link.isAlive())
  }

  /// Returns the reasons for which an LL Control PDU of zeros may end the link; empty: the link goes on.
  private func endings(byOpcode opcode: UInt8, length: Int) -> Set<HCI.ErrorCode> {
    switch (opcode, length) {
    // LL_CONNECTION_UPDATE_IND with interval 0 and LL_CHANNEL_MAP_IND without channels, at event 0
    case (0x00, 11), (0x01, 7): [.invalidLLParameters, .instantPassed]
    // LL_TERMINATE_IND, whose reason the host gets
    case (0x02, 1): [.success]
    // LL_ENC_REQ: unencrypted data after it are a MIC failure
    case (0x03, 22): [.connectionTerminatedMICFailure]
    default: []
    }
  }

  @Test("S25: LL Control PDUs of every opcode and length end the link for their own reasons, or the link works on")
  func everyOpcodeAndLength() throws {
    let link = try LinkHarness(timeout: 20, attacked: .peripheral)
    for opcode in UInt8(0)...0x30 {
      for length in [0, 1, 2, 5, 7, 8, 11, 12, 22, 23, 26] {
        _ = link.injectFromCentral([opcode] + Array(repeating: 0, count: length), events: 4)
        let works = link.peripheral.disconnections.isEmpty && link.exchangesData()
        let expected = endings(byOpcode: opcode, length: length)
        #expect(link.peripheral.disconnections.count == (expected.isEmpty ? 0 : 1), "\(opcode), \(length)")
        #expect(expected.isSuperset(of: link.peripheral.disconnections), "\(opcode), \(length)")
        #expect(works == expected.isEmpty, "\(opcode), \(length)")
        try link.connectAnew(timeout: 20)
      }
    }
    #expect(link.secondLinksWork())
  }

  @Test("An LL Control PDU without octets is ignored")
  func emptyControl() throws {
    let link = try LinkHarness()
    link.air.outcome = { transmission in
      if transmission.device == 0, transmission.dataHeader?.length == 0 { transmission.packet.header |= 0b11 }
      return .arrives
    }
    link.runEvents(5)
    link.air.outcome = { _ in .arrives }
    #expect(link.isAlive())
  }

  @Test("S8: every LL_FEATURE_REQ is answered")
  func repeatedFeatureRequests() throws {
    let link = try LinkHarness(attacked: .peripheral)
    for _ in 0..<5 {
      let answers = link.injectFromCentral([0x08, 0xFF, 0, 0, 0, 0, 0, 0, 0])
      #expect(answers.count == 1 && answers.first?.count == 9 && answers.first?[0] == 0x09)
    }
    #expect(link.isAlive())
  }

  @Test("S9: a repeated LL_LENGTH_REQ is answered again, and changes the state only once")
  func repeatedLengthRequests() throws {
    let link = try LinkHarness(attacked: .peripheral)
    let request: [UInt8] = [0x14, 100, 0, 0x48, 8, 100, 0, 0x48, 8]
    #expect(link.injectFromCentral(request).map { $0[0] } == [0x15])
    #expect(link.injectFromCentral(request).map { $0[0] } == [0x15])
    let changes = link.peripheral.events.count { if case .leDataLengthChange = $0 { true } else { false } }
    #expect(changes == 1)
    #expect(link.injectFromCentral([0x14, 1, 0, 1, 0, 1, 0, 1, 0]) == [[0x11, 0x14, 0x1E]])
    #expect(link.isAlive())
  }

  @Test("S7: a second LL_CONNECTION_PARAM_REQ gets LL_REJECT_EXT_IND while the host has not replied to the first one")
  func repeatedParameterRequests() throws {
    let link = try LinkHarness(attacked: .central)
    let request: [UInt8] =
      [0x0F, 24, 0, 40, 0, 0, 0, 200, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 12)
    #expect(link.injectFromPeripheral(request).isEmpty)
    #expect(link.injectFromPeripheral(request) == [[0x11, 0x0F, 0x23]])
    #expect(link.isAlive())
  }

  @Test("S10: LL_CONNECTION_PARAM_REQ with values outside their ranges is rejected")
  func invalidParameterRequest() throws {
    let link = try LinkHarness(attacked: .central)
    let request: [UInt8] = [0x0F, 1, 0, 40, 0, 0, 0, 200, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 12)
    #expect(link.injectFromPeripheral(request) == [[0x11, 0x0F, 0x1E]])
    #expect(link.isAlive())
  }

  @Test("A peer without support for LL_REJECT_EXT_IND gets LL_REJECT_IND")
  func plainReject() throws {
    let link = try LinkHarness()
    _ = link.injectFromCentral([0x08, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(link.injectFromCentral([0x14, 1, 0, 1, 0, 1, 0, 1, 0]) == [[0x0D, 0x1E]])
  }

  @Test("S10: an update to invalid values ends the connection", arguments: [false, true])
  func impossibleUpdate(isMap: Bool) throws {
    let link = try LinkHarness(attacked: .peripheral)
    link.runEvents(3)
    let payload: [UInt8] =
      isMap ? [0x01, 1, 0, 0, 0, 0, 40, 0] : [0x00, 1, 0, 0, 0, 0, 0, 0, 200, 0, 40, 0]
    let answers = link.injectFromCentral(payload, events: 5)
    #expect(answers == [[0x02, 0x1E]])
    #expect(link.peripheral.disconnections == [.invalidLLParameters] && link.secondLinksWork())
  }

  @Test(
    "S21: an instant that has passed ends the connection at once, without LL_TERMINATE_IND", arguments: [false, true])
  func instantPassed(isMap: Bool) throws {
    let link = try LinkHarness(timeout: 50, attacked: .peripheral)
    link.runEvents(10)
    let payload: [UInt8] =
      isMap ? [0x01, 0xFF, 0, 0, 0, 0, 2, 0] : [0x00, 1, 0, 0, 24, 0, 0, 0, 200, 0, 2, 0]
    #expect(link.injectFromCentral(payload).isEmpty)
    #expect(link.peripheral.disconnections == [.instantPassed])
    link.air.run(for: .seconds(1))
    #expect(link.central.disconnections == [.connectionTimeout] && link.secondLinksWork())
  }

  @Test("S21: an instant 32,767 or more events ahead counts as passed", arguments: [(32_766, false), (32_767, true)])
  func farInstant(distance: Int, isPassed: Bool) throws {
    let link = try LinkHarness(timeout: 50, attacked: .peripheral)
    link.runEvents(4)
    // Sent and received at the next event, whose number is that of the instant minus `distance`.
    let instant = UInt16(truncatingIfNeeded: link.peripheral.controller.connections[0].schedule.next + distance)
    let octets = [UInt8(truncatingIfNeeded: instant), UInt8(truncatingIfNeeded: instant >> 8)]
    #expect(link.injectFromCentral([0x01, 0xFF, 0, 0, 0, 0] + octets).isEmpty)
    #expect(link.peripheral.disconnections == (isPassed ? [.instantPassed] : []) && link.secondLinksWork())
  }

  @Test("S11: the link layer limits its waiting answers to a peer that sends requests and acknowledges nothing")
  func unacknowledgedAnswers() throws {
    let link = try LinkHarness(timeout: 400, attacked: .peripheral)
    link.runEvents(2)
    // Every packet of the central is a new LL_PING_REQ that does not acknowledge the peripheral's packets.
    var nextSequenceNumber: Bool?
    var acknowledgement: Bool?
    link.air.outcome = { transmission in
      guard transmission.device == 0, let header = transmission.dataHeader else { return .arrives }
      let number = nextSequenceNumber ?? header.sequenceNumber
      nextSequenceNumber = !number
      acknowledgement = acknowledgement ?? header.nextExpectedSequenceNumber
      let forged = LL.DataHeader(
        llid: .control, nextExpectedSequenceNumber: acknowledgement ?? false, sequenceNumber: number, moreData: true,
        length: 1)
      transmission.packet.header = forged.rawValue
      transmission.packet.payload = [0x12]
      return .arrives
    }
    link.air.run(for: .seconds(3))
    #expect(link.peripheral.controller.connections.allSatisfy { $0.flow.waitingControl <= 16 })
    #expect(link.secondLinksWork())
  }

  @Test("A central answers PDUs that only a central may send with LL_UNKNOWN_RSP, and a peripheral likewise")
  func wrongRole() throws {
    let link = try LinkHarness()
    #expect(link.injectFromPeripheral([0x08] + Array(repeating: 0, count: 8)) == [[0x07, 0x08]])
    #expect(link.injectFromCentral([0x0E] + Array(repeating: 0, count: 8)) == [[0x07, 0x0E]])
    #expect(link.injectFromPeripheral([0x01, 3, 0, 0, 0, 0, 40, 0]) == [[0x07, 0x01]])
    #expect(link.isAlive())
  }
}
