import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// The reports of a scanner for extended advertising that a test plays · Vol 6, Part B, 4.4.3.
@Suite("Extended scanning")
struct ExtendedScanningTests {
  private typealias Payload = LL.ExtendedAdvertisingPayload

  private let air = PerfectAir()
  private let scanner = ControllerHarness("scanner", address: 0x1111_1111_1111)
  private let advertiser: ScriptedAdvertiser

  init() {
    air.start(scanner)
    advertiser = ScriptedAdvertiser(air: air)
  }

  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  private func data(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

  private func advertisement(_ data: [UInt8] = [2, 1, 6], change: (inout Payload) -> Void = { _ in }) -> Payload {
    var payload = Payload(advertiser: advertiser.address, dataInfo: advertiser.dataInfo, data: ByteSlice(data))
    change(&payload)
    return payload
  }

  @Test("ADV_EXT_IND leads to AUX_ADV_IND, and the report combines the fields of both")
  func auxiliary() throws {
    scanner.startScan()
    advertiser.announce(at: at(10), to: .milliseconds(2), on: 20, .le2M)
    advertiser.send(
      advertisement { ($0.transmitPower, $0.syncInfo) = (-7, .example) }, at: at(12), on: 20, .le2M)
    air.run(for: .milliseconds(50))
    let report = try #require(scanner.extendedReports.first)
    #expect(scanner.extendedReports.count == 1)
    #expect(report.type == [] && report.data == [2, 1, 6] && report.address == HCI.PeerAddress(advertiser.address))
    #expect(report.primaryPHY == 1 && report.secondaryPHY == 2 && report.advertisingSID == 3)
    #expect(report.transmitPower == -7 && report.rssi == -50 && report.periodicAdvertisingInterval == 80)
    #expect(!air.log.contains { $0.device == 0 })
  }

  @Test("ADV_EXT_IND alone is reported with its advertiser, without a secondary PHY and without a SID")
  func withoutAuxiliary() throws {
    scanner.startScan()
    advertiser.send(Payload(advertiser: advertiser.address), at: at(10), on: 37)
    air.run(for: .milliseconds(20))
    let report = try #require(scanner.extendedReports.first)
    #expect(report.type == [] && report.secondaryPHY == 0 && report.advertisingSID == 0xFF && report.data.isEmpty)
  }

  @Test("A chain is reported in parts: more to come, and complete at its end", arguments: [RadioPHY.le1M, .leCoded])
  func chain(phy: RadioPHY) {
    let last: Modulation = phy == .leCoded ? .codedS2 : .le1M
    scanner.startScan()
    advertiser.announce(at: at(10), to: .milliseconds(2))
    advertiser.send(
      advertisement(data(100)) { $0.auxiliary = advertiser.pointer(to: .milliseconds(3), on: 11) }, at: at(12))
    advertiser.send(
      Payload(
        dataInfo: advertiser.dataInfo, auxiliary: advertiser.pointer(to: .milliseconds(4), on: 12, phy),
        data: ByteSlice(data(50))), at: at(15), on: 11)
    advertiser.send(Payload(dataInfo: advertiser.dataInfo, data: [7]), at: at(19), on: 12, last)
    air.run(for: .milliseconds(50))
    #expect(scanner.extendedReports.types == [.moreToCome, .moreToCome, []])
    #expect(scanner.extendedReports.data == data(100) + data(50) + [7])
  }

  @Test("Data longer than 229 octets are split into several reports")
  func fragments() {
    scanner.startScan()
    advertiser.announce(at: at(10), to: .milliseconds(2))
    advertiser.send(advertisement(data(240)), at: at(12))
    air.run(for: .milliseconds(50))
    #expect(scanner.extendedReports.map(\.data.count) == [229, 11])
    #expect(scanner.extendedReports.types == [.moreToCome, []])
    #expect(scanner.extendedReports.data == data(240))
  }

  @Test("A chain that breaks off is reported as truncated")
  func truncated() {
    scanner.startScan()
    advertiser.announce(at: at(10), to: .milliseconds(2))
    advertiser.send(
      advertisement(data(100)) { $0.auxiliary = advertiser.pointer(to: .milliseconds(3), on: 11) }, at: at(12))
    air.run(for: .milliseconds(50))
    #expect(scanner.extendedReports.types == [.moreToCome, .truncated])
    #expect(scanner.extendedReports.data == data(100))
  }

  @Test("A chain that its advertiser breaks off by an empty AuxPtr is reported as truncated at once")
  func announcedTruncation() {
    scanner.startScan()
    advertiser.announce(at: at(10), to: .milliseconds(2))
    advertiser.send(advertisement { $0.auxiliary = advertiser.pointer(to: .zero) }, at: at(12))
    air.run(for: .milliseconds(50))
    #expect(scanner.extendedReports.types == [.truncated])
  }

  @Test("A scanner that waits for AUX_ADV_IND continues to listen on the primary channels")
  func listeningMeanwhile() {
    scanner.startScan()
    advertiser.announce(at: at(10), to: .milliseconds(9))
    advertiser.send(.advNonconnInd(advertiser: advertiser.address, data: [1]), at: at(14), on: 37)
    advertiser.send(advertisement(), at: at(19))
    air.run(for: .milliseconds(50))
    #expect(scanner.extendedReports.types == [.legacy, []])
  }

  @Test("AUX_ADV_IND is received anywhere in its window, within the drift of both clocks")
  func auxiliaryWindow() {
    scanner.startScan()
    // 2 s at 50 ppm of the advertiser and 50 ppm of the scanner, in units of 300 µs.
    for (index, error) in [Int64(-190), 0, 299, 490].enumerated() {
      let start = Int64(100 + 2_500 * index)
      advertiser.announce(at: at(start), to: .seconds(2))
      advertiser.send(
        advertisement(), at: at(start + 2_000) - .microseconds(200) + .microseconds(error), on: 10)
    }
    air.run(for: .seconds(11))
    #expect(scanner.extendedReports.count == 4)
  }

  @Test("An active scanner requests a scannable set on the secondary channel, and reports AUX_SCAN_RSP and its chain")
  func scanRequest() throws {
    scanner.startScan(isActive: true)
    advertiser.announce(at: at(10), mode: .scannable, to: .milliseconds(2), on: 20, .le2M)
    advertiser.send(advertisement([]) { $0.mode = .scannable }, at: at(12), on: 20, .le2M)
    air.outcome = { [advertiser, scanner] sent in
      guard case .scanReq(scanner.address, advertiser.address)? = sent.advertisingPDU else { return .arrives }
      #expect(sent.modulation == .le2M && sent.channel == ChannelIndex(20).radioChannel)
      let start = sent.end + LL.interFrameSpace
      advertiser.send(
        Payload(
          advertiser: advertiser.address, dataInfo: advertiser.dataInfo,
          auxiliary: advertiser.pointer(to: .milliseconds(3), on: 4, .le2M), data: [5, 6]), at: start, on: 20, .le2M)
      advertiser.send(
        Payload(dataInfo: advertiser.dataInfo, data: [7]), at: start + .milliseconds(3), on: 4, .le2M)
      return .arrives
    }
    air.run(for: .milliseconds(50))
    #expect(
      scanner.extendedReports.types == [
        .scannable, [.scannable, .scanResponse, .moreToCome], [.scannable, .scanResponse],
      ])
    #expect(scanner.extendedReports.data == [5, 6, 7])
    let request = try #require(air.log.first { $0.device == 0 })
    let asked = try #require(air.log.last { $0.start < request.start })
    #expect(request.start == asked.end + LL.interFrameSpace)
  }

