import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Advertising")
struct AdvertisingTests {
  private let air: PerfectAir
  private let peripheral, other: ControllerHarness

  init() { (air, peripheral, other) = PerfectAir.pair("peripheral", "other") }

  private func parameters(
    _ type: HCI.AdvertisingType = .connectableScannableUndirected, interval: UInt16 = 160, channelMap: UInt8 = 0b111,
    filterPolicy: UInt8 = 0
  ) -> HCI.AdvertisingParameters {
    HCI.AdvertisingParameters(
      minimumInterval: interval, maximumInterval: interval, type: type, ownAddressType: .public,
      peer: HCI.PeerAddress(other.address), channelMap: channelMap, filterPolicy: filterPolicy)
  }

  @Test(
    "An advertising event uses 37, 38, 39 in less than 10 ms; events are an interval and up to 10 ms apart",
    .requirement("L101", "L104"))
  func timing() {
    peripheral.advertise()
    air.run(for: .seconds(60))
    let channels = air.log.map { ChannelIndex($0.channel).number }
    #expect(channels.count % 3 == 0)
    let starts = stride(from: 0, to: channels.count - 2, by: 3).map { first in
      #expect(Array(channels[first..<first + 3]) == [37, 38, 39])
      #expect(air.log[first + 2].start - air.log[first].start < .milliseconds(10))
      return air.log[first].start
    }
    let delays = zip(starts, starts.dropFirst()).map { $0.1 - $0.0 - .milliseconds(100) }
    #expect(delays.allSatisfy { (.zero)...(.milliseconds(10)) ~= $0 })
    #expect(Set(delays).count > 100)
    #expect(delays.contains { $0 < .milliseconds(1) } && delays.contains { $0 > .milliseconds(9) })
  }

  @Test(
    "Events are the interval and up to 10 ms apart, from 20 ms to 10.24 s in steps of 0.625 ms", .requirement("L102"),
    arguments: [0x0020, 0x0021, 0x0022, 0x00A0, 0x3FFF, 0x4000] as [UInt16])
  func intervals(units: UInt16) {
    peripheral.send(.leSetAdvertisingParameters(parameters(interval: units, channelMap: 0b001)))
    peripheral.send(.leSetAdvertisingEnable(true))
    let interval = TimeSpan.microseconds(625 * Int64(units))
    // 200 delays: the smallest one is below the next step of the interval.
    air.run(for: interval * 200)
    let starts = air.log.map(\.start)
    let distances = zip(starts, starts.dropFirst()).map { $0.1 - $0.0 }
    #expect(distances.count > 100)
    #expect(distances.allSatisfy { interval...(interval + .milliseconds(10)) ~= $0 })
    #expect(distances.contains { $0 < interval + .microseconds(625) })
  }

