import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothHost

extension HostHarness {
  /// The additional commands of a controller with extended commands and a resolving list.
  static let newerCommands: [HCI.Opcode] = [
    .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
    .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leSetExtendedScanParameters,
    .leSetExtendedScanEnable, .leExtendedCreateConnection, .leAddDeviceToResolvingList,
    .leRemoveDeviceFromResolvingList, .leReadResolvingListSize, .leSetAddressResolutionEnable,
    .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode,
  ]

  /// Returns a host that uses extended commands, with a controller that supports them and a resolving list.
  static func extended(_ change: (inout HostHarness, inout HostConfiguration) -> Void = { _, _ in }) -> HostHarness {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.usesExtendedCommands = true
    var draft = HostHarness()
    change(&draft, &configuration)
    var bench = HostHarness(configuration: configuration)
    (bench.facts, bench.answers) = (draft.facts, draft.answers)
    bench.facts.leFeatures.formUnion([.extendedAdvertising, .le2MPHY, .leCodedPHY, .llPrivacy])
    bench.facts.supportedCommands = HCI.SupportedCommands(HostHarness.servedCommands + HostHarness.newerCommands)
    bench.answers[.leExtendedCreateConnection] = bench.answers[.leExtendedCreateConnection] ?? .status(.success)
    bench.answers[.leReadResolvingListSize] =
      bench.answers[.leReadResolvingListSize] ?? .complete(.leResolvingListSize(4))
    bench.powerOn()
    return bench
  }

  mutating func scan(_ parameters: ScanParameters = ScanParameters(isActive: true, filterDuplicates: false)) {
    perform { host, now in host.setScanning(parameters, at: now) }
  }

  mutating func connect(_ address: DeviceAddress = HostHarness.peer) {
    perform { host, now in host.connect(to: address, at: now) }
  }

  /// Reports a fragment of an extended advertiser's data.
  mutating func hearPart(
    _ data: [UInt8], _ type: HCI.ExtendedAdvertisingReport.EventType = [], set: UInt8 = 1,
    from address: HCI.PeerAddress = HCI.PeerAddress(HostHarness.peer)
  ) {
    let report = HCI.ExtendedAdvertisingReport(
      type: type, address: address, primaryPHY: 1, secondaryPHY: 1, advertisingSID: set, transmitPower: 127, rssi: -50,
      periodicAdvertisingInterval: 0, directAddress: HCI.PeerAddress(type: 0, value: 0), data: ByteSlice(data))
    receive(.leExtendedAdvertisingReport(HCI.ExtendedAdvertisingReports(report, in: pool)))
  }
}

@Suite("Extended commands")
struct ExtendedCommandTests {
  private let set = HCI.AdvertisingHandle(rawValue: 0)