  @Test("A passive scanner sends no requests")
  func passive() {
    scanner.startScan()
    advertiser.announce(at: at(10), mode: .scannable, to: .milliseconds(2))
    advertiser.send(advertisement([]) { $0.mode = .scannable }, at: at(12))
    air.run(for: .milliseconds(50))
    #expect(scanner.extendedReports.types == [.scannable] && !air.log.contains { $0.device == 0 })
  }

  @Test("Legacy PDUs are reported with their legacy types, on LE 1M, and without a SID")
  func legacyTypes() {
    scanner.startScan(isActive: true)
    let address = advertiser.address
    advertiser.send(.advNonconnInd(advertiser: address, data: [1]), at: at(2), on: 37)
    advertiser.send(
      .advDirectInd(advertiser: address, target: scanner.address, usesAlgorithm2: true), at: at(4), on: 37)
    advertiser.send(.advScanInd(advertiser: address, data: [2]), at: at(6), on: 37)
    advertiser.send(.advInd(advertiser: address, data: [3], usesAlgorithm2: true), at: at(12), on: 37)
    air.outcome = { [advertiser] sent in
      guard case .scanReq? = sent.advertisingPDU else { return .arrives }
      advertiser.send(.scanRsp(advertiser: address, data: [4]), at: sent.end + LL.interFrameSpace, on: 37)
      return .arrives
    }
    air.run(for: .milliseconds(29))
    #expect(scanner.extendedReports.map(\.type.rawValue) == [0x10, 0x15, 0x12, 0x1A, 0x13, 0x1B])
    #expect(scanner.extendedReports.data == [1, 2, 4, 3, 4])
    #expect(scanner.extendedReports.allSatisfy { $0.primaryPHY == 1 && $0.secondaryPHY == 0 })
    #expect(scanner.extendedReports.allSatisfy { $0.advertisingSID == 0xFF && $0.transmitPower == 127 })
    #expect(scanner.extendedReports[1].directAddress == HCI.PeerAddress(scanner.address))
  }

