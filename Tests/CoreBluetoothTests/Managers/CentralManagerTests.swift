import BluetoothLab
import Requirements
import TestSupport
import Testing

@testable import BluetoothAdapters
@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

@Suite struct CentralManagerTests {
  @Test(
    "1.1 The state is unknown after init, and the first event is the state", .requirement("G006"),
    .symbol("CBManager", "CBManager.state", "CBCentralManagerDelegate.centralManagerDidUpdateState(_:)"))
  func firstState() {
    let bench = CentralHarness(CentralApp(), state: .unknown)
    #expect(bench.manager.state == .unknown)
    #expect(bench.app.events.isEmpty)
    bench.adapter.tell(state: .poweredOn)
    #expect(bench.app.events == ["state poweredOn"])
  }

  @Test(
    "Every state of the adapter maps to a state of the manager", .requirement("A015"),
    .symbol(
      "CBManagerState.unknown", "CBManagerState.resetting", "CBManagerState.unsupported", "CBManagerState.poweredOff"),
    arguments: [
      (AdapterState.resetting, CBManagerState.resetting), (.unsupported, .unsupported), (.unauthorized, .unauthorized),
      (.poweredOff, .poweredOff), (.unknown, .unknown),
    ])
  func states(adapter: AdapterState, manager: CBManagerState) {
    let bench = CentralHarness(CentralApp())
    bench.adapter.tell(state: adapter)
    #expect(bench.manager.state == manager)
  }

  @Test("1.3 Commands before poweredOn are logged and dropped", .requirement("G005"))
  func notPoweredOn() {
    let bench = CentralHarness(CentralApp(), state: .unknown)
    bench.manager.scanForPeripherals(withServices: nil)
    bench.manager.stopScan()
    #expect(bench.manager.retrievePeripherals(withIdentifiers: [UUID()]).isEmpty)
    #expect(bench.manager.isScanning == false)
    #expect(bench.commands.isEmpty)
    let lines = bench.log.lines(containing: "\(bench.manager!)").filter {
      $0.hasPrefix("API MISUSE") && $0.contains("can only accept this command while in the powered on state")
    }
    #expect(lines.count == 3)
    bench.adapter.tell(state: .poweredOn)
    #expect(bench.commands.isEmpty, "nothing is queued for later")
  }

  @Test(
    "1.4 Below poweredOn scanning stops; below poweredOff peripherals must be retrieved again", .requirement("A021"))
  func lowerStates() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.manager.scanForPeripherals(withServices: nil)
    bench.adapter.tell(state: .poweredOff)
    #expect(bench.manager.isScanning == false)
    bench.adapter.tell(state: .poweredOn)
    #expect(bench.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first === peripheral)

