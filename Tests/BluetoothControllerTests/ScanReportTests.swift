import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// The reports that the host gets: filters, duplicates, durations · Vol 6, Part B, 4.3.3, 4.4.3.5; Vol 4, Part E,
/// 7.8.64, 7.8.65.
@Suite("Scan reports")
struct ScanReportTests {
  private typealias Payload = LL.ExtendedAdvertisingPayload

  private let air = PerfectAir()
  private let scanner = ControllerHarness("scanner", address: 0x1111_1111_1111)
  private var advertiser: ScriptedAdvertiser
  private let private1 = DeviceAddress(0x4000_0000_0001, .random)
  private let stranger = DeviceAddress(0x7777_7777_7777, .public)

  init() {
    air.start(scanner)
    advertiser = ScriptedAdvertiser(air: air)
  }

  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  private func play(_ pdu: LL.AdvertisingPDU, at milliseconds: Int64) {
    for channel in UInt8(37)...39 { advertiser.send(pdu, at: at(milliseconds), on: channel) }
  }

  private func announce(
    did: UInt16 = 1, sid: UInt8 = 3, from address: DeviceAddress? = DeviceAddress(0x6666_6666_6666, .public),
    at milliseconds: Int64
  ) {
    let info = LL.AdvertisingDataInfo(sid: sid, did: did)
    let pointer = advertiser.pointer(to: .milliseconds(2))
    play(.extended(Payload(dataInfo: info, auxiliary: pointer)), at: milliseconds)
    advertiser.send(Payload(advertiser: address, dataInfo: info, data: [9]), at: at(milliseconds + 2))
  }

  // MARK: Filter policies · 4.3.3

