import BluetoothLab
import CoreBluetooth
import Foundation
import TestSupport
import Testing

/// Calls of apps from threads and tasks, with and without a run that waits for them.
@Suite struct UnawaitedCallTests {
  private let log = LogRecorder()
  private let world: World
  private let app: PhoneApp

  init() {
    world = World(seed: 7)
    app = PhoneApp(on: world.makeDevice(named: "phone"), .listen, queue: DispatchQueue(label: "app"))
  }

  /// The levels of the log lines about a call at this instant.
  private func levels(at instant: Duration) -> [String] {
    log.levels(ofLinesContaining: "at \(instant), an app called Bluetooth from a thread or task")
  }

  /// Calls the manager from a new thread, and waits for that thread.
  private static func callFromThread(_ manager: CBCentralManager) {
    // The manager can be used on any thread, and this thread waits for the other one.
    nonisolated(unsafe) let manager = manager
    let end = DispatchSemaphore(value: 0)
    let thread = Thread {
      manager.scanForPeripherals(withServices: nil)
      end.signal()
    }
    thread.start()
    end.wait()
  }

  @Test("A call from another thread during a run is logged with its instant, once for each world")
  func duringRun() {
    world.run(until: { app.manager.state == .poweredOn })
    var instants: [Duration] = []
    world.run(
      until: {
        // The calls come at the first events after 1 s and after 2 s.
        if world.now > .seconds(instants.count + 1) {
          Self.callFromThread(app.manager)
          instants.append(world.now)
        }
        return instants.count == 2
      }, limit: .seconds(10))
    #expect(instants.map { levels(at: $0) } == [["warning"], []])
  }

  @Test("A call from another thread during a callback or between runs is not logged")
  func awaited() {
    let (world, manager) = (world, app.manager)
    var instants: [Duration] = []
    app.onEvent = { _ in
      Self.callFromThread(manager)
      instants.append(world.now)
    }
    world.run(for: .nanoseconds(734_500_013))
    Self.callFromThread(manager)
    instants.append(world.now)
    world.run(for: .seconds(1))
    #expect(instants.count == 2)
    for instant in instants { #expect(levels(at: instant).isEmpty, "\(instant)") }
  }

  @Test("A call from the thread that runs the world is not logged")
  func fromOwnThread() {
    world.run(until: { app.manager.state == .poweredOn })
    var instants: [Duration] = []
    world.run(
      until: {
        if instants.isEmpty, world.now > .milliseconds(500) {
          app.manager.stopScan()
          instants.append(world.now)
        }
        return !instants.isEmpty
      }, limit: .seconds(10))
    #expect(instants.map { levels(at: $0) } == [[]])
    #expect(!app.manager.isScanning)
  }

  @Test("A call of held work is not logged")
  func held() async {
    let world = world
    // Beside thousands of other tests a task may wait for long.
    world.setHoldLimits(HoldLimits(stall: 600))
    // The world waits for the held work, so one thread at a time uses the variables.
    nonisolated(unsafe) let manager = app.manager
    nonisolated(unsafe) var instants: [Duration] = []
    nonisolated(unsafe) var hasCalled = false
    app.onEvent = { _ in
      instants.append(world.now)
      world.hold(during: {
        manager.scanForPeripherals(withServices: nil)
        hasCalled = true
      })
    }
    await world.run(for: .seconds(1))
    #expect(instants.map { levels(at: $0) } == [[]])
    #expect(hasCalled)
  }
}