    bench.adapter.tell(state: .resetting)
    bench.adapter.tell(state: .poweredOn)
    _ = bench.commands
    bench.manager.connect(peripheral)
    #expect(bench.commands.isEmpty)
    let again = bench.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first
    #expect(again != nil && again !== peripheral)
  }

  @Test("3.12 Peripherals are retrieved only while the manager is powered on, known and connected ones alike")
  func retrievalWhileOff() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    let (known, service) = ([peripheral.identifier], [CBUUID(string: "180D")])
    #expect(bench.manager.retrievePeripherals(withIdentifiers: known).count == 1)
    bench.adapter.tell(state: .poweredOff)
    #expect(bench.manager.retrievePeripherals(withIdentifiers: known).isEmpty)
    #expect(bench.manager.retrieveConnectedPeripherals(withServices: service).isEmpty)
    let lines = bench.log.lines(containing: "\(bench.manager!)").filter { $0.hasPrefix("API MISUSE") }
    #expect(lines.count == 2)
  }

  @Test("1.9 Without a restore identifier no manager calls willRestoreState, and the first call is the state")
  func noRestoration() {
    let app = RestoringApp()
    let world = World(seed: 1)
    let options = [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")]
    let managers: [CBManager] = [
      CBCentralManager(delegate: app, queue: nil, options: options),
      CBPeripheralManager(delegate: app, queue: nil, options: options),
    ]
    world.run(until: { managers.allSatisfy { $0.state == .poweredOn } })
    #expect(app.calls.sorted() == ["central state", "peripheral state"])
  }

  @Test("1.10 Key-value coding returns a manager's properties, and nil for unknown keys")
  func keyValueCoding() {
    let central = CentralHarness(CentralApp())
    #expect(central.manager.value(forKey: "isScanning") as? Bool == false)
    central.manager.scanForPeripherals(withServices: nil)
    #expect(central.manager.value(forKey: "isScanning") as? Bool == true)
    #expect(central.manager.value(forKey: "state") as? Int == 5)
    central.adapter.tell(state: .poweredOff)
    #expect(central.manager.value(forKey: "isScanning") as? Bool == false)
    #expect(central.manager.value(forKey: "state") as? Int == 4)
    #expect(central.manager.value(forKey: "nothing like it 18") == nil)
    #expect(central.log.lines(containing: "nothing like it 18").count == 1)

    let peripheral = PeripheralHarness()
    #expect(peripheral.manager.value(forKey: "isAdvertising") as? Bool == false)
    peripheral.manager.startAdvertising(nil)
    peripheral.adapter.tell(.advertisingStarted(nil))
    #expect(peripheral.manager.value(forKey: "isAdvertising") as? Bool == true)
    #expect(peripheral.manager.value(forKey: "state") as? Int == 5)
  }

  @Test("1.5 Power off ends links without didDisconnect, before the state is reported")
  func powerOff() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    var seen: [String] = []
    bench.app.onEvent = { _ in
      seen.append("\(sensor.peripheral.state) \(sensor.peripheral.services == nil) \(bench.manager.state)")
    }
    bench.adapter.tell(state: .poweredOff)
    #expect(bench.app.events == ["state poweredOff"])
    #expect(seen == ["disconnected true poweredOff"])
  }

  @Test("1.7 Delegates are held weakly", .requirement("K001"), .symbol("CBCentralManager.delegate"))
  func weakDelegates() {
    let adapter = ScriptedAdapter()
    var app: CentralApp? = CentralApp()
    let manager = CBCentralManager(delegate: app, queue: nil, options: [CBManagerOptionAdapterKey: adapter])
    #expect(manager.delegate === app)
    app = nil
    #expect(manager.delegate == nil)
  }

  @Test("1.8 The authorization is readable without a manager", .symbol("CBManager.authorization (class)"))
  func authorization() async {
    // In this process, the managers of other tests would affect the result.
    await #expect(processExitsWith: .success) {
      #expect(CBManager.authorization == .allowedAlways)
      #expect(CBCentralManager.authorization == .allowedAlways)
    }
  }

  @Test("1.11 A released manager ends all its activity, with one log line and no callback", .requirement("L014"))
  func release() {
    let log = LogRecorder()
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect(77)
    bench.manager.scanForPeripherals(withServices: nil)
    weak let manager = bench.manager
    bench.manager = nil
    #expect(manager == nil)
    #expect(bench.adapter.closedSessions == 1)
    #expect(peripheral.state == .disconnected)
    #expect(bench.app.events.isEmpty)
    #expect(log.lines(containing: "a CBCentralManager was released while in use").isEmpty == false)
  }

  @Test("A released manager discards its pending answers")
  func releaseWithAnswersDue() {
    let bench = CentralHarness(CentralApp())
    var peripheral: CBPeripheral? = bench.connect()
    peripheral?.discoverCharacteristics(nil, for: CBMutableService(type: CBUUID(string: "180D"), primary: true))
    weak let weakPeripheral = peripheral
    peripheral = nil
    #expect(weakPeripheral != nil, "the answer is owed")
    bench.manager = nil
    #expect(weakPeripheral == nil)
  }

  @Test("Before the first manager, the authorization at a server that can't be reached is not determined")
  func authorizationWithoutServer() async {
    await #expect(processExitsWith: .success) {
      setenv(AdapterRegistry.environmentVariable, "server:/no-such-folder/server.sock", 1)
      exit(CBManager.authorization == .notDetermined ? 0 : 1)
    }
  }

  @Test("An empty variable COREBLUETOOTH_ADAPTER selects the default adapter")
  func emptyVariable() async {
    await #expect(processExitsWith: .success) {
      setenv(AdapterRegistry.environmentVariable, "", 1)
      exit(AdapterSelection.adapter(for: nil) == nil ? 1 : 0)
    }
  }

  @Test("The default device stores its identity in the folder of COREBLUETOOTH_BONDS")
  func bondsVariable() async {
    await #expect(processExitsWith: .success) {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bonds-\(UUID())")
      defer { try? FileManager.default.removeItem(at: folder) }
      unsetenv(AdapterRegistry.environmentVariable)
      setenv("COREBLUETOOTH_BONDS", folder.path, 1)
      let queue = DispatchQueue(label: "default device")
      let app = CentralApp()
      queue.suspend()
      let manager = CBCentralManager(delegate: app, queue: queue)
      await withCheckedContinuation { continuation in
        app.onEvent = { _ in continuation.resume() }
        queue.resume()
      }
      #expect(manager.state == .poweredOn)
      #expect(FileManager.default.fileExists(atPath: folder.path + "/virtual/adapter.json"))
    }
  }

  @Test("A manager without an adapter is unsupported, and one log line gives the reason", .requirement("A016"))
  func noAdapter() async {
    let log = LogRecorder()
    let queue = DispatchQueue(label: "no adapter")
    let app = CentralApp()
    queue.suspend()
    let manager = CBCentralManager(
      delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: "carrier-pigeon:1"])
    await withCheckedContinuation { continuation in
      app.onEvent = { _ in continuation.resume() }
      queue.resume()
    }
    #expect(manager.state == .unsupported)
    queue.sync { #expect(app.events == ["state unsupported"]) }
    #expect(log.lines(containing: "carrier-pigeon:1").count == 1)
  }

  @Test("Without a manager, supports(_:) claims no feature")
  func unknownFeatures() async {
    // A separate process, since in this one another test's manager would be the latest.
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let isRight = CBCentralManager.supports([]) && !CBCentralManager.supports(.extendedScanAndConnect)
      exit(isRight && !CBCentralManager.supports(.privacyFeature) ? 0 : 1)
    }
    #expect(result != nil)
  }

  @Test(
    "supports(_:) returns the features of the latest manager's controller", .requirement("A027", "A028"),
    .symbol("CBCentralManager.supports(_:)", "CBCentralManager.Feature.channelSounding"))
  func features() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let world = World(seed: 1)
      func manager(_ generation: DeviceOptions.Generation) async -> CBCentralManager {
        var options = DeviceOptions()
        options.generation = generation
        let manager = CBCentralManager(
          delegate: nil, queue: DispatchQueue(label: "app"),
          options: [CBManagerOptionAdapterKey: world.makeDevice(named: "\(generation)", options)])
        await world.run(until: { manager.state == .poweredOn })
        return manager
      }
      let modern = await manager(.bluetooth54)
      guard CBCentralManager.supports([.extendedScanAndConnect, .privacyFeature]),
        !CBCentralManager.supports(.channelSounding),
        !CBCentralManager.supports([.extendedScanAndConnect, .channelSounding])
      else { exit(1) }
      let old = await manager(.bluetooth40)
      guard CBCentralManager.supports([]), !CBCentralManager.supports(.extendedScanAndConnect),
        !CBCentralManager.supports(.privacyFeature), modern.state == old.state
      else { exit(2) }
      exit(0)
    }
    #expect(result != nil)
  }

  @Test("The alert options of connect reach the daemon, and without them there is no request")
  func alertOptions() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.manager.connect(peripheral, options: [CBConnectPeripheralOptionNotifyOnConnectionKey: false])
    bench.manager.connect(
      peripheral,
      options: [
        CBConnectPeripheralOptionNotifyOnConnectionKey: true, CBConnectPeripheralOptionNotifyOnDisconnectionKey: true,
        CBConnectPeripheralOptionNotifyOnNotificationKey: NSNumber(value: 1),
      ])
    #expect(bench.commands == ["connect after 0 ms", "connect after 0 ms", "alerts 7 0"])
  }

  @Test(
    "3.13 A registration for connection events has at most four services, and nil ends it", .requirement("A026"),
    .symbol("CBCentralManager.registerForConnectionEvents(options:)"))
  func connectionEvents() {
    let bench = CentralHarness(CentralApp())
    let services = (0..<5).map { CBUUID(string: "180\($0)") }
    bench.manager.registerForConnectionEvents(options: [.serviceUUIDs: services])
    #expect(bench.log.lines(containing: "\(bench.manager!): connection events for 5 services").count == 1)
    bench.manager.registerForConnectionEvents(options: [:])
    #expect(bench.log.lines(containing: "\(bench.manager!): connection events were requested for no").count == 1)
    bench.manager.registerForConnectionEvents(options: [.serviceUUIDs: ["180D"], .peripheralUUIDs: [UUID()]])
    #expect(
      bench.log.lines(
        containing: "\(bench.manager!): the value of kCBConnectionEventMatchingOptionServiceUUIDs is ignored"
      ).count == 1)
    #expect(bench.commands == ["register 1 peers, []"])
    bench.manager.registerForConnectionEvents(options: [.serviceUUIDs: [services[0]], .peripheralUUIDs: [UUID()]])
    bench.manager.registerForConnectionEvents()
    #expect(bench.commands == ["register 1 peers, [1800]", "register nil"])
  }

  @Test("A restore identifier has no effect outside an app of a world, and one log line says so")
  func restoreIdentifierOfProcess() {
    let bench = CentralHarness(CentralApp())
    func manager(_ identifier: Any) -> CBCentralManager {
      CBCentralManager(
        delegate: nil, queue: bench.queue,
        options: [CBManagerOptionAdapterKey: bench.adapter, CBCentralManagerOptionRestoreIdentifierKey: identifier])
    }
    let (outside, wrong) = (manager("identifier"), manager(17))
    #expect(bench.log.lines(containing: "\(outside): the restore identifier has no effect").count == 1)
    #expect(bench.log.lines(containing: "\(wrong): the restore identifier is not a String").count == 1)
  }
}

/// An app that could restore its state.
private final class RestoringApp: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate {
  private(set) var calls: [String] = []
  func centralManagerDidUpdateState(_ central: CBCentralManager) { calls.append("central state") }
  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) { calls.append("central") }
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { calls.append("peripheral state") }
  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
    calls.append("peripheral")
  }
}
