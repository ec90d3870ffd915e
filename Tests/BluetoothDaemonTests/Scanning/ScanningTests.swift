import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

private let address = DeviceAddress(0xC011_2233_4455, .random)
private let peer = PeerHandle(index: 0)

private func report(_ data: ByteSlice, isScanResponse: Bool = false, from address: DeviceAddress = address)
  -> AdvertisingReport
{
  AdvertisingReport(
    address: address, isConnectable: !isScanResponse, isScannable: true, isScanResponse: isScanResponse, data: data,
    rssi: -60)
}

private func fields(_ build: (inout AdvertisingDataBuilder) -> Void) -> AdvertisingFields {
  AdvertisingFields(data(build))
}

private func data(_ build: (inout AdvertisingDataBuilder) -> Void) -> ByteSlice {
  var builder = AdvertisingDataBuilder()
  build(&builder)
  return builder.data
}

@Suite("Sightings")
struct SightingTests {
  var table = AdvertisementCache()

  private mutating func take(_ report: AdvertisingReport) -> AdvertisementCache.Outcome {
    table.take(report, at: .zero)
  }

  @Test("2.4 An advertisement and its scan response are merged")
  mutating func merges() {
    _ = take(report(data { $0.appendServices([0x180D]) }))
    let outcome = take(report(data { $0.appendLocalName("Sensor") }, isScanResponse: true))
    let sighting = outcome.sighting
    #expect(outcome.hasChanged)
    #expect(sighting.content.services == [0x180D])
    #expect(sighting.content.localName == "Sensor")
    #expect(sighting.isConnectable)
  }

  @Test("Manufacturer data in the advertisement and in the scan response: each packet's report has its own")
  mutating func bothHaveManufacturerData() {
    func packet(_ value: UInt8, isScanResponse: Bool) -> AdvertisingReport {
      let octets = data {
        $0.appendManufacturerData(company: 0x4454, [value])
        $0.appendServiceData(0xFCD2, [value])
        $0.appendServices([isScanResponse ? 0x180F : 0x180D])
      }
      return report(octets, isScanResponse: isScanResponse)
    }
    _ = take(packet(1, isScanResponse: false))
    let sighting = take(packet(2, isScanResponse: true)).sighting
    for (isScanResponse, value) in [(false, UInt8(1)), (true, 2)] {
      let content = sighting.content(ofScanResponse: isScanResponse)
      #expect(content.manufacturerData == [0x54, 0x44, value])
      #expect(content.serviceData.map(\.data) == [[value]])
      #expect(content.services == [0x180D, 0x180F])
    }
    // A repeated packet changes neither.
    #expect(!take(packet(1, isScanResponse: false)).hasChanged)
    #expect(!take(packet(2, isScanResponse: true)).hasChanged)
  }

  @Test("A repeated packet changes nothing, and neither does an empty scan response")
  mutating func unchanged() {
    let advertisement = report(data { $0.appendServices([0x180D]) })
    let changes = [advertisement, advertisement, report([], isScanResponse: true)].map { take($0).hasChanged }
    #expect(changes == [true, false, false])
  }

  @Test("A scan response alone does not show whether an advertiser is connectable")
  mutating func scanResponseFirst() {
    let first = take(report(data { $0.appendLocalName("Sensor") }, isScanResponse: true)).sighting
    #expect(!first.hasAdvertisement)
    let second = take(report([])).sighting
    #expect(second.hasAdvertisement)
    #expect(second.content.localName == "Sensor")
  }

  @Test("A flood of advertisers does not fill the memory: the oldest are forgotten")
  mutating func limit() {
    for value in 0..<UInt64(AdvertisementCache.limit + 10) {
      _ = take(report([], from: DeviceAddress(value, .random)))
    }
    #expect(table.count == AdvertisementCache.limit)
  }
}

@Suite("A session's scan")
struct ActiveScanTests {
  func scan(
    _ services: [BluetoothUUID]?, solicited: [BluetoothUUID] = [], allowsDuplicates: Bool = false
  ) -> ActiveScan {
    ActiveScan(ScanRequest(services: services, solicitedServices: solicited, allowsDuplicates: allowsDuplicates))
  }

  @Test("2.1 Without services every advertiser matches", .requirement("K006"))
  func all() {
    #expect(scan(nil).match(AdvertisingFields()) == [])
    #expect(scan([]).match(AdvertisingFields()) == [])
  }

