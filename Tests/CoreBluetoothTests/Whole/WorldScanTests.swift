import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@Suite struct WorldScanTests {
  @Test(
    "2.1 A scan finds only peripherals that advertise one of its services", .requirement("K005"),
    .symbol("CBCentralManager.scanForPeripherals(withServices:options:)"))
  func filter() {
    let air = TwoDeviceFixture()
    air.add([air.localService])
    air.advertise()
    air.central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
    air.world.run(for: .seconds(2))
    #expect(air.app.events.isEmpty)
    air.central.scanForPeripherals(withServices: [CBUUID(string: "180D"), TwoDeviceFixture.service])
    air.expect("found")
    air.central.scanForPeripherals(withServices: nil)
    air.expect("found")
  }

  @Test(
    "6.1 A peripheral is found while isAdvertising is true, and no longer after stopAdvertising", .requirement("A035"))
  func advertisingBeginsAndEnds() {
    let air = TwoDeviceFixture()
    air.central.scanForPeripherals(
      withServices: [TwoDeviceFixture.service], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    air.world.run(for: .seconds(2))
    #expect(!air.peripheralManager.isAdvertising && air.app.take().isEmpty)
    for _ in 0..<2 {
      air.advertise()
      #expect(air.peripheralManager.isAdvertising)
      air.world.run(for: .seconds(2))
      #expect(air.app.take().count > 5)
      air.peripheralManager.stopAdvertising()
      #expect(!air.peripheralManager.isAdvertising)
      air.world.run(for: .milliseconds(100))
      _ = air.app.take()
      air.world.run(for: .seconds(2))
      #expect(air.app.take().isEmpty)
    }
  }

  @Test(
    "2.3 Without the option a peripheral is reported once for each scan, with it for each packet", .requirement("A019"),
    .symbol("CBCentralManagerScanOptionAllowDuplicatesKey"))
  func duplicates() {
    let air = TwoDeviceFixture()
    air.add([air.localService])
    air.advertise()
    air.central.scanForPeripherals(withServices: [TwoDeviceFixture.service])
    air.world.run(for: .seconds(3))
    #expect(air.app.take().count == 1)
    air.central.scanForPeripherals(withServices: [TwoDeviceFixture.service])
    air.world.run(for: .seconds(3))
    #expect(air.app.take().count == 1, "a new scan begins afresh")
    air.central.scanForPeripherals(
      withServices: [TwoDeviceFixture.service], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    air.world.run(for: .seconds(3))
    #expect(air.app.take().count > 10)
  }

  @Test(
    "2.3 With duplicates each report has the RSSI of its packet, from -30 dBm at 0.4 m to -88 dBm at 80 m",
    .requirement("G012", "G018"))
  func levels() {
    let air = TwoDeviceFixture()
    air.advertise()
    air.central.scanForPeripherals(
      withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    // The phone is at 2 m; an RSSI is 0 dBm less 40 + 25·log10(distance) dB.
    for (distance, level) in [(0.4, -30), (1, -40), (10, -65), (80, -88)] {
      air.sensor.move(to: Position(x: 2 - distance))
      air.world.run(for: .seconds(1))
      _ = air.app.take()
      air.world.run(for: .seconds(1))
      let events = air.app.take()
      #expect(events.count > 2)
      #expect(events.allSatisfy { $0.hasSuffix(" \(level)") }, "\(distance) m: \(events)")
    }
  }

  @Test(
    "2.4 The advertisement and its scan response are merged",
    .symbol("CBCentralManagerDelegate.centralManager(_:didDiscover:advertisementData:rssi:)"))
  func merged() {
    let air = TwoDeviceFixture()
    // 18 octets of UUID leave 10 for a name with its header: a longer name goes into the scan response.
    air.advertise([
      CBAdvertisementDataServiceUUIDsKey: [TwoDeviceFixture.service], CBAdvertisementDataLocalNameKey: "Sensor X123",
    ])
    air.central.scanForPeripherals(withServices: nil)
    air.world.run(for: .seconds(2))
    #expect(air.app.advertisement[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [TwoDeviceFixture.service])
    #expect((air.app.advertisement[CBAdvertisementDataLocalNameKey] as? String)?.hasPrefix("Sensor X12") == true)
    #expect((air.app.advertisement[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue == true)
    #expect(air.app.found.last?.name?.hasPrefix("Sensor") == true)
  }

  @Test("2.4 The first report of a peripheral contains the name from its scan response")
  func firstReport() throws {
    let air = TwoDeviceFixture()
    air.advertise([
      CBAdvertisementDataServiceUUIDsKey: [TwoDeviceFixture.service], CBAdvertisementDataLocalNameKey: "Sensor X123",
    ])
    air.central.scanForPeripherals(withServices: nil)
    air.expect("found Sensor X12")
    #expect(air.app.found.count == 1)
    #expect(
      air.app.advertisement[CBAdvertisementDataLocalNameKey] as? String == "Sensor X12", "10 octets are for a name")
    air.world.run(for: .seconds(3))
    #expect(air.app.take().isEmpty, "there is nothing new to report")
  }

  @Test(
    "6.2 Name and UUIDs with their headers share 28 octets; further UUIDs are found only by scans that name them",
    .requirement("L023", "L041"), .symbol("CBPeripheralManager.startAdvertising(_:)"))
  func space() {
    let air = TwoDeviceFixture()
    let uuids = (1...15).map { CBUUID(string: "FF" + String(format: "%02X", $0)) }
    air.advertise([CBAdvertisementDataServiceUUIDsKey: uuids])
    air.central.scanForPeripherals(withServices: nil)
    air.expect("found")
    let advertised = air.app.advertisement[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
    #expect(advertised == Array(uuids.prefix(13)), "2 octets of header and 13 × 2 of UUIDs")
    air.central.scanForPeripherals(withServices: [uuids[14]])
    air.expect("found")
    #expect(
      (air.app.advertisement[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID])?.contains(uuids[14]) == true)
  }

  @Test("2.3 An overflow area that the scan does not name causes no second report")
  func hiddenOverflow() {
    let air = TwoDeviceFixture()
    air.advertise([
      CBAdvertisementDataServiceUUIDsKey: (1...15).map { CBUUID(string: "FF" + String(format: "%02X", $0)) }
    ])
    air.central.scanForPeripherals(withServices: nil)
    air.world.run(for: .seconds(3))
    #expect(air.app.take().count == 1)
  }

  @Test("Out of range no peripheral is found, and a returning one has the same identifier")
  func range() {
    let air = TwoDeviceFixture()
    let peripheral = air.discover()
    air.sensor.move(to: Position(x: 5000))
    air.central.scanForPeripherals(withServices: nil)
    air.world.run(for: .seconds(3))
    #expect(air.app.take().isEmpty)
    air.sensor.move(to: Position(x: 1))
    air.expect("found")
    #expect(air.app.found[0] === peripheral)
  }
}