  @Test("A scanner alternates between LE 1M and LE Coded in equal shares while windows of both are open")
  func bothPHYs() {
    let all = HCI.ExtendedScanParameters.Scan(isActive: false, interval: 48, window: 48)
    scanner.startScan(le1M: all, leCoded: all)
    for index in 0..<Int64(300) {
      let modulation: Modulation = index % 2 == 0 ? .le1M : .codedS8
      for channel in UInt8(37)...39 {
        advertiser.send(
          Payload(advertiser: DeviceAddress(UInt64(index), .random)), at: at(5 * index + 1), on: channel, modulation)
      }
    }
    air.run(for: .milliseconds(1_500))
    let plain = scanner.extendedReports.count { $0.primaryPHY == 1 }
    let coded = scanner.extendedReports.count { $0.primaryPHY == 3 }
    #expect((60...90).contains(plain) && (60...90).contains(coded))
  }

  @Test("A short window on one PHY is kept despite a long window on the other")
  func unequalPHYs() {
    var plan = ListeningPlan()
    plan.setScanner(
      ByPrimaryPHY(
        le1M: ScanWindows(interval: 160, window: 160, start: .zero),
        leCoded: ScanWindows(interval: 160, window: 16, start: .zero)))
    var listened: [RadioPHY: Int64] = [:]
    var now = Instant.zero
    while now < .zero + .seconds(60), let slot = plan.slot(at: now) {
      listened[slot.phy, default: 0] += (slot.end - now).nanoseconds / 1_000_000
      now = slot.end
    }
    // All of its windows would take 6 s.
    #expect((5_000...6_000).contains(listened[.leCoded] ?? 0))
    #expect((listened[.le1M] ?? 0) + (listened[.leCoded] ?? 0) == 60_000)
  }

  @Test("The longest windows of two PHYs share the radio")
  func longestWindows() {
    let windows = ScanWindows(interval: .max, window: .max, start: .zero)
    var plan = ListeningPlan()
    plan.setScanner(ByPrimaryPHY(le1M: windows, leCoded: windows))
    var phys: [RadioPHY] = []
    var now = Instant.zero
    while phys.count < 4, let slot = plan.slot(at: now) {
      phys.append(slot.phy)
      now = slot.end
    }
    // A window has 65,535 times 0.625 ms.
    #expect(now == .zero + .microseconds(4 * 40_959_375) && phys == [.le1M, .leCoded, .le1M, .leCoded])
  }

  @Test("A scanner listens in all windows of two PHYs that do not overlap")
  func interleavedPHYs() {
    var plan = ListeningPlan()
    plan.setScanner(
      ByPrimaryPHY(
        le1M: ScanWindows(interval: 160, window: 80, start: .zero),
        leCoded: ScanWindows(interval: 160, window: 64, start: .zero + .milliseconds(50))))
    var phys: [RadioPHY] = []
    var now = Instant.zero
    while phys.count < 6, let slot = plan.slot(at: now) {
      phys.append(slot.phy)
      now = slot.end
      if !plan.isOpen(at: now) { now = plan.next(after: now) }
    }
    #expect(phys == [.le1M, .leCoded, .le1M, .leCoded, .le1M, .leCoded])
  }
}

extension LL.SyncInfo {
  static let example = LL.SyncInfo(
    offset: LL.PacketOffset(.milliseconds(20)), isAdjusted: false, interval: 80, channelMap: .all,
    sleepClockAccuracy: .upTo50, accessAddress: 0x5065_4A6B, crcInit: 0x123456, eventCounter: 0)
}