  @Test("A controller with extended commands gets only them for advertising, scanning and connecting")
  func everything() {
    var bench = HostHarness.extended()
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.scan()
    bench.connect()
    bench.perform { host, now in host.setScanning(nil, at: now) }
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedAdvertisingParameters, .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingData,
        .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leSetExtendedScanParameters,
        .leSetExtendedScanEnable, .leExtendedCreateConnection, .leSetExtendedScanEnable,
      ])
    let scan = HCI.ExtendedScanParameters.Scan(isActive: true, interval: 48, window: 48)
    #expect(
      bench.commands.contains(
        .leSetExtendedScanParameters(HCI.ExtendedScanParameters(ownAddressType: .random, le1M: scan))))
    let initiating = HCI.ExtendedCreateConnection.Initiating(
      scanInterval: 48, scanWindow: 48,
      parameters: LinkParameters(
        minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 200))
    #expect(
      bench.commands.contains(
        .leExtendedCreateConnection(
          HCI.ExtendedCreateConnection(
            usesAcceptList: false, ownAddressType: .random, peer: HCI.PeerAddress(HostHarness.peer), le1M: initiating,
            le2M: initiating))))
    #expect(bench.advertisingAnswers == [nil])
  }

  @Test("The host scans on LE Coded only on request")
  func coded() throws {
    var bench = HostHarness.extended { _, configuration in configuration.connectsOnLECoded = true }
    bench.scan(ScanParameters(isActive: false, filterDuplicates: true, includesLECoded: true))
    bench.connect()
    guard case .leSetExtendedScanParameters(let parameters)? = bench.commands.first,
      case .leExtendedCreateConnection(let connection)? = bench.commands.last
    else {
      Issue.record("other commands were sent")
      return
    }
    #expect(parameters.leCoded == HCI.ExtendedScanParameters.Scan(isActive: false, interval: 48, window: 48))
    #expect(connection.leCoded != nil)
    #expect(
      bench.commands.contains(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(true, duplicates: .on))))
  }

  @Test(
    "A controller that lacks the feature, or the extended form of one command, gets legacy commands",
    arguments: [true, false])
  func legacy(lacksFeature: Bool) {
    var bench = HostHarness.extended()
    bench.facts.leFeatures.remove(.extendedAdvertising)
    if !lacksFeature {
      bench.facts.leFeatures.insert(.extendedAdvertising)
      let served = (HostHarness.servedCommands + HostHarness.newerCommands).filter { $0 != .leExtendedCreateConnection }
      bench.facts.supportedCommands = HCI.SupportedCommands(served)
    }
    bench.perform { host, now in host.setPower(false, at: now) }
    bench.powerOn()
    bench.scan()
    bench.connect()
    #expect(bench.commands.map(\.opcode) == [.leSetScanParameters, .leSetScanEnable, .leCreateConnection])
  }

  @Test("A controller that claims extended commands but rejects them gets legacy ones instead")
  func fallsBack() {
    var bench = HostHarness.extended()
    bench.answers[.leSetExtendedScanParameters] = .status(.unknownHCICommand)
    bench.scan()
    #expect(
      bench.commands.map(\.opcode) == [.leSetExtendedScanParameters, .leSetScanParameters, .leSetScanEnable])
    bench.forget()
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.connect()
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
        .leCreateConnection,
      ])
    #expect(bench.advertisingAnswers == [nil])
    bench.expectToServe()
  }

  @Test("The fallback to legacy commands discards the queued extended commands")
  func fallsBackWithQueue() {
    var bench = HostHarness.extended()
    bench.answers[.leSetExtendedAdvertisingParameters] = .noAnswer
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.scan()
    bench.connect()
    bench.answers[.leSetExtendedScanParameters] = .status(.unknownHCICommand)
    bench.answers[.leExtendedCreateConnection] = .status(.unknownHCICommand)
    bench.receive(.commandStatus(.unknownHCICommand, credits: 1, .leSetExtendedAdvertisingParameters))
    let legacy: Set<HCI.Opcode> = [
      .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
      .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
    ]
    #expect(bench.commands.count == legacy.count + 1)
    #expect(Set(bench.commands.dropFirst().map(\.opcode)) == legacy)
    #expect(bench.advertisingAnswers == [nil])
    #expect(bench.failures.isEmpty)
  }

  @Test("The fallback refuses pending requests for extended PDUs")
  func fallsBackFromExtendedPDUs() {
    var bench = HostHarness.extended()
    bench.answers[.leSetExtendedAdvertisingParameters] = .status(.unknownHCICommand)
    var advertising = HostAdvertising(data: ByteSlice(pattern(600).bytes), scanResponse: [])
    advertising.shape.extended = HostAdvertising.ExtendedPDUs()
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    #expect(bench.advertisingAnswers == [.controller(.unsupportedFeatureOrParameterValue)])
    #expect(bench.commands.map(\.opcode) == [.leSetExtendedAdvertisingParameters])
    bench.expectToServe()
  }

  @Test("A controller that has accepted extended commands is reset before the fallback, and never gets both kinds")
  func fallsBackAfterReset() throws {
    var bench = HostHarness.extended()
    bench.scan()
    bench.answers[.leExtendedCreateConnection] = .status(.unknownHCICommand)
    bench.forget()
    bench.connect()
    #expect(bench.commands.first?.opcode == .leExtendedCreateConnection)
    #expect(bench.commands.dropFirst().first?.opcode == .reset)
    #expect(bench.failures == [.hardwareFailure])
    bench.forget()
    bench.connect()
    #expect(bench.commands.map(\.opcode) == [.leCreateConnection])
    bench.expectToServe()
  }

  @Test("Extended PDUs carry up to 1,650 octets in fragments; enabled advertising is disabled before they are sent")
  func parts() {
    var bench = HostHarness.extended()
    var advertising = HostAdvertising(data: ByteSlice(pattern(600).bytes), scanResponse: [])
    advertising.shape.type = .nonConnectableUndirected
    var extended = HostAdvertising.ExtendedPDUs()
    (extended.secondaryPHY, extended.advertisingSID, extended.includesTransmitPower) = (.le2M, 5, true)
    advertising.shape.extended = extended
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    guard case .leSetExtendedAdvertisingParameters(let parameters)? = bench.commands.first else {
      Issue.record("no parameters")
      return
    }
    #expect(parameters.properties == .includesTransmitPower)
    #expect(parameters.secondaryPHY == .le2M)
    #expect(parameters.advertisingSID == 5)
    func fragments(_ bench: HostHarness) -> [HCI.AdvertisingDataFragment] {
      bench.commands.compactMap { if case .leSetExtendedAdvertisingData(_, let part) = $0 { part } else { nil } }
    }
    #expect(fragments(bench).map(\.operation) == [.first, .intermediate, .last])
    #expect(fragments(bench).flatMap(\.data.bytes) == pattern(600).bytes)
    #expect(bench.advertisingAnswers == [nil])
    bench.forget()
    advertising.data = ByteSlice(pattern(252).bytes.reversed())
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    #expect(
      bench.commands.map(\.opcode) == [
        .leSetExtendedAdvertisingEnable, .leSetExtendedAdvertisingData, .leSetExtendedAdvertisingData,
        .leSetExtendedAdvertisingEnable,
      ])
    bench.forget()
    advertising.data = ByteSlice([UInt8](repeating: 1, count: 1651))
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    #expect(bench.advertisingAnswers == [.outOfSpace])
  }

  @Test("Scannable advertising on extended PDUs has its data in the scan response only")
  func scannable() {
    var bench = HostHarness.extended()
    var advertising = HostAdvertising(data: [2, 1, 6], scanResponse: [2, 10, 4])
    advertising.shape.type = .scannableUndirected
    advertising.shape.extended = HostAdvertising.ExtendedPDUs()
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    #expect(!bench.commands.contains { $0.opcode == .leSetExtendedAdvertisingData })
    #expect(
      bench.commands.contains(
        .leSetExtendedScanResponseData(set, HCI.AdvertisingDataFragment(.complete, [2, 10, 4]))))
  }

  @Test("Without the extended commands, requests for extended PDUs are refused")
  func legacyOnly() {
    var bench = HostHarness()
    bench.powerOn()
    var advertising = HostAdvertising(data: [2, 1, 6], scanResponse: [])
    advertising.shape.extended = HostAdvertising.ExtendedPDUs()
    bench.perform { host, now in host.startAdvertising(advertising, at: now) }
    #expect(bench.advertisingAnswers == [.controller(.unsupportedFeatureOrParameterValue)])
    #expect(bench.commands.isEmpty)
  }

  @Test("A set that ends with a link is enabled again; the end of directed advertising is reported")
  func terminated() {
    var bench = HostHarness.extended()
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    bench.forget()
    let handle = bench.link(.peripheral)
    #expect(bench.commands.map(\.opcode) == [.leSetExtendedAdvertisingEnable])
    bench.receive(.leAdvertisingSetTerminated(.success, set, handle, completedEvents: 0))
    #expect(bench.commands.count == 1)
    bench.receive(.leAdvertisingSetTerminated(.limitReached, set, handle, completedEvents: 9))
    #expect(bench.commands.count == 2)
    bench.forget()
    bench.receive(.leAdvertisingSetTerminated(.advertisingTimeout, set, handle, completedEvents: 0))
    #expect(bench.commands.isEmpty)
    #expect(bench.events.contains { if case .advertisingEnded = $0 { true } else { false } })
  }
}
