import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("PHY update procedure")
struct PHYUpdateTests {
  private static let short = HCI.DataLength(octets: 27, time: 328)

  /// Requests PHYs, and runs until the procedure has ended.
  private func setPHY(
    _ link: LinkHarness, isCentral: Bool, _ transmit: HCI.PHYs?, _ receive: HCI.PHYs?, options: UInt16 = 0
  ) {
    let (device, handle) = link.side(isCentral)
    #expect(
      device.send(.leSetPHY(handle, HCI.PHYPreference(transmit: transmit, receive: receive), options: options))
        == .success)
    link.runEvents(30)
  }

  /// Returns the modulations of the data packets that each device sends in some events with data.
  private func modulations(_ link: LinkHarness) -> [Set<Modulation>] {
    link.air.clearLog()
    #expect(link.isAlive())
    return [0, 1].map { device in
      Set(link.air.log.lazy.filter { $0.device == device && !$0.isAdvertising }.map(\.modulation))
    }
  }

  @Test(
    "LE Set PHY of either host changes both directions to LE 2M at one instant", .requirement("L085"),
    arguments: [true, false])
  func both(isCentral: Bool) throws {
    let link = try LinkHarness()
    link.air.clearLog()
    setPHY(link, isCentral: isCentral, .le2M, .le2M)
    for central in [true, false] {
      let (device, handle) = link.side(central)
      #expect(device.events.contains(.lePHYUpdateComplete(.success, handle, transmit: 2, receive: 2)))
      #expect(device.complete(.leReadPHY(handle)) == .lePHY(handle, transmit: 2, receive: 2))
    }
    let change = try #require(link.air.log.firstIndex { $0.modulation == .le2M })
    #expect(link.air.log[..<change].allSatisfy { $0.modulation == .le1M })
    #expect(link.air.log[change...].allSatisfy { $0.modulation == .le2M })
    #expect(modulations(link) == [[.le2M], [.le2M]])
  }

  @Test("The two directions may have different PHYs", arguments: [true, false])
  func asymmetric(isCentral: Bool) throws {
    let link = try LinkHarness()
    setPHY(link, isCentral: isCentral, .le2M, .le1M)
    let (device, handle) = link.side(isCentral)
    #expect(device.complete(.leReadPHY(handle)) == .lePHY(handle, transmit: 2, receive: 1))
    let (peer, peerHandle) = link.side(!isCentral)
    #expect(peer.events.contains(.lePHYUpdateComplete(.success, peerHandle, transmit: 1, receive: 2)))
    #expect(modulations(link) == (isCentral ? [[.le2M], [.le1M]] : [[.le1M], [.le2M]]))
  }

  @Test("On LE Coded a host chooses the coding of its own direction, and S=8 is the default", arguments: 0...2)
  func coded(options: Int) throws {
    let link = try LinkHarness(interval: 40)
    setPHY(link, isCentral: true, .leCoded, .leCoded, options: UInt16(options))
    #expect(modulations(link) == [[options == 1 ? .codedS2 : .codedS8], [.codedS8]])
  }

  @Test("Without preferences on either side the faster PHY is used")
  func noPreference() throws {
    let link = try LinkHarness()
    setPHY(link, isCentral: false, nil, nil)
    #expect(modulations(link) == [[.le2M], [.le2M]])
  }

  @Test("Without a common PHY the link keeps its PHYs, and only the requester gets an event", arguments: [true, false])
  func nothingInCommon(isCentral: Bool) throws {
    let link = try LinkHarness(prepare: { central, peripheral in
      let peer = isCentral ? peripheral : central
      #expect(peer.send(.leSetDefaultPHY(HCI.PHYPreference(transmit: .le1M, receive: .le1M))) == .success)
    })
    setPHY(link, isCentral: isCentral, .le2M, .leCoded)
    let (device, handle) = link.side(isCentral)
    #expect(device.events.last == .lePHYUpdateComplete(.success, handle, transmit: 1, receive: 1))
    let (peer, _) = link.side(!isCentral)
    #expect(peer.events.isEmpty)
    #expect(modulations(link) == [[.le1M], [.le1M]])
  }

  @Test("A request that changes nothing ends at once, with an event for the requesting host only")
  func unchanged() throws {
    let link = try LinkHarness()
    setPHY(link, isCentral: true, .le1M, .le1M)
    #expect(
      link.central.events.last == .lePHYUpdateComplete(.success, link.centralHandle, transmit: 1, receive: 1))
    #expect(link.peripheral.events.isEmpty)
  }

  @Test("Invalid PHY requests are refused")
  func refusals() throws {
    let link = try LinkHarness()
    func status(_ transmit: UInt8, _ receive: UInt8, handle: UInt16? = nil) -> HCI.ErrorCode? {
      link.central.send(
        .leSetPHY(
          handle.map { HCI.ConnectionHandle(rawValue: $0) } ?? link.centralHandle,
          HCI.PHYPreference(transmit: HCI.PHYs(rawValue: transmit), receive: HCI.PHYs(rawValue: receive)),
          options: 0))
    }
    #expect(status(1, 1, handle: 0x0E00) == .unknownConnectionIdentifier)
    #expect(status(0, 1) == .invalidHCICommandParameters)
    #expect(status(1, 8) == .unsupportedFeatureOrParameterValue)
    let nothing = HCI.PHYPreference(transmit: [], receive: .le1M)
    #expect(link.central.send(.leSetDefaultPHY(nothing)) == .invalidHCICommandParameters)
    #expect(
      link.central.complete(.leReadPHY(HCI.ConnectionHandle(rawValue: 0x0E00)))?.status
        == .unknownConnectionIdentifier)
  }

  @Test("A controller without LE Coded neither offers it, nor states its packet times, nor accepts it from its host")
  func withoutCoded() throws {
    let link = try LinkHarness(
      peripheral: { $0.features.remove(.leCodedPHY) },
      prepare: { central, peripheral in
        central.send(.leSetDefaultPHY(HCI.PHYPreference(transmit: .leCoded, receive: .leCoded)))
        let uncoded = HCI.DataLength(octets: 251, time: 2_120)
        #expect(
          peripheral.complete(.leReadMaximumDataLength) == .leMaximumDataLength(transmit: uncoded, receive: uncoded))
      })
    #expect(link.injectFromCentral([0x16, 4, 4]) == [[0x17, 3, 3]])
    #expect(link.injectFromCentral([0x18, 0, 0, 0, 0]).isEmpty)
    let lengths = try #require(link.injectFromCentral([0x14, 251, 0, 0x90, 0x42, 251, 0, 0x90, 0x42]).first)
    let pdu = try LL.ControlPDU(payload: lengths)
    guard case .lengthRsp(let answer) = pdu else {
      Issue.record("\(pdu) is no LL_LENGTH_RSP")
      return
    }
    #expect(answer.maximumReceiveTime == 2_120)
    let coded = HCI.PHYPreference(transmit: .leCoded, receive: nil)
    #expect(
      link.peripheral.send(.leSetPHY(link.peripheralHandle, coded, options: 0)) == .unsupportedFeatureOrParameterValue)
    setPHY(link, isCentral: false, nil, nil)
    #expect(
      link.peripheral.complete(.leReadPHY(link.peripheralHandle))
        == .lePHY(link.peripheralHandle, transmit: 1, receive: 1))
    #expect(link.isAlive())
  }

  @Test("A peer that does not know LL_PHY_REQ keeps the PHYs, and the host gets an event", arguments: [true, false])
  func unknownToPeer(isCentral: Bool) throws {
    let link = try LinkHarness()
    let (device, handle) = link.side(isCentral)
    link.air.outcome = { transmission in
      guard transmission.device == device.number, case .phyReq? = transmission.controlPDU else { return .arrives }
      // The peer answers the unknown opcode 0x3F. The test restores the opcode of LL_PHY_REQ in that answer.
      transmission.packet.payload = ByteSlice([0x3F] + transmission.packet.payload.bytes.dropFirst())
      return .arrives
    }
    let corrupt = link.air.outcome
    link.air.outcome = { transmission in
      if transmission.device != device.number, case .unknownRsp? = transmission.controlPDU {
        transmission.packet.payload = [0x07, 0x16]
      }
      return corrupt(&transmission)
    }
    setPHY(link, isCentral: isCentral, .le2M, .le2M)
    #expect(device.events.last == .lePHYUpdateComplete(.unsupportedRemoteFeature, handle, transmit: 1, receive: 1))
    #expect(link.isAlive())
  }

  @Test("LL_PHY_REQ that is acknowledged and never answered ends the connection after 40 s")
  func timeout() throws {
    let link = try LinkHarness()
    link.air.outcome = { transmission in
      if case .phyRsp? = transmission.controlPDU {
        // An unsolicited answer.
        transmission.packet.payload = [0x13]
        transmission.packet.header = transmission.packet.header & 0xFF | 1 << 8
      }
      return .arrives
    }
    link.central.send(.leSetPHY(link.centralHandle, HCI.PHYPreference(transmit: .le2M, receive: .le2M), options: 0))
    link.air.run(for: .milliseconds(39_900))
    #expect(link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty)
    link.air.run(for: .milliseconds(300))
    #expect(link.central.disconnections == [.llResponseTimeout])
  }

  @Test("A peripheral that has sent LL_PHY_RSP waits 40 s for LL_PHY_UPDATE_IND")
  func awaitedUpdate() throws {
    let link = try LinkHarness()
    #expect(link.injectFromCentral([0x16, 2, 2]) == [[0x17, 7, 7]])
    link.air.run(for: .milliseconds(39_700))
    #expect(link.peripheral.disconnections.isEmpty)
    link.air.run(for: .milliseconds(400))
    #expect(link.peripheral.disconnections == [.llResponseTimeout])
  }

  @Test("LL_PHY_UPDATE_IND with two PHYs for a direction ends the connection")
  func impossibleUpdate() throws {
    let link = try LinkHarness()
    link.runEvents(3)
    #expect(link.injectFromCentral([0x18, 3, 0, 60, 0], events: 5) == [[0x02, 0x1E]])
    #expect(link.peripheral.disconnections == [.invalidLLParameters])
  }

  @Test("A slower PHY reduces the data length and a faster PHY restores it, with events for the hosts")
  func lengths() throws {
    let long = HCI.DataLength(octets: 251, time: 2_120)
    let link = try LinkHarness(
      interval: 40,
      prepare: { central, peripheral in
        for device in [central, peripheral] { device.send(.leWriteSuggestedDefaultDataLength(long)) }
      })
    link.runEvents(5)
    func sent(_ count: Int) -> [Int] {
      link.peripheral.clear()
      link.central.send(Array(repeating: 1, count: count), on: link.centralHandle)
      link.runEvents(4)
      return link.peripheral.data.map(\.payload.count)
    }
    #expect(sent(251) == [251])
    setPHY(link, isCentral: true, .leCoded, .leCoded)
    // 2,120 µs are less than the time of 27 octets on LE Coded, S=8. In that case 27 octets are permitted.
    let coded = HCI.DataLength(octets: 251, time: 2_704)
    #expect(
      link.central.events.contains(.leDataLengthChange(link.centralHandle, transmit: coded, receive: coded)))
    #expect(sent(60) == [27, 27, 6])
    setPHY(link, isCentral: true, .leCoded, .leCoded, options: 1)
    // A change of the coding needs no procedure; S=2 permits 136 octets.
    #expect(sent(251) == [136, 115])
    setPHY(link, isCentral: true, .le2M, .le2M)
    #expect(
      link.peripheral.events.contains(.leDataLengthChange(link.peripheralHandle, transmit: long, receive: long)))
    #expect(sent(251) == [251])
  }

  @Test(
    "With 17,040 µs agreed, a packet on LE Coded, S=8 is limited only by the interval",
    arguments: [(80, [251]), (12, [172, 79])] as [(UInt16, [Int])])
  func longCoded(interval: UInt16, expected: [Int]) throws {
    // Of 15 ms, the peer's 2,704 µs and two interframe spaces are not available.
    let longest = HCI.DataLength(octets: 251, time: 17_040)
    let link = try LinkHarness(
      interval: interval, prepare: { central, _ in central.send(.leWriteSuggestedDefaultDataLength(longest)) })
    link.air.run(for: .seconds(1))
    setPHY(link, isCentral: true, .leCoded, .leCoded)
    link.air.run(for: .seconds(2))
    link.central.send(Array(repeating: 1, count: 251), on: link.centralHandle)
    link.air.run(for: .seconds(1))
    #expect(link.peripheral.data.map(\.payload.count) == expected)
  }

  @Test("A packet that lasts longer than agreed counts as a wrong CRC, however few octets it has")
  func receiveTime() {
    var lengths = DataLengthState(
      preferred: Self.short, phys: PHYState(.leCoded, preferences: LL.PHYPreferences(transmit: .all, receive: .all)))
    #expect(
      lengths.accepts(27, .start, .codedS8) && !lengths.accepts(28, .start, .codedS2)
        && lengths.accepts(27, .start, .le1M))
    // A peer without LE Coded is sent 2,120 µs.
    _ = lengths.announce([], remote: nil)
    #expect(
      lengths.accepts(251, .start, .le1M) && lengths.accepts(27, .start, .codedS8)
        && !lengths.accepts(251, .start, .codedS8))
    _ = lengths.announce(.leCodedPHY, remote: nil)
    #expect(lengths.accepts(251, .start, .codedS8) && !lengths.accepts(252, .start, .le2M))
  }
}

extension LinkHarness {
  func side(_ isCentral: Bool) -> (device: ControllerHarness, handle: HCI.ConnectionHandle) {
    isCentral ? (central, centralHandle) : (peripheral, peripheralHandle)
  }
}
