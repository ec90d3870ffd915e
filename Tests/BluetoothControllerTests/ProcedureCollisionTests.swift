import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Procedure collisions")
struct ProcedureCollisionTests {
  private static let faster = HCI.PHYPreference(transmit: .le2M, receive: .le2M)

  private func parameters(_ interval: UInt16) -> LinkParameters {
    LinkParameters(minimumInterval: interval, maximumInterval: interval, latency: 0, supervisionTimeout: 200)
  }

  private func expectAgreement(_ link: LinkHarness) {
    let (central, peripheral) = (link.central.controller.connections[0], link.peripheral.controller.connections[0])
    #expect(central.phys.transmit == peripheral.phys.receive && central.phys.receive == peripheral.phys.transmit)
    #expect(central.channelMap == peripheral.channelMap)
    #expect(central.values == peripheral.values)
    #expect(link.isAlive())
  }

  @Test("If both request a PHY at once, the central's request proceeds and the peripheral's ends with a collision")
  func samePHY() throws {
    let link = try LinkHarness()
    #expect(link.peripheral.send(.leSetPHY(link.peripheralHandle, Self.faster, options: 0)) == .success)
    #expect(link.central.send(.leSetPHY(link.centralHandle, Self.faster, options: 0)) == .success)
    link.runEvents(20)
    let collided = HCI.Event.lePHYUpdateComplete(
      .llProcedureCollision, link.peripheralHandle, transmit: 1, receive: 1)
    let done = HCI.Event.lePHYUpdateComplete(.success, link.peripheralHandle, transmit: 2, receive: 2)
    #expect(link.peripheral.events.filter { $0 == collided || $0 == done } == [collided, done])
    #expect(
      link.central.events.contains(.lePHYUpdateComplete(.success, link.centralHandle, transmit: 2, receive: 2)))
    #expect(link.air.log.compactMap(\.controlPDU).contains(.rejectExtInd(opcode: 0x16, .llProcedureCollision)))
    expectAgreement(link)
  }

  @Test("A peripheral's PHY request that crosses a channel map update ends with Different Transaction Collision")
  func differentTransactions() throws {
    let link = try LinkHarness()
    link.peripheral.send(.leSetPHY(link.peripheralHandle, Self.faster, options: 0))
    link.central.send(.leSetHostChannelClassification(0xFFFF))
    link.runEvents(20)
    #expect(
      link.peripheral.events.contains(
        .lePHYUpdateComplete(.differentTransactionCollision, link.peripheralHandle, transmit: 1, receive: 1)))
    #expect(link.central.controller.connections[0].channelMap == ChannelMap(bits: 0xFFFF))
    expectAgreement(link)
    // No state remains: the same request succeeds now.
    link.peripheral.send(.leSetPHY(link.peripheralHandle, Self.faster, options: 0))
    link.runEvents(20)
    #expect(link.central.controller.connections[0].phys.transmit == .le2M)
    expectAgreement(link)
  }

  @Test("If both request parameters at once, the central's request proceeds")
  func parametersCross() throws {
    let link = try LinkHarness()
    link.peripheral.acceptsParameters = true
    link.peripheral.send(
      .leConnectionUpdate(link.peripheralHandle, parameters(40), HCI.ConnectionEventLength()))
    link.central.send(.leConnectionUpdate(link.centralHandle, parameters(12), HCI.ConnectionEventLength()))
    link.runEvents(20)
    #expect(link.air.log.compactMap(\.controlPDU).contains(.rejectExtInd(opcode: 0x0F, .llProcedureCollision)))
    #expect(link.central.controller.connections[0].values.interval == 12)
    #expect(link.central.events.allSatisfy { if case .leRemoteConnectionParameterRequest = $0 { false } else { true } })
    expectAgreement(link)
  }

  @Test("Procedures without an instant run in parallel with the peer's procedures")
  func compatible() throws {
    let link = try LinkHarness()
    link.peripheral.send(.leReadRemoteFeatures(link.peripheralHandle))
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    link.peripheral.send(.leSetDataLength(link.peripheralHandle, HCI.DataLength(octets: 100, time: 2_120)))
    link.central.send(.leSetDataLength(link.centralHandle, HCI.DataLength(octets: 200, time: 2_120)))
    link.central.send(.leSetPHY(link.centralHandle, Self.faster, options: 0))
    link.runEvents(20)
    for isCentral in [true, false] {
      let (device, handle) = link.side(isCentral)
      #expect(device.events.contains(.leReadRemoteFeaturesComplete(.success, handle, .visible)))
    }
    let lengths = link.central.controller.connections[0].lengths
    #expect(lengths.transmit.octets == 200 && lengths.receive.octets == 100)
    #expect(!link.air.log.compactMap(\.controlPDU).contains { if case .rejectExtInd = $0 { true } else { false } })
    expectAgreement(link)
  }

  @Test("Procedures that a host requests during another procedure wait, and run in order")
  func queue() throws {
    let link = try LinkHarness()
    link.peripheral.acceptsParameters = true
    for interval in [UInt16(12), 40, 16] {
      #expect(
        link.central.send(.leConnectionUpdate(link.centralHandle, parameters(interval), HCI.ConnectionEventLength()))
          == .success)
    }
    link.central.send(.leSetPHY(link.centralHandle, Self.faster, options: 0))
    link.central.send(.leSetHostChannelClassification(0xFF_FFFF))
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    link.air.run(for: .seconds(3))
    let intervals = link.peripheral.events.compactMap { event -> UInt16? in
      if case .leConnectionUpdateComplete(.success, _, let values) = event { values.interval } else { nil }
    }
    #expect(intervals == [12, 40, 16])
    #expect(link.central.controller.connections[0].phys.transmit == .le2M)
    #expect(link.central.controller.connections[0].channelMap == ChannelMap(bits: 0xFF_FFFF))
    expectAgreement(link)
  }

  @Test("A host that requests too many procedures gets Controller Busy, and all accepted procedures complete")
  func flood() throws {
    let link = try LinkHarness()
    link.peripheral.acceptsParameters = true
    var accepted = 0
    for _ in 0..<100 {
      let status = link.central.send(
        .leConnectionUpdate(link.centralHandle, parameters(12), HCI.ConnectionEventLength()))
      if status == .success { accepted += 1 } else { #expect(status == .controllerBusy) }
    }
    #expect((8...32).contains(accepted))
    link.air.run(for: .seconds(10))
    let updates = link.central.events.count { if case .leConnectionUpdateComplete = $0 { true } else { false } }
    #expect(updates == accepted)
    expectAgreement(link)
  }

  @Test("While a host decides on parameters, the peer's other procedures with an instant are rejected")
  func duringDecision() throws {
    let link = try LinkHarness()
    link.peripheral.send(.leConnectionUpdate(link.peripheralHandle, parameters(40), HCI.ConnectionEventLength()))
    link.runEvents(3)
    #expect(link.central.events == [.leRemoteConnectionParameterRequest(link.centralHandle, parameters(40))])
    #expect(link.injectFromPeripheral([0x16, 2, 2]) == [[0x11, 0x16, 0x2A]])
    // The central's own request waits for the decision.
    link.central.send(.leSetPHY(link.centralHandle, Self.faster, options: 0))
    link.runEvents(5)
    #expect(link.central.controller.connections[0].phys.transmit == .le1M)
    link.central.send(
      .leRemoteConnectionParameterRequestNegativeReply(
        link.centralHandle, reason: .unacceptableConnectionParameters))
    link.runEvents(20)
    #expect(link.central.controller.connections[0].phys.transmit == .le2M)
    expectAgreement(link)
  }

  /// A PDU with which a peer starts a procedure with an instant; the instants are at event 60.
  struct Start: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let octets: [UInt8]
    let changes: ControlProcedures.Transaction

    static let parameterRequest = Start(
      testDescription: "LL_CONNECTION_PARAM_REQ",
      octets: [0x0F, 24, 0, 40, 0, 0, 0, 200, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 12), changes: .parameters)
    static let phyRequest = Start(testDescription: "LL_PHY_REQ", octets: [0x16, 2, 2], changes: .phys)
    static let parameterUpdate = Start(
      testDescription: "LL_CONNECTION_UPDATE_IND", octets: [0x00, 1, 0, 0, 24, 0, 0, 0, 200, 0, 60, 0],
      changes: .parameters)
    static let mapUpdate = Start(
      testDescription: "LL_CHANNEL_MAP_IND", octets: [0x01, 0xFF, 0, 0, 0, 0, 60, 0], changes: .channelMap)
    static let phyUpdate = Start(testDescription: "LL_PHY_UPDATE_IND", octets: [0x18, 2, 2, 60, 0], changes: .phys)
    static let all = [parameterRequest, phyRequest, parameterUpdate, mapUpdate, phyUpdate]

    func error(during change: ControlProcedures.Transaction) -> HCI.ErrorCode {
      changes == change ? .llProcedureCollision : .differentTransactionCollision
    }
  }

  /// The procedure in progress between its last PDU and its instant.
  enum Pending: String, CaseIterable, Sendable {
    case parameterUpdate, mapUpdate, phyUpdate, peripheralsPHYRequest, peripheralsParameterRequest
    case centralsPHYRequest, centralsParameterRequest

    var changes: ControlProcedures.Transaction {
      switch self {
      case .parameterUpdate, .peripheralsParameterRequest, .centralsParameterRequest: .parameters
      case .mapUpdate: .channelMap
      case .phyUpdate, .peripheralsPHYRequest, .centralsPHYRequest: .phys
      }
    }
  }

  /// A link on which a procedure waits for its instant. The procedures without a request are injected if
  /// `isForPeripheral`.
  private func link(_ pending: Pending, isForPeripheral: Bool) throws -> LinkHarness {
    let link = try LinkHarness(
      timeout: 100,
      peripheral: {
        // The central then updates the parameters without a request.
        if pending == .parameterUpdate, !isForPeripheral { $0.features.remove(.connectionParametersRequestProcedure) }
      })
    (link.central.acceptsParameters, link.peripheral.acceptsParameters) = (true, true)
    link.runEvents(4)
    switch pending {
    case .parameterUpdate where isForPeripheral: _ = link.injectFromCentral(Start.parameterUpdate.octets)
    case .mapUpdate where isForPeripheral: _ = link.injectFromCentral(Start.mapUpdate.octets)
    case .phyUpdate: _ = link.injectFromCentral(Start.phyUpdate.octets)
    case .mapUpdate: link.central.send(.leSetHostChannelClassification(0xFFFF))
    case .parameterUpdate, .centralsParameterRequest:
      link.central.send(.leConnectionUpdate(link.centralHandle, parameters(40), HCI.ConnectionEventLength()))
    case .peripheralsParameterRequest:
      link.peripheral.send(.leConnectionUpdate(link.peripheralHandle, parameters(40), HCI.ConnectionEventLength()))
    case .centralsPHYRequest: link.central.send(.leSetPHY(link.centralHandle, Self.faster, options: 0))
    case .peripheralsPHYRequest: link.peripheral.send(.leSetPHY(link.peripheralHandle, Self.faster, options: 0))
    }
    let device = isForPeripheral ? link.peripheral : link.central
    link.air.run(until: { device.controller.connections[0].procedures.update?.instant != nil })
    link.runEvents(1)
    return link
  }

  @Test(
    "A central that starts a procedure before the instant of another one loses the connection, by request or instruction",
    arguments: [
      Pending.parameterUpdate, .mapUpdate, .phyUpdate, .peripheralsPHYRequest, .peripheralsParameterRequest,
      .centralsPHYRequest,
    ], Start.all)
  func centralBreaksRules(pending: Pending, start: Start) throws {
    let link = try link(pending, isForPeripheral: true)
    #expect(link.injectFromCentral(start.octets).isEmpty)
    #expect(link.peripheral.disconnections == [start.error(during: pending.changes)])
  }

  @Test(
    "A peripheral's request before the instant of a procedure is rejected if the peripheral has no part in it",
    arguments: [Pending.mapUpdate, .parameterUpdate], [Start.parameterRequest, .phyRequest])
  func requestsCross(pending: Pending, start: Start) throws {
    let link = try link(pending, isForPeripheral: false)
    let error = start.error(during: pending.changes).rawValue
    #expect(link.injectFromPeripheral(start.octets) == [[0x11, start.octets[0], error]])
    #expect(link.central.disconnections.isEmpty)
  }

  @Test(
    "A peripheral that starts a procedure before the instant of one that it has a part in loses the connection",
    arguments: [
      Pending.centralsPHYRequest, .centralsParameterRequest, .peripheralsPHYRequest, .peripheralsParameterRequest,
    ], [Start.parameterRequest, .phyRequest])
  func peripheralBreaksRules(pending: Pending, start: Start) throws {
    let link = try link(pending, isForPeripheral: false)
    #expect(link.injectFromPeripheral(start.octets).isEmpty)
    #expect(link.central.disconnections == [start.error(during: pending.changes)])
  }

  @Test(
    "Procedures without an instant are answered before the instant of another one",
    arguments: [Pending.parameterUpdate, .mapUpdate, .phyUpdate],
    [
      // LL_FEATURE_REQ, LL_VERSION_IND, LL_PING_REQ, LL_LENGTH_REQ, LL_CLOCK_ACCURACY_REQ
      ([0x08, 0, 0, 0, 0, 0, 0, 0, 0], 0x09), ([0x0C, 9, 0, 0, 0, 0], 0x0C), ([0x12], 0x13),
      ([0x14, 100, 0, 0x48, 8, 100, 0, 0x48, 8], 0x15), ([0x1D, 0], 0x1E),
      // LL_CTE_REQ, LL_POWER_CONTROL_REQ and LL_SUBRATE_REQ, which the link layer does not know
      ([0x1A, 0], 0x07), ([0x23, 1, 0, 0], 0x07), ([0x26, 1, 0, 1, 0, 0, 0, 0, 0, 100, 0], 0x07),
    ] as [([UInt8], UInt8)])
  func compatibleBeforeInstant(pending: Pending, request: ([UInt8], UInt8)) throws {
    let link = try link(pending, isForPeripheral: true)
    #expect(link.injectFromCentral(request.0).map { $0[0] } == [request.1])
    #expect(link.peripheral.disconnections.isEmpty)
  }

  @Test("A procedure of the peer and a local procedure have separate timeouts of 40 s")
  func twoTimeouts() throws {
    let link = try LinkHarness()
    // The answer to the peripheral's feature request never arrives, and LL_PHY_REQ is forged later.
    link.air.outcome = { transmission in
      if case .peripheralFeatureReq? = transmission.controlPDU {
        transmission.packet.payload = [0x13]
        transmission.packet.header = transmission.packet.header & 0xFF | 1 << 8
      }
      return .arrives
    }
    link.peripheral.send(.leReadRemoteFeatures(link.peripheralHandle))
    link.air.run(for: .seconds(20))
    #expect(link.injectFromCentral([0x16, 2, 2]).count == 1)
    link.air.run(for: .milliseconds(19_700))
    #expect(link.peripheral.disconnections.isEmpty)
    link.air.run(for: .milliseconds(500))
    #expect(link.peripheral.disconnections == [.llResponseTimeout])
  }
}
