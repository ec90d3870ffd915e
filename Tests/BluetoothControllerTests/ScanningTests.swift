import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Scanning and initiating")
struct ScanningTests {
  private let air: PerfectAir
  private let scanner, peripheral: ControllerHarness

  init() {
    (air, scanner, peripheral) = PerfectAir.pair("scanner", "peripheral")
    peripheral.send(.leSetScanResponseData([3, 9, 65, 66]))
  }

  @Test("A passive scanner reports advertising and sends nothing", .requirement("L078", "L098"))
  func passive() throws {
    peripheral.advertise(data: [2, 1, 6])
    scanner.scan()
    air.run(for: .seconds(1))
    #expect((8...10).contains(scanner.reports.count))
    let report = try #require(scanner.reports.first)
    #expect(report.type == .connectableScannable && report.data == [2, 1, 6] && report.rssi == -50)
    #expect(report.address == HCI.PeerAddress(peripheral.address))
    #expect(!air.log.contains { $0.device == 0 })
  }

  @Test("An active scanner requests every scannable packet, and reports the responses", .requirement("L098"))
  func active() {
    peripheral.advertise()
    scanner.scan(isActive: true)
    air.run(for: .seconds(2))
    let responses = scanner.reports.count { $0.type == .scanResponse }
    #expect(responses >= 15)
    #expect(scanner.reports.count { $0.type == .connectableScannable } == responses)
  }

  @Test(
    "With the duplicate filter a scanner requests each advertiser until it has received the scan response",
    .requirement("L106"))
  func asksOnce() {
    var lost = 0
    air.outcome = { sent in
      guard case .scanRsp? = sent.advertisingPDU, lost < 2 else { return .arrives }
      lost += 1
      return .lost
    }
    let other = ControllerHarness("other", address: 0x3333_3333_3333)
    air.start(other)
    other.send(.leSetScanResponseData([2, 9, 67]))
    peripheral.advertise()
    other.advertise()
    scanner.scan(isActive: true, filterDuplicates: true)
    air.run(for: .seconds(10))
    let asked = air.log.compactMap { sent -> DeviceAddress? in
      if case .scanReq(_, let advertiser)? = sent.advertisingPDU { advertiser } else { nil }
    }
    #expect(lost == 2 && asked.count == 4 && Set(asked) == [peripheral.address, other.address])
    let responses = scanner.reports.filter { $0.type == .scanResponse }
    #expect(responses.map(\.data).sorted { $0.count < $1.count } == [[2, 9, 67], [3, 9, 65, 66]])
  }

  @Test(
    "A device is discovered within 100 ms at an interval of 20 ms, and within 500 ms at 100 ms", .requirement("L170"),
    arguments: [(32, 100), (160, 500)])
  func discovery(interval: UInt16, limit: Int64) {
    for seed in UInt64(1)...20 {
      let air = PerfectAir()
      let scanner = ControllerHarness("scanner", address: 0x1111_1111_1111, seed: seed)
      let peripheral = ControllerHarness("peripheral", address: 0x2222_2222_2222, seed: seed)
      air.start(scanner, peripheral)
      // The scanner listens half of the time.
      scanner.send(
        .leSetScanParameters(HCI.ScanParameters(isActive: false, interval: 96, window: 48, ownAddressType: .public)))
      scanner.send(.leSetScanEnable(true, filterDuplicates: false))
      air.run(for: .milliseconds(Int64(seed) * 7))
      peripheral.send(
        .leSetAdvertisingParameters(
          HCI.AdvertisingParameters(
            minimumInterval: interval, maximumInterval: interval, type: .connectableScannableUndirected,
            ownAddressType: .public)))
      peripheral.send(.leSetAdvertisingEnable(true))
      #expect(air.run(until: { !scanner.reports.isEmpty }, limit: .milliseconds(limit)), "seed \(seed)")
    }
  }

  @Test("A scanner sends no request to advertising that is not scannable")
  func nonScannable() {
    peripheral.advertise(.nonConnectableUndirected)
    scanner.scan(isActive: true)
    air.run(for: .seconds(1))
    #expect(!air.log.contains { $0.device == 0 })
    #expect(scanner.reports.allSatisfy { $0.type == .nonConnectable } && !scanner.reports.isEmpty)
  }

