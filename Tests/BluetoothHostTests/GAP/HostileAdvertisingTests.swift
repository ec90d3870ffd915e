import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothHost

@Suite("Hostile advertisers")
struct HostileAdvertisingTests {
  /// Returns a host that scans beside a link.
  private func scanning(isExtended: Bool = false) -> HostHarness {
    var bench = HostHarness()
    if isExtended { bench = HostHarness.extended() } else { bench.powerOn() }
    bench.link(.peripheral)
    bench.scan()
    bench.events.removeAll()
    return bench
  }

  @Test("G1 Every malformed advertisement is reported unchanged, and its valid fields can be parsed")
  func malformed() throws {
    let rows = try #require(try TestVectors.load("advertising")["malformed"] as? [[String: Any]])
    #expect(rows.count == 16)
    var bench = scanning()
    let links = bench.host.links
    for row in rows {
      let text = try #require(row["data"] as? String)
      let data = try #require([UInt8](hexadecimal: text))
      guard data.count <= 31 else { continue }
      bench.hear(data)
      let report = try #require(bench.reports.last)
      #expect(report.data.bytes == data)
      let structures = try #require(row["structures_before_error"] as? [[String: String]])
      #expect(
        AdvertisingData(report.data).map(\.type.rawValue.hexadecimal) == structures.map { $0["type"]?.uppercased() })
    }
    bench.expectToServe(keeping: links)
  }

  @Test("G2 Manufacturer data and service data fill an extended advertisement to its last octet")
  func large() throws {
    var bench = scanning(isExtended: true)
    let links = bench.host.links
    var builder = AdvertisingDataBuilder(capacity: 1650)
    while builder.room > 20 {
      let length = min(200, builder.room - 2)
      builder.appendManufacturerData(company: 0x0059, [UInt8](repeating: 7, count: length))
      builder.appendServiceData(0x180D, [UInt8](repeating: 8, count: min(200, max(0, builder.room - 2))))
    }
    var rest = builder.octets[...]
    while rest.count > 229 {
      bench.hearPart(Array(rest.prefix(229)), .moreToCome)
      rest = rest.dropFirst(229)
    }
    bench.hearPart(Array(rest))
    let report = try #require(bench.reports.last)
    #expect(bench.reports.count == 1)
    #expect(report.data == builder.data)
    #expect(!report.isTruncated)
    #expect(AdvertisingFields(report.data).serviceData.map(\.service) == [0x180D])
    bench.expectToServe(keeping: links)
  }

  @Test("G3 The host reports 10,000 advertisers in a second and keeps no state about them", arguments: [false, true])
  func flood(isExtended: Bool) {
    var bench = scanning(isExtended: isExtended)
    let links = bench.host.links
    var reports = 0
    for number in 0..<10_000 as Range<UInt64> {
      bench.now = bench.now + .microseconds(100)
      let address = DeviceAddress(0xC000_0000_0000 | number << 8, .random)
      if isExtended {
        // The first fragment of data that never complete.
        bench.hearPart([2, 1, 6], number % 2 == 0 ? .moreToCome : [], from: HCI.PeerAddress(address))
      } else {
        bench.hear([2, 1, 6], from: address)
      }
      reports += bench.reports.count
      bench.forget()
    }
    #expect(reports == (isExtended ? 10_000 - ReportReassembler.limit : 10_000))
    #expect(bench.host.gap.reports.count == (isExtended ? ReportReassembler.limit : 0))
    #expect(bench.host.gap.reports.abandonedCount == (isExtended ? ReportReassembler.abandonedLimit : 0))
    bench.expectToServe(keeping: links)
  }

  @Test(
    "G4 Interleaved fragments of two sets, two devices and a scan response are reassembled separately")
  func interleaved() {
    var bench = scanning(isExtended: true)
    let links = bench.host.links
    let other = HCI.PeerAddress(DeviceAddress(0xC0_00_00_00_00_09, .random))
    bench.hearPart([1], .moreToCome, set: 1)
    bench.hearPart([10], .moreToCome, set: 2)
    bench.hearPart([20], .moreToCome, set: 1, from: other)
    bench.hearPart([30], [.moreToCome, .scanResponse], set: 1)
    bench.hearPart([2], set: 1)
    bench.hearPart([31], .scanResponse, set: 1)
    bench.hearPart([21], set: 1, from: other)
    bench.hearPart([11], set: 2)
    #expect(bench.reports.map(\.data) == [[1, 2], [30, 31], [20, 21], [10, 11]])
    #expect(bench.reports.map(\.isTruncated) == [false, false, false, false])
    #expect(bench.reports.map(\.advertisingSet) == [1, 1, 1, 2])
    bench.expectToServe(keeping: links)
  }

  @Test("G4 An excess set is reported as truncated after its first fragment, and its other fragments are ignored")
  func tooMany() {
    var bench = scanning(isExtended: true)
    let links = bench.host.links
    let numbers = 0...UInt8(ReportReassembler.limit)
    func hear(_ number: UInt8, _ data: [UInt8], _ type: HCI.ExtendedAdvertisingReport.EventType = []) {
      let address = DeviceAddress(0xC0_00_00_00_01_00 | UInt64(number), .random)
      bench.hearPart(data, type, from: HCI.PeerAddress(address))
    }
    for number in numbers { hear(number, [number, 1], .moreToCome) }
    #expect(bench.reports.map(\.data) == [[16, 1]])
    #expect(bench.reports.map(\.isTruncated) == [true])
    bench.forget()
    hear(0, [0, 2])
    for number in numbers.dropFirst() { hear(number, [number, 2], .moreToCome) }
    for number in numbers.dropFirst() { hear(number, [number, 3]) }
    #expect(bench.reports.count == ReportReassembler.limit)
    #expect(bench.reports.allSatisfy { !$0.isTruncated })
    #expect(bench.reports.first?.data == [0, 1, 0, 2])
    #expect(bench.reports.last?.data == [15, 1, 15, 2, 15, 3])
    bench.forget()
    hear(16, [16, 4], .moreToCome)
    hear(16, [16, 5])
    #expect(bench.reports.map(\.data) == [[16, 4, 16, 5]])
    bench.expectToServe(keeping: links)
  }

  @Test("G4 A new scan does not continue data that the previous scan left incomplete")
  func restarted() {
    var bench = scanning(isExtended: true)
    let links = bench.host.links
    bench.hearPart([1], .moreToCome)
    bench.scan()
    bench.hearPart([2], .moreToCome)
    bench.hearPart([3])
    #expect(bench.reports.map(\.data) == [[2, 3]])
    #expect(bench.reports.map(\.isTruncated) == [false])
    bench.expectToServe(keeping: links)
  }

  @Test("G4 Data marked truncated or beyond 1,650 octets is reported as truncated; an unfinished event is dropped")
  func truncated() throws {
    var bench = scanning(isExtended: true)
    let links = bench.host.links
    bench.hearPart([1], .moreToCome)
    bench.hearPart([2], .truncated)
    bench.hearPart([3], .truncated)
    #expect(bench.reports.map(\.data) == [[1, 2], [3]])
    #expect(bench.reports.map(\.isTruncated) == [true, true])
    bench.forget()
    // The last fragment of this event is missing; the later fragments belong to another event.
    bench.hearPart([4], .moreToCome)
    bench.now = bench.now + .seconds(3)
    bench.hearPart([5], .moreToCome)
    bench.hearPart([6])
    #expect(bench.reports.map(\.data) == [[5, 6]])
    bench.forget()
    for _ in 0..<100 { bench.hearPart([UInt8](repeating: 7, count: 229), .moreToCome) }
    bench.hearPart([8])
    let report = try #require(bench.reports.first)
    #expect(report.data.count == 1650)
    #expect(report.isTruncated)
    #expect(bench.host.gap.reports.count == 0)
    bench.expectToServe(keeping: links)
  }
}
