import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Updates of the channel map of a periodic advertising train · Vol 6, Part B, 4.4.2.5.1.
@Suite("Periodic advertising channel map update")
struct PeriodicChannelMapTests {
  private let air: PerfectAir
  private let scanner, advertiser: ControllerHarness
  private let low = ChannelMap(bits: 0b111_1111)
  private let high = ChannelMap(bits: 0x1F_0000_0000)

  init() { (air, scanner, advertiser) = PerfectAir.pair("scanner", "advertiser", drift: 40_000) }

  /// Starts a train every 50 ms.
  private func advertise(_ data: [UInt8] = [1, 2]) {
    advertiser.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.advertisingSID = 3 }))
    let parameters = HCI.PeriodicAdvertisingParameters(handle: 1, minimumInterval: 40, maximumInterval: 40)
    #expect(advertiser.send(.leSetPeriodicAdvertisingParameters(parameters)) == .success)
    #expect(advertiser.setPeriodicData(data) == .success)
    #expect(advertiser.send(.leSetPeriodicAdvertisingEnable(.enabled, 1)) == .success)
    #expect(advertiser.enable(1) == .success)
  }

  private func synchronize(skip: UInt16 = 0) {
    let identity = HCI.PeriodicAdvertiser(HCI.PeerAddress(advertiser.address), advertisingSID: 3)
    scanner.scanExtended()
    scanner.send(
      .lePeriodicAdvertisingCreateSync(
        HCI.PeriodicAdvertisingCreateSync(advertiser: identity, keeping: HCI.SyncKeeping(skip: skip, timeout: 100))))
    air.run(until: { !scanner.syncs.isEmpty })
    #expect(scanner.syncs.map(\.0) == [.success])
    scanner.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)))
    air.clearLog()
    scanner.clear()
  }

  private func classify(_ map: ChannelMap) {
    #expect(advertiser.send(.leSetHostChannelClassification(map.bits)) == .success)
  }

  private var trains: [PerfectAir.Transmission] { air.log.filter { $0.train != nil } }

  private func isAnnouncing(_ sent: PerfectAir.Transmission) -> Bool {
    (sent.train?.additionalData).flatMap(ChannelMapUpdate.init(in:)) != nil
  }

  private func isOn(_ map: ChannelMap, _ sent: PerfectAir.Transmission) -> Bool {
    map.contains(ChannelIndex(sent.channel).number)
  }

  @Test("A new map is announced in six events or more and used from its instant; a synchronized scanner loses no event")
  func update() throws {
    advertise()
    synchronize()
    air.run(for: .seconds(1))
    classify(low)
    air.run(for: .seconds(5))
    let first = try #require(trains.firstIndex(where: isAnnouncing))
    let last = try #require(trains.lastIndex(where: isAnnouncing))
    #expect(last - first >= 5 && trains[first...last].allSatisfy(isAnnouncing))
    #expect(Set(trains[first...last].compactMap { $0.train?.additionalData }).count == 1)
    #expect(!trains[first...last].allSatisfy { isOn(low, $0) })
    #expect(trains[(last + 1)...].count > 80 && trains[(last + 1)...].allSatisfy { isOn(low, $0) })
    // The instant is the event after the last announcement.
    let selection = LL.ChannelSelection.algorithm2(accessAddress: trains[0].packet.accessAddress)
    let announcement = try #require(trains[last].train).additionalData
    let update = try #require(ChannelMapUpdate(in: announcement))
    #expect(update.map == low)
    for (distance, sent) in trains[(last + 1)...].enumerated() {
      #expect(sent.channel == selection.channel(event: Int(update.instant) + distance, map: low).radioChannel)
    }
    #expect(scanner.periodicReports.count == trains.count && scanner.lostSyncs.isEmpty)
  }

  @Test("A map that is set during the announcement of another map is announced after it")
  func twoUpdates() throws {
    advertise()
    synchronize()
    classify(low)
    air.run(for: .milliseconds(200))
    classify(.all)
    classify(high)
    air.run(for: .seconds(5))
    let maps = trains.compactMap { ($0.train?.additionalData).flatMap(ChannelMapUpdate.init(in:))?.map }
    #expect(maps.count >= 12 && maps.first == low && maps.last == high && Set(maps) == [low, high])
    #expect(trains.suffix(60).allSatisfy { isOn(high, $0) && !isAnnouncing($0) })
    #expect(scanner.periodicReports.count == trains.count && scanner.lostSyncs.isEmpty)
  }

  @Test("A scanner that skips events receives the new map too")
  func skipping() {
    advertise()
    synchronize(skip: 5)
    classify(low)
    air.run(for: .seconds(12))
    #expect((38...42).contains(scanner.periodicReports.count))
    #expect(trains.suffix(200).allSatisfy { isOn(low, $0) })
  }

  @Test("A chain continues during the announcement of a map, and every octet arrives")
  func chain() {
    let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
    advertise(data)
    synchronize()
    air.run(for: .milliseconds(60))
    scanner.clear()
    classify(high)
    air.run(for: .seconds(3))
    #expect(!scanner.periodicReports.contains { $0.status == .truncated })
    let reports = scanner.periodicReports
    guard let first = reports.firstIndex(where: { $0.status == .complete }),
      let last = reports.lastIndex(where: { $0.status == .complete })
    else {
      Issue.record("no event was reported wholly")
      return
    }
    let events = reports[first...].count { $0.status == .complete } - 1
    #expect(events > 50)
    #expect(reports[(first + 1)...last].flatMap(\.data.bytes) == (0..<events).flatMap { _ in data })
  }

  @Test("AUX_ADV_IND has the map of the event to which its SyncInfo refers")
  func syncInfo() throws {
    advertise()
    air.run(for: .seconds(1))
    air.clearLog()
    classify(low)
    air.run(for: .seconds(3))
    let syncInfos = air.log.compactMap(\.extended?.syncInfo)
    let announced = trains.compactMap { ($0.train?.additionalData).flatMap(ChannelMapUpdate.init(in:)) }
    let instant = try #require(announced.first).instant
    #expect(syncInfos.contains { $0.channelMap == .all } && syncInfos.contains { $0.channelMap == low })
    #expect(syncInfos.allSatisfy { $0.channelMap == ($0.eventCounter < instant ? .all : low) })
  }
}
