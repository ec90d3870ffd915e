import AsyncCentral
import BluetoothLab
import BluetoothLabTime
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// The result of work that a task does.
@MainActor private final class Outcome<Value: Sendable> {
  var result: Result<Value, any Error>?
}

@Suite(.serialized) @MainActor struct ConnectionTests {
  let world = World(seed: 1)
  let phone: Device

  init() { phone = world.makeDevice(named: "phone", at: Position(x: 2)) }

  /// Runs asynchronous work in the world's time, and returns its result.
  private func perform<Value: Sendable>(
    _ work: @escaping @MainActor (Central) async throws -> Value
  ) async throws -> Value {
    try await world.withAppTime {
      let outcome = Outcome<Value>()
      // The work is a task of its own, because time passes only during `run`.
      Task {
        let central = Central(adapter: phone)
        defer { central.close() }
        do {
          try await central.waitUntilPoweredOn()
          outcome.result = .success(try await work(central))
        } catch {
          outcome.result = .failure(error)
        }
      }
      await world.run(until: { outcome.result != nil }, limit: .seconds(60))
      return try #require(outcome.result).get()
    }
  }

  @Test("The peripheral is disconnected after the work")
  func disconnects() async throws {
    let strap = world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    let (value, peripheral) = try await perform { central in
      try await central.withPeripheral(advertising: CBUUID(string: "180D"), within: .seconds(5)) { strap in
        let measurement = try await strap.characteristic("2A37", of: "180D")
        for try await value in try await measurement.subscribe() { return (value, strap) }
        throw CBError(.peripheralDisconnected)
      }
    }
    #expect(value[1] == 61)
    #expect(peripheral.state == .disconnected)
    #expect(strap.accessory.energyExpended > 0)
  }

  @Test("The peripheral is disconnected after an error")
  func disconnectsAfterAnError() async throws {
    world.add(HeartRateSensor(), named: "strap")
    await #expect(throws: MissingAttribute(uuid: "2A1C")) {
      try await perform { central in
        try await central.withPeripheral(advertising: CBUUID(string: "180D"), within: .seconds(5)) { strap in
          _ = try await strap.characteristic("2A1C", of: "180D")
        }
      }
    }
  }

  @Test("Without a peripheral, the time limit ends the scan")
  func limit() async throws {
    await #expect(throws: TimeLimitExceeded.self) {
      try await perform { central in
        try await central.withPeripheral(advertising: CBUUID(string: "180D"), within: .seconds(5)) { _ in }
      }
    }
    #expect((.seconds(5)...(.seconds(6))).contains(world.now))
  }
}
