import BluetoothLab
import CoreBluetooth
import Testing

@Suite struct QueueTests {
  @Test("A plain app on the default adapter is told in real time that Bluetooth is on")
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

  @Test("On a concurrent queue callbacks still come one at a time, in order")
  func concurrentQueue() async {
    let world = World(seed: 1, time: .real(speed: 1000))
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let app = CentralApp()
    let manager = CBCentralManager(
      delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: world.device(named: "phone")])
    let sensor = CBPeripheralManager(
      delegate: nil, queue: DispatchQueue(label: "sensor"),
      options: [CBManagerOptionAdapterKey: world.device(named: "sensor", at: Position(x: 1))])
    await world.run(
      until: { manager.state == .poweredOn && sensor.state == .poweredOn }, limit: .seconds(20_000))
    sensor.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Air.service]])
    var running = 0
    var most = 0
    app.onEvent = { _ in
      running += 1
      most = max(most, running)
      running -= 1
    }
    manager.scanForPeripherals(
      withServices: [Air.service], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    await world.run(
      until: { queue.sync(flags: .barrier) { app.events.count > 50 } }, limit: .seconds(20_000))
    queue.sync(flags: .barrier) { #expect(most == 1 && app.events.count > 50) }
    manager.stopScan()
  }

  @Test("COREBLUETOOTH_STRICT=1 stops the program at the first misuse, in words")
  func strict() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      setenv("COREBLUETOOTH_STRICT", "1", 1)
      let manager = CBCentralManager(
        delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: World(seed: 1).device(named: "phone")])
      manager.stopScan()
    }
    #expect(result?.reason.contains("API MISUSE") == true)
  }

  @Test("Calling from a queue that is not the manager's works, and is logged once in a process")
  func foreignQueue() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      LogRecorder.install()
      let world = World(seed: 1)
      let app = CentralApp()
      let manager = CBCentralManager(
        delegate: app, queue: DispatchQueue(label: "the app's own"),
        options: [CBManagerOptionAdapterKey: world.device(named: "phone")])
      await world.run(until: { manager.state == .poweredOn })
      manager.scanForPeripherals(withServices: nil)
      manager.stopScan()
      let lines = LogRecorder.lines(containing: "is called from another queue than its own, the app's own")
      exit(lines.count == 1 ? 0 : 1)
    }
    #expect(result != nil)
  }
}
