import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("A connection with packet loss")
struct LossyLinkTests {
  /// The PDUs that one side has given to its controller, and their number.
  private struct Flow {
    var sent: [[UInt8]] = []
    var packets = 0
  }

  /// Returns the L2CAP PDUs, reassembled from the fragments that a host received.
  private func joined(_ data: [HCI.ACLData]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    for part in data {
      if part.boundary == .continuing, !result.isEmpty {
        result[result.count - 1] += part.payload.bytes
      } else {
        result.append(part.payload.bytes)
      }
    }
    return result
  }

  @Test("All data arrive once, complete and in order, despite losses, and are reported once", arguments: 0..<24)
  func dataSurvive(seed: Int) throws {
    var random = RandomStream(seed: UInt64(seed))
    let interval = UInt16(6 + random.next() % 30)
    let latency = UInt16(random.next() % 4)
    let link = try LinkHarness(
      interval: interval, latency: latency, timeout: 800, central: { $0.sleepClockDrift = 40_000 },
      peripheral: { $0.sleepClockDrift = -40_000 })
    var airRandom = RandomStream(seed: UInt64(seed) + 99)
    link.air.outcome = { _ in
      switch airRandom.next() % 20 {
      case 0: .lost
      case 1: .corrupt
      default: .arrives
      }
    }
    var flows = [Flow(), Flow()]
    let sides = [(link.central, link.centralHandle), (link.peripheral, link.peripheralHandle)]
    for (device, _) in sides { device.acceptsParameters = true }
    for step in 0..<120 {
      let side = Int(random.next() % 2)
      let (device, handle) = sides[side]
      switch random.next() % 12 {
      case 0:
        device.send(.leSetDataLength(handle, HCI.DataLength(octets: 27 + UInt16(random.next() % 225), time: 2120)))
      case 1: link.central.send(.leSetHostChannelClassification(random.next() | 0b11))
      case 2:
        let interval = UInt16(6 + random.next() % 60)
        device.send(
          .leConnectionUpdate(
            handle,
            LinkParameters(
              minimumInterval: interval, maximumInterval: interval, latency: UInt16(random.next() % 5),
              supervisionTimeout: 800), HCI.ConnectionEventLength()))
      case 3: device.send(.leReadRemoteFeatures(handle))
      case 4: device.send(.readRemoteVersionInformation(handle))
      default:
        let sent = flows[side].packets - device.completedPackets
        guard sent < 40 else { break }
        let payload = (0..<1 + Int(random.next() % 251)).map { UInt8(truncatingIfNeeded: $0 &+ step) }
        device.send(payload, on: handle)
        flows[side].sent.append(payload)
        flows[side].packets += 1
      }
      link.air.run(for: .milliseconds(Int64(random.next() % 40)))
    }
    link.air.run(for: .seconds(20))
    try #require([link.central, link.peripheral].map(\.disconnections) == [[], []])
    #expect(joined(link.peripheral.data) == flows[0].sent)
    #expect(joined(link.central.data) == flows[1].sent)
    #expect(link.central.completedPackets == flows[0].packets)
    #expect(link.peripheral.completedPackets == flows[1].packets)
    let (central, peripheral) = (link.central.controller.connections[0], link.peripheral.controller.connections[0])
    #expect(central.channelMap == peripheral.channelMap)
    #expect(central.values == peripheral.values)
  }

  @Test("The link recovers from the loss of a packet at any place of an exchange", arguments: 0..<30)
  func oneLoss(place: Int) throws {
    for outcome in [PerfectAir.Outcome.lost, .corrupt] {
      let link = try LinkHarness()
      var count = 0
      link.air.outcome = { _ in
        count += 1
        return count == place + 1 ? outcome : .arrives
      }
      let payload = (0..<60).map { UInt8($0) }
      link.central.send(.leReadRemoteFeatures(link.centralHandle))
      link.central.send(payload, on: link.centralHandle)
      link.peripheral.send(payload, on: link.peripheralHandle)
      link.runEvents(4)
      link.central.send(payload, on: link.centralHandle)
      link.runEvents(12)
      #expect(joined(link.peripheral.data) == [payload, payload])
      #expect(joined(link.central.data) == [payload])
      #expect(link.central.completedPackets == 2 && link.peripheral.completedPackets == 1)
    }
  }

  @Test("An update that arrives at its own instant is in time, and so is the update that follows it")
  func lastMoment() throws {
    // The central decides alone about the parameters.
    let link = try LinkHarness(peripheral: { $0.features.remove(.connectionParametersRequestProcedure) })
    link.runEvents(3)
    func parameters(_ interval: UInt16) -> LinkParameters {
      LinkParameters(minimumInterval: interval, maximumInterval: interval, latency: 0, supervisionTimeout: 200)
    }
    link.air.outcome = { [unowned central = link.central] transmission in
      let instant: UInt16
      switch transmission.device == 0 ? transmission.controlPDU : nil {
      case .connectionUpdateInd(_, let number)?, .channelMapInd(_, let number)?: instant = number
      default: return .arrives
      }
      return Int(instant) > central.controller.connections[0].schedule.next ? .lost : .arrives
    }
    link.central.send(.leConnectionUpdate(link.centralHandle, parameters(40), HCI.ConnectionEventLength()))
    link.central.send(.leConnectionUpdate(link.centralHandle, parameters(12), HCI.ConnectionEventLength()))
    link.air.run(for: .seconds(3))
    #expect(link.peripheral.disconnections.isEmpty)
    for device in [link.central, link.peripheral] {
      #expect(device.controller.connections.map(\.values.interval) == [12])
    }
    link.air.outcome = { _ in .arrives }
    #expect(link.isAlive())
  }

  @Test("Event counters wrap after 65,535, and an update takes effect after the wrap", arguments: [true, false])
  func counterWraps(usesAlgorithm2: Bool) throws {
    let link = try LinkHarness(
      interval: 6, timeout: 100,
      prepare: { central, _ in
        central.air?.outcome = { transmission in
          // Without ChSel in ADV_IND the connection uses Algorithm #1. The advertiser too sees a CONNECT_IND without
          // ChSel.
          if transmission.isAdvertising, !usesAlgorithm2 { transmission.packet.header &= ~(1 << 5) }
          return .arrives
        }
      })
    link.runEvents(3)
    link.peripheral.acceptsParameters = true
    for device in [link.central, link.peripheral] {
      device.controller.connections[0].schedule.advance(skipping: 65_520)
      device.controller.connections[0].supervisionDeadline = .distantFuture
    }
    link.air.run(for: .microseconds(7_500) * 65_525)
    #expect(link.isAlive())
    let parameters = LinkParameters(
      minimumInterval: 12, maximumInterval: 12, latency: 3, supervisionTimeout: 200)
    #expect(
      link.central.send(.leConnectionUpdate(link.centralHandle, parameters, HCI.ConnectionEventLength())) == .success)
    link.air.run(for: .milliseconds(400))
    #expect(link.peripheral.controller.connections[0].schedule.next > 65_536)
    #expect(link.peripheral.controller.connections[0].values.interval == 12)
    #expect(link.isAlive())
  }
}
