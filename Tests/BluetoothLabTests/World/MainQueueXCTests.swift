import BluetoothLab
import CoreBluetooth
import NIOConcurrencyHelpers
import XCTest

/// An app that passes the work of each callback to the main queue, and records the times of its steps.
private final class HoppingApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let world: World
  private let hops: Bool
  private lazy var manager = CBCentralManager(delegate: self, queue: nil)
  private var strap: CBPeripheral?
  private(set) var steps: [String] = []

  init(in world: World, hops: Bool) {
    self.world = world
    self.hops = hops
  }

  func start() { _ = manager }

  private func note(_ step: String, _ work: @escaping @Sendable () -> Void) {
    let perform = { @Sendable in
      self.steps.append("\(step) \(self.world.now)")
      work()
    }
    if hops { DispatchQueue.main.async(execute: perform) } else { perform() }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    note("state") { self.manager.scanForPeripherals(withServices: nil) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    strap = peripheral
    note("discovered") {
      self.manager.stopScan()
      self.strap?.delegate = self
      if let strap = self.strap { self.manager.connect(strap) }
    }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note("connected") { self.strap?.discoverServices(nil) }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    // Two hops, one after the other.
    note("services") { self.note("services again") { self.strap?.readRSSI() } }
  }

  func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) { note("rssi") {} }
}

// Unchecked, because the app is used on the main thread only.
extension HoppingApp: @unchecked Sendable {}

final class MainQueueXCTests: XCTestCase {
  override func tearDown() { World.removeDefault() }

  private func makeApp(hops: Bool) -> (World, HoppingApp) {
    let world = World(seed: 4)
    world.add(HeartRateSensor(), named: "strap")
    world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))
    let app = HoppingApp(in: world, hops: hops)
    app.start()
    return (world, app)
  }

  private func steps(hops: Bool) -> [String] {
    let (world, app) = makeApp(hops: hops)
    XCTAssertTrue(world.run(until: { app.steps.count == 6 }, limit: .seconds(5)))
    return app.steps
  }

  @MainActor private func asynchronousSteps(hops: Bool) async -> [String] {
    let (world, app) = makeApp(hops: hops)
    let isDone = await world.run(until: { app.steps.count == 6 }, limit: .seconds(5))
    XCTAssertTrue(isDone)
    return app.steps
  }

  /// A synchronous run on the main thread serves the main queue: an app that hops there does each step at the same time
  /// as one that does not.
  func testSynchronousRun() {
    let steps = steps(hops: false)
    XCTAssertEqual(steps.count, 6)
    XCTAssertEqual(self.steps(hops: true), steps)
  }

  /// Two runs on the main actor at a time do not wait for each other without end.
  @MainActor func testTwoAsynchronousRuns() async {
    let (world, app) = makeApp(hops: true)
    let other = World(seed: 5)
    other.add(HeartRateSensor(), named: "strap")
    let recorder = RecordingCentralDelegate(in: other)
    let phone = other.makeDevice(named: "phone")
    let manager = CBCentralManager(delegate: recorder, queue: nil, options: [CBManagerOptionAdapterKey: phone])
    let second = Task { @MainActor in await other.run(until: { manager.state == .poweredOn }) }
    let isDone = await world.run(until: { app.steps.count == 6 }, limit: .seconds(5))
    XCTAssertTrue(isDone)
    let isOn = await second.value
    XCTAssertTrue(isOn)
  }

  /// An app that puts work on the main queue without end does not stop a run.
  func testEndlessHops() {
    let world = World(seed: 6)
    world.add(HeartRateSensor(), named: "strap")
    let isOver = NIOLockedValueBox(false)
    @Sendable func hop() {
      if !isOver.withLockedValue({ $0 }) { DispatchQueue.main.async(execute: hop) }
    }
    hop()
    world.run(for: .milliseconds(1))
    isOver.withLockedValue { $0 = true }
    XCTAssertEqual(world.now, .milliseconds(1))
  }

  /// An asynchronous run on the main actor lets the work of the main queue run, too.
  @MainActor func testAsynchronousRun() async {
    let steps = await asynchronousSteps(hops: false)
    XCTAssertEqual(steps.count, 6)
    // More than once, because the order of work that threads put on the queue differs.
    for _ in 0..<20 {
      let hopping = await asynchronousSteps(hops: true)
      XCTAssertEqual(hopping, steps)
    }
  }
}
