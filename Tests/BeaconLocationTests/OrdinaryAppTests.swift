import AsyncTestSupport
import BeaconLocation
import BluetoothLab
import CoreBluetooth
import Testing

// The classes of this file are apps for Core Location: only the name of the module and the managers, which get a device
// of a world, are different.

/// Lists the beacons near a visitor, by regions and constraints.
private final class BeaconListController: NSObject, CLLocationManagerDelegate {
  private let locationManager: CLLocationManager
  private var beaconConstraints: [CLBeaconIdentityConstraint: [CLBeacon]] = [:]
  private(set) var sections: [CLProximity: [CLBeacon]] = [:]
  private(set) var messages: [String] = []

  init(locationManager: CLLocationManager) {
    self.locationManager = locationManager
    super.init()
    locationManager.delegate = self
  }

  func add(_ uuid: UUID) {
    locationManager.requestWhenInUseAuthorization()
    let constraint = CLBeaconIdentityConstraint(uuid: uuid)
    beaconConstraints[constraint] = []
    let region = CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: uuid.uuidString)
    region.notifyEntryStateOnDisplay = true
    locationManager.startMonitoring(for: region)
  }

  func removeAll() {
    for region in locationManager.monitoredRegions { locationManager.stopMonitoring(for: region) }
    for constraint in beaconConstraints.keys { locationManager.stopRangingBeacons(satisfying: constraint) }
    beaconConstraints.removeAll()
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    switch manager.authorizationStatus {
    case .authorizedAlways, .authorizedWhenInUse:
      messages.append(manager.accuracyAuthorization == .fullAccuracy ? "authorized" : "reduced accuracy")
    case .notDetermined: manager.requestWhenInUseAuthorization()
    default: messages.append("no authorization")
    }
  }

  func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
    guard let beaconRegion = region as? CLBeaconRegion else { return }
    if state == .inside {
      manager.startRangingBeacons(satisfying: beaconRegion.beaconIdentityConstraint)
    } else {
      manager.stopRangingBeacons(satisfying: beaconRegion.beaconIdentityConstraint)
    }
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { messages.append("entered") }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) { messages.append("left") }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    beaconConstraints[beaconConstraint] = beacons
    sections.removeAll()
    for proximity in [CLProximity.immediate, .near, .far, .unknown] {
      let matches = beaconConstraints.values.flatMap { $0 }.filter { $0.proximity == proximity }
      if !matches.isEmpty { sections[proximity] = matches }
    }
  }

  func locationManager(_ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error) {
    guard let reason = error as? CLError else { return messages.append("failed: \(error.localizedDescription)") }
    switch reason.code {
    case .denied, .regionMonitoringDenied: messages.append("denied")
    case .regionMonitoringFailure: messages.append("can't monitor \(region?.identifier ?? "a region")")
    case .regionMonitoringSetupDelayed, .network: messages.append("delayed")
    default: messages.append("error \(reason.errorCode)")
    }
  }
}

/// Shows the distance of one beacon with the deprecated functions of Core Location. Its callers are marked as
/// deprecated, so that they compile without warnings.
private final class BeaconFinder: NSObject, CLLocationManagerDelegate, OldScanning {
  var locationManager: CLLocationManager?
  let uuid: UUID
  let major: CLBeaconMajorValue = 7
  let minor: CLBeaconMinorValue = 1
  private(set) var labels: [String] = []

  init(uuid: UUID) { self.uuid = uuid }

  func viewDidLoad(_ manager: CLLocationManager) {
    locationManager = manager
    locationManager?.delegate = self
    locationManager?.requestAlwaysAuthorization()
  }

