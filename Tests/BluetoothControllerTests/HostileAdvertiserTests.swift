import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Malicious advertisers: row S24.
@Suite("Hostile advertisers")
struct HostileAdvertiserTests {
  private typealias Payload = LL.ExtendedAdvertisingPayload

  private let air = PerfectAir()
  private let scanner = ControllerHarness("scanner", address: 0x1111_1111_1111)
  private let advertiser: ScriptedAdvertiser
  /// The events of its connection avoid those of the tests: a chain of 64 packets fits between two of them.
  private let secondLink: SecondLink
  private let beginning: Instant

  init() throws {
    air.start(scanner)
    advertiser = ScriptedAdvertiser(air: air)
    secondLink = try SecondLink(of: scanner, on: air, interval: 400, isExtended: true)
    beginning = air.now
  }

  private func at(_ milliseconds: Int64) -> Instant { beginning + .milliseconds(milliseconds) }

  /// Returns true if the scanner still receives an honest advertiser, and its connection continues.
  private func hearsOthers() -> Bool {
    scanner.clear()
    for primary in UInt8(37)...39 {
      advertiser.send(
        Payload(advertiser: DeviceAddress(0xABC, .public)), at: air.now + .milliseconds(5), on: primary)
    }
    air.run(for: .milliseconds(20))
    return scanner.extendedReports.map(\.address) == [HCI.PeerAddress(DeviceAddress(0xABC, .public))]
      && secondLink.isUnharmed()
  }

  @Test("S24: a flood of advertisements neither exhausts memory nor stops the scanner")
  func flood() {
    scanner.startScan(HCI.ExtendedScanEnable(true, duplicates: .on))
    var reports = 0
    for round in Int64(0)..<10 {
      for index in Int64(0)..<500 {
        let address = DeviceAddress(UInt64(500 * round + index + 1) &* 0x9E37_79B9_7F4A_7C15, .random)
        for primary in UInt8(37)...39 {
          advertiser.send(
            .advNonconnInd(advertiser: address, data: [1]), at: at(500 * round + index + 1), on: primary)
        }
      }
      air.run(for: .milliseconds(500))
      reports += scanner.extendedReports.count
      scanner.clear()
    }
    #expect(reports > 4_500 && scanner.pool.count < 600)
    air.run(for: .milliseconds(10))
    #expect(hearsOthers())
  }

  @Test("S24: reports that the host does not read are dropped instead of accumulating")
  func sleepingHost() {
    scanner.startScan()
    scanner.isAsleep = true
    for index in Int64(0)..<1_000 {
      let address = DeviceAddress(UInt64(index), .public)
      for primary in UInt8(37)...39 {
        advertiser.send(.advNonconnInd(advertiser: address, data: [1]), at: at(index + 1), on: primary)
      }
    }
    air.run(for: .milliseconds(1_010))
    // The secondLink's request comes in addition to the reports.
    #expect((256...257).contains(scanner.controller.device.output.packets.count))
    scanner.isAsleep = false
    scanner.takePackets(at: air.now)
    #expect((250...256).contains(scanner.extendedReports.count))
    secondLink.excuseGap()
    #expect(hearsOthers())
  }

  @Test("S24: an endless chain is cut at 1,650 octets and reported as truncated")
  func endlessChain() {
    scanner.startScan()
    advertiser.announce(at: at(10), to: .milliseconds(2))
    let data = ByteSlice([UInt8](repeating: 7, count: 200))
    for index in Int64(0)..<200 {
      var payload = Payload(
        dataInfo: advertiser.dataInfo, auxiliary: advertiser.pointer(to: .milliseconds(3)), data: data)
      if index == 0 { payload.advertiser = advertiser.address }
      advertiser.send(payload, at: at(12 + 3 * index))
    }
    air.run(for: .milliseconds(700))
    #expect(scanner.extendedReports.data.count == 1_650)
    #expect(scanner.extendedReports.types.last == .truncated)
    #expect(scanner.extendedReports.types.dropLast().allSatisfy { $0 == .moreToCome })
    #expect(hearsOthers())
  }