  @Test(
    "The duplicate filter reports each device once per type, even if its data change, until scanning is enabled again")
  func duplicates() {
    peripheral.advertise(data: [1])
    scanner.scan(isActive: true, filterDuplicates: true)
    air.run(for: .seconds(1))
    peripheral.send(.leSetAdvertisingData([2]))
    air.run(for: .seconds(1))
    #expect(scanner.reports.map(\.type) == [.connectableScannable, .scanResponse])
    scanner.send(.leSetScanEnable(true, filterDuplicates: true))
    air.run(for: .seconds(1))
    #expect(
      scanner.reports.map(\.type) == [.connectableScannable, .scanResponse, .connectableScannable, .scanResponse])
  }

  @Test("A scanner receives nothing outside its windows, and changes its channel with each interval")
  func windows() {
    peripheral.send(
      .leSetAdvertisingParameters(
        HCI.AdvertisingParameters(
          minimumInterval: 32, maximumInterval: 32, type: .nonConnectableUndirected, ownAddressType: .public)))
    peripheral.send(.leSetAdvertisingEnable(true))
    // 10 ms of every 100 ms.
    scanner.send(
      .leSetScanParameters(
        HCI.ScanParameters(isActive: false, interval: 160, window: 16, ownAddressType: .public)))
    scanner.send(.leSetScanEnable(true, filterDuplicates: false))
    var heard: [TimeSpan] = []
    for _ in 0..<10_000 {
      let before = scanner.reports.count
      air.run(for: .milliseconds(1))
      if scanner.reports.count > before { heard.append(air.now.sinceZero) }
    }
    #expect(heard.count > 20)
    #expect(heard.allSatisfy { $0.nanoseconds % 100_000_000 <= 11_000_000 })
    let windows = ScanWindows(interval: 160, window: 16, start: .zero)
    let channels = (0..<4).compactMap { windows.open(at: .zero + .milliseconds(100 * $0 + 5))?.channel }
    #expect(channels.map { ChannelIndex($0).number } == [37, 38, 39, 37])
  }

  @Test("With the accept list only its devices are reported")
  func acceptList() {
    let third = ControllerHarness("third", address: 0x3333_3333_3333)
    air.start(third)
    third.advertise()
    peripheral.advertise()
    scanner.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(third.address)))
    scanner.send(
      .leSetScanParameters(
        HCI.ScanParameters(isActive: true, interval: 48, window: 48, ownAddressType: .public, filterPolicy: 1)))
    scanner.send(.leSetScanEnable(true, filterDuplicates: false))
    air.run(for: .seconds(1))
    #expect(!scanner.reports.isEmpty)
    #expect(scanner.reports.allSatisfy { $0.address == HCI.PeerAddress(third.address) })
  }

  @Test(
    "The backoff reduces the rate of scan requests after failures, and raises it again after successes",
    .requirement("L107"))
  func backOff() {
    var backOff = BackOff()
    var random = RandomStream(seed: 4)
    func packetsUntilRequest() -> Int {
      var count = 1
      while !backOff.count() { count += 1 }
      return count
    }
    #expect(packetsUntilRequest() == 1)
    var waits: [Int] = []
    for _ in 0..<40 {
      backOff.requestEnded(isSuccess: false, random: &random)
      waits.append(packetsUntilRequest())
    }
    #expect(waits.max() ?? 0 > 64 && waits.max() ?? 0 <= 256)
    for _ in 0..<16 { backOff.requestEnded(isSuccess: true, random: &random) }
    #expect(packetsUntilRequest() == 1)
  }

  @Test("An initiator with the accept list connects to the first device on the list")
  func initiateByAcceptList() {
    scanner.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(peripheral.address)))
    var request = HCI.CreateConnection.to(peripheral)
    request.usesAcceptList = true
    request.peer = HCI.PeerAddress(type: 0, value: 0)
    #expect(scanner.send(.leCreateConnection(request)) == .success)
    #expect(
      scanner.send(.leClearFilterAcceptList) == .commandDisallowed)
    peripheral.advertise()
    air.run(for: .seconds(1))
    #expect(scanner.connectionCompletes.map(\.peer) == [HCI.PeerAddress(peripheral.address)])
  }

  @Test("Cancel ends initiating with status 0x02")
  func cancel() {
    #expect(scanner.send(.leCreateConnection(.to(peripheral))) == .success)
    #expect(scanner.send(.leCreateConnection(.to(peripheral))) == .commandDisallowed)
    air.run(for: .milliseconds(100))
    scanner.clear()
    #expect(scanner.send(.leCreateConnectionCancel) == .success)
    #expect(scanner.events.count == 2)
    #expect(scanner.connectionCompletes.map(\.status) == [.unknownConnectionIdentifier])
    peripheral.advertise()
    air.run(for: .seconds(1))
    #expect(peripheral.connectionCompletes.isEmpty)
  }

  @Test("Scanning continues during initiating and during a connection", .requirement("L172", "L198", "L199"))
  func together() {
    peripheral.advertise()
    let third = ControllerHarness("third", address: 0x3333_3333_3333, seed: 7)
    air.start(third)
    third.advertise(.nonConnectableUndirected)
    scanner.scan()
    scanner.connect(to: peripheral)
    air.run(for: .seconds(1))
    #expect(scanner.connectionCompletes.count == 1)
    scanner.clear()
    air.run(for: .seconds(5))
    #expect(scanner.reports.count > 30)
    #expect(scanner.disconnections.isEmpty)
  }
}
