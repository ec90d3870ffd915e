import Requirements
import TestSupport
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

/// The log lines about options without effect.
@Suite struct OptionTests {
  @Test(
    "Each option of a central manager without effect is named in one log line",
    .symbol("CBCentralManagerOptionDeviceAccessForMedia", "CBConnectPeripheralOptionEnableTransportBridgingKey"))
  func optionsWithoutEffect() {
    let bench = CentralHarness(CentralApp())
    /// The lines about options of a manager, which appears as "m".
    func lines(_ manager: CBCentralManager) -> String {
      bench.log.lines(containing: "\(manager)").filter { $0.contains("ignored") || $0.contains("no effect") }
        .map { $0.replacingOccurrences(of: "\(manager)", with: "m") }.joined(separator: "\n")
    }
    let created = CBCentralManager(
      delegate: nil, queue: bench.queue,
      options: [
        CBManagerOptionAdapterKey: ScriptedAdapter(), CBCentralManagerOptionDeviceAccessForMedia: true,
        CBCentralManagerOptionShowPowerAlertKey: "yes", "one": 1,
      ])
    #expect(
      lines(created) == """
        m does not know these options of init; ignored: one
        m: the option kCBInitOptionDeviceAccessForMedia has no effect, because it is about a permission of Apple's \
        systems
        m: the value of kCBInitOptionShowPowerAlert is ignored, because it is of type String: expected Bool
        """)

    let manager: CBCentralManager = bench.manager
    let peripheral = bench.discover()
    for _ in 0..<2 {
      manager.scanForPeripherals(
        withServices: nil,
        options: [
          CBCentralManagerScanOptionAllowDuplicatesKey: true,
          CBCentralManagerScanOptionSolicitedServiceUUIDsKey: ["180D"], "two": 2,
        ])
      manager.connect(
        peripheral,
        options: [
          CBConnectPeripheralOptionEnableTransportBridgingKey: true, CBConnectPeripheralOptionStartDelayKey: "5",
          CBConnectPeripheralOptionNotifyOnConnectionKey: true,
          // False asks for nothing.
          CBConnectPeripheralOptionNotifyOnDisconnectionKey: false, "three": 3,
        ])
    }
    #expect(
      lines(manager) == """
        m does not know these options of scanForPeripherals; ignored: two
        m: the value of kCBScanOptionSolicitedServiceUUIDs is ignored, because it is of type Array<String>: expected \
        [CBUUID]
        m does not know these options of connect; ignored: three
        m: the option kCBConnectOptionEnableTransportBridging has no effect, because there is no Bluetooth Classic
        m: the option kCBConnectOptionNotifyOnConnection has no effect, because the process is not an app of a world \
        or of btserver
        m: the value of kCBConnectOptionStartDelay is ignored, because it is of type String: expected a number
        """)
    #expect(bench.commands.filter { $0.hasPrefix("scan") } == ["scan all [] duplicates", "scan all [] duplicates"])
  }

  @Test("Options that work are not named in the log")
  func optionsWithEffect() {
    let bench = CentralHarness(CentralApp())
    let manager: CBCentralManager = bench.manager
    let peripheral = bench.discover()
    manager.scanForPeripherals(
      withServices: nil,
      options: [
        CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: false),
        CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [CBUUID(string: "180D")],
      ])
    manager.connect(
      peripheral,
      options: [
        CBConnectPeripheralOptionStartDelayKey: 2, CBConnectPeripheralOptionEnableAutoReconnect: true,
        CBConnectPeripheralOptionRequiresANCS: false, CBConnectPeripheralOptionEnableTransportBridgingKey: false,
      ])
    manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(string: "180D")], .peripheralUUIDs: [UUID()]])
    #expect(bench.log.levels(ofLinesContaining: "\(manager)").allSatisfy { $0 == "debug" })
  }

  @Test("Values of a wrong type are not advertised, and one log line names each")
  func wrongAdvertisementTypes() {
    let bench = PeripheralHarness()
    for _ in 0..<2 {
      bench.manager.startAdvertising([
        CBAdvertisementDataLocalNameKey: 5, CBAdvertisementDataServiceUUIDsKey: ["180D"],
        CBAdvertisementDataTxPowerLevelKey: 4,
      ])
    }
    guard case .startAdvertising(let name, let services)? = bench.commands.first else {
      Issue.record("no command")
      return
    }
    #expect(name == nil && services.isEmpty)
    let manager: CBPeripheralManager = bench.manager
    let lines = bench.log.lines(containing: "\(manager): the value of").map { $0.dropFirst("\(manager): ".count) }
    #expect(
      lines == [
        "the value of kCBAdvDataLocalName is ignored, because it is of type Int: expected String",
        "the value of kCBAdvDataServiceUUIDs is ignored, because it is of type Array<String>: expected [CBUUID]",
      ])
    #expect(bench.log.lines(containing: "\(manager) can advertise only a name").count == 1)
  }

  @Test("An unknown option of a peripheral manager is named in one log line")
  func unknownOption() {
    let bench = PeripheralHarness()
    let manager = CBPeripheralManager(
      delegate: nil, queue: bench.queue,
      options: [CBManagerOptionAdapterKey: ScriptedAdapter(), CBCentralManagerOptionDeviceAccessForMedia: true])
    #expect(
      bench.log.lines(containing: "\(manager)") == [
        "\(manager) does not know these options of init; ignored: kCBInitOptionDeviceAccessForMedia"
      ])
  }
}