  @Test("2.1 One of the services is enough, in any spelling")
  func any() {
    let content = fields { $0.appendServices([0x180D]) }
    #expect(scan([0x180F, 0x180D]).match(content) != nil)
    #expect(scan([BluetoothUUID(high: 0x0000_180D_0000_1000, low: 0x8000_0080_5F9B_34FB)]).match(content) != nil)
    #expect(scan([0x180F]).match(content) == nil)
    #expect(scan([0x180F]).match(AdvertisingFields()) == nil)
  }

  @Test(
    "2.1 A solicited service matches if the scan asks for solicitations", .requirement("A013", "A020"),
    .symbol("CBCentralManagerScanOptionSolicitedServiceUUIDsKey"))
  func solicited() {
    let content = fields { $0.appendSolicitedServices([0x1805]) }
    #expect(scan([0x180D], solicited: [0x1805]).match(content) != nil)
    #expect(scan([0x1805]).match(content) == nil)
    #expect(scan([], solicited: [0x1805]).match(content) != nil)
  }

  @Test(
    "2.1 A service in the overflow area matches a scan that names it, and is reported as an overflow service",
    .requirement("A014", "K039"))
  func overflow() {
    var area = OverflowArea()
    area.insert(0x180D)
    let content = fields { $0.appendOverflowArea(area) }
    #expect(scan([0x180D]).match(content) == [0x180D])
    #expect(scan(nil).match(content) == [])
    #expect(scan([0x1816]).match(content) == nil)
  }

  @Test(
    "2.3 A peer is reported once, and once more when its scan response or a change adds something",
    .requirement("G011", "K007"))
  func coalesces() {
    var scan = scan(nil)
    let plain = fields { $0.appendServices([0x180D]) }
    let named = fields {
      $0.appendServices([0x180D])
      $0.appendLocalName("Sensor")
    }
    #expect(scan.reports(peer, plain) == true)
    #expect(scan.reports(peer, plain) == false)
    #expect(scan.reports(peer, named) == true)
    #expect(scan.reports(peer, named) == false)
    #expect(scan.reports(PeerHandle(index: 1), named) == true)
  }

  @Test("2.3 Without AllowDuplicates, an advertisement and a scan response that differ are each reported once")
  func alternates() {
    var scan = scan(nil)
    let contents = [UInt8(1), 2, 3].map { value in fields { $0.appendManufacturerData(company: 0x4454, [value]) } }
    let packets = [
      (0, false, true), (1, true, true), (0, false, false), (1, true, false), (0, false, false),
      // The advertisement changes, and changes back.
      (2, false, true), (1, true, false), (0, false, true),
    ]
    for (index, isScanResponse, isReported) in packets {
      #expect(scan.reports(peer, contents[index], isScanResponse: isScanResponse) == isReported)
    }
  }

  @Test("2.3 With AllowDuplicates each packet is reported", .requirement("A019"))
  func duplicates() {
    let plain = fields { $0.appendServices([0x180D]) }
    let named = fields { $0.appendLocalName("Sensor") }
    for (allowsDuplicates, reported) in [(true, [true, true, true, true]), (false, [true, false, true, false])] {
      var scan = scan([0x180D], allowsDuplicates: allowsDuplicates)
      #expect([plain, plain, named, named].map { scan.reports(peer, $0) } == reported)
    }
  }
}

/// Scans for packets as they are.
@Suite struct PacketScanTests {
  @Test("A session that scans for packets gets each one as it is, and others get merged discoveries meanwhile")
  func packets() {
    let (air, sensor, phone) = DaemonNetwork.withSensorAndPhone()
    let other = Phone(air, 1)
    _ = other.takeEvents()
    sensor.advertise("Sensor")
    var request = ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: true)
    phone.session.send(.scan(request))
    request.packets = PacketScan(isActive: false, includesLECoded: false)
    other.session.send(.scan(request))
    air.advance(2)
    let (discoveries, packets) = (phone.takeEvents(), other.recorder.take())
    #expect(!discoveries.isEmpty && discoveries.allSatisfy { $0.hasPrefix("discovered") })
    let reports = packets.compactMap { event -> ReceivedPacket? in
      if case .packetReceived(let packet) = event { packet } else { nil }
    }
    #expect(reports.count == packets.count && reports.contains { $0.report.isScanResponse })
    #expect(reports.allSatisfy { $0.time <= air.now && $0.peer.handle == peer })
    #expect(CentralEvent.packetReceived(reports[0]).withoutOctets.text == "packet 0 \(ByteSlice())")
    // After the ordinary scan has stopped, the scan for packets goes on.
    phone.send(.stopScan)
    air.advance()
    #expect(phone.takeEvents().isEmpty && !other.takeEvents().isEmpty)
    other.send(.stopScan)
    air.advance()
    #expect(other.takeEvents().isEmpty)
  }
}
