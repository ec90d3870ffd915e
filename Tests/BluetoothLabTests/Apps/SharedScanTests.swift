import BluetoothLab
import CoreBluetooth
import Testing

/// Several managers of one device that scan at the same time.
@Suite("Managers that share a scan")
struct SharedScanTests {
  @Test("Each session has its own scan: its services only, and duplicates only for the session that wants them")
  func scans() throws {
    let world = World(seed: 22)
    let phone = world.makeDevice(named: "phone")
    _ = world.add(HeartRateSensor(), named: "belt", at: Position(x: 1))
    _ = world.add(Thermometer(), named: "thermometer", at: Position(x: 2))
    let centrals = (0..<3).map { _ in TestCentral(on: phone) }
    for central in centrals { try central.powerOn() }
    let (belts, thermometers) = ([CBUUID(string: "180D")], [CBUUID(string: "1809")])
    let duplicates = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
    centrals[0].manager.scanForPeripherals(withServices: belts)
    centrals[1].manager.scanForPeripherals(withServices: thermometers, options: duplicates)
    centrals[2].manager.scanForPeripherals(withServices: thermometers)
    world.run(for: .seconds(10))
    /// Returns the services of the discoveries of a central, each of a single peripheral.
    func services(_ index: Int) -> [CBUUID] {
      centrals[index].recorder.discoveries.flatMap { discovery in
        discovery.advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
      }
    }
    #expect(Set(services(0)).isSuperset(of: belts) && Set(services(0)).isDisjoint(with: thermometers))
    for index in [1, 2] {
      #expect(Set(services(index)).isSuperset(of: thermometers) && Set(services(index)).isDisjoint(with: belts))
    }
    let counts = centrals.map(\.recorder.discoveries.count)
    // An advertisement, and once more with the data of the scan response.
    #expect((1...2).contains(counts[0]) && (1...2).contains(counts[2]), "\(counts)")
    #expect(counts[1] > 5, "\(counts)")
    // The end of the scan with duplicates changes nothing for the others.
    centrals[1].manager.stopScan()
    world.run(for: .seconds(1))
    let last = centrals[1].recorder.discoveries.count
    world.run(for: .seconds(10))
    #expect(centrals[1].recorder.discoveries.count == last)
    #expect([0, 2].map { centrals[$0].recorder.discoveries.count } == [counts[0], counts[2]])
  }
}
