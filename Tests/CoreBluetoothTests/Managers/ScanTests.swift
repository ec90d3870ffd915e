import Requirements
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

@Suite struct ScanTests {
  @Test(
    "2.1 The service list and the solicited list are passed on; nil and an empty list mean all", .requirement("A020"),
    .symbol(
      "CBCentralManager.scanForPeripherals(withServices:options:)", "CBCentralManagerScanOptionSolicitedServiceUUIDsKey"
    ))
  func filters() {
    let bench = CentralHarness(CentralApp())
    bench.manager.scanForPeripherals(withServices: nil)
    bench.manager.scanForPeripherals(withServices: [])
    bench.manager.scanForPeripherals(
      withServices: [CBUUID(string: "180D")],
      options: [
        CBCentralManagerScanOptionAllowDuplicatesKey: true,
        CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [CBUUID(string: "1805")],
      ])
    #expect(bench.commands == ["scan all []", "scan all []", "scan [180D] [1805] duplicates"])
  }

  @Test(
    "2.2 Scanning again replaces the scan, and no peripheral is discovered after stopScan",
    .requirement("A021", "K005"), .symbol("CBCentralManager.isScanning", "CBCentralManager.stopScan()"))
  func replacing() {
    let bench = CentralHarness(CentralApp())
    bench.manager.scanForPeripherals(withServices: nil)
    bench.manager.scanForPeripherals(
      withServices: [CBUUID(string: "180D")], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    #expect(bench.manager.isScanning)
    bench.adapter.tell(.discovered(bench.sighting()))
    bench.manager.stopScan()
    #expect(!bench.manager.isScanning)
    bench.adapter.tell(.discovered(bench.sighting()))
    #expect(bench.app.events == ["found sensor -50"])
    #expect(bench.commands == ["scan all []", "scan [180D] [] duplicates", "stop scan"])
  }

  @Test(
    "2.4 The advertisement has Apple's types, and keys only for existing fields",
    .requirement("A029", "G016", "G017", "L024"),
    .symbol(
      "CBAdvertisementDataLocalNameKey", "CBAdvertisementDataTxPowerLevelKey", "CBAdvertisementDataServiceUUIDsKey",
      "CBAdvertisementDataServiceDataKey", "CBAdvertisementDataManufacturerDataKey",
      "CBAdvertisementDataOverflowServiceUUIDsKey", "CBAdvertisementDataIsConnectable",
      "CBAdvertisementDataSolicitedServiceUUIDsKey"))
  func advertisement() {
    let bench = CentralHarness(CentralApp())
    bench.manager.scanForPeripherals(withServices: nil)
    bench.adapter.tell(.discovered(bench.sighting()))
    #expect(bench.app.advertisement.keys.sorted() == [CBAdvertisementDataIsConnectable])
    #expect((bench.app.advertisement[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue == true)

    var sighting = bench.sighting()
    sighting.localName = "Name"
    sighting.txPowerLevel = -7
    sighting.services = [0x180D]
    sighting.overflowServices = [0x180F]
    sighting.solicitedServices = [0x1805]
    sighting.serviceData = [(0x180D, [1, 2])]
    sighting.manufacturerData = [0x4C, 0x00, 9]
    bench.adapter.tell(.discovered(sighting))
    let data = bench.app.advertisement
    #expect(data.count == 8)
    #expect(data[CBAdvertisementDataLocalNameKey] as? String == "Name")
    #expect((data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue == -7)
    #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
    #expect(data[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180F")])
    #expect(data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "1805")])
    #expect(
      data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] == [CBUUID(string: "180D"): Data([1, 2])])
    #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x4C, 0x00, 9]))
  }

  @Test("2.5 An unavailable RSSI is 127")
  func rssi() {
    let bench = CentralHarness(CentralApp())
    bench.manager.scanForPeripherals(withServices: nil)
    var sighting = bench.sighting()
    sighting.rssi = 127
    bench.adapter.tell(.discovered(sighting))
    #expect(bench.app.events == ["found sensor 127"])
  }

  @Test("2.6 A peripheral's name follows the name that the daemon knows")
  func name() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover(name: nil)
    #expect(peripheral.name == nil)
    bench.manager.scanForPeripherals(withServices: nil)
    var sighting = bench.sighting()
    sighting.peer.name = "later"
    bench.adapter.tell(.discovered(sighting))
    #expect(peripheral.name == "later")
  }

  @Test(
    "2.7 One peer is one object within a manager, and a different object with the same identifier in another",
    .symbol("CBPeripheral", "CBPeer.identifier"))
  func identity() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    #expect(bench.discover() === peripheral)
    #expect(bench.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first === peripheral)

    let other = CBCentralManager(
      delegate: nil, queue: bench.queue, options: [CBManagerOptionAdapterKey: bench.adapter])
    bench.adapter.tell(state: .poweredOn)
    let twin = other.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first
    #expect(twin !== peripheral)
    #expect(twin?.identifier == peripheral.identifier)
  }

  @Test(
    "3.12 Retrieval keeps the order of the request and omits unknown identifiers", .requirement("A024", "L064"),
    .symbol("CBCentralManager.retrievePeripherals(withIdentifiers:)"))
  func retrieval() {
    let bench = CentralHarness(CentralApp())
    let first = bench.discover(1)
    let second = bench.discover(2)
    let found = bench.manager.retrievePeripherals(withIdentifiers: [second.identifier, UUID(), first.identifier])
    #expect(found.map(\.identifier) == [second.identifier, first.identifier])
    #expect(bench.manager.retrievePeripherals(withIdentifiers: [UUID(), UUID()]).isEmpty)
  }

  @Test("The state of a peripheral that an app retains has at most 96 octets")
  func stateSize() {
    // With the header of an object and a lock of 40 octets, 152: the largest size of a block of 160 octets.
    #expect(MemoryLayout<CBPeripheral.Content>.size <= 96)
  }

  @Test(
    "3.12 Peers connected to another app are retrieved by service, and are disconnected for this app",
    .requirement("A025"), .symbol("CBCentralManager.retrieveConnectedPeripherals(withServices:)"))
  func connectedPeers() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.adapter.directory.setConnected(peripheral.handle, services: [0x180D, 0x180F])
    let found = bench.manager.retrieveConnectedPeripherals(withServices: [
      CBUUID(string: "1234"), CBUUID(string: "0000180F-0000-1000-8000-00805F9B34FB"),
    ])
    #expect(found.first === peripheral)
    #expect(peripheral.state == .disconnected)
    #expect(bench.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "1234")]).isEmpty)
  }
}
