import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Hostile procedures")
struct HostileProcedureTests {
  @Test("S15: unsolicited answers of a peer change neither the order nor the number of events")
  func eventOrder() throws {
    let link = try LinkHarness(attacked: .central)
    link.central.send(.readRemoteVersionInformation(link.centralHandle))
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    // The answers arrive, and then arrive again unsolicited in both orders.
    link.runEvents(4)
    let version: [UInt8] = [0x0C, 0x0D, 1, 0, 1, 0]
    let features: [UInt8] = [0x09] + Array(repeating: 0xFF, count: 8)
    for payload in [features, version, version, features] { #expect(link.injectFromPeripheral(payload).isEmpty) }
    let kinds = link.central.events.compactMap { event -> Int? in
      switch event {
      case .readRemoteVersionInformationComplete(.success, _, _): 1
      case .leReadRemoteFeaturesComplete(.success, _, _): 2
      case .commandStatus, .numberOfCompletedPackets: nil
      default: 3
      }
    }
    #expect(kinds == [1, 2])
    #expect(link.isAlive())
  }

  @Test("S18: invalid PDUs do not affect a PHY update, and 1,000 such updates leave no state behind")
  func phyUpdateAndGarbage() throws {
    let link = try LinkHarness(interval: 6, timeout: 100, attacked: .peripheral)
    link.air.run(for: .milliseconds(50))
    let span = TimeSpan.microseconds(7_500)
    for round in 0..<1_000 {
      let phys: UInt8 = round % 2 == 0 ? 2 : 1
      link.air.clearLog()
      let instant = link.peripheral.controller.connections[0].schedule.next + 12
      link.central.send([0x16, phys, phys], on: link.centralHandle)
      link.central.send(
        [0x18, phys, phys, UInt8(truncatingIfNeeded: instant), UInt8(truncatingIfNeeded: instant >> 8)],
        on: link.centralHandle)
      // Too long, an unsolicited response, and an unknown opcode.
      for garbage in [[0x18, 9, 9, 9, 9, 9], [0x17, 1, 1], [0x3F, UInt8(truncatingIfNeeded: round)]] as [[UInt8]] {
        link.central.send(garbage, on: link.centralHandle)
      }
      link.air.outcome = { transmission in
        if transmission.device == 0, transmission.dataHeader?.llid == .start { transmission.packet.header |= 0b11 }
        return .arrives
      }
      link.air.run(for: span * 11)
      // The central's link layer does not know the PDUs that it was made to send, so the test updates its PHYs.
      link.air.run(
        until: { link.peripheral.controller.connections.first.map { $0.phys.receive.rawValue == phys } ?? true },
        limit: .milliseconds(50))
      try #require(link.peripheral.disconnections.isEmpty, "round \(round)")
      let update = LL.PHYUpdate(
        centralToPeripheral: HCI.PHYs(rawValue: phys), peripheralToCentral: HCI.PHYs(rawValue: phys))
      _ = link.central.controller.connections[0].phys.apply(update, role: .central)
      link.air.run(for: span)
    }
    link.air.outcome = { _ in .arrives }
    let connection = link.peripheral.controller.connections[0]
    #expect(connection.procedures.isIdle && connection.flow.waitingControl == 0)
    #expect(link.isAlive())
  }

  @Test("S21: LL_PHY_UPDATE_IND with an instant that has passed ends the connection at once")
  func phyInstantPassed() throws {
    let link = try LinkHarness(timeout: 50, attacked: .peripheral)
    link.runEvents(10)
    #expect(link.injectFromCentral([0x18, 2, 2, 2, 0]).isEmpty)
    #expect(link.peripheral.disconnections == [.instantPassed])
    link.air.run(for: .seconds(1))
    #expect(link.central.disconnections == [.connectionTimeout] && link.secondLinksWork())
  }

  @Test("S25: each known opcode has one valid length, and every other length up to 251 octets is refused")
  func lengthTable() {
    for opcode in UInt8.min...UInt8.max {
      let expected = LL.ControlOpcode(rawValue: opcode)?.dataLength
      for length in 0..<251 {
        let payload = ByteSlice([opcode] + Array(repeating: 0xA5, count: length))
        let isUnderstood = (try? LL.ControlPDU(payload: payload)) != nil
        if isUnderstood != (length == expected) { Issue.record("opcode \(opcode), \(length) octets") }
      }
    }
  }

  @Test("S25: LL Control PDUs of a data PDU's maximum length are refused by LL_UNKNOWN_RSP", arguments: [true, false])
  func longControl(isCentral: Bool) throws {
    let link = try LinkHarness(
      attacked: isCentral ? .peripheral : .central,
      prepare: { central, peripheral in
        for device in [central, peripheral] {
          device.send(.leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 251, time: 2_120)))
        }
      })
    link.runEvents(5)
    for opcode in [UInt8(0x00), 0x08, 0x0F, 0x14, 0x16, 0x1D, 0x28, 0x29, 0x7F] {
      let payload = [opcode] + Array(repeating: UInt8(0xFF), count: 250)
      let answers = isCentral ? link.injectFromCentral(payload) : link.injectFromPeripheral(payload)
      #expect(answers == [[0x07, opcode]])
    }
    #expect(link.isAlive())
  }

  @Test("S26: 10,000 connections and disconnections, with a wrap of the handles, leave no state behind")
  func churn() throws {
    let air = PerfectAir()
    let central = ControllerHarness("central", address: 0x1111_1111_1111)
    let peripheral = ControllerHarness("peripheral", address: 0x2222_2222_2222)
    for device in [central, peripheral] {
      air.start(device)
    }
    let secondLink = try SecondLink(of: peripheral, on: air, interval: 400)
    peripheral.send(
      .leSetAdvertisingParameters(
        HCI.AdvertisingParameters(
          minimumInterval: 32, maximumInterval: 32, type: .connectableScannableUndirected, ownAddressType: .public)))
    var handles: Set<UInt16> = []
    for round in 0..<10_000 {
      air.clearLog()
      central.clear()
      peripheral.clear()
      peripheral.send(.leSetAdvertisingEnable(true))
      central.connect(to: peripheral, interval: 6, timeout: 10)
      air.run(until: { !central.connectionCompletes.isEmpty && !peripheral.connectionCompletes.isEmpty })
      let handle = try #require(central.connectionCompletes.first, "round \(round)").handle
      handles.insert(try #require(peripheral.connectionCompletes.first).handle.rawValue)
      // Every third connection ends without a packet.
      if round % 3 == 0 {
        central.send(.reset)
        central.start()
      } else {
        central.send(.disconnect(handle, reason: .remoteUserTerminatedConnection))
      }
      air.run(
        until: { central.controller.connections.isEmpty && !peripheral.disconnections.isEmpty }, limit: .seconds(1))
      try #require(
        central.controller.connections.isEmpty && peripheral.controller.connections.count == 1, "round \(round)")
    }
    #expect(handles.count == 0x0EFF - 1, "the peripheral has had all but the secondLink's")
    #expect(peripheral.pool.count < 64 && central.pool.count < 64)
    #expect(secondLink.isUnharmed())
  }

  @Test("S26: CONNECT_IND data with supervision timeout 0 are invalid")
  func zeroTimeout() {
    var data = LL.ConnectionData(
      accessAddress: 0x5065_4A6B, crcInit: 0x123456, windowSize: 1, windowOffset: 0, interval: 24, latency: 0,
      timeout: 200, channelMap: .all, hop: 5, sleepClockAccuracy: .upTo50)
    #expect(data.isValid)
    data.timeout = 0
    #expect(!data.isValid)
  }
}
