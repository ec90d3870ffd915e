import BluetoothLab
import BluetoothLabTime
import CoreBluetooth
import Foundation
import NIOConcurrencyHelpers

/// The ways in which an app's callback passes its work on.
enum Hop: String, CaseIterable, Sendable {
  case none = "nothing"
  case mainQueue = "DispatchQueue.main.async"
  case serialQueue = "another serial queue"
  case task = "Task"
  case mainActorTask = "Task on the main actor"
  case actor = "an actor"
  case stream = "an AsyncStream"
  case continuation = "a continuation"
  case detachedTask = "a detached task"
}

/// A heart rate app as for an iPhone, whose callbacks do all their work behind a hop. It notes the world's time of each
/// step. Unchecked, because the world runs one piece of the app's work at a time.
final class HoppingApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
  private actor Worker {
    func perform(_ work: @Sendable () -> Void) { work() }
  }

  private let hop: Hop
  private let world: World
  private let queue = DispatchQueue(label: "app.work")
  private let worker = Worker()
  private let (stream, works) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
  private let steps = NIOLockedValueBox<[String]>([])
  private var manager: CBCentralManager?
  private var strap: CBPeripheral?

  init(hop: Hop, in world: World, queue: DispatchQueue?) {
    (self.hop, self.world) = (hop, world)
    super.init()
    if hop == .stream {
      Task { [stream] in
        for await work in stream { work() }
      }
    }
    manager = CBCentralManager(delegate: self, queue: queue)
  }

  /// The steps so far, each with its instant in nanoseconds.
  var trace: [String] { steps.withLockedValue { $0 } }
  var valueCount: Int { trace.filter { $0.hasSuffix("value") }.count }

  private func note(_ step: String) {
    let now = world.now
    let nanoseconds = now.components.seconds * 1_000_000_000 + now.components.attoseconds / 1_000_000_000
    steps.withLockedValue { $0.append("\(nanoseconds) \(step)") }
  }

  /// Notes the step and performs `work`, behind the hop.
  private func after(_ step: String, _ work: @escaping @Sendable () -> Void = {}) {
    let all: @Sendable () -> Void = {
      self.note(step)
      work()
    }
    switch hop {
    case .none: all()
    case .mainQueue: DispatchQueue.main.async(execute: all)
    case .serialQueue: queue.async(execute: all)
    case .task: Task { all() }
    case .mainActorTask: Task { @MainActor in all() }
    case .actor: Task { await worker.perform(all) }
    case .stream: works.yield(all)
    case .continuation:
      Task {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        all()
      }
    case .detachedTask: Task.detached { all() }
    }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    after("on") { self.manager?.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    guard strap == nil else { return }
    strap = peripheral
    peripheral.delegate = self
    after("discovered") {
      self.manager?.stopScan()
      self.strap.map { self.manager?.connect($0) }
    }
  }

  /// True if the app blocks its thread in `didConnect`.
  var sleepsWhenConnected = false

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    if sleepsWhenConnected { Thread.sleep(forTimeInterval: 0.25) }
    after("connected") { self.strap?.discoverServices([CBUUID(string: "180D")]) }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    after("services") {
      guard let service = self.strap?.services?.first else { return }
      self.strap?.discoverCharacteristics([CBUUID(string: "2A37")], for: service)
    }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    after("characteristics") {
      guard let measurement = self.strap?.services?.first?.characteristics?.first else { return }
      self.strap?.setNotifyValue(true, for: measurement)
    }
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    after("value")
  }
}

extension HoppingApp {
  /// Creates a world with a strap and a phone, the default device.
  static func makeWorld() -> World {
    let world = World(seed: 1)
    _ = world.add(HeartRateSensor(), named: "strap")
    world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))
    return world
  }

  /// Returns the trace of an app without hops in a world that does not control it: the expected trace of all apps.
  static func expectedTrace() -> [String] {
    let world = makeWorld()
    let app = HoppingApp(hop: .none, in: world, queue: DispatchQueue(label: "app.bluetooth"))
    world.run(until: { app.valueCount == 5 }, limit: .seconds(20))
    return app.trace
  }

  static func run(_ hop: Hop, queue: DispatchQueue? = nil) throws -> [String] {
    let world = makeWorld()
    return try world.withAppTime {
      let app = HoppingApp(hop: hop, in: world, queue: queue)
      world.run(until: { app.valueCount == 5 }, limit: .seconds(20))
      return app.trace
    }
  }

  static func run(
    _ hop: Hop, queue: DispatchQueue? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws -> [String] {
    let world = makeWorld()
    return try await world.withAppTime {
      let app = HoppingApp(hop: hop, in: world, queue: queue)
      await world.run(until: { app.valueCount == 5 }, limit: .seconds(20))
      return app.trace
    }
  }
}
