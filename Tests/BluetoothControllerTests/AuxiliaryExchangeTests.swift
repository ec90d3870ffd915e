import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Requests to extended advertisers")
struct AuxiliaryExchangeTests {
  private let air: PerfectAir
  private let device, other: ControllerHarness

  init() { (air, device, other) = PerfectAir.pair("device", "other") }

  private func set(
    _ properties: HCI.ExtendedAdvertisingParameters.Properties, on phy: RadioPHY = .le1M,
    change: (inout HCI.ExtendedAdvertisingParameters) -> Void = { _ in }
  ) {
    let parameters = HCI.ExtendedAdvertisingParameters.every100ms(1, properties) {
      ($0.primaryPHY, $0.secondaryPHY) = (phy == .leCoded ? .leCoded : .le1M, phy)
      ($0.minimumInterval, $0.maximumInterval) = (320, 320)
      change(&$0)
    }
    #expect(device.send(.leSetExtendedAdvertisingParameters(parameters)) == .success)
  }

  @Test(
    "AUX_SCAN_REQ is answered after 150 µs, with a response of up to 1,000 octets",
    arguments: [RadioPHY.le1M, .le2M, .leCoded])
  func scanRequest(phy: RadioPHY) throws {
    let response = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
    set(.scannable, on: phy) {
      $0.notifiesOfScanRequests = true
      ($0.minimumInterval, $0.maximumInterval) = (800, 800)
    }
    #expect(device.setResponse(response) == .success)
    #expect(device.enable(1) == .success)
    other.scanExtended(isActive: true, onCoded: phy == .leCoded)
    air.run(for: .seconds(5))
    let place = try #require(air.log.firstIndex { $0.device == 1 })
    let (request, answer) = (air.log[place], air.log[place + 1])
    #expect(request.advertisingPDU == .scanReq(scanner: other.address, advertiser: device.address))
    #expect(request.start - air.log[place - 1].end == .microseconds(150))
    #expect(answer.start - request.end == .microseconds(150) && answer.device == 0)
    let packets = [answer] + air.chain(from: answer)
    #expect(packets.flatMap { $0.extended?.data.bytes ?? [] } == response)
    #expect(packets.allSatisfy { $0.modulation.phy == phy })
    #expect(device.events.contains(.leScanRequestReceived(1, scanner: HCI.PeerAddress(other.address))))
    #expect(other.extendedReports.contains { $0.type.contains(.scanResponse) })
  }

  @Test("Scan request events that the host does not read are dropped, and the requests are still answered")
  func sleepingHost() {
    set([.legacy, .scannable]) {
      $0.notifiesOfScanRequests = true
      ($0.minimumInterval, $0.maximumInterval) = (32, 32)
    }
    device.setResponse([1])
    device.enable(1)
    other.scanExtended(isActive: true)
    device.isAsleep = true
    air.run(for: .seconds(12))
    let answers = air.log.count { if case .scanRsp? = $0.advertisingPDU { true } else { false } }
    #expect(answers > 300 && device.controller.device.output.packets.count <= 256)
  }

  @Test("A host that has not enabled scan request notifications gets none")
  func silentScanRequest() {
    set(.scannable)
    device.setResponse([1])
    device.enable(1)
    other.scanExtended(isActive: true)
    air.run(for: .seconds(2))
    #expect(air.log.contains { $0.device == 1 })
    #expect(!device.events.contains { if case .leScanRequestReceived = $0 { true } else { false } })
  }

  @Test(
    "AUX_CONNECT_REQ is answered by AUX_CONNECT_RSP and makes a connection, which ends the set",
    arguments: [RadioPHY.le1M, .le2M, .leCoded])
  func connection(phy: RadioPHY) throws {
    set(.connectable, on: phy)
    #expect(device.setData([2, 1, 6]) == .success)
    device.enable(1)
    other.connectExtended(to: device, onCoded: phy == .leCoded)
    #expect(air.run(until: { !device.connectionCompletes.isEmpty && !other.connectionCompletes.isEmpty }))
    let place = try #require(air.log.firstIndex { $0.device == 1 })
    let answer = air.log[place + 1]
    #expect(answer.advertisingPDU == .auxConnectRsp(advertiser: device.address, initiator: other.address))
    #expect(answer.start - air.log[place].end == .microseconds(150))
    let handle = try #require(device.connectionCompletes.first).handle
    #expect(device.connectionCompletes.map(\.status) == [.success])
    let terminated = device.events.compactMap { event in
      if case .leAdvertisingSetTerminated(.success, 1, handle, _) = event { true } else { nil }
    }
    #expect(terminated == [true])
    air.run(for: .seconds(3))
    #expect(device.disconnections.isEmpty && other.disconnections.isEmpty)
    device.send([1, 2, 3], on: handle)
    air.run(for: .milliseconds(200))
    #expect(other.data.map(\.payload) == [[1, 2, 3]])
  }

  @Test("A directed set names its target and connects only to it")
  func directed() throws {
    let third = ControllerHarness("third", address: 0x3333_3333_3333)
    air.start(third)
    set([.connectable, .directed]) { $0.peer = HCI.PeerAddress(other.address) }
    device.enable(1)
    third.connectExtended(to: device)
    air.run(for: .seconds(1))
    #expect(third.connectionCompletes.isEmpty)
    #expect(air.log.contains { !$0.isPrimary && $0.extended?.target == other.address })
    other.connectExtended(to: device)
    air.run(for: .seconds(1))
    #expect(other.connectionCompletes.map(\.status) == [.success])
  }