  @available(*, deprecated)
  func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
    guard status == .authorizedAlways, CLLocationManager.locationServicesEnabled() else { return }
    if CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self), CLLocationManager.isRangingAvailable() {
      startScanning()
    }
  }

  @available(*, deprecated)
  func startScanning() {
    let region = CLBeaconRegion(proximityUUID: uuid, major: major, minor: minor, identifier: "beacon")
    locationManager?.startMonitoring(for: region)
    locationManager?.startRangingBeacons(in: region)
  }

  @available(*, deprecated)
  func stopScanning() {
    for case let region as CLBeaconRegion in locationManager?.rangedRegions ?? [] {
      locationManager?.stopMonitoring(for: region)
      locationManager?.stopRangingBeacons(in: region)
    }
  }

  func locationManager(_ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion) {
    guard let beacon = beacons.first else { return labels.append("none") }
    switch beacon.proximity {
    case .immediate: labels.append("right here")
    case .near: labels.append("near")
    case .far: labels.append("far")
    default: labels.append("unknown")
    }
  }

  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: Error
  ) {
    labels.append("failed \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) { labels.append("error") }
}

/// Advertises a beacon.
private final class BeaconTransmitter: NSObject, CBPeripheralManagerDelegate {
  let uuid: UUID
  var peripheralManager: CBPeripheralManager?

  init(uuid: UUID) { self.uuid = uuid }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return }
    let major: CLBeaconMajorValue = 7
    let minor: CLBeaconMinorValue = 1
    let region = CLBeaconRegion(uuid: uuid, major: major, minor: minor, identifier: "transmitter")
    peripheral.startAdvertising(region.peripheralData(withMeasuredPower: -40))
  }
}

// Deprecated members, reached without a warning.
private protocol OldScanning { func stopScanning() }
private protocol OldRanging {
  var rangedRegions: Set<CLRegion> { get }
  func startRangingBeacons(in region: CLBeaconRegion)
  func stopRangingBeacons(in region: CLBeaconRegion)
}
extension CLLocationManager: OldRanging {}

/// Counts the reports of each kind.
private final class Counter: CLLocationManagerDelegate {
  var regions: [String] = []
  var constraints = 0

  func locationManager(_ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion) {
    regions.append(region.identifier)
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying constraint: CLBeaconIdentityConstraint
  ) {
    constraints += 1
  }
}

@Suite("Apps for Core Location") struct OrdinaryAppTests {
  private static let museum = UUID(uuidString: "01020304-0506-0708-090A-0B0C0D0E0F10") ?? UUID()

  /// A beacon that an app advertises at the origin, and a visitor one metre away.
  private struct Scene {
    let world = World(seed: 1)
    let stage: AppStage
    let visitor: Device
    let manager: CLLocationManager
    let transmitter: BeaconTransmitter

    init(prompts: ScriptedPrompts? = nil) {
      stage = AppStage(world)
      // A range of about 60 m with 0 dBm and a sensitivity near −90 dBm.
      world.setEnvironment(Environment(reference: 40, exponent: 2.8))
      transmitter = BeaconTransmitter(uuid: museum)
      transmitter.peripheralManager = CBPeripheralManager(
        delegate: transmitter, queue: nil,
        options: [CBManagerOptionAdapterKey: world.makeDevice(named: "transmitter")])
      var options = DeviceOptions(position: Position(x: 1))
      options.asksBeforeUse = prompts != nil
      visitor = world.makeDevice(named: "visitor", options, prompts: prompts)
      manager = CLLocationManager(adapter: visitor, clock: world.clock, executor: stage.executor, queue: nil)
      manager.distanceModel = DistanceModel(exponent: 2.8, shadowing: 0)
    }
  }

  @Test("An app for Core Location lists the beacons of a region while it is inside")
  func list() {
    let scene = Scene()
    let controller = BeaconListController(locationManager: scene.manager)
    controller.add(Self.museum)
    scene.stage.run(for: .seconds(5))
    #expect(controller.messages == ["authorized"])
    #expect(controller.sections.mapValues { $0.map(\.minor.intValue) } == [.near: [1]])
    scene.visitor.move(to: Position(x: 5_000))
    scene.stage.run(for: .seconds(40))
    #expect(controller.messages == ["authorized", "left"])
    #expect(controller.sections.isEmpty && scene.manager.rangedBeaconConstraints.isEmpty)
    scene.visitor.move(to: Position(x: 10))
    scene.stage.run(for: .seconds(5))
    #expect(controller.messages == ["authorized", "left", "entered"])
    #expect(Array(controller.sections.keys) == [.far])
    controller.removeAll()
    #expect(scene.manager.monitoredRegions.isEmpty && scene.manager.rangedBeaconConstraints.isEmpty)
  }

