import CoreBluetooth
import CoreBluetoothExtras

/// The error of a peripheral that lacks a service or a characteristic.
public struct MissingAttribute: Error, Equatable {
  /// The UUID of the service or characteristic.
  public let uuid: String

  /// Creates an error.
  public init(uuid: String) { self.uuid = uuid }
}

extension Central {
  /// Scans for a peripheral with a service, connects to it, and disconnects when `body` has ended, with or without an
  /// error. If the task is cancelled, the function requests the end of the link, and throws without waiting for it.
  ///
  /// - Parameters:
  ///   - service: a service that the peripheral advertises.
  ///   - limit: the maximum time for the scan and the connection together.
  ///   - body: the work on the connected peripheral.
  /// - Throws: `TimeLimitExceeded` if there is no such peripheral, or the error of `body`.
  public nonisolated(nonsending) func withPeripheral<Value: Sendable>(
    advertising service: CBUUID, within limit: TimeLimit,
    _ body: nonisolated(nonsending) (Peripheral) async throws -> Value
  ) async throws -> Value {
    let peripheral = try await withTimeLimit(limit) {
      // The scan ends when the loop is left, also by an error or a cancellation.
      for try await discovery in self.scan(for: [service]) {
        try await discovery.peripheral.connect()
        return discovery.peripheral
      }
      throw CancellationError()
    }
    do {
      let value = try await body(peripheral)
      try await peripheral.disconnect()
      return value
    } catch {
      // The first error is the one that matters. In a cancelled task, the call requests the end of the link and throws.
      try? await peripheral.disconnect()
      throw error
    }
  }
}

extension Peripheral {
  /// Discovers one characteristic.
  public func characteristic(_ uuid: String, of service: String) async throws -> RemoteCharacteristic {
    guard let service = try await discoverServices([CBUUID(string: service)]).first else {
      throw MissingAttribute(uuid: service)
    }
    guard let characteristic = try await service.discoverCharacteristics([CBUUID(string: uuid)]).first else {
      throw MissingAttribute(uuid: uuid)
    }
    return characteristic
  }
}
