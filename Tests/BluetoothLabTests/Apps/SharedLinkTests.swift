import BluetoothLab
import CoreBluetooth
import Testing

/// Several managers of one device that use the same link.
@Suite("Managers that share a link")
struct SharedLinkTests {
  private static let uuid = LockApp.value.uuidString
  private static let other = "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0D003"

  /// Two managers on one device, connected to the same lamp with two values.
  private struct Stage {
    let world = World(seed: 21)
    let lamp: TestPeripheral
    let first: TestCentral
    let second: TestCentral
    let peripherals: [CBPeripheral]

    init() throws {
      let phone = world.makeDevice(named: "phone")
      lamp = TestPeripheral(on: world.makeDevice(named: "lamp", at: Position(x: 1)))
      let values = [SharedLinkTests.uuid, SharedLinkTests.other].map { uuid in
        CBMutableCharacteristic(
          type: CBUUID(string: uuid), properties: [.read, .write], value: nil, permissions: [.readable, .writeable])
      }
      try lamp.publish(LockApp.service.uuidString, values, name: "Lamp")
      lamp.recorder.values[LockApp.value] = [1]
      lamp.recorder.values[CBUUID(string: SharedLinkTests.other)] = [2]
      first = TestCentral(on: phone)
      second = TestCentral(on: phone)
      let one = try first.connect(to: .service(LockApp.service))
      let shared = second.manager.retrieveConnectedPeripherals(withServices: [LockApp.service])
      let two = try #require(shared.first)
      try second.connect(to: two)
      peripherals = [one, two]
      for (central, peripheral) in zip([first, second], peripherals) { try central.discoverAttributes(of: peripheral) }
    }
  }

  /// The values that a central has read.
  private func reads(_ central: TestCentral) -> [[UInt8]] {
    central.events.compactMap { if case .valueUpdated(_, _, let value, nil) = $0 { value } else { nil } }
  }

  @Test("Requests of several apps interleave: a read waits for two of the 400 reads of another app at most")
  func interleaving() throws {
    let stage = try Stage()
    let busy = try stage.first.characteristic(Self.uuid, of: stage.peripherals[0])
    let single = try stage.second.characteristic(Self.other, of: stage.peripherals[1])
    for _ in 0..<400 { stage.peripherals[0].readValue(for: busy) }
    stage.world.run(for: .seconds(1))
    let before = reads(stage.first).count
    #expect(before > 2 && before < 100)
    let start = stage.world.now
    stage.peripherals[1].readValue(for: single)
    try stage.world.expect("the single read is answered") { reads(stage.second) == [[2]] }
    #expect(reads(stage.first).count - before <= 2)
    #expect(stage.world.now - start < .milliseconds(400))
    try stage.world.expect("all reads are answered") { reads(stage.first).count == 400 }
  }

  @Test("The writes of each app keep their order among those of the other app, and take turns with them")
  func order() throws {
    let stage = try Stage()
    let one = try stage.first.characteristic(Self.uuid, of: stage.peripherals[0])
    let two = try stage.second.characteristic(Self.uuid, of: stage.peripherals[1])
    for number in 0..<UInt8(10) { stage.peripherals[0].writeValue(Data([number]), for: one, type: .withResponse) }
    for number in 100..<UInt8(110) { stage.peripherals[1].writeValue(Data([number]), for: two, type: .withResponse) }
    stage.world.run(for: .seconds(5))
    let written = stage.lamp.events.compactMap { event -> UInt8? in
      if case .writeRequested(_, let value, offset: _) = event { value.first } else { nil }
    }
    #expect(written.filter { $0 < 100 } == Array(0..<10))
    #expect(written.filter { $0 >= 100 } == Array(100..<110))
    let changes = zip(written, written.dropFirst()).count { ($0 < 100) != ($1 < 100) }
    #expect(changes >= 17, "\(written)")
  }
}
