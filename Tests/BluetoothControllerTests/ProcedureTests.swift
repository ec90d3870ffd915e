import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Link layer procedures")
struct ProcedureTests {
  @Test("Either host gets the peer's version, which is requested once", .requirement("L135"), arguments: [true, false])
  func version(isCentral: Bool) throws {
    let link = try LinkHarness(
      central: { $0.companyIdentifier = 0x1234 }, peripheral: { $0.companyIdentifier = 0x4321 })
    let device = isCentral ? link.central : link.peripheral
    let handle = isCentral ? link.centralHandle : link.peripheralHandle
    let version = HCI.RemoteVersion(
      version: 0x0D, companyIdentifier: isCentral ? 0x4321 : 0x1234, subversion: 1)
    let expected = HCI.Event.readRemoteVersionInformationComplete(.success, handle, version)
    #expect(device.send(.readRemoteVersionInformation(handle)) == .success)
    link.runEvents(3)
    #expect(device.events.contains(expected))
    link.air.clearLog()
    device.clear()
    device.send(.readRemoteVersionInformation(handle))
    #expect(device.events.contains(expected))
    link.runEvents(3)
    #expect(!link.air.log.contains { $0.controlPDU != nil })
  }

  @Test("Either host gets the peer's features", arguments: [true, false])
  func features(isCentral: Bool) throws {
    let link = try LinkHarness()
    let device = isCentral ? link.central : link.peripheral
    let handle = isCentral ? link.centralHandle : link.peripheralHandle
    #expect(device.send(.leReadRemoteFeatures(handle)) == .success)
    link.runEvents(3)
    #expect(device.events.contains(.leReadRemoteFeaturesComplete(.success, handle, .visible)))
    let request = try #require(link.air.log.compactMap(\.controlPDU).first)
    #expect(request.opcode == (isCentral ? .featureReq : .peripheralFeatureReq))
  }

  @Test("Octet 0 of LL_FEATURE_RSP has the common features, and the other octets have all local features")
  func featureSetUsed() throws {
    let link = try LinkHarness()
    let answer = try #require(link.injectFromCentral([0x08, 0x21, 0, 0, 0, 0, 0, 0, 0]).first)
    guard case .featureRsp(let features) = try LL.ControlPDU(payload: answer) else {
      Issue.record("\(answer)")
      return
    }
    #expect(features == 0x21 | HCI.LEFeatures.visible.rawValue & ~0xFF)
  }

  @Test("Features that are masked to the peer are zero in requests and responses", arguments: [true, false])
  func maskedFeatures(isCentral: Bool) throws {
    let link = try LinkHarness(prepare: { central, peripheral in
      for device in [central, peripheral] { #expect(device.send(.leSetHostFeature(bit: 41, true)) == .success) }
    })
    let (device, handle) = link.side(isCentral)
    device.send(.leReadRemoteFeatures(handle))
    link.runEvents(3)
    let sent = link.air.log.compactMap { sent -> UInt64? in
      switch sent.controlPDU {
      case .featureReq(let features)?, .peripheralFeatureReq(let features)?, .featureRsp(let features)?: features
      default: nil
      }
    }
    #expect(sent == [HCI.LEFeatures.visible.rawValue, HCI.LEFeatures.visible.rawValue])
    // The host gets all features.
    #expect(
      device.complete(.leReadLocalSupportedFeatures)
        == .leLocalSupportedFeatures(HCI.LEFeatures.claimed.union(.advertisingCodingSelectionHostSupport)))
  }

