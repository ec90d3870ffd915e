import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// Tasks on the threads of Swift's executor, in a world in real time.
@Suite struct ThreadTests {
  /// Does one of the operations that a peripheral has, and cuts some of them after a short time.
  private static func operate(_ characteristic: RemoteCharacteristic, _ number: Int) async throws {
    switch number % 5 {
    case 0: _ = try await characteristic.read()
    case 1: try await characteristic.write(Data([1]))
    case 2: try await characteristic.writeWithoutResponse(Data([2]))
    case 3: _ = try await characteristic.notifications.first { _ in true }
    default:
      let limit = TimeLimit(.microseconds(number * 50))
      _ = await asyncOutcome { _ = try await characteristic.read(within: limit) }
      _ = await asyncOutcome { _ = try await characteristic.subscribe(within: limit) }
    }
  }

  @Test("Tasks on several threads use one characteristic at the same time, and some are cancelled")
  func tasks() async throws {
    let world = World(seed: 1, time: .real(speed: 100))
    let sensor = Sensor(on: world.makeDevice(named: "sensor"))
    let central = Central(adapter: world.makeDevice(named: "phone", at: Position(x: 2)))
    try await central.waitUntilPoweredOn()
    let peripheral = try await central.scan(for: [Sensor.service]).first { _ in true }.orThrow().peripheral
    try await peripheral.connect()
    let characteristic = try await peripheral.characteristic()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<10 { try await Self.operate(characteristic, task + round) }
        }
      }
      try await group.waitForAll()
    }
    // The link ends while operations are in progress.
    await withTaskGroup(of: Outcome.self) { group in
      for number in 0..<12 {
        group.addTask { await asyncOutcome { while true { try await Self.operate(characteristic, number % 4) } } }
      }
      group.addTask { await asyncOutcome { try await peripheral.disconnect() } }
      for await outcome in group {
        #expect([.success, .core(.operationCancelled), .core(.notConnected)].contains(outcome))
      }
    }
    #expect(peripheral.state == .disconnected && central.pendingCount == 0)
    _ = sensor
  }
}