  @Test("Each type sends its PDU with the data, on the selected channels", .requirement("L100", "L108"))
  func types() {
    for (type, code) in [
      (HCI.AdvertisingType.connectableScannableUndirected, UInt16(0)), (.nonConnectableUndirected, 2),
      (.scannableUndirected, 6), (.connectableDirectedLowDutyCycle, 1),
    ] {
      peripheral.send(.leSetAdvertisingParameters(parameters(type, channelMap: 0b101)))
      peripheral.send(.leSetAdvertisingData([2, 1, 6]))
      peripheral.send(.leSetAdvertisingEnable(true))
      air.run(for: .seconds(1))
      #expect(air.log.allSatisfy { $0.packet.header & 0xF == code })
      #expect(Set(air.log.map { ChannelIndex($0.channel).number }) == [37, 39])
      if code != 1 { #expect(air.log.first?.packet.payload.bytes.suffix(3) == [2, 1, 6]) }
      peripheral.send(.leSetAdvertisingEnable(false))
      air.run(for: .milliseconds(10))
      air.clearLog()
    }
  }

  @Test("New data are in the next event, and nothing is sent after advertising is disabled")
  func changes() {
    peripheral.advertise(data: [1])
    air.run(for: .milliseconds(500))
    #expect(peripheral.send(.leSetAdvertisingData([2])) == .success)
    air.run(for: .milliseconds(10))
    air.clearLog()
    air.run(for: .milliseconds(500))
    #expect(air.log.allSatisfy { $0.packet.payload.bytes.last == 2 } && !air.log.isEmpty)
    #expect(peripheral.send(.leSetAdvertisingEnable(false)) == .success)
    air.run(for: .milliseconds(10))
    air.clearLog()
    air.run(for: .seconds(1))
    #expect(air.log.isEmpty)
    #expect(peripheral.controller.deadline == nil)
  }

  @Test("Only a scannable advertiser answers SCAN_REQ, after 150 µs", .requirement("L105"))
  func scanRequest() throws {
    peripheral.send(.leSetScanResponseData([3, 9, 65, 66]))
    peripheral.advertise()
    other.scan(isActive: true)
    air.run(for: .milliseconds(300))
    let place = try #require(air.log.firstIndex { $0.device == 1 })
    let (request, response) = (air.log[place], air.log[place + 1])
    #expect(request.advertisingPDU == .scanReq(scanner: other.address, advertiser: peripheral.address))
    #expect(response.advertisingPDU == .scanRsp(advertiser: peripheral.address, data: [3, 9, 65, 66]))
    #expect(request.start - air.log[place - 1].end == .microseconds(150))
    #expect(response.start - request.end == .microseconds(150))
    #expect(other.reports.contains { $0.type == .scanResponse && $0.data == [3, 9, 65, 66] })
  }

  @Test("High duty cycle directed advertising sends every few ms and stops after 1.28 s")
  func highDutyTimeout() {
    peripheral.send(.leSetAdvertisingParameters(parameters(.connectableDirectedHighDutyCycle)))
    #expect(peripheral.send(.leSetAdvertisingEnable(true)) == .success)
    air.run(for: .milliseconds(1_279))
    #expect(peripheral.connectionCompletes.isEmpty)
    let ofOneChannel = air.log.filter { $0.channel == ChannelIndex(37).radioChannel }.map(\.start)
    #expect(zip(ofOneChannel, ofOneChannel.dropFirst()).allSatisfy { $0.1 - $0.0 <= .microseconds(3_750) })
    air.run(for: .milliseconds(2))
    #expect(peripheral.connectionCompletes.map(\.status) == [.advertisingTimeout])
    air.clearLog()
    air.run(for: .seconds(1))
    #expect(air.log.isEmpty)
  }

  @Test("Directed advertising connects only to its target", .requirement("L108", "L109"))
  func directed() {
    let third = ControllerHarness("third", address: 0x3333_3333_3333)
    air.start(third)
    peripheral.send(.leSetAdvertisingParameters(parameters(.connectableDirectedLowDutyCycle)))
    peripheral.send(.leSetAdvertisingEnable(true))
    third.connect(to: peripheral)
    air.run(for: .seconds(1))
    #expect(third.connectionCompletes.isEmpty)
    other.connect(to: peripheral)
    air.run(for: .seconds(1))
    #expect(other.connectionCompletes.map(\.status) == [.success])
    #expect(peripheral.connectionCompletes.map(\.peer) == [HCI.PeerAddress(other.address)])
  }

  @Test("With filter policy 3 only devices on the accept list are answered and connected")
  func acceptList() {
    peripheral.send(.leSetAdvertisingParameters(parameters(filterPolicy: 3)))
    peripheral.send(.leSetAdvertisingEnable(true))
    other.scan(isActive: true)
    other.connect(to: peripheral)
    air.run(for: .milliseconds(400))
    #expect(peripheral.connectionCompletes.isEmpty)
    #expect(!air.log.contains { if case .scanRsp? = $0.advertisingPDU { true } else { false } })
    #expect(
      peripheral.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(other.address))) == .commandDisallowed)
    peripheral.send(.leSetAdvertisingEnable(false))
    #expect(peripheral.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(other.address))) == .success)
    peripheral.send(.leSetAdvertisingEnable(true))
    other.send(.reset)
    other.start()
    other.connect(to: peripheral)
    air.run(for: .seconds(1))
    #expect(peripheral.connectionCompletes.count == 1)
  }

  @Test("A random address that the host has set is used on the air, with its kind", .requirement("L109"))
  func randomAddress() {
    var parameters = parameters()
    parameters.ownAddressType = .random
    peripheral.send(.leSetAdvertisingParameters(parameters))
    #expect(peripheral.send(.leSetAdvertisingEnable(true)) == .invalidHCICommandParameters)
    #expect(peripheral.send(.leSetRandomAddress(0xC0FF_EE00_0001)) == .success)
    #expect(peripheral.send(.leSetAdvertisingEnable(true)) == .success)
    #expect(peripheral.send(.leSetRandomAddress(0xC0FF_EE00_0002)) == .commandDisallowed)
    other.scan()
    air.run(for: .milliseconds(500))
    #expect(other.reports.first?.address == HCI.PeerAddress(type: 1, value: 0xC0FF_EE00_0001))
  }

  @Test(
    "A connected peripheral continues to advertise on request, and connects to a second central",
    .requirement("L198", "L199"))
  func advertisingWhileConnected() throws {
    let third = ControllerHarness("third", address: 0x3333_3333_3333, seed: 9)
    air.start(third)
    for central in [other, third] {
      peripheral.advertise()
      central.connect(to: peripheral)
      #expect(air.run(until: { !central.connectionCompletes.isEmpty }))
    }
    air.run(for: .seconds(10))
    #expect(peripheral.connectionCompletes.count == 2)
    #expect(peripheral.disconnections.isEmpty)
    for (central, complete) in zip([other, third], peripheral.connectionCompletes) {
      peripheral.send([UInt8(complete.handle.rawValue)], on: complete.handle)
      air.run(for: .milliseconds(300))
      #expect(central.data.map(\.payload) == [[UInt8(complete.handle.rawValue)]])
    }
  }
}
