import AsyncTestSupport
import BeaconLocation
import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@Suite("Regions of beacons") struct BeaconRegionTests {
  private static let museum = UUID(uuidString: "01020304-0506-0708-090A-0B0C0D0E0F10") ?? UUID()

  /// A museum with two exhibits, and a visitor.
  private struct Scene {
    let world = World(seed: 1)
    let stage: AppStage
    let visitor: Device
    let manager: CLLocationManager
    let log: Log

    init(
      _ beacons: [(minor: UInt16, x: Double)] = [(1, 0)], at x: Double = 1, prompts: ScriptedPrompts? = nil,
      policy: PlatformPolicy = .macos
    ) {
      stage = AppStage(world)
      // A range of about 60 m with 0 dBm and a sensitivity near −90 dBm.
      world.setEnvironment(Environment(reference: 40, exponent: 2.8))
      for (minor, x) in beacons {
        world.add(
          IBeacon(proximityUUID: museum, major: 7, minor: minor, measuredPower: -40), named: "exhibit \(minor)",
          at: Position(x: x))
      }
      world.add(IBeacon(proximityUUID: UUID()), named: "other", at: Position(x: 1))
      var options = DeviceOptions(position: Position(x: x))
      options.asksBeforeUse = prompts != nil
      options.policy = policy
      visitor = world.makeDevice(named: "visitor", options, prompts: prompts)
      manager = CLLocationManager(adapter: visitor, clock: world.clock, executor: stage.executor, queue: nil)
      manager.distanceModel = DistanceModel(exponent: 2.8, shadowing: 0)
      log = Log(world)
      manager.delegate = log
    }
  }

  /// Records the events with the time of the world.
  private final class Log: CLLocationManagerDelegate, Sendable {
    let events = Box<[(time: Duration, text: String)]>([])
    let rangings = Box<[(time: Duration, beacons: [CLBeacon])]>([])
    private let world: World

    init(_ world: World) { self.world = world }

    var texts: [String] { events.value.map(\.text) }

    private func note(_ text: String) { events.append((world.now, text)) }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
      note("enter \(region.identifier)")
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
      note("exit \(region.identifier)")
    }

    func locationManager(
      _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
      note("\(state) \(region.identifier)")
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
      note("monitor \(region.identifier)")
    }

    func locationManager(
      _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
      note("fail \(region?.identifier ?? "-")")
    }

    func locationManager(
      _ manager: CLLocationManager, didFailRangingFor constraint: CLBeaconIdentityConstraint, error: any Error
    ) {
      note("fail ranging")
    }

    func locationManager(
      _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying constraint: CLBeaconIdentityConstraint
    ) {
      rangings.append((world.now, beacons))
    }
  }

  @Test(
    "A walker is outside at first, enters with the first packets, and leaves 30 s after the last one",
    .requirement("L001"))
  func walker() throws {
    let scene = Scene(at: 1_000)
    let region = CLBeaconRegion(uuid: Self.museum, major: 7, identifier: "museum")
    scene.manager.startMonitoring(for: region)
    scene.stage.run(for: .seconds(40))
    #expect(scene.log.texts == ["monitor museum", "outside museum"])
    // A walk to the beacon and away again, at 1.5 m/s.
    scene.visitor.move(along: [
      Waypoint(at: .seconds(40), Position(x: 150)), Waypoint(at: .seconds(140), Position(x: 0)),
      Waypoint(at: .seconds(240), Position(x: 150)),
    ])
    scene.stage.run(for: .seconds(300))
    #expect(
      scene.log.texts == [
        "monitor museum", "outside museum", "inside museum", "enter museum", "outside museum", "exit museum",
      ])
    let (entry, exit) = (scene.log.events.value[3].time, scene.log.events.value[5].time)
    // The way to the border is as long as that from the border to the end of the range, except for the delay.
    let (inward, outward) = (.seconds(140) - entry, exit - .seconds(30) - .seconds(140))
    #expect(inward > .seconds(10) && outward > .seconds(10))
    #expect(abs((inward - outward) / .seconds(1)) < 8, "\(inward), \(outward)")
    #expect(scene.manager.monitoredRegions == [region])
  }

  @Test("At the border, where packets come and go, the state stays", .requirement("L001"))
  func hysteresis() throws {
    let scene = Scene(at: 1)
    scene.manager.startMonitoring(for: CLBeaconRegion(uuid: Self.museum, identifier: "museum"))
    scene.stage.run(for: .seconds(5))
    #expect(scene.log.texts == ["monitor museum", "inside museum"], "a device that begins inside does not enter")
    // Out of range for 20 s, ten times.
    for _ in 0..<10 {
      scene.visitor.move(to: Position(x: 5_000))
      scene.stage.run(for: .seconds(20))
      scene.visitor.move(to: Position(x: 1))
      scene.stage.run(for: .seconds(2))
    }
    #expect(scene.log.texts.count == 2)
    scene.manager.exitDelay = .seconds(5)
    scene.visitor.move(to: Position(x: 5_000))
    scene.stage.run(for: .seconds(7))
    #expect(scene.log.texts.suffix(2) == ["outside museum", "exit museum"])
  }

  @Test("Ranging reports once per second the beacons by distance: immediate, near, far, unknown", .requirement("L001"))
  func ranging() throws {
    let scene = Scene([(1, 0), (2, 3), (3, 12)], at: 0.2)
    let constraint = CLBeaconIdentityConstraint(uuid: Self.museum)
    scene.manager.startRangingBeacons(satisfying: constraint)
    scene.stage.run(for: .seconds(10))
    let times = scene.log.rangings.value.map(\.time)
    #expect((9...10).contains(times.count))
    #expect(
      zip(times, times.dropFirst()).allSatisfy { (.milliseconds(990) ... .milliseconds(1_010)).contains($1 - $0) })
    let last = try #require(scene.log.rangings.value.last).beacons
    #expect(last.map(\.minor.intValue) == [1, 2, 3] && last.allSatisfy { $0.major == 7 && $0.uuid == Self.museum })
    #expect(last.map(\.proximity) == [.immediate, .near, .far])
    for (beacon, metres) in zip(last, [0.2, 2.8, 11.8]) {
      #expect(abs(beacon.accuracy - metres) < metres / 8, "\(beacon)")
      #expect(beacon.distance?.metres == beacon.accuracy && beacon.rssi < 0)
    }
    // Without packets the distance is unknown at first; then the beacon is left out.
    scene.visitor.move(to: Position(x: 5_000))
    scene.stage.run(for: .seconds(5))
    let lost = try #require(scene.log.rangings.value.last).beacons
    #expect(lost.map(\.proximity) == [.unknown, .unknown, .unknown])
    #expect(lost.allSatisfy { $0.accuracy == -1 && $0.rssi == 0 && $0.distance == nil })
    scene.stage.run(for: .seconds(7))
    #expect(scene.log.rangings.value.last?.beacons.isEmpty == true)
    scene.manager.stopRangingBeacons(satisfying: constraint)
    let count = scene.log.rangings.value.count
    scene.stage.run(for: .seconds(5))
    #expect(scene.log.rangings.value.count == count && scene.manager.rangedBeaconConstraints.isEmpty)
  }

  @Test(
    "On iOS, an app finds regions and ranges beacons whose manufacturer data its central manager does not get",
    arguments: [PlatformPolicy.ios, .iosInTheField])
  func hiddenManufacturerData(policy: PlatformPolicy) throws {
    let scene = Scene([(1, 0), (2, 3)], policy: policy)
    let central = TestCentral(on: scene.visitor)
    #expect(scene.stage.run(until: { central.manager.state == .poweredOn }))
    let constraint = CLBeaconIdentityConstraint(uuid: Self.museum)
    scene.manager.startMonitoring(for: CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: "museum"))
    scene.manager.startRangingBeacons(satisfying: constraint)
    central.manager.scanForPeripherals(
      withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    scene.stage.run(for: .seconds(5))
    #expect(scene.log.texts == ["monitor museum", "inside museum"])
    let beacons = try #require(scene.log.rangings.value.last).beacons
    #expect(beacons.map(\.minor.intValue) == [1, 2] && beacons.allSatisfy { $0.uuid == Self.museum && $0.rssi < 0 })
    // The central manager sees the three beacons, without their data.
    let discoveries = central.recorder.discoveries
    #expect(Set(discoveries.map(\.peripheral.identifier)).count == 3)
    #expect(discoveries.allSatisfy { $0.advertisementData[CBAdvertisementDataManufacturerDataKey] == nil })
  }

  @Test("Constraints select by group and number, and equal ones are one")
  func constraints() throws {
    let scene = Scene([(1, 0), (2, 3)])
    let all = CLBeaconIdentityConstraint(uuid: Self.museum, major: 7)
    let one = CLBeaconIdentityConstraint(uuid: Self.museum, major: 7, minor: 2)
    let none = CLBeaconIdentityConstraint(uuid: Self.museum, major: 8)
    for constraint in [all, one, none, CLBeaconIdentityConstraint(uuid: Self.museum, major: 7)] {
      scene.manager.startRangingBeacons(satisfying: constraint)
    }
    #expect(scene.manager.rangedBeaconConstraints == [all, one, none])
    scene.stage.run(for: .milliseconds(1_500))
    #expect(scene.log.rangings.value.map { $0.beacons.map(\.minor.intValue) } == [[1, 2], [2], []])
    let region = CLBeaconRegion(beaconIdentityConstraint: one, identifier: "two")
    #expect(region.major == 7 && region.minor == 2 && region.uuid == Self.museum)
    #expect(CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self) && CLLocationManager.isRangingAvailable())
  }

  @Test("The state is told on request, notifications can be turned off, and the end of monitoring ends the scan")
  func requests() throws {
    let scene = Scene()
    let region = CLBeaconRegion(uuid: Self.museum, identifier: "museum")
    region.notifyOnExit = false
    scene.manager.requestState(for: region)
    scene.manager.startMonitoring(for: region)
    scene.stage.run(for: .seconds(3))
    scene.manager.requestState(for: region)
    scene.visitor.move(to: Position(x: 5_000))
    scene.stage.run(for: .seconds(40))
    #expect(
      scene.log.texts == [
        "unknown museum", "monitor museum", "inside museum", "inside museum", "outside museum",
      ])
    scene.manager.stopMonitoring(for: region)
    scene.visitor.move(to: Position(x: 1))
    scene.stage.run(for: .seconds(1))
    let before = scene.visitor.statistics
    scene.stage.run(for: .seconds(5))
    #expect(scene.log.texts.count == 5 && scene.manager.monitoredRegions.isEmpty)
    #expect(scene.visitor.statistics.since(before).receiving == .zero, "the scan has ended")
  }

  @Test("Monitoring goes on when Bluetooth is turned off and on again")
  func power() throws {
    let scene = Scene()
    scene.manager.startMonitoring(for: CLBeaconRegion(uuid: Self.museum, identifier: "museum"))
    scene.stage.run(for: .seconds(3))
    scene.visitor.setPower(false)
    scene.stage.run(for: .seconds(40))
    scene.visitor.setPower(true)
    scene.stage.run(for: .seconds(5))
    #expect(
      scene.log.texts == [
        "monitor museum", "inside museum", "outside museum", "exit museum", "inside museum", "enter museum",
      ])
  }

  @Test("A region whose monitoring ends while Bluetooth is off does not make the next region fail")
  func restart() throws {
    let scene = Scene()
    scene.stage.run(for: .seconds(1))
    scene.visitor.setPower(false)
    scene.stage.run(for: .seconds(1))
    let first = CLBeaconRegion(uuid: Self.museum, identifier: "first")
    scene.manager.startMonitoring(for: first)
    scene.stage.run(for: .seconds(1))
    scene.manager.stopMonitoring(for: first)
    scene.manager.startMonitoring(for: CLBeaconRegion(uuid: Self.museum, identifier: "second"))
    scene.stage.run(for: .seconds(1))
    scene.visitor.setPower(true)
    scene.stage.run(for: .seconds(5))
    #expect(scene.log.texts == ["monitor first", "monitor second", "inside second"])
  }

  @Test("A peripheral manager advertises the beacon of a region, and a visitor ranges it")
  func advertised() throws {
    let scene = Scene([])
    let region = CLBeaconRegion(uuid: Self.museum, major: 7, minor: 9, identifier: "kiosk")
    let device = scene.world.makeDevice(named: "kiosk")
    let kiosk = CBPeripheralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    defer { withExtendedLifetime(kiosk) {} }
    #expect(scene.stage.run(until: { kiosk.state == .poweredOn }))
    kiosk.startAdvertising(region.peripheralData(withMeasuredPower: -40))
    scene.manager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
    scene.stage.run(for: .seconds(4))
    let beacons = try #require(scene.log.rangings.value.last).beacons
    #expect(beacons.map { [$0.major.intValue, $0.minor.intValue] } == [[7, 9]])
    // The level at 1 m is the measured power.
    #expect(abs(try #require(beacons.first).accuracy - 1) < 0.1)
    #expect(kiosk.isAdvertising)
    kiosk.stopAdvertising()
    scene.stage.run(for: .seconds(11))
    #expect(scene.log.rangings.value.last?.beacons.isEmpty == true)
  }

  @Test("Advertisement data of a region have the UUID, the numbers and the measured power")
  func peripheralData() throws {
    func octets(_ region: CLBeaconRegion, _ power: NSNumber?) -> Data? {
      region.peripheralData(withMeasuredPower: power)["kCBAdvDataAppleBeaconKey"] as? Data
    }
    let uuid: [UInt8] = Array(1...16)
    #expect(octets(CLBeaconRegion(uuid: Self.museum, identifier: "a"), nil) == Data(uuid + [0, 0, 0, 0, 0xC5]))
    let region = CLBeaconRegion(uuid: Self.museum, major: 0x0102, minor: 0x0304, identifier: "b")
    #expect(octets(region, -1_000) == Data(uuid + [1, 2, 3, 4, 0x80]))
  }

  @Test("A manager is authorized at once, and tells a new delegate so")
  func authorization() {
    final class Owner: CLLocationManagerDelegate {
      var statuses: [CLAuthorizationStatus] = []
      func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        statuses.append(manager.authorizationStatus)
      }
    }
    let scene = Scene()
    let owner = Owner()
    scene.manager.delegate = owner
    scene.manager.requestWhenInUseAuthorization()
    scene.manager.requestAlwaysAuthorization()
    #expect(owner.statuses == [.authorizedAlways])
    #expect(CLAuthorizationStatus.authorizedWhenInUse.rawValue == 4)
  }

  @Test("Deprecated names of the UUID of a region still work")
  func oldNames() {
    func make<Region: OldRegion>(_ type: Region.Type) -> [Region] {
      [
        Region(proximityUUID: Self.museum, identifier: "a"),
        Region(proximityUUID: Self.museum, major: 1, identifier: "b"),
        Region(proximityUUID: Self.museum, major: 1, minor: 2, identifier: "c"),
      ]
    }
    let regions = make(CLBeaconRegion.self)
    #expect(regions.map(\.identifier) == ["a", "b", "c"])
    #expect(regions.map { $0.major?.intValue } == [nil, 1, 1])
    #expect(regions.map { $0.minor?.intValue } == [nil, nil, 2])
    #expect(regions.allSatisfy { ($0 as any OldRegion).proximityUUID == Self.museum })
    #expect(!regions[0].notifyEntryStateOnDisplay)
    regions[0].notifyEntryStateOnDisplay = true
    #expect(regions[0].notifyEntryStateOnDisplay)
  }

  @Test("Without permission to use Bluetooth, monitoring and ranging fail, and the regions stay for another attempt")
  func denied() throws {
    let user = ScriptedPrompts()
    user.answer(.no, to: .useBluetooth, after: .seconds(2))
    let scene = Scene(prompts: user)
    let region = CLBeaconRegion(uuid: Self.museum, identifier: "museum")
    scene.manager.startMonitoring(for: region)
    scene.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: Self.museum))
    scene.stage.run(for: .seconds(5))
    #expect(scene.log.texts == ["monitor museum", "fail museum", "fail ranging"])
    #expect(scene.manager.monitoredRegions == [region])
    #expect(scene.log.rangings.value.count <= 2 && scene.log.rangings.value.allSatisfy { $0.beacons.isEmpty })
  }
}

// Deprecated members, reached without a warning.
private protocol OldRegion {
  init(proximityUUID: UUID, identifier: String)
  init(proximityUUID: UUID, major: UInt16, identifier: String)
  init(proximityUUID: UUID, major: UInt16, minor: UInt16, identifier: String)
  var proximityUUID: UUID { get }
}
extension CLBeaconRegion: OldRegion {}