  @Test("S24: an endless chain of empty packets is ended and reported as truncated")
  func emptyChain() {
    scanner.startScan()
    advertiser.announce(at: at(10), to: .milliseconds(2))
    for index in Int64(0)..<400 {
      var payload = Payload(dataInfo: advertiser.dataInfo, auxiliary: advertiser.pointer(to: .milliseconds(3)))
      if index == 0 { payload.advertiser = advertiser.address }
      advertiser.send(payload, at: at(12 + 3 * index))
    }
    air.run(for: .milliseconds(1_300))
    #expect(scanner.extendedReports.count <= 100 && scanner.extendedReports.types.last == .truncated)
    #expect(hearsOthers())
  }

  @Test("S24: pointers to missing packets cost the scanner a short time each, and no memory")
  func pointersToNowhere() {
    scanner.startScan()
    for index in Int64(0)..<400 {
      let payload = Payload(
        dataInfo: LL.AdvertisingDataInfo(sid: 1, did: UInt16(index)),
        auxiliary: advertiser.pointer(to: .milliseconds(index % 40 * 60 + 1), on: UInt8(index % 37)))
      for primary in UInt8(37)...39 { advertiser.send(payload, at: at(2 * index + 1), on: primary) }
    }
    air.run(for: .seconds(4))
    #expect(scanner.extendedReports.isEmpty)
    #expect(scanner.controller.scanning.receptions.indices.count <= AuxiliaryReceptions.capacity)
    #expect(hearsOthers())
  }

  @Test("S24: a pointer into its own packet, or without an offset, is not followed")
  func pointersBackwards() {
    scanner.startScan()
    for (index, offset) in [TimeSpan.zero, .microseconds(30), .microseconds(120)].enumerated() {
      advertiser.announce(at: at(Int64(5 + 5 * index)), to: offset)
    }
    air.run(for: .milliseconds(25))
    #expect(scanner.controller.scanning.receptions.indices.isEmpty && hearsOthers())
  }

  @Test("S24: an AUX_ADV_IND that contradicts its ADV_EXT_IND is dropped")
  func contradictions() {
    scanner.startScan()
    let right = Payload(advertiser: advertiser.address, dataInfo: advertiser.dataInfo, data: [1])
    var wrong = [right, right, right]
    wrong[0].mode = .connectable
    wrong[1].dataInfo = LL.AdvertisingDataInfo(sid: advertiser.sid, did: 0x124)
    wrong[2].dataInfo = LL.AdvertisingDataInfo(sid: 9, did: 0x123)
    for (index, payload) in wrong.enumerated() {
      advertiser.announce(at: at(Int64(10 + 10 * index)), to: .milliseconds(2))
      advertiser.send(payload, at: at(Int64(12 + 10 * index)))
    }
    air.run(for: .milliseconds(50))
    #expect(scanner.extendedReports.isEmpty && hearsOthers())
  }

  @Test("S24: the scanner survives any octets on the primary and secondary channels")
  func anyOctets() {
    scanner.startScan(isActive: true, policy: 2)
    var generator = RandomStream(seed: 24)
    for index in Int64(0)..<2_000 {
      var octets = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      // Half of the packets have a consistent extended header.
      if index % 2 == 0, octets.count > 20 { octets[0] = octets[0] & 0xC0 | UInt8(octets.count / 2) }
      let type = UInt16.random(in: 0...15, using: &generator) | UInt16.random(in: 0...15, using: &generator) << 4
      let channel = index % 3 == 0 ? UInt8.random(in: 0...36, using: &generator) : UInt8(37 + index % 3)
      advertiser.send(raw: octets, type: index % 2 == 0 ? type & 0xF0 | 7 : type, at: at(index + 1), on: channel)
    }
    air.run(for: .seconds(5))
    scanner.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    scanner.startScan()
    #expect(hearsOthers())
  }

  @Test("S24: an AUX_SCAN_RSP of another advertiser is not accepted as the answer")
  func foreignResponse() {
    scanner.startScan(isActive: true)
    advertiser.announce(at: at(10), mode: .scannable, to: .milliseconds(2))
    advertiser.send(
      Payload(mode: .scannable, advertiser: advertiser.address, dataInfo: advertiser.dataInfo), at: at(12))
    air.outcome = { [advertiser] sent in
      guard case .scanReq? = sent.advertisingPDU else { return .arrives }
      advertiser.send(
        Payload(advertiser: DeviceAddress(1, .public), dataInfo: advertiser.dataInfo, data: [9]),
        at: sent.end + LL.interFrameSpace)
      return .arrives
    }
    air.run(for: .milliseconds(50))
    #expect(scanner.extendedReports.types == [.scannable] && hearsOthers())
  }
}
