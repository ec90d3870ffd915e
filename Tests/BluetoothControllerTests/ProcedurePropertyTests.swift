import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Random procedures on a link with packet loss")
struct ProcedurePropertyTests {
  /// One side of a link: the procedures that its host has requested, and their results.
  private final class Side {
    let device: ControllerHarness
    let handle: HCI.ConnectionHandle
    let isCentral: Bool
    /// The L2CAP PDUs given to the controller.
    var sent: [[UInt8]] = []
    /// The number of accepted procedures, by the event that completes them.
    var accepted: [Completion: Int] = [:]
    private var seen = 0
    private var random: RandomStream

    enum Completion: CaseIterable { case phys, parameters, features, version, clock }

    init(_ link: LinkHarness, isCentral: Bool, seed: UInt64) {
      (device, handle) = link.side(isCentral)
      self.isCentral = isCentral
      random = RandomStream(seed: seed).split(isCentral ? "central" : "peripheral")
    }

    private func below(_ limit: UInt64) -> UInt64 { random.next() % limit }

    func ask(_ command: HCI.Command, _ completion: Completion? = nil) {
      guard device.send(command) == .success, let completion else { return }
      accepted[completion, default: 0] += 1
    }

    func askSomething() {
      switch below(14) {
      case 0:
        let length = HCI.DataLength(octets: 27 + UInt16(below(225)), time: 328 + UInt16(below(16_713)))
        ask(.leSetDataLength(handle, length))
      case 1: ask(.leSetHostChannelClassification(random.next() | 0b11))
      case 2: ask(.leConnectionUpdate(handle, parameters, HCI.ConnectionEventLength()), .parameters)
      case 3: ask(.leReadRemoteFeatures(handle), .features)
      case 4: ask(.readRemoteVersionInformation(handle), .version)
      case 5: ask(.leRequestPeerSCA(handle), .clock)
      case 6, 7:
        let preference = HCI.PHYPreference(
          transmit: below(4) == 0 ? nil : HCI.PHYs(rawValue: 1 + UInt8(below(7))),
          receive: below(4) == 0 ? nil : HCI.PHYs(rawValue: 1 + UInt8(below(7))))
        ask(.leSetPHY(handle, preference, options: UInt16(below(3))), .phys)
      case 8 where isCentral:
        ask(.leEnableEncryption(handle, random: 1, encryptedDiversifier: 2, longTermKey: 3))
      default:
        guard sent.count - device.completedPackets < 30 else { return }
        let payload = (0..<1 + Int(below(251))).map { UInt8(truncatingIfNeeded: $0 &+ sent.count) }
        device.send(payload, on: handle)
        sent.append(payload)
      }
    }

    private var parameters: LinkParameters {
      let minimum = UInt16(6 + below(60))
      return LinkParameters(
        minimumInterval: minimum, maximumInterval: minimum + UInt16(below(2) * below(30)), latency: UInt16(below(5)),
        supervisionTimeout: 1_000)
    }

    /// Answers the controller's requests as a host, now or later.
    func answer() {
      while seen < device.events.count {
        switch device.events[seen] {
        case .leRemoteConnectionParameterRequest(_, let parameters):
          device.send(
            below(4) == 0
              ? .leRemoteConnectionParameterRequestNegativeReply(handle, reason: .unacceptableConnectionParameters)
              : .leRemoteConnectionParameterRequestReply(handle, parameters, HCI.ConnectionEventLength()))
        case .leLongTermKeyRequest: device.send(.leLongTermKeyRequestReply(handle, longTermKey: 3))
        default: break
        }
        seen += 1
      }
    }

    var isDone: Bool {
      guard device.controller.connections.count == 1 else { return true }
      let connection = device.controller.connections[0]
      return device.completedPackets == sent.count && connection.procedures.isIdle && connection.encryption.isIdle
        && !connection.procedures.isWaiting { _ in true }
    }

    func completed(_ completion: Completion) -> Int {
      device.events.count { event in
        switch (completion, event) {
        case (.phys, .lePHYUpdateComplete), (.parameters, .leConnectionUpdateComplete),
          (.features, .leReadRemoteFeaturesComplete), (.version, .readRemoteVersionInformationComplete),
          (.clock, .leRequestPeerSCAComplete):
          true
        default: false
        }
      }
    }

    /// The received L2CAP PDUs.
    var received: [[UInt8]] {
      var result: [[UInt8]] = []
      for part in device.data {
        if part.boundary == .continuing, !result.isEmpty {
          result[result.count - 1] += part.payload.bytes
        } else {
          result.append(part.payload.bytes)
        }
      }
      return result
    }
  }

  @Test("Data arrive once, complete and in order; procedures end; both sides agree on all values", arguments: 0..<30)
  func anything(seed: Int) throws {
    var random = RandomStream(seed: UInt64(seed)).split("world")
    let link = try LinkHarness(
      interval: UInt16(6 + random.next() % 40), timeout: 1_000,
      central: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (100, 90_000) },
      peripheral: { ($0.sleepClockAccuracy, $0.sleepClockDrift) = (250, -240_000) })
    let (loss, damage) = (random.next() % 12, random.next() % 12)
    var airRandom = RandomStream(seed: UInt64(seed)).split("air")
    link.air.outcome = { _ in
      let draw = airRandom.next() % 100
      return draw < loss ? .lost : draw < loss + damage ? .corrupt : .arrives
    }
    let sides = [true, false].map { Side(link, isCentral: $0, seed: UInt64(seed)) }
    for _ in 0..<150 {
      sides[Int(random.next() % 2)].askSomething()
      link.air.run(for: .milliseconds(Int64(random.next() % 60)))
      for side in sides { side.answer() }
    }
    for _ in 0..<300 where !sides.allSatisfy(\.isDone) {
      link.air.run(for: .milliseconds(200))
      for side in sides { side.answer() }
    }
    link.air.run(for: .seconds(1))
    try #require(sides.map(\.device.disconnections) == [[], []])
    #expect(sides[1].received == sides[0].sent && sides[0].received == sides[1].sent)
    for side in sides {
      #expect(side.device.completedPackets == side.sent.count)
      for completion in Side.Completion.allCases {
        #expect(side.completed(completion) >= side.accepted[completion, default: 0], "\(completion)")
      }
      #expect(side.isDone)
    }
    let (central, peripheral) = (link.central.controller.connections[0], link.peripheral.controller.connections[0])
    #expect(central.channelMap == peripheral.channelMap)
    #expect(central.values == peripheral.values)
    #expect(central.encryption.isOn == peripheral.encryption.isOn)
    #expect(central.phys.transmit == peripheral.phys.receive && central.phys.receive == peripheral.phys.transmit)
    #expect(central.lengths.transmit.octets == peripheral.lengths.receive.octets)
    #expect(central.lengths.receive.octets == peripheral.lengths.transmit.octets)
  }
}