  @Test("With filter policy 3 only devices on the accept list are answered")
  func acceptList() {
    set(.connectable) { $0.filterPolicy = 3 }
    device.enable(1)
    #expect(device.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(other.address))) == .commandDisallowed)
    other.connectExtended(to: device)
    air.run(for: .seconds(1))
    #expect(device.connectionCompletes.isEmpty)
    device.disable(1)
    #expect(device.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(other.address))) == .success)
    device.enable(1)
    air.run(for: .seconds(1))
    #expect(device.connectionCompletes.count == 1)
  }

  @Test("High duty cycle directed legacy advertising of a set ends with 0x3C in Advertising Set Terminated")
  func highDuty() {
    set([.legacy, .connectable, .directed, .highDutyCycle]) { $0.peer = HCI.PeerAddress(other.address) }
    #expect(device.enable(1) == .invalidHCICommandParameters)
    #expect(device.enable(1, duration: 129) == .invalidHCICommandParameters)
    #expect(device.enable(1, duration: 100) == .success)
    air.run(for: .milliseconds(999))
    let ofOneChannel = air.log.filter { $0.channel == ChannelIndex(37).radioChannel }.map(\.start)
    #expect(zip(ofOneChannel, ofOneChannel.dropFirst()).allSatisfy { $0.1 - $0.0 <= .microseconds(3_750) })
    air.run(for: .milliseconds(2))
    #expect(device.terminatedSets == [.advertisingTimeout])
    #expect(device.connectionCompletes.isEmpty)
  }

  @Test("Auxiliary packets use only channels that the host has not classified as bad")
  func channelClassification() {
    set([])
    device.setData([1])
    device.enable(1)
    air.run(for: .seconds(1))
    #expect(device.send(.leSetHostChannelClassification(0b1_1111)) == .success)
    air.run(for: .milliseconds(20))
    air.clearLog()
    air.run(for: .seconds(5))
    let used = Set(air.log.filter { !$0.isPrimary }.map { ChannelIndex($0.channel).number })
    #expect(used.count > 2 && used.isSubset(of: 0...4))
  }

  @Test("After any mixture of sets, trains, requests and loss, each device serves a newcomer", arguments: 0..<16)
  func mixture(seed: UInt64) {
    let devices = [device, other]
    var random = RandomStream(seed: seed)
    func below(_ count: UInt64) -> Int { Int(random.next() % count) }
    var outcomes = RandomStream(seed: seed + 1_000)
    air.outcome = { _ in outcomes.next() % 12 == 0 ? .lost : outcomes.next() % 12 == 0 ? .corrupt : .arrives }
    for _ in 0..<250 {
      let (one, two) = below(2) == 0 ? (devices[0], devices[1]) : (devices[1], devices[0])
      let handle = HCI.AdvertisingHandle(rawValue: UInt8(below(4)))
      switch below(14) {
      case 0...3:
        let types: [HCI.ExtendedAdvertisingParameters.Properties] = [
          [], .connectable, .scannable, .anonymous, [.legacy, .connectable, .scannable], .legacy,
          [.legacy, .connectable, .directed, .highDutyCycle], [.connectable, .directed],
        ]
        let phys = [RadioPHY.le1M, .le2M, .leCoded]
        let parameters = HCI.ExtendedAdvertisingParameters.every100ms(handle, types[below(8)]) {
          $0.minimumInterval = UInt32(0x20 + below(200))
          $0.maximumInterval = 0x4000
          $0.secondaryPHY = phys[below(3)]
          $0.peer = HCI.PeerAddress(two.address)
        }
        one.send(.leSetExtendedAdvertisingParameters(parameters))
      case 4: one.setData(Array(repeating: 7, count: below(1_650)), of: handle)
      case 5: one.setResponse(Array(repeating: 8, count: below(600)), of: handle)
      case 6, 7: one.enable(handle, duration: UInt16(below(3) * 40), maximumEvents: UInt8(below(3)))
      case 8: one.disable(handle)
      case 9:
        one.send(
          .leSetPeriodicAdvertisingParameters(
            HCI.PeriodicAdvertisingParameters(handle: handle, minimumInterval: 8, maximumInterval: 80)))
        one.setPeriodicData(Array(repeating: 9, count: below(300)), of: handle)
        one.send(.leSetPeriodicAdvertisingEnable([.enabled, .includesADI], handle))
      case 10: one.send(.leSetPeriodicAdvertisingEnable([], handle))
      case 11: one.send(below(2) == 0 ? .leRemoveAdvertisingSet(handle) : .leClearAdvertisingSets)
      case 12:
        one.send(.leExtendedCreateConnection(.extended(to: two, interval: UInt16(8 + below(40)))))
      default:
        if let complete = one.connectionCompletes.last {
          one.send(.disconnect(complete.handle, reason: .remoteUserTerminatedConnection))
        } else {
          one.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(below(2) == 0)))
        }
      }
      air.run(for: .milliseconds(Int64(below(150))))
      air.clearLog()
    }
    // No device retains any state, and each serves a newcomer.
    air.outcome = { _ in .arrives }
    for device in devices { device.stopEverything(isExtended: true) }
    // The longest supervision timeout is 32 s, and that of procedures 40 s.
    air.run(for: .seconds(80))
    for device in devices {
      let heldPackets = device.controller.heldPackets
      #expect(device.controller.connections.isEmpty && heldPackets == 0)
      #expect(device.servesLateJoiner(isExtended: true))
    }
  }
}
