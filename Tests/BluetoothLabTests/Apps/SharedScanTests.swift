import BluetoothLab
import CoreBluetooth
import Testing

/// Several managers of one device that scan at the same time.
@Suite("Managers that share a scan")
struct SharedScanTests {
  @Test("An app that restarts its scan in the background gets no more windows, and loses none")
  func restartedBackgroundScan() throws {
    var plan = BeltApp.Plan()
    plan.connects = false
    let stage = AppLifeTests.Stage(plan, beltAt: Position(x: 5_000))
    stage.app.launch()
    stage.run(1)
    stage.app.enterBackground()
    stage.run(1)
    let root = try #require(stage.app.root)
    var former = Duration.zero
    /// Returns the time for which the radio has received for scans since the last call.
    func received() -> Duration {
      let total = stage.phone.statistics.uses[.scanning]?.receiving ?? .zero
      defer { former = total }
      return total - former
    }
    _ = received()
    for _ in 0..<200 {
      root.manager.stopScan()
      root.manager.scanForPeripherals(withServices: [BeltApp.service])
      stage.world.run(for: .milliseconds(500))
    }
    let restarted = received()
    #expect(restarted > .milliseconds(9_000) && restarted < .milliseconds(11_000), "\(restarted)")
    // A scan that begins after the pause begins with a window at once, and one that begins in a pause waits for its end.
    root.manager.stopScan()
    stage.run(1)
    _ = received()
    stage.run(29)
    #expect(received() == .zero)
    root.manager.scanForPeripherals(withServices: [BeltApp.service])
    stage.run(2)
    let window = received()
    #expect(window > .milliseconds(800) && window < .milliseconds(1_100), "\(window)")
    root.manager.stopScan()
    root.manager.scanForPeripherals(withServices: [BeltApp.service])
    stage.run(7)
    #expect(received() == .zero)
    stage.run(3)
    let next = received()
    #expect(next > .milliseconds(800) && next < .milliseconds(1_100), "\(next)")
  }

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
