import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Connection parameters")
struct ConnectionParameterTests {
  private func parameters(_ range: ClosedRange<UInt16>, latency: UInt16 = 0) -> LinkParameters {
    LinkParameters(
      minimumInterval: range.lowerBound, maximumInterval: range.upperBound, latency: latency, supervisionTimeout: 200)
  }

  private func update(_ link: LinkHarness, isCentral: Bool = true, _ parameters: LinkParameters) {
    let (device, handle) = link.side(isCentral)
    #expect(device.send(.leConnectionUpdate(handle, parameters, HCI.ConnectionEventLength())) == .success)
  }

  private func reply(_ device: ControllerHarness, _ handle: HCI.ConnectionHandle, _ parameters: LinkParameters) {
    #expect(
      device.send(.leRemoteConnectionParameterRequestReply(handle, parameters, HCI.ConnectionEventLength()))
        == .success)
  }

  /// Returns a link whose central knows that the peripheral supports LL_CONNECTION_PARAM_REQ.
  private func acquaintedLink() throws -> LinkHarness {
    let link = try LinkHarness()
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    link.runEvents(4)
    link.central.clear()
    return link
  }

  @Test("A central with a range of intervals asks the peripheral, whose host may narrow the range")
  func centralAsks() throws {
    let link = try acquaintedLink()
    update(link, parameters(20...60))
    link.runEvents(3)
    #expect(link.peripheral.events == [.leRemoteConnectionParameterRequest(link.peripheralHandle, parameters(20...60))])
    reply(link.peripheral, link.peripheralHandle, parameters(30...40, latency: 1))
    link.runEvents(20)
    let values = HCI.ConnectionValues(interval: 40, latency: 1, supervisionTimeout: 200)
    #expect(link.central.events.last == .leConnectionUpdateComplete(.success, link.centralHandle, values))
    #expect(link.peripheral.events.last == .leConnectionUpdateComplete(.success, link.peripheralHandle, values))
    #expect(link.isAlive())
  }

  @Test("A central that does not know the peripheral's features asks it, even for a single interval")
  func unacquainted() throws {
    let link = try LinkHarness()
    update(link, parameters(40...40))
    link.runEvents(3)
    #expect(link.peripheral.events == [.leRemoteConnectionParameterRequest(link.peripheralHandle, parameters(40...40))])
    reply(link.peripheral, link.peripheralHandle, parameters(40...40))
    link.runEvents(20)
    let values = HCI.ConnectionValues(interval: 40, latency: 0, supervisionTimeout: 200)
    #expect(link.central.events.last == .leConnectionUpdateComplete(.success, link.centralHandle, values))
    #expect(link.isAlive())
  }

  /// Returns the numbers of LL_CONNECTION_PARAM_REQ and LL_CONNECTION_UPDATE_IND that the central has sent.
  private func sent(_ link: LinkHarness) -> (requests: Int, updates: Int) {
    let opcodes = link.air.log.filter { $0.device == link.central.number }.compactMap { $0.controlPDU?.opcode }
    return (opcodes.count { $0 == .connectionParamReq }, opcodes.count { $0 == .connectionUpdateInd })
  }

  @Test("A central decides alone if the peripheral lacks the procedure, by its features or by LL_UNKNOWN_RSP")
  func unknownToPeripheral() throws {
    for isKnown in [true, false] {
      let link = try LinkHarness(peripheral: { $0.features.remove(.connectionParametersRequestProcedure) })
      if isKnown { link.central.send(.leReadRemoteFeatures(link.centralHandle)) }
      link.runEvents(4)
      for (count, interval) in [UInt16(40), 12].enumerated() {
        update(link, parameters(interval...interval))
        link.air.run(for: .seconds(1))
        #expect(link.central.controller.connections[0].values.interval == interval)
        // After LL_UNKNOWN_RSP the central does not ask again.
        #expect(sent(link) == (isKnown ? 0 : 1, count + 1))
      }
      #expect(link.isAlive())
    }
  }

  @Test("A peripheral whose central has answered LL_UNKNOWN_RSP refuses its host's next command")
  func unknownToCentral() throws {
    let link = try LinkHarness(central: { $0.features.remove(.connectionParametersRequestProcedure) })
    update(link, isCentral: false, parameters(40...40))
    link.runEvents(5)
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    #expect(
      link.peripheral.events.last
        == .leConnectionUpdateComplete(.unsupportedRemoteFeature, link.peripheralHandle, values))
    #expect(
      link.peripheral.send(
        .leConnectionUpdate(link.peripheralHandle, parameters(40...40), HCI.ConnectionEventLength()))
        == .unsupportedRemoteFeature)
  }

  @Test("The parameters stay unchanged if the peripheral's host refuses the central's request")
  func peripheralRefuses() throws {
    let link = try acquaintedLink()
    update(link, parameters(20...60))
    link.runEvents(3)
    link.peripheral.send(
      .leRemoteConnectionParameterRequestNegativeReply(
        link.peripheralHandle, reason: .unacceptableConnectionParameters))
    link.runEvents(20)
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    #expect(
      link.central.events.last
        == .leConnectionUpdateComplete(.unacceptableConnectionParameters, link.centralHandle, values))
    #expect(link.isAlive())
  }

  @Test("The central decides alone if the peripheral's host has masked the request event")
  func peripheralNotAsked() throws {
    let link = try acquaintedLink()
    link.peripheral.send(.leSetEventMask(.initial))
    update(link, parameters(20...60))
    link.runEvents(20)
    #expect(link.central.controller.connections[0].values.interval == 60)
    #expect(link.isAlive())
  }

  @Test("A peripheral that has answered waits 40 s for LL_CONNECTION_UPDATE_IND")
  func awaitedUpdate() throws {
    let link = try LinkHarness()
    let request: [UInt8] = [0x0F, 24, 0, 40, 0, 0, 0, 200, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 12)
    #expect(link.injectFromCentral(request).isEmpty)
    reply(link.peripheral, link.peripheralHandle, parameters(24...40))
    link.air.run(for: .milliseconds(39_900))
    #expect(link.peripheral.disconnections.isEmpty)
    link.air.run(for: .milliseconds(300))
    #expect(link.peripheral.disconnections == [.llResponseTimeout])
  }

  @Test("A central takes a range's longest interval, or with another link the longest one that fits that link")
  func interval() throws {
    let link = try LinkHarness()
    let other = ControllerHarness("other", address: 0x3333_3333_3333)
    link.air.add(other)
    other.start()
    other.advertise()
    link.central.connect(to: other, interval: 40)
    link.air.run(until: { !other.connectionCompletes.isEmpty })
    link.air.run(for: .seconds(1))
    link.peripheral.acceptsParameters = true
    update(link, parameters(15...60))
    link.air.run(for: .seconds(2))
    #expect(link.central.controller.connections[0].values.interval == 40)
    // The events of the two links do not overlap.
    link.air.clearLog()
    link.air.run(for: .seconds(1))
    let starts = link.air.log.filter { $0.device == 0 }
    #expect(zip(starts, starts.dropFirst()).allSatisfy { $0.1.start - $0.0.start > .milliseconds(5) })
    #expect(link.central.disconnections.isEmpty && link.isAlive())
  }

  @Test(
    "The central takes a multiple of the preferred periodicity, and an anchor point that the peripheral has offered")
  func preferences() throws {
    let link = try LinkHarness()
    link.runEvents(4)
    // 24 to 40, latency 0, timeout 200, periodicity 7, reference event 6, offset 5.
    let request: [UInt8] =
      [0x0F, 24, 0, 40, 0, 0, 0, 200, 0, 7, 6, 0, 5, 0] + Array(repeating: 0xFF, count: 10)
    #expect(link.injectFromPeripheral(request).isEmpty)
    let reference = link.air.log.last { $0.device == 0 }
    let event = link.central.controller.connections[0].schedule.next - 1
    reply(link.central, link.centralHandle, parameters(24...40))
    link.runEvents(16)
    #expect(link.central.controller.connections[0].values.interval == 35)
    link.air.clearLog()
    link.runEvents(3)
    let anchor = try #require(link.air.log.first { $0.device == 0 })
    let old = try #require(reference).start
    let wanted = old + .milliseconds(30) * Int64(6 - event) + .microseconds(1_250) * 5
    #expect((anchor.start - wanted).nanoseconds % (35 * 1_250_000) == 0)
    #expect(link.isAlive())
  }

  @Test("The central grants new anchor points alone without asking a host, and the peripheral's host gets no event")
  func move() throws {
    let link = try LinkHarness()
    link.runEvents(4)
    let request: [UInt8] =
      [0x0F, 24, 0, 24, 0, 0, 0, 200, 0, 0, 6, 0, 10, 0] + Array(repeating: 0xFF, count: 10)
    let before = try #require(link.air.log.last { $0.device == 0 }).start
    #expect(link.injectFromPeripheral(request, events: 20).map { $0[0] } == [0x00])
    #expect(link.peripheral.events.allSatisfy { if case .numberOfCompletedPackets = $0 { true } else { false } })
    let after = try #require(link.air.log.last { $0.device == 0 }).start
    #expect((after - before).nanoseconds % 30_000_000 == 12_500_000)
    #expect(link.isAlive())
  }

  @Test("An instant thousands of events ahead is applied at that event")
  func farInstant() throws {
    let link = try LinkHarness()
    link.runEvents(4)
    let instant = link.peripheral.controller.connections[0].schedule.next + 20_000
    let octets = [UInt8(truncatingIfNeeded: instant), UInt8(truncatingIfNeeded: instant >> 8)]
    #expect(link.injectFromCentral([0x00, 1, 0, 0, 12, 0, 0, 0, 200, 0] + octets).isEmpty)
    link.air.run(for: .milliseconds(30) * 19_900)
    #expect(link.isAlive())
    #expect(link.peripheral.controller.connections[0].values.interval == 24)
    link.air.run(for: .seconds(4))
    #expect(link.peripheral.controller.connections[0].values.interval == 12)
  }
}