  @Test("No policy reports directed advertising to other devices", arguments: [UInt8(0), 1, 2, 3])
  func foreignTargets(policy: UInt8) {
    scanner.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(advertiser.address)))
    scanner.startScan(policy: policy)
    play(.advDirectInd(advertiser: advertiser.address, target: stranger, usesAlgorithm2: true), at: 5)
    play(.extended(Payload(advertiser: advertiser.address, target: stranger)), at: 10)
    air.run(for: .milliseconds(20))
    #expect(scanner.extendedReports.isEmpty)
  }

  @Test(
    "Policies 2 and 3 report directed advertising to an unresolved private address",
    arguments: [UInt8(0), 1, 2, 3])
  func unresolvedTargets(policy: UInt8) {
    scanner.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(advertiser.address)))
    scanner.startScan(policy: policy)
    play(.advDirectInd(advertiser: advertiser.address, target: private1, usesAlgorithm2: true), at: 5)
    play(.extended(Payload(advertiser: advertiser.address, target: private1)), at: 10)
    air.run(for: .milliseconds(20))
    let expected: [HCI.PeerAddress] =
      policy >= 2 ? Array(repeating: HCI.PeerAddress(type: 0xFE, value: private1.value), count: 2) : []
    #expect(scanner.extendedReports.map(\.directAddress) == expected)
  }

  @Test("With legacy commands LE Directed Advertising Report reports an unresolved private target")
  func directedReport() {
    let parameters = HCI.ScanParameters(
      isActive: false, interval: 48, window: 48, ownAddressType: .public, filterPolicy: 2)
    #expect(scanner.send(.leSetScanParameters(parameters)) == .success)
    #expect(scanner.send(.leSetScanEnable(true, filterDuplicates: false)) == .success)
    play(.advDirectInd(advertiser: advertiser.address, target: private1, usesAlgorithm2: true), at: 5)
    play(.advDirectInd(advertiser: advertiser.address, target: scanner.address, usesAlgorithm2: true), at: 10)
    air.run(for: .milliseconds(20))
    let report = HCI.DirectedAdvertisingReport(
      address: HCI.PeerAddress(advertiser.address), directAddress: HCI.PeerAddress(private1), rssi: -50)
    #expect(scanner.events.contains(.leDirectedAdvertisingReport(report)))
    #expect(scanner.reports.map(\.type) == [.connectableDirected])
  }

  @Test("Policies 1 and 3 report only devices on the accept list", arguments: [UInt8(1), 3])
  func acceptList(policy: UInt8) {
    scanner.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(stranger)))
    scanner.startScan(policy: policy)
    announce(from: stranger, at: 5)
    announce(at: 10)
    announce(from: nil, at: 15)
    play(.advNonconnInd(advertiser: advertiser.address, data: []), at: 20)
    play(.advNonconnInd(advertiser: stranger, data: []), at: 22)
    air.run(for: .milliseconds(29))
    #expect(scanner.extendedReports.map(\.address) == [HCI.PeerAddress(stranger), HCI.PeerAddress(stranger)])
  }

  @Test("Policy 1 reports anonymous advertisers if they are on the accept list", arguments: [true, false])
  func anonymousOnAcceptList(isListed: Bool) {
    let anybody = HCI.PeerAddress(type: 0xFF, value: 0)
    #expect(scanner.send(.leAddDeviceToFilterAcceptList(anybody)) == .success)
    scanner.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(stranger)))
    if !isListed { #expect(scanner.send(.leRemoveDeviceFromFilterAcceptList(anybody)) == .success) }
    scanner.startScan(policy: 1)
    announce(from: nil, at: 5)
    announce(at: 10)
    announce(from: stranger, at: 15)
    air.run(for: .milliseconds(29))
    #expect(scanner.extendedReports.map(\.address) == (isListed ? [anybody] : []) + [HCI.PeerAddress(stranger)])
  }

  @Test("Anonymous advertisers have one entry in the accept list, until it is cleared")
  func anonymousPlace() {
    let anybody = HCI.PeerAddress(type: 0xFF, value: 0)
    for _ in 0..<2 { #expect(scanner.send(.leAddDeviceToFilterAcceptList(anybody)) == .success) }
    func add(_ number: Int) -> HCI.ErrorCode? {
      scanner.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(type: 0, value: UInt64(number))))
    }
    #expect((1..<AcceptList.capacity).allSatisfy { add($0) == .success } && add(99) == .memoryCapacityExceeded)
    #expect(scanner.send(.leClearFilterAcceptList) == .success)
    scanner.startScan(policy: 1)
    announce(from: nil, at: 5)
    air.run(for: .milliseconds(20))
    #expect(scanner.extendedReports.isEmpty)
  }

  @Test("An anonymous advertiser is reported without an address")
  func anonymous() {
    scanner.startScan()
    announce(from: nil, at: 5)
    air.run(for: .milliseconds(20))
    #expect(scanner.extendedReports.map(\.address.type) == [0xFF])
  }

  @Test("A scanner that uses the legacy commands ignores extended advertising")
  func legacyCommands() {
    scanner.scan()
    announce(at: 5)
    play(.extended(Payload(advertiser: advertiser.address)), at: 10)
    play(.advNonconnInd(advertiser: advertiser.address, data: [1]), at: 12)
    air.run(for: .milliseconds(20))
    #expect(scanner.reports.map(\.type) == [.nonConnectable] && scanner.extendedReports.isEmpty)
  }

  // MARK: Duplicates · 4.4.3.5

  @Test("The duplicate filter reports a set again when its DID changes; advertiser and SID identify the set")
  func duplicatesByADI() {
    scanner.startScan(HCI.ExtendedScanEnable(true, duplicates: .on))
    announce(did: 1, at: 5)
    announce(did: 1, at: 15)
    announce(did: 2, at: 25)
    announce(did: 2, at: 35)
    announce(did: 2, sid: 4, at: 45)
    announce(did: 1, from: stranger, at: 55)
    announce(did: 1, at: 65)
    air.run(for: .milliseconds(100))
    #expect(scanner.extendedReports.map(\.advertisingSID) == [3, 3, 4, 3, 3])
  }

  @Test("A truncated chain does not count as a duplicate, and the set is reported when it is complete")
  func truncationIsNoDuplicate() {
    scanner.startScan(HCI.ExtendedScanEnable(true, duplicates: .on))
    for milliseconds in [Int64(5), 55] {
      advertiser.announce(at: at(milliseconds), to: .milliseconds(2))
      advertiser.send(
        Payload(
          advertiser: advertiser.address, dataInfo: advertiser.dataInfo,
          auxiliary: advertiser.pointer(to: .milliseconds(3)), data: [1]), at: at(milliseconds + 2))
    }
    advertiser.send(Payload(dataInfo: advertiser.dataInfo, data: [2]), at: at(60))
    advertiser.announce(at: at(105), to: .milliseconds(2))
    advertiser.send(
      Payload(
        advertiser: advertiser.address, dataInfo: advertiser.dataInfo,
        auxiliary: advertiser.pointer(to: .milliseconds(3)), data: [1]), at: at(107))
    air.run(for: .milliseconds(200))
    #expect(scanner.extendedReports.types == [.moreToCome, .truncated, .moreToCome, []])
  }

  @Test("Filter_Duplicates 0x02 resets the filter at each period, and the scanner pauses between scans")
  func periods() {
    // 0.5 s of every 1.28 s.
    scanner.startScan(HCI.ExtendedScanEnable(true, duplicates: .resetEachPeriod, duration: 50, period: 1))
    for index in Int64(0)..<40 { play(.advNonconnInd(advertiser: advertiser.address, data: [1]), at: 100 * index + 10) }
    air.run(for: .seconds(4))
    #expect(scanner.extendedReports.count == 4)
    #expect(!scanner.events.contains(.leScanTimeout))
  }

  @Test("Filter_Duplicates 0x01 keeps the filter at a period")
  func periodsWithoutReset() {
    scanner.startScan(HCI.ExtendedScanEnable(true, duplicates: .on, duration: 50, period: 1))
    for index in Int64(0)..<40 { play(.advNonconnInd(advertiser: advertiser.address, data: [1]), at: 100 * index + 10) }
    air.run(for: .seconds(4))
    #expect(scanner.extendedReports.count == 1)
  }

  @Test("Scanning ends after the duration with LE Scan Timeout")
  func duration() {
    scanner.startScan(HCI.ExtendedScanEnable(true, duration: 50))
    for index in Int64(0)..<20 { play(.advNonconnInd(advertiser: advertiser.address, data: [1]), at: 100 * index + 10) }
    air.run(for: .milliseconds(499))
    #expect(!scanner.events.contains(.leScanTimeout))
    air.run(for: .milliseconds(1_501))
    #expect(scanner.extendedReports.count == 5)
    #expect(scanner.events.count { $0 == .leScanTimeout } == 1)
    #expect(scanner.controller.deadline == nil)
  }

  @Test("Enabling scanning again restarts the duration and resets the duplicate filter")
  func enablingAgain() {
    scanner.startScan(HCI.ExtendedScanEnable(true, duplicates: .on, duration: 50))
    for index in Int64(0)..<20 { play(.advNonconnInd(advertiser: advertiser.address, data: [1]), at: 100 * index + 10) }
    air.run(for: .milliseconds(300))
    #expect(
      scanner.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(true, duplicates: .on, duration: 50))) == .success)
    air.run(for: .milliseconds(490))
    #expect(scanner.extendedReports.count == 2 && !scanner.events.contains(.leScanTimeout))
    air.run(for: .milliseconds(20))
    #expect(scanner.events.contains(.leScanTimeout))
  }

  // MARK: Errors

  @Test("Scan parameters can't be changed while scanning")
  func parametersWhileScanning() {
    scanner.startScan()
    let parameters = HCI.ExtendedScanParameters(
      ownAddressType: .public, le1M: HCI.ExtendedScanParameters.Scan(isActive: false, interval: 48, window: 48))
    #expect(scanner.send(.leSetExtendedScanParameters(parameters)) == .commandDisallowed)
  }

  @Test("Windows, intervals, policies and durations outside their ranges are refused")
  func invalidParameters() {
    func status(interval: UInt16 = 48, window: UInt16 = 48, policy: UInt8 = 0) -> HCI.ErrorCode? {
      let scan = HCI.ExtendedScanParameters.Scan(isActive: false, interval: interval, window: window)
      return scanner.send(
        .leSetExtendedScanParameters(
          HCI.ExtendedScanParameters(ownAddressType: .public, filterPolicy: policy, le1M: nil, leCoded: scan)))
    }
    #expect(status() == .success && status(interval: 0xFFFF, window: 0xFFFF) == .success)
    #expect(status(window: 3) == .invalidHCICommandParameters && status(window: 49) == .invalidHCICommandParameters)
    #expect(status(policy: 4) == .invalidHCICommandParameters)
    func status(_ enable: HCI.ExtendedScanEnable) -> HCI.ErrorCode? { scanner.send(.leSetExtendedScanEnable(enable)) }
    let tooLong = HCI.ExtendedScanEnable(true, duration: 128, period: 1)
    #expect(status(tooLong) == .invalidHCICommandParameters)
    #expect(status(HCI.ExtendedScanEnable(true, duplicates: .resetEachPeriod)) == .invalidHCICommandParameters)
    #expect(status(HCI.ExtendedScanEnable(true, duration: 127, period: 1)) == .success)
  }

  @Test("A PHY that can't be scanned is refused as unsupported")
  func unknownPHY() {
    let packet = HCI.Packet.command(
      opcode: .leSetExtendedScanParameters, parameters: [0, 0, 0b10, 0, 0x30, 0, 0x30, 0])
    let result = scanner.send(raw: packet, opcode: .leSetExtendedScanParameters)
    #expect(result?.status == .unsupportedFeatureOrParameterValue)
  }

  // MARK: The duplicate filter

  @Test("The duplicate filter contains all inserted keys until it is full")
  func duplicateFilter() {
    var filter = DuplicateFilter()
    func key(_ number: Int, _ type: HCI.AdvertisingReport.EventType = .nonConnectable) -> DuplicateFilter.Key {
      DuplicateFilter.Key(type, DeviceAddress(UInt64(truncatingIfNeeded: number), .random))
    }
    let newOnes = (0..<DuplicateFilter.capacity).count { filter.insert(key($0)) }
    let knownOnes = (0..<DuplicateFilter.capacity).count { filter.contains(key($0)) && !filter.insert(key($0)) }
    #expect(newOnes == DuplicateFilter.capacity && knownOnes == newOnes)
    #expect(!filter.contains(key(1, .scannable)) && !filter.contains(key(-1)))
    for number in 0..<3 * DuplicateFilter.capacity { _ = filter.insert(key(number)) }
    #expect(filter.count <= DuplicateFilter.capacity)
    filter.removeAll()
    #expect(filter.count == 0 && !filter.contains(key(5)))
  }
}
