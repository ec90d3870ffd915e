import BluetoothLab
import NIOConcurrencyHelpers
import Requirements
import TestSupport
import Testing

@testable import BluetoothDaemon
@testable import CoreBluetooth

@Suite struct QueueTests {
  @Test(
    "A plain app on the default adapter gets poweredOn in real time", .symbol("CBCentralManager.init(delegate:queue:)"))
  func realTime() async {
    let app = CentralApp()
    let queue = DispatchQueue(label: "real time")
    queue.suspend()
    let manager = CBCentralManager(delegate: app, queue: queue)
    await withCheckedContinuation { continuation in
      app.onEvent = { if $0 == "state poweredOn" { continuation.resume() } }
      queue.resume()
    }
    #expect(manager.state == .poweredOn)
  }

  /// Counts how many callbacks run at the same time.
  private final class Room: Sendable {
    private let counts = NIOLockedValueBox((inside: 0, most: 0))
    var most: Int { counts.withLockedValue { $0.most } }

    func enter() {
      counts.withLockedValue { counts in
        counts.inside += 1
        counts.most = max(counts.most, counts.inside)
      }
    }

    func leave() { counts.withLockedValue { $0.inside -= 1 } }
  }

  @Test("On a concurrent queue callbacks still arrive one at a time, in order")
  func concurrentQueue() {
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let adapter = ScriptedAdapter(deliversInPlace: false)
    let app = CentralApp()
    let manager = CBCentralManager(delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: adapter])
    let (room, done) = (Room(), DispatchSemaphore(value: 0))
    app.onEvent = { event in
      room.enter()
      // Other work of the app runs on the queue meanwhile. A second callback, which is already waiting, could run as
      // well.
      for _ in 0..<8 {
        let passed = DispatchSemaphore(value: 0)
        queue.async { passed.signal() }
        passed.wait()
      }
      room.leave()
      if event == "state unsupported" { done.signal() }
    }
    let states: [AdapterState] = [.poweredOn, .poweredOff, .poweredOn, .resetting, .poweredOn, .unsupported]
    for state in states { adapter.tell(CentralEvent.stateChanged(state)) }
    done.wait()
    #expect(room.most == 1)
    #expect(app.events == states.map { "state \(CBManagerState($0))" })
    #expect(manager.state == .unsupported)
  }

  @Test("COREBLUETOOTH_STRICT=1 stops the program at the first misuse, with a message")
  func strict() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      setenv("COREBLUETOOTH_STRICT", "1", 1)
      let manager = CBCentralManager(
        delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: World(seed: 1).makeDevice(named: "phone")])
      manager.stopScan()
    }
    #expect(result?.reason.contains("API MISUSE") == true)
  }

  @Test("A call from a queue other than the manager's works, and is logged once per process")
  func foreignQueue() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      // Such a call is not a misuse: its log line does not say so, and COREBLUETOOTH_STRICT does not stop the program.
      setenv("COREBLUETOOTH_STRICT", "1", 1)
      let log = LogRecorder()
      let world = World(seed: 1)
      let app = CentralApp()
      let manager = CBCentralManager(
        delegate: app, queue: DispatchQueue(label: "the app's own"),
        options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
      await world.run(until: { manager.state == .poweredOn })
      manager.scanForPeripherals(withServices: nil)
      manager.stopScan()
      let levels = log.levels(ofLinesContaining: "is called from a queue other than its own, the app's own")
      exit(levels == ["debug"] && log.lines(containing: "API MISUSE").isEmpty ? 0 : 1)
    }
    #expect(result != nil)
  }
}