  @Test("An app that uses the deprecated functions of Core Location ranges the beacons of a region")
  func finder() {
    let scene = Scene()
    let finder = BeaconFinder(uuid: Self.museum)
    finder.viewDidLoad(scene.manager)
    scene.stage.run(for: .milliseconds(3_500))
    #expect(finder.labels.count == 3 && finder.labels.dropFirst() == ["near", "near"])
    scene.visitor.move(to: Position(x: 0.2))
    scene.stage.run(for: .seconds(4))
    #expect(finder.labels.count == 7 && finder.labels.last == "right here")
    (finder as any OldScanning).stopScanning()
    scene.stage.run(for: .seconds(4))
    #expect(finder.labels.count == 7 && scene.manager.monitoredRegions.isEmpty)
    #expect((scene.manager as any OldRanging).rangedRegions.isEmpty)
  }

  @Test("A region and a constraint of the same beacons are ranged independently")
  func independence() {
    let scene = Scene()
    let counter = Counter()
    scene.manager.delegate = counter
    let old = scene.manager as any OldRanging
    let region = CLBeaconRegion(uuid: Self.museum, major: 7, identifier: "museum")
    old.startRangingBeacons(in: region)
    scene.manager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
    scene.stage.run(for: .milliseconds(2_500))
    #expect(counter.regions == ["museum", "museum"] && counter.constraints == 2)
    #expect(old.rangedRegions == [region])
    #expect(scene.manager.rangedBeaconConstraints == [region.beaconIdentityConstraint])
    scene.manager.stopRangingBeacons(satisfying: region.beaconIdentityConstraint)
    scene.stage.run(for: .seconds(2))
    #expect(counter.regions.count == 4 && counter.constraints == 2)
    // A region with the same identifier takes the place of the former.
    let other = CLBeaconRegion(uuid: Self.museum, identifier: "museum")
    old.startRangingBeacons(in: other)
    scene.stage.run(for: .seconds(1))
    #expect(counter.regions.count == 5 && old.rangedRegions.count == 1)
    old.stopRangingBeacons(in: region)
    scene.stage.run(for: .seconds(1))
    let before = scene.visitor.statistics
    scene.stage.run(for: .seconds(2))
    #expect(counter.regions.count == 5 && old.rangedRegions.isEmpty)
    #expect(scene.visitor.statistics.since(before).receiving == .zero, "the scan has ended")
  }

  @Test("Without permission to use Bluetooth, the ranging of a region fails")
  func denied() {
    let user = ScriptedPrompts()
    user.answer(.no, to: .useBluetooth, after: .milliseconds(500))
    let scene = Scene(prompts: user)
    let finder = BeaconFinder(uuid: Self.museum)
    finder.viewDidLoad(scene.manager)
    scene.stage.run(for: .seconds(5))
    #expect(finder.labels == ["failed beacon"])
  }

  @Test("The reasons of errors have the numbers of Core Location")
  func errors() {
    let reasons = (0...20).map { number in CLError.Code(rawValue: number).map { "\($0)" } ?? "-" }
    #expect(
      reasons == [
        "locationUnknown", "denied", "network", "headingFailure", "regionMonitoringDenied", "regionMonitoringFailure",
        "regionMonitoringSetupDelayed", "regionMonitoringResponseDelayed", "geocodeFoundNoResult",
        "geocodeFoundPartialResult", "geocodeCanceled", "deferredFailed", "deferredNotUpdatingLocation",
        "deferredAccuracyTooLow", "deferredDistanceFiltered", "deferredCanceled", "rangingUnavailable",
        "rangingFailure", "promptDeclined", "historicalLocationError", "-",
      ])
    let error = CLError(.rangingUnavailable)
    #expect(error.code == CLError.rangingUnavailable && error.errorCode == 16)
    #expect(CLError.errorDomain == kCLErrorDomain)
    #expect(CLAccuracyAuthorization.reducedAccuracy.rawValue == 1)
  }
}
