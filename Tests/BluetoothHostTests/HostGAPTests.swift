import BluetoothHost
import BluetoothWire
import TestSupport
import TestVectors
import Testing

struct HostAdvertisingTests {
  private func bench() -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    return bench
  }

  private func start(_ bench: inout HostHarness, data: ByteSlice = [2, 1, 6], scanResponse: ByteSlice = [2, 10, 0]) {
    bench.perform { host, now in host.startAdvertising(data: data, scanResponse: scanResponse, at: now) }
  }

  @Test("Advertising is configured with an interval of 100 ms, given its data and enabled, in this order")
  func sequence() {
    var bench = bench()
    start(&bench)
    let parameters = HCI.AdvertisingParameters(
      minimumInterval: 160, maximumInterval: 160, type: .connectableScannableUndirected, ownAddressType: .random)
    #expect(
      bench.commands == [
        .leSetAdvertisingParameters(parameters), .leSetAdvertisingData([2, 1, 6]), .leSetScanResponseData([2, 10, 0]),
        .leSetAdvertisingEnable(true),
      ])
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("Extended commands advertise with one set on legacy PDUs, with its own address and transmit power")
  func extendedSequence() {
    var bench = extendedBench()
    var advertising = HostAdvertising(data: [2, 1, 6], scanResponse: [2, 10, 0])
    advertising.shape.transmitPower = -12
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    let set = HCI.AdvertisingHandle(rawValue: 0)
    let parameters = HCI.ExtendedAdvertisingParameters(
      handle: set, properties: [.legacy, .connectable, .scannable], minimumInterval: 160, maximumInterval: 160,
      ownAddressType: .random, transmitPower: -12)
    #expect(
      bench.commands == [
        .leSetExtendedAdvertisingParameters(parameters),
        .leSetAdvertisingSetRandomAddress(set, HostHarness.address.value),
        .leSetExtendedAdvertisingData(set, HCI.AdvertisingDataFragment(.complete, [2, 1, 6])),
        .leSetExtendedScanResponseData(set, HCI.AdvertisingDataFragment(.complete, [2, 10, 0])), enable(true, bench),
      ])
    #expect(bench.advertisingAnswers == [nil])
    bench.forget()
    bench.perform { host, now in host.stopAdvertising(at: now) }
    #expect(bench.commands == [enable(false, bench)])
  }

  @Test("A non-scannable set gets no scan response")
  func extendedBroadcast() {
    var bench = extendedBench()
    var advertising = HostAdvertising(data: [2, 1, 6], scanResponse: [2, 10, 0])
    advertising.shape.type = .nonConnectableUndirected
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedAdvertisingParameters, .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingData,
        .leSetExtendedAdvertisingEnable,
      ])
    #expect(bench.advertisingAnswers == [nil])
  }

  private func extendedBench() -> HostHarness {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.advertisesWithExtendedCommands = true
    var bench = HostHarness(configuration: configuration)
    bench.facts.leFeatures.insert(.extendedAdvertising)
    bench.powerOn()
    return bench
  }

  private func enable(_ on: Bool, _ bench: HostHarness) -> HCI.Command {
    .leSetExtendedAdvertisingEnable(
      on,
      HCI.AdvertisingSetEnables([HCI.AdvertisingSetEnables.Element(HCI.AdvertisingHandle(rawValue: 0))], in: bench.pool)
    )
  }

  @Test("A restart sends only the parameters and data that changed")
  func again() {
    var bench = bench()
    start(&bench)
    bench.perform { host, now in host.stopAdvertising(at: now) }
    bench.forget()
    start(&bench, scanResponse: [2, 10, 4])
    #expect(bench.commands == [.leSetScanResponseData([2, 10, 4]), .leSetAdvertisingEnable(true)])
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("New data replace the old while advertising goes on; the same data need no command")
  func change() {
    var bench = bench()
    start(&bench)
    bench.forget()
    start(&bench, data: [2, 1, 4])
    #expect(bench.commands == [.leSetAdvertisingData([2, 1, 4])])
    #expect(bench.advertisingAnswers == [nil])
    bench.forget()
    start(&bench, data: [2, 1, 4])
    #expect(bench.commands.isEmpty)
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("Data of more than 31 octets are refused")
  func tooLong() {
    var bench = bench()
    start(&bench, data: ByteSlice([UInt8](repeating: 0, count: 32)))
    #expect(bench.commands.isEmpty)
    #expect(bench.advertisingAnswers == [.outOfSpace])
  }

  @Test(
    "A refusal is reported with the controller's code, and advertising stays off",
    arguments: [
      HCI.Opcode.leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
    ])
  func refusal(_ opcode: HCI.Opcode) {
    var bench = bench()
    bench.answers[opcode] = .complete(.status(.commandDisallowed))
    start(&bench)
    #expect(bench.advertisingAnswers == [.controller(.commandDisallowed)])
    #expect(bench.commands.last?.opcode == opcode)
    bench.forget()
    bench.answers = [:]
    start(&bench)
    #expect(bench.advertisingAnswers == [nil])
    #expect(bench.commands.first?.opcode == opcode)
  }

  @Test("A stop that overtakes the start leaves advertising off")
  func stopOvertakes() {
    var bench = bench()
    bench.answers[.leSetAdvertisingEnable] = .noAnswer
    start(&bench)
    bench.answers = [:]
    bench.perform { host, now in host.stopAdvertising(at: now) }
    bench.receive(.commandComplete(credits: 1, .leSetAdvertisingEnable, .status(.success)))
    #expect(bench.commands.last == .leSetAdvertisingEnable(false))
    #expect(bench.advertisingAnswers.isEmpty)
  }

  @Test("Advertising goes on beside a link without another answer")
  func goesOn() {
    var bench = bench()
    start(&bench)
    bench.forget()
    bench.link(.peripheral)
    #expect(bench.commands == [.leSetAdvertisingEnable(true)])
    #expect(bench.advertisingAnswers.isEmpty)
  }

  @Test("If the controller can't advertise beside a link, advertising resumes when the link has ended")
  func waitsForTheEnd() {
    var bench = bench()
    start(&bench)
    bench.answers[.leSetAdvertisingEnable] = .complete(.status(.connectionLimitExceeded))
    let handle = bench.link(.peripheral)
    bench.forget()
    bench.answers = [:]
    bench.receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
    #expect(bench.commands == [.leSetAdvertisingEnable(true)])
  }
}

struct HostScanningTests {
  private func bench() -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    return bench
  }

  private func scan(_ bench: inout HostHarness, _ parameters: ScanParameters?) {
    bench.perform { host, now in host.setScanning(parameters, at: now) }
  }

  @Test("Scanning starts with a window and an interval of 30 ms, and is disabled on request")
  func sequence() {
    var bench = bench()
    scan(&bench, ScanParameters(isActive: true, filterDuplicates: true))
    let parameters = HCI.ScanParameters(isActive: true, interval: 48, window: 48, ownAddressType: .random)
    #expect(bench.commands == [.leSetScanParameters(parameters), .leSetScanEnable(true, filterDuplicates: true)])
    bench.forget()
    scan(&bench, nil)
    #expect(bench.commands == [.leSetScanEnable(false, filterDuplicates: false)])
    bench.forget()
    scan(&bench, ScanParameters(isActive: true, filterDuplicates: false))
    #expect(bench.commands == [.leSetScanEnable(true, filterDuplicates: false)])
  }

  @Test("New scan parameters, or a repeated request, take effect after the current scan has ended")
  func change() {
    var bench = bench()
    let active = ScanParameters(isActive: true, filterDuplicates: true)
    scan(&bench, active)
    bench.forget()
    scan(&bench, active)
    #expect(
      bench.commands == [
        .leSetScanEnable(false, filterDuplicates: false), .leSetScanEnable(true, filterDuplicates: true),
      ])
    bench.forget()
    scan(&bench, ScanParameters(isActive: false, filterDuplicates: true))
    #expect(bench.commands.map(\.opcode) == [.leSetScanEnable, .leSetScanParameters, .leSetScanEnable])
  }

  @Test("A refusal ends the attempt until another request")
  func refusal() {
    var bench = bench()
    bench.answers[.leSetScanEnable] = .complete(.status(.commandDisallowed))
    scan(&bench, ScanParameters(isActive: true, filterDuplicates: true))
    #expect(bench.commands.map(\.opcode) == [.leSetScanParameters, .leSetScanEnable])
    bench.answers = [:]
    bench.forget()
    scan(&bench, ScanParameters(isActive: true, filterDuplicates: true))
    #expect(bench.commands.map(\.opcode) == [.leSetScanEnable])
  }

  @Test("Each report becomes one event with the properties of its type")
  func reports() throws {
    var bench = bench()
    // The row "LE Advertising Report, three reports" of the vectors.
    let digits = "020300010605040302c103020106c4030066554433221103020a04ba04010605040302c100c5"
    let octets = try #require([UInt8](hexadecimal: digits))
    bench.receive(.unknown(code: 0x3E, ByteSlice(octets)))
    let reports = bench.events.compactMap { if case .advertisingReport(let report) = $0 { report } else { nil } }
    try #require(reports.count == 3)
    #expect(reports[0].address == DeviceAddress(0xC102_0304_0506, .random))
    #expect(reports[0].isConnectable && reports[0].isScannable && !reports[0].isScanResponse)
    #expect(reports[0].data == [2, 1, 6])
    #expect(reports[0].rssi == -60)
    #expect(reports[1].address == DeviceAddress(0x1122_3344_5566, .public))
    #expect(!reports[1].isConnectable && !reports[1].isScannable)
    #expect(reports[2].isScanResponse && reports[2].data.isEmpty)
  }

  @Test("Legacy packets reported in the extended form give the same events")
  func extendedReports() throws {
    var bench = bench()
    let peer = HCI.PeerAddress(HostHarness.peer)
    for type: HCI.ExtendedAdvertisingReport.EventType in [
      [.legacy, .connectable, .scannable], [.legacy, .scanResponse, .connectable, .scannable],
      // As Bumble's controller reports it.
      [.connectable], [.scanResponse],
      // Combinations that a legacy packet can't have.
      [.connectable, .moreToCome],
    ] {
      let report = HCI.ExtendedAdvertisingReport(
        type: type, address: peer, primaryPHY: 1, secondaryPHY: 0, advertisingSID: 0xFF, transmitPower: 127, rssi: -50,
        periodicAdvertisingInterval: 0, directAddress: HCI.PeerAddress(type: 0, value: 0), data: [2, 1, 6])
      bench.receive(.leExtendedAdvertisingReport(HCI.ExtendedAdvertisingReports(report, in: bench.pool)))
    }
    let reports = bench.events.compactMap { if case .advertisingReport(let report) = $0 { report } else { nil } }
    try #require(reports.count == 4)
    #expect(reports.map(\.isConnectable) == [true, false, true, false])
    #expect(reports.map(\.isScanResponse) == [false, true, false, true])
    #expect(reports.allSatisfy { $0.data == [2, 1, 6] && $0.address == HostHarness.peer && $0.advertisingSet == nil })
  }

  @Test(
    "H4: a malformed report gives no event",
    arguments: [
      [2, 0], [2, 255, 0, 1], [2, 1, 0, 0, 1, 2, 3, 4, 5, 6, 22, 0xD3], [2, 2, 4, 0, 1, 2, 3, 4, 5, 6, 0, 0xD4],
      [2, 1, 0, 0, 1, 2, 3, 4, 5, 6, 0], [13, 0], [13, 1] + [UInt8](repeating: 0, count: 23) + [230],
      [13, 1] + [UInt8](repeating: 0, count: 23) + [3, 1, 2], [2, 1, 9, 0, 1, 2, 3, 4, 5, 6, 0, 0xD3],
    ] as [[UInt8]])
  func badReports(_ octets: [UInt8]) {
    var bench = bench()
    bench.receive(.unknown(code: 0x3E, ByteSlice(octets)))
    #expect(bench.events.isEmpty)
    #expect(bench.host.metrics.malformedEvents == 1)
  }
}