  @Test("A suggested data length is negotiated automatically", arguments: [true, false])
  func automaticLength(isCentral: Bool) throws {
    let link = try LinkHarness(prepare: { central, peripheral in
      let device = isCentral ? central : peripheral
      #expect(
        device.send(.leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 251, time: 2120))) == .success)
    })
    link.runEvents(4)
    let long = HCI.DataLength(octets: 251, time: 2120)
    let short = HCI.DataLength(octets: 27, time: 328)
    #expect(
      link.central.events == [
        .leDataLengthChange(
          link.centralHandle, transmit: isCentral ? long : short, receive: isCentral ? short : long)
      ])
    let (device, peer) = isCentral ? (link.central, link.peripheral) : (link.peripheral, link.central)
    device.send(Array(repeating: 7, count: 251), on: isCentral ? link.centralHandle : link.peripheralHandle)
    link.runEvents(2)
    #expect(peer.data.map(\.payload.count) == [251])
  }

  @Test("LE Set Data Length reports the common length to the peer's host, and data use it")
  func setDataLength() throws {
    let link = try LinkHarness()
    #expect(
      link.central.complete(.leSetDataLength(link.centralHandle, HCI.DataLength(octets: 100, time: 17040)))
        == .handle(.success, link.centralHandle))
    link.runEvents(3)
    let expected = HCI.DataLength(octets: 100, time: 17_040)
    #expect(
      link.peripheral.events == [
        .leDataLengthChange(
          link.peripheralHandle, transmit: HCI.DataLength(octets: 27, time: 328), receive: expected)
      ])
    link.central.send(Array(repeating: 7, count: 150), on: link.centralHandle)
    link.runEvents(2)
    #expect(link.peripheral.data.map(\.payload.count) == [100, 50])
    #expect(link.isAlive())
  }

  @Test("The transmit time also limits the length: 1,000 µs are 111 octets")
  func transmitTime() throws {
    let link = try LinkHarness()
    link.central.send(.leSetDataLength(link.centralHandle, HCI.DataLength(octets: 251, time: 1000)))
    link.runEvents(3)
    link.central.send(Array(repeating: 7, count: 251), on: link.centralHandle)
    link.runEvents(2)
    #expect(link.peripheral.data.map(\.payload.count) == [111, 111, 29])
  }

  @Test("The host gets Unsupported Remote Feature if the peer does not know a request")
  func unsupportedByPeer() throws {
    let link = try LinkHarness()
    // The test replaces the peripheral's opcode by one that this link layer does not know.
    link.air.outcome = { transmission in
      if transmission.device == 1, case .peripheralFeatureReq? = transmission.controlPDU {
        transmission.packet.payload = ByteSlice([0x3F] + transmission.packet.payload.bytes.dropFirst())
      }
      if transmission.device == 0, case .unknownRsp? = transmission.controlPDU {
        transmission.packet.payload = [0x07, 0x0E]
      }
      return .arrives
    }
    link.peripheral.send(.leReadRemoteFeatures(link.peripheralHandle))
    link.runEvents(4)
    #expect(
      link.peripheral.events.last
        == .leReadRemoteFeaturesComplete(.unsupportedRemoteFeature, link.peripheralHandle, []))
    #expect(link.isAlive())
  }

  @Test("A request that is acknowledged and never answered ends the connection after 40 s")
  func procedureTimeout() throws {
    let link = try LinkHarness()
    link.air.outcome = { transmission in
      if transmission.device == 1, case .featureRsp? = transmission.controlPDU {
        transmission.packet.payload = [0x13]
        transmission.packet.header = transmission.packet.header & 0xFF | 1 << 8
      }
      return .arrives
    }
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    link.air.run(for: .milliseconds(39_900))
    #expect(link.central.disconnections.isEmpty)
    link.air.run(for: .milliseconds(200))
    #expect(link.central.disconnections == [.llResponseTimeout])
  }

  @Test("LL_PING_REQ is answered")
  func ping() throws {
    let link = try LinkHarness()
    #expect(link.injectFromCentral([0x12]) == [[0x13]])
    #expect(link.injectFromPeripheral([0x12]) == [[0x13]])
  }

  @Test(
    "A connection update changes both sides at the instant, and both hosts get an event", .requirement("L133", "L134"))
  func connectionUpdate() throws {
    let link = try LinkHarness()
    link.peripheral.acceptsParameters = true
    link.runEvents(2)
    let parameters = LinkParameters(
      minimumInterval: 40, maximumInterval: 80, latency: 2, supervisionTimeout: 400)
    #expect(
      link.central.send(.leConnectionUpdate(link.centralHandle, parameters, HCI.ConnectionEventLength())) == .success)
    link.runEvents(15)
    let values = HCI.ConnectionValues(interval: 80, latency: 2, supervisionTimeout: 400)
    #expect(
      link.central.events == [
        .commandStatus(.success, credits: 1, .leConnectionUpdate),
        .leConnectionUpdateComplete(.success, link.centralHandle, values),
      ])
    #expect(link.peripheral.events == [.leConnectionUpdateComplete(.success, link.peripheralHandle, values)])
    link.air.clearLog()
    link.air.run(for: .seconds(2))
    let anchors = link.air.log.filter { $0.device == 0 }.map(\.start)
    #expect(zip(anchors, anchors.dropFirst()).allSatisfy { $0.1 - $0.0 == .milliseconds(100) })
    #expect((19...21).contains(anchors.count))
    #expect(link.isAlive())
  }

  @Test("A connection survives repeated updates with packet loss")
  func repeatedUpdates() throws {
    let link = try LinkHarness()
    link.peripheral.acceptsParameters = true
    var random = RandomStream(seed: 5)
    link.air.outcome = { _ in random.next() % 5 == 0 ? .lost : .arrives }
    for round in 0..<20 {
      let interval: UInt16 = round % 2 == 0 ? 6 : 40
      link.central.send(
        .leConnectionUpdate(
          link.centralHandle,
          LinkParameters(
            minimumInterval: interval, maximumInterval: interval, latency: UInt16(round % 3), supervisionTimeout: 500),
          HCI.ConnectionEventLength()))
      link.air.run(for: .seconds(2))
    }
    let updates = link.central.events.count { if case .leConnectionUpdateComplete = $0 { true } else { false } }
    #expect(updates == 20)
    link.air.outcome = { _ in .arrives }
    #expect(link.isAlive())
  }

  @Test(
    "A peripheral's connection update asks the central's host, and proceeds if that host accepts", .requirement("L076"))
  func parameterRequest() throws {
    let link = try LinkHarness()
    let parameters = LinkParameters(
      minimumInterval: 16, maximumInterval: 16, latency: 0, supervisionTimeout: 300)
    #expect(
      link.peripheral.send(.leConnectionUpdate(link.peripheralHandle, parameters, HCI.ConnectionEventLength()))
        == .success)
    link.runEvents(3)
    #expect(link.central.events == [.leRemoteConnectionParameterRequest(link.centralHandle, parameters)])
    #expect(
      link.central.complete(
        .leRemoteConnectionParameterRequestReply(link.centralHandle, parameters, HCI.ConnectionEventLength()))
        == .handle(.success, link.centralHandle))
    link.runEvents(12)
    let values = HCI.ConnectionValues(interval: 16, latency: 0, supervisionTimeout: 300)
    #expect(link.peripheral.events.last == .leConnectionUpdateComplete(.success, link.peripheralHandle, values))
    #expect(link.central.events.last == .leConnectionUpdateComplete(.success, link.centralHandle, values))
  }

  @Test(
    "The parameters stay unchanged if the central's host refuses the request or masks it", arguments: [true, false])
  func refusedParameterRequest(isMasked: Bool) throws {
    let link = try LinkHarness()
    if isMasked { link.central.send(.leSetEventMask(.initial)) }
    let parameters = LinkParameters(
      minimumInterval: 16, maximumInterval: 16, latency: 0, supervisionTimeout: 300)
    link.peripheral.send(.leConnectionUpdate(link.peripheralHandle, parameters, HCI.ConnectionEventLength()))
    link.runEvents(3)
    if !isMasked {
      link.central.send(
        .leRemoteConnectionParameterRequestNegativeReply(
          link.centralHandle, reason: .unacceptableConnectionParameters))
    }
    link.runEvents(3)
    let reason = isMasked ? HCI.ErrorCode.unsupportedRemoteFeature : .unacceptableConnectionParameters
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    #expect(link.peripheral.events.last == .leConnectionUpdateComplete(reason, link.peripheralHandle, values))
    #expect(link.isAlive())
  }

  @Test("Channels that the central's host has classified as bad are no longer used", .requirement("L128"))
  func channelMap() throws {
    let link = try LinkHarness()
    #expect(link.central.send(.leSetHostChannelClassification(0x1F)) == .success)
    link.runEvents(12)
    #expect(
      link.peripheral.complete(.leReadChannelMap(link.peripheralHandle)) == .leChannelMap(link.peripheralHandle, 0x1F))
    link.air.clearLog()
    link.runEvents(50)
    #expect(Set(link.air.log.map { ChannelIndex($0.channel).number }) == [0, 1, 2, 3, 4])
    #expect(link.isAlive())
  }

  @Test("An instant leaves a peripheral at least six events that it attends, even with latency", arguments: [0, 4])
  func instantAllowsForLatency(latency: UInt16) throws {
    let link = try LinkHarness(latency: latency)
    link.runEvents(12)
    #expect(link.central.send(.leSetHostChannelClassification(0x1F)) == .success)
    link.runEvents(2 * Int64(latency + 1))
    let sent = try #require(link.air.log.first { $0.device == 0 && $0.controlPDU?.isChannelMap == true })
    guard case .channelMapInd(_, let instant)? = sent.controlPDU else {
      Issue.record("\(sent) is no LL_CHANNEL_MAP_IND")
      return
    }
    let events = link.air.log.filter { $0.device == 0 && !$0.isAdvertising && $0.start <= sent.start }
    // Each event has at least one packet of the central, 30 ms after that of the event before.
    let first = try #require(events.first).start
    let number = Int((sent.start - first).nanoseconds + 15_000_000) / 30_000_000
    #expect(Int(instant) - number >= 6 * (Int(latency) + 1))
  }
}

extension LL.ControlPDU {
  fileprivate var isChannelMap: Bool { if case .channelMapInd = self { true } else { false } }
}
