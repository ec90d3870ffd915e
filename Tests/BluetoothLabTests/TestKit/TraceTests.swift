import BluetoothLab
import CoreBluetooth
import Testing

@Suite struct TraceTests {
  @Test("A trace has calls, packets and callbacks in the order in which they happen")
  func traceIsInOrder() throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    try phone.connect(to: "Heart Rate")
    let entries = world.trace.entries
    func index(_ kind: WorldTrace.Entry.Kind, _ text: String) throws -> Int {
      try #require(entries.firstIndex { $0.kind == kind && $0.text.hasPrefix(text) }, "\(text)")
    }
    let order = [
      try index(.callback, "centralManagerDidUpdateState"), try index(.call, "scanForPeripherals"),
      try index(.callback, "centralManager(_:didDiscover"), try index(.call, "connect(_:)"),
      try index(.packet, "advertising PDU connectInd → strap"), try index(.callback, "centralManager(_:didConnect"),
    ]
    #expect(order == order.sorted())
    #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(entries[order[4]].device == "phone")
  }

  @Test("A trace changes neither packets nor times")
  func traceChangesNothing() throws {
    func times(isTraced: Bool) throws -> [Duration] {
      let world = World(seed: 5)
      if isTraced { world.startTrace() }
      world.add(HeartRateSensor(), named: "strap")
      let recorder = RecordingCentralDelegate(in: world)
      let phone = world.makeDevice(named: "phone", at: Position(x: 2))
      let manager = CBCentralManager(delegate: recorder, queue: nil, options: [CBManagerOptionAdapterKey: phone])
      world.run(until: { manager.state == .poweredOn })
      manager.scanForPeripherals(withServices: nil)
      world.run(until: { !recorder.discoveries.isEmpty })
      let strap = try #require(recorder.discoveries.first).peripheral
      strap.delegate = recorder
      manager.connect(strap)
      world.run(until: { strap.state == .connected })
      strap.discoverServices(nil)
      world.run(for: .seconds(2))
      return recorder.records.map(\.time)
    }
    let untraced = try times(isTraced: false)
    #expect(try times(isTraced: true) == untraced)
    #expect(untraced.count > 3)
  }

  @Test("A trace beside a capture leaves the octets of the capture unchanged")
  func traceBesideCapture() throws {
    func octets(isTraced: Bool) throws -> Data {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appendingPathComponent("air.pcapng")
      let world = World(seed: 2, capture: try Capture(path: file.path))
      world.add(HeartRateSensor(), named: "strap")
      let manager = CBCentralManager(
        delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone")])
      world.run(for: .milliseconds(500))
      // Starts while packets are on the air.
      if isTraced { world.startTrace() }
      manager.scanForPeripherals(withServices: nil)
      world.run(for: .milliseconds(500))
      try world.finishCapture()
      return try Data(contentsOf: file)
    }
    let untraced = try octets(isTraced: false)
    #expect(try octets(isTraced: true) == untraced)
    #expect(untraced.count > 8_000)
  }

  @Test("A trace shows faults, and packets that were not received")
  func traceShowsFaults() throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let strap = try phone.connect(to: "Heart Rate")
    world.add(
      try FaultPlan(
        json: """
          { "faults": [{ "layer": "air", "fault": "lose", "attribute": "0x1B", "from": "strap", "number": 1 }] }
          """))
    try phone.setNotify(for: "2A37", of: strap)
    _ = try phone.nextValue(of: "2A37", of: strap)
    let lines = world.trace.entries.filter { $0.device == "strap" }.map(\.text)
    #expect(lines.contains { $0.hasPrefix("air: lost: ATT handleValueNotification") })
    #expect(lines.contains { $0.hasPrefix("ATT handleValueNotification") && $0.hasSuffix("phone (missed)") })
    #expect(lines.contains { $0.hasPrefix("ATT handleValueNotification") && $0.hasSuffix("→ phone") })
  }

  @Test("An expectation that is not met shows the latest packets of the link")
  func failureShowsPackets() throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let strap = try phone.connect(to: "Heart Rate")
    try phone.discoverAttributes(of: strap)
    let failure = try #require(throws: ExpectationFailure.self) {
      try world.expect("the link ends", within: .seconds(3)) { strap.state == .disconnected }
    }
    #expect(failure.description.hasPrefix("the link ends: not within 3.0 seconds"))
    let lines = failure.description.split(separator: "\n").map(String.init)
    let callback = try #require(lines.lastIndex { $0.contains("didDiscoverCharacteristicsFor") })
    let packet = try #require(lines.lastIndex { $0.contains("ATT readByTypeResponse → phone") })
    #expect(callback < packet)
    #expect(lines.count <= 43)
  }
}
